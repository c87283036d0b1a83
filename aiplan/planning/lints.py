"""What looks wrong with an estimate though it is legal: each with the field to look at, and a way out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.catalog.lint import doubtful_peaks
from aiplan.planning import order
from aiplan.planning.fit import tightness
from aiplan.planning.placement import placement
from aiplan.planning.search import question_of, search
from aiplan.units import quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aiplan.catalog.load import Catalog
    from aiplan.planning.estimate import Estimate
    from aiplan.scenario.conditions import Condition
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.policy import Limits

EFFICIENCIES = {
    "cluster.matmul_fraction": (
        "step.compute.projections",
        "step.compute.feed_forward",
        "step.compute.experts",
        "step.compute.ends",
    ),
    "cluster.attention_fraction": ("step.compute.attention",),
    "cluster.memory_fraction": ("step.compute.elementwise", "step.compute.accumulation", "step.optimizer"),
    "cluster.link_fraction": ("step.tensor", "step.context"),
    "cluster.network_fraction": ("step.data", "step.pipeline"),
}
"""Shares of a rate that real runs reach, and the terms that are in proportion to one."""
INTERVALS = ("checkpoint.interval", "checkpoint.storage_interval")
MEMORY = "memory"
"""What a condition on memory is called; `fits` alone says nothing of room."""
RINGS = {"tensor": "step.tensor", "context": "step.context", "data": "step.data"}
"""Groups whose traffic is a ring, and the term that waits for it."""


class Smell(NamedTuple):
    """Something that looks wrong: name of its code, the field to look at, what it is, and a way out.

    `found` and `bound` are what was found and from where on it is told, as shares or counts.
    """

    lint: str
    path: str
    problem: str
    hint: str
    found: float | None = None
    bound: float | None = None


def smells(one: Estimate, limits: Limits, catalog: Catalog, conditions: Iterable[Condition] = ()) -> Iterator[Smell]:
    """Yield everything that looks wrong with an estimate.

    Parameters
    ----------
    one : Estimate
        The estimate.
    limits : Limits
        From where on something is worth telling.
    catalog : Catalog
        What it was made from.
    conditions : iterable of Condition
        What the estimate is held to: a bound on memory says how much room is enough, and there is no more to say.
    """
    if not any(condition.name == MEMORY for condition in conditions):
        yield from _memory(one, limits)
    yield from _tensor(one)
    yield from _pipeline(one, limits)
    yield from _rings(one, limits)
    yield from _interval(one, limits)
    yield from _efficiencies(one, limits)
    yield from _entries(one.scenario)
    yield from _peaks(one.scenario, catalog)


def behind_the_best(one: Estimate, unsized: Scenario, limits: Limits) -> Iterator[Smell]:
    """Yield that a search finds a plan which is faster by more than the order of two plans is predicted wrong by.

    Parameters
    ----------
    one : Estimate
        Estimate of the scenario's own plan.
    unsized : Scenario
        The scenario without the sizes of its plan.
    limits : Limits
        From where on something is worth telling.
    """
    bound = _told_apart() if limits.behind is None else limits.behind
    if not one.fits or bound is None:
        return
    found = search([unsized], question_of(unsized, "time", shown=1, convention=one.convention, own=one), one)
    if found.best and found.behind > bound:
        share, least = quantity(found.behind, "%"), quantity(bound, "%")
        problem = f"the plan takes {share} longer than the best one; from {least} on it counts"
        yield Smell("behind-the-best", "plan", problem, "see 'aiplan search'", found.behind, bound)


def _told_apart() -> float | None:
    """Return by how much two plans must differ for their order to be right in nine of ten cases."""
    found = order.trusted(order.published())
    return None if found is None else found.lead


def _memory(one: Estimate, limits: Limits) -> Iterator[Smell]:
    """Yield that a plan fits tightly: by less than a limit, or else by less than predictions are off by."""
    hint = "try it, or leave more room"
    if limits.memory is not None:
        used = one["memory.needed"] / one["memory.capacity"]
        if one.fits and used > limits.memory:
            problem = (
                f"the plan takes {quantity(used, '%')} of the memory; from {quantity(limits.memory, '%')} on it counts"
            )
            yield Smell("memory-near-limit", "plan", problem, hint, used, limits.memory)
        return
    tight = tightness(one) if one.fits else None
    if tight is not None:
        share, error = quantity(tight.used, "%"), quantity(tight.error, "%")
        problem = f"the plan takes {share} of the memory, and a prediction may be {error} too low (90 %)"
        yield Smell("memory-near-limit", "plan", problem, hint, tight.used, 1 / (1 + tight.error))


def _tensor(one: Estimate) -> Iterator[Smell]:
    ranks, domain = one.given("plan.tensor"), one.given("cluster.domain")
    if ranks > domain:
        problem = f"{ranks:.0f} tensor parallel ranks, and {domain:.0f} accelerators in a scale-up network"
        hint = f"at most tensor: {domain:.0f}; cut further by pipeline, context or ZeRO"
        yield Smell("tensor-across-nodes", "plan.tensor", problem, hint, ranks, domain)


def _pipeline(one: Estimate, limits: Limits) -> Iterator[Smell]:
    stages = one.given("plan.pipeline")
    passes = one.given("workload.global_batch") / (one.given("plan.data") * one.given("plan.micro_batch"))
    if passes < stages:
        problem = f"{passes:.0f} micro-batches a step for {stages:.0f} stages: some always wait"
        hint = "a smaller micro-batch, fewer data parallel ranks or stages, or a larger global batch"
        yield Smell("few-micro-batches", "plan.pipeline", problem, hint, passes, stages)
    share = one.share("step.bubble", "step")
    if share > limits.bubble:
        problem = f"the pipeline bubble takes {quantity(share, '%')} of the step"
        yield Smell("large-bubble", "plan.pipeline", problem, "more micro-batches, or interleave", share, limits.bubble)


def _rings(one: Estimate, limits: Limits) -> Iterator[Smell]:
    if max(one.given("cluster.leaf_ring"), one.given("cluster.pod_ring")) <= 1:
        return
    for group in placement(one.scenario):
        share = one.share(RINGS[group.name], "step") if group.name in RINGS else 0.0
        if group.share < 1 and share > limits.ring:
            left, waits = quantity(group.share, "%"), quantity(share, "%")
            problem = (
                f"the ring of the {group.name} parallel ranks has {left} of its bandwidth where it crosses the fabric, "
                f"and the step waits for it {waits} of its time"
            )
            hint = "a wider fabric, or ranks placed below one leaf"
            yield Smell("oversubscribed-ring", "cluster.network.oversubscription", problem, hint, share, limits.ring)


def _interval(one: Estimate, limits: Limits) -> Iterator[Smell]:
    origins = one.scenario.parts.origins
    if not any(name in origins and origins[name].kind == "given" for name in INTERVALS):
        return
    from aiplan.planning.checkpoint import beside_the_best  # noqa: PLC0415  only where an interval is given

    both = beside_the_best(one)
    if both is None:
        return
    longer = both[0]["wallclock"] / both[1]["wallclock"] - 1.0
    if longer > limits.interval:
        used, due = (quantity(each["checkpoint.interval"], "s") for each in both)
        share = quantity(longer, "%")
        problem = f"the run takes {share} longer with a checkpoint every {used} than with one every {due}"
        hint = "interval: auto, or one that 'aiplan checkpoint' shows"
        yield Smell("costly-interval", "checkpoint.interval", problem, hint, longer, limits.interval)


def _efficiencies(one: Estimate, limits: Limits) -> Iterator[Smell]:
    guessed = [name for name in EFFICIENCIES if one.scenario.values[name].origin.kind in {"default", "assumed"}]
    shares = {name: sum(one.share(term, "step") for term in EFFICIENCIES[name]) for name in guessed}
    total = sum(shares.values())
    if total > limits.assumed:
        names = ", ".join(name for name, share in shares.items() if share > 0)
        problem = f"{quantity(total, '%')} of the step rests on efficiencies that nobody measured here: {names}"
        hint = "fit them with 'aiplan calibrate', or give them in a catalog of your own"
        yield Smell("assumed-efficiency", "cluster", problem, hint, total, limits.assumed)


def _entries(scenario: Scenario) -> Iterator[Smell]:
    parts, cluster = scenario.parts, scenario.file.cluster
    machine = "cluster.node" if cluster.node is not None else "cluster.accelerator"
    network = "cluster.network.fabric" if cluster.network.fabric else machine
    used = [
        ("node", parts.node if cluster.node is not None else None, machine),
        ("accelerator", parts.accelerator, machine),
        ("link", parts.link and parts.link[0], machine),
        ("network", parts.network[0] if parts.network and cluster.nodes > 1 else None, network),
        ("switch", parts.switch and parts.switch[0], "cluster.network.switch"),
        ("region", parts.region if cluster.region else None, "cluster.region"),
    ]
    for kind, entry, path in used:
        if entry is not None and not entry.verified:
            problem = f"the numbers of the {kind} '{entry.name}' were not read in a source"
            yield Smell("unverified-entry", path, problem, "check them; 'aiplan catalog show' has what is known")


def _peaks(scenario: Scenario, catalog: Catalog) -> Iterator[Smell]:
    """Yield what is odd about the peaks of an accelerator of the user's own; ours were checked before."""
    if not catalog.overlays:
        return
    cluster = scenario.file.cluster
    ident = cluster.accelerator or scenario.node.accelerator
    path = "cluster.node" if cluster.accelerator is None else "cluster.accelerator"
    for problem in doubtful_peaks(catalog, ident):
        yield Smell("implausible-peak", path, f"{ident}: {problem.text}", problem.hint or "")
