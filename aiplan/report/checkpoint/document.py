"""Checkpoints as JSON, and as records: one line an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.report import documents
from aiplan.report.estimate import run
from aiplan.report.estimate.document import assumptions, inputs, warnings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.checkpoint import CheckpointAnswer, Interval, LostNode
    from aiplan.report.records import Cell

LOST_NODE = ("with_spare_s", "shrinking_s", "waiting_s", "break_even_repair_s", "spares_for_99_percent")
HEADER = ("name", "interval_s", "saves_share", "lost_share", "restarts_share", "goodput", "possible")


def document(answer: CheckpointAnswer) -> str:
    """Return a JSON document `aiplan.checkpoint/1`."""
    one = answer.estimate
    result = run.scalars(one) | {
        "host_memory_bytes_per_node": one["checkpoint.host_memory"],
        "host_memory_fits": answer.fits,
        "loss_share": answer.used.loss,
        "target_share": answer.target,
        "target_met": answer.met,
        "write_bytes_per_s_for_target": answer.needed,
        "lost_node": None if answer.lost_node is None else _lost_node(answer.lost_node),
        "intervals": [_interval(item) for item in answer.intervals],
        "rules": [_interval(item) for item in answer.rules],
        "curve": [_interval(item) for item in answer.curve],
        "modes": [
            {"mode": mode.name, "reason": mode.reason or None}
            | ({} if mode.estimate is None else run.scalars(mode.estimate))
            for mode in answer.modes
        ],
        "fleets": [{"fleet": fleet.name} | run.scalars(fleet.estimate) for fleet in answer.fleets],
    }
    return documents.document("checkpoint", inputs(one), assumptions(one), result, warnings(one))


def rows(answer: CheckpointAnswer) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every interval: the rules, and multiples of the one used."""
    for item in (*answer.rules, *answer.intervals):
        yield tuple(_interval(item).values())


def _interval(item: Interval) -> dict[str, Any]:
    return dict(zip(HEADER, (item.name, *item[1:]), strict=True))


def _lost_node(lost: LostNode) -> dict[str, Any]:
    return dict(zip(LOST_NODE, lost, strict=True))


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the result."""
    from aiplan.report.schema_parts import TEXT, UNKNOWN, closed

    truth = {"type": "boolean"}
    scalars = dict.fromkeys(run.KEYS, UNKNOWN)
    interval = closed(dict.fromkeys(HEADER, UNKNOWN) | {"name": TEXT, "possible": truth})
    mode = closed({"mode": TEXT, "reason": {"type": ["string", "null"]}} | scalars, optional=tuple(scalars))
    numbers = ("host_memory_bytes_per_node", "loss_share", "target_share", "write_bytes_per_s_for_target")
    lists = {"intervals": interval, "rules": interval, "curve": interval, "modes": mode}
    lists["fleets"] = closed({"fleet": TEXT} | scalars)
    lost = closed(dict.fromkeys(LOST_NODE, UNKNOWN))
    arrays = {name: {"type": "array", "items": items} for name, items in lists.items()}
    truths: dict[str, Any] = {"host_memory_fits": truth, "target_met": truth}
    truths["lost_node"] = {"oneOf": [{"type": "null"}, lost]}
    return closed(scalars | dict.fromkeys(numbers, UNKNOWN) | truths | arrays)
