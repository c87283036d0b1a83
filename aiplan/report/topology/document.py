"""Fabrics as JSON, and as records: one line a kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.report import documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.fabrics import Row, Sized
    from aiplan.planning.placement import Group
    from aiplan.report.records import Cell
    from aiplan.report.topology import Answer

HEADER = (
    "topology",
    "fits",
    "reason",
    "nodes",
    "host_ports",
    "switches",
    "switches_first_tier",
    "switches_second_tier",
    "switches_third_tier",
    "switches_scale_up",
    "switch_ports_used",
    "cables_in_rack",
    "cables_in_row",
    "cables_in_hall",
    "hops_min",
    "hops_mean",
    "hops_max",
    "latency_mean_s",
    "latency_max_s",
    "bisection_bytes_per_s",
    "bisection_share",
    "oversubscription",
    "contention_ring",
    "contention_tree",
    "contention_all_to_all",
    "contention_pipeline",
    "contention_storage",
    "switch_cost_usd",
    "switch_power_w",
    "largest_gpus",
)


def document(answer: Answer) -> str:
    """Return a JSON document `aiplan.topology/1`."""
    one = answer.survey.machine
    inputs = {
        "scenario": None if answer.scenario is None else answer.scenario.source,
        "gpus": one.gpus,
        "node": one.node_id,
        "network_ports_per_node": one.ports,
        "switch": one.switch_id,
        "switch_ports": one.switch.ports,
        "oversubscription": {row.kind.name: row.oversubscription_asked for row in answer.survey.rows},
    }
    result = {
        "fabrics": [dict(zip(HEADER, _row(row), strict=True)) | _words(row) for row in answer.survey.rows],
        "placement": [_group(group) for group in answer.groups],
    }
    return documents.document("topology", inputs, [], result, [])


def rows(answer: Answer) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every kind."""
    for row in answer.survey.rows:
        yield _row(row)


def _row(row: Row) -> tuple[Cell, ...]:
    head = (row.kind.name, row.sized is not None, row.reason)
    return head + (_numbers(row.sized) if row.sized is not None else (None,) * (len(HEADER) - len(head)))


def _numbers(one: Sized) -> tuple[Cell, ...]:
    return (
        one.nodes,
        one.hosts,
        one.total,
        *one.switches,
        one.domain_switches,
        one.ports_used,
        *one.cables,
        *one.hops,
        *one.latency,
        one.bisection,
        one.bisection_share,
        one.oversubscription,
        one.factors["ring"],
        one.factors["tree"],
        one.factors["all_to_all"],
        one.factors["pipeline"],
        one.factors["storage"],
        one.cost,
        one.power,
        one.largest,
    )


def _words(row: Row) -> dict[str, Any]:
    return {"title": row.kind.title, "validity": row.kind.validity, "source": row.kind.source}


def _group(group: Group) -> dict[str, Any]:
    return {
        "group": group.name,
        "traffic": group.traffic,
        "ranks": group.ranks,
        "stride": group.stride,
        "ranks_in_scale_up_network": group.inside,
        "ranks_below_leaf": group.leaf,
        "ranks_in_pod": group.pod,
        "reach": group.reach,
        "bandwidth_bytes_per_s": group.bandwidth,
        "bandwidth_share": group.share,
    }
