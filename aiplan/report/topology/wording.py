"""The words and cells of a comparison of fabrics, for table and Markdown alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.text import percent
from aiplan.units import quantity

if TYPE_CHECKING:
    from aiplan.planning.fabrics import Machine, Sized
    from aiplan.report.topology import Answer

BUILT = ("built of", "switches", "by tier", "cables: rack", "row", "hall")
PATHS = ("paths", "switches", "latency", "bisection")
CONTENTION = ("contention", "oversub.", "ring", "tree", "all-to-all", "pipeline", "storage")
COSTS = ("costs", "switches", "power", "largest")
GROUPS = ("group", "ranks", "apart", "traffic", "stays in", "rank has", "of full rate")
NOTE = (
    "Switches and latency on a path between two ports: least, mean and most; mean and most, without software. "
    "Contention: how much slower a port is when all hosts send at once, 1 being full rate. Costs are those of the "
    "switches, without cables and optics; largest is in accelerators."
)


def title(answer: Answer) -> str:
    """Return what is joined, and by what."""
    return machine(answer.survey.machine)


def machine(one: Machine) -> str:
    """Return accelerators, nodes and switches of a machine."""
    return (
        f"{one.gpus:,} x {one.accelerator.name} in {one.nodes:,} x {one.node.name}, {one.ports} ports each, "
        f"{one.switch.name} with {one.switch.ports} ports"
    )


def facts(one: Sized) -> str:
    """Return what there is most to know of a fabric in one line."""
    return (
        f"switches {one.total:,.0f}, cables {sum(one.cables):,.0f}, {one.hops[1]:.2f} switches on the mean path, "
        f"oversubscription {one.oversubscription:.3g}"
    )


def tables(answer: Answer) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """Return what each kind is built of, its paths, what it does to traffic, and what it costs: headings and rows."""
    found = [(row.kind.name, row.sized) for row in answer.survey.rows if row.sized is not None]
    return [
        (BUILT, [(name, f"{one.total:,.0f}", _tiers(one), *(f"{n:,.0f}" for n in one.cables)) for name, one in found]),
        (PATHS, [(name, *_paths(one)) for name, one in found]),
        (CONTENTION, [(name, *_contention(one)) for name, one in found]),
        (COSTS, [(name, *_costs(one)) for name, one in found]),
    ]


def _paths(one: Sized) -> tuple[str, ...]:
    return (
        f"{one.hops[0]:.0f} / {one.hops[1]:.2f} / {one.hops[2]:.0f}",
        f"{quantity(one.latency[0], 's')} / {quantity(one.latency[1], 's')}",
        f"{quantity(one.bisection, 'B/s')} ({percent(one.bisection_share)})",
    )


def _contention(one: Sized) -> tuple[str, ...]:
    factors = (one.factors[name] for name in ("ring", "tree", "all_to_all", "pipeline", "storage"))
    return tuple(f"{value:.3g}" for value in (one.oversubscription, *factors))


def _costs(one: Sized) -> tuple[str, ...]:
    return (
        quantity(one.cost, "USD"),
        quantity(one.power, "W"),
        "no limit" if one.largest is None else f"{one.largest:,.0f}",
    )


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


def _tiers(one: Sized) -> str:
    text = " + ".join(f"{count:,.0f}" for count in one.switches if count) or "none"
    return f"{text}, NVLink {one.domain_switches:,.0f}" if one.domain_switches else text
