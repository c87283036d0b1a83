"""The words and cells of a comparison of fabrics, for table and Markdown alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.text import percent
from aiplan.units import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.fabrics import Row, Sized
    from aiplan.report.topology import Answer

BUILT = ("built of", "switches", "by tier", "cables: rack", "row", "hall", "cost", "power", "largest")
DOES = (
    "what it does",
    "switches on path",
    "latency",
    "bisection",
    "oversub.",
    "ring",
    "tree",
    "all-to-all",
    "pipeline",
    "storage",
)
GROUPS = ("group", "ranks", "apart", "traffic", "stays in", "rank has", "of its ports")
NOTE = (
    "Cost and power are those of the switches, without cables and optics; largest is in accelerators. Switches on the "
    "path: least, mean and most; latency: mean and most, without software. The columns behind are contention factors: "
    "how much slower a port is when all hosts send at once, 1 being full rate."
)


def title(answer: Answer) -> str:
    """Return what is joined, and by what."""
    one = answer.survey.machine
    return (
        f"{one.gpus:,} x {one.accelerator.name} in {one.nodes:,} x {one.node.name}, {one.ports} ports each, "
        f"{one.switch.name} with {one.switch.ports} ports"
    )


def built(answer: Answer) -> list[tuple[str, ...]]:
    """Return what each kind is built of."""
    return [
        (
            row.kind.name,
            f"{one.total:,.0f}",
            _tiers(one),
            *(f"{count:,.0f}" for count in one.cables),
            "unknown" if one.cost is None else quantity(one.cost, "USD"),
            "unknown" if one.power is None else quantity(one.power, "W"),
            "no limit" if one.largest is None else f"{one.largest:,.0f}",
        )
        for row, one in _fitting(answer)
    ]


def does(answer: Answer) -> list[tuple[str, ...]]:
    """Return what each kind does to traffic."""
    return [
        (
            row.kind.name,
            f"{one.hops[0]:.0f} / {one.hops[1]:.2f} / {one.hops[2]:.0f}",
            f"{quantity(one.latency[0], 's')} / {quantity(one.latency[1], 's')}",
            f"{quantity(one.bisection, 'B/s')} ({percent(one.bisection_share)})",
            *(
                f"{value:.3g}"
                for value in (
                    one.oversubscription,
                    *(one.factors[name] for name in ("ring", "tree", "all_to_all", "pipeline", "storage")),
                )
            ),
        )
        for row, one in _fitting(answer)
    ]


def misfits(answer: Answer) -> list[tuple[str, str]]:
    """Return the kinds that cannot be built, and why."""
    return [(row.kind.name, row.reason) for row in answer.survey.rows if row.sized is None]


def places(answer: Answer) -> str:
    """Return whose groups are shown, and in which fabric."""
    scenario = answer.scenario
    if scenario is None:
        return ""
    use = scenario.file.cluster.network
    return f"groups of {scenario.name} in {use.topology}, ranks {use.placement}"


def groups(answer: Answer) -> list[tuple[str, ...]]:
    """Return where the groups of the plan lie; those of one rank are left out."""
    return [
        (
            group.name,
            f"{group.ranks:,}",
            f"{group.stride:,}",
            group.traffic,
            group.reach,
            quantity(group.bandwidth, "B/s"),
            percent(group.share),
        )
        for group in answer.groups
        if group.ranks > 1
    ]


def _fitting(answer: Answer) -> Iterator[tuple[Row, Sized]]:
    for row in answer.survey.rows:
        if row.sized is not None:
            yield row, row.sized


def _tiers(one: Sized) -> str:
    text = " + ".join(f"{count:,.0f}" for count in one.switches if count) or "none"
    return f"{text}, NVLink {one.domain_switches:,.0f}" if one.domain_switches else text
