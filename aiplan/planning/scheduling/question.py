"""The question that `aiplan schedule` asks: one run, or several that differ in one thing, and a snapshot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.planning.scheduling import strategies
from aiplan.planning.scheduling.fragments import Typical
from aiplan.planning.scheduling.outcome import Outcome, Snapshot, busiest, outcome, snapshot
from aiplan.planning.scheduling.replay import allocations, replay, resampled
from aiplan.planning.scheduling.simulation import Simulation
from aiplan.planning.scheduling.static import Static, static
from aiplan.planning.scheduling.strategies import Strategy, strategy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.scheduling.jobs import Policy
    from aiplan.planning.scheduling.workload import Workload

MARKS = (0.5, 0.8, 1.0)
"""Arrivals over capacity at which the allocation of a replay is told."""
LARGEST_SNAPSHOT = 20_000
"""Jobs up to which a run is made again to look at its busiest moment, unless a time is asked for."""
READY_TIMEOUT = 1800.0
"""Kueue's waitForPodsReady by default. [s]"""


class Variant(NamedTuple):
    """A way to schedule: what it is called, the strategy, how ties are broken, and the rules."""

    label: str
    strategy: str
    ties: str
    policy: Policy


class Replayed(NamedTuple):
    """Arrivals without departures over several seeds: means and standard deviations of shares of all GPUs."""

    seeds: int
    pods: int
    arrived: float
    allocation: float
    spread: float
    at_marks: tuple[float, ...]
    fragmentation: float
    lost: dict[str, tuple[float, float]]

    @property
    def lost_pods(self) -> float:
        """Pods that found no place."""
        return sum(gone for _, gone in self.lost.values())


class Run(NamedTuple):
    """A variant and what came of it: a simulation with its numbers and a snapshot, or a replay."""

    variant: Variant
    simulation: Simulation | None = None
    outcome: Outcome | None = None
    snapshot: Snapshot | None = None
    replayed: Replayed | None = None


class Answer(NamedTuple):
    """Everything that is reported."""

    work: Workload
    seed: int
    runs: tuple[Run, ...]
    static: Static

    @property
    def first(self) -> Run:
        """The run that is shown in full."""
        return self.runs[0]

    @property
    def all_start(self) -> bool:
        """Whether every job of the first run that was submitted has started or can still start."""
        found = self.first.outcome
        return found is None or (not found.never and found.deadlock is None)


def variants(
    work: Workload, chosen: str | None = None, ties: str | None = None, compare: str | None = None
) -> list[Variant]:
    """Return what to run: the file's rules, or those and what they are compared with."""
    rules = work.plan.file.rules
    name, ties, policy = chosen or rules.strategy, ties or rules.ties, work.policy
    match compare:
        case "strategies":
            order = [name, *(other for other in strategies.NAMES if other != name)]
            return [Variant(other, other, ties, policy) for other in order]
        case "gang":
            alone = policy._replace(gang=False, ready_timeout=math.inf)
            return [
                Variant("gangs", name, ties, policy._replace(gang=True)),
                Variant("pod by pod", name, ties, alone),
                Variant("pod by pod, time-out 30 min", name, ties, alone._replace(ready_timeout=READY_TIMEOUT)),
            ]
        case "elastic":
            return [
                Variant("elastic", name, ties, policy._replace(elastic=True)),
                Variant("rigid", name, ties, policy._replace(elastic=False)),
            ]
        case "fair":
            return [
                Variant("fair shares", name, ties, policy._replace(fair=True)),
                Variant("first come", name, ties, policy._replace(fair=False)),
            ]
        case "ties":
            return [Variant(f"{name}, ties {rule}", name, rule, policy) for rule in strategies.TIES]
        case _:
            return [Variant(name, name, ties, policy)]


def ask(work: Workload, chosen: Sequence[Variant], seed: int = 0, seeds: int = 1, at: float | None = None) -> Answer:
    """Run every variant; look at the first one at a time, or when the most GPUs are waited for."""
    runs = [_run(work, variant, seed, seeds) for variant in chosen]
    first = runs[0]
    if first.simulation is not None and (at is not None or first.simulation.jobs.size <= LARGEST_SNAPSHOT):
        time = busiest(first.simulation) if at is None else at
        runs[0] = first._replace(snapshot=_look(work, first.variant, seed, time))
    return Answer(work, seed, tuple(runs), static(work))


def _strategy(work: Workload, variant: Variant) -> Strategy:
    return strategy(variant.strategy, work.typical, variant.ties, work.weights)


def _simulation(work: Workload, variant: Variant, seed: int, policy: Policy) -> Simulation:
    assert work.jobs is not None  # noqa: S101  the caller has looked
    return Simulation(work.machine, work.jobs, work.queues, _strategy(work, variant), policy, seed, work.cohorts).run()


def _run(work: Workload, variant: Variant, seed: int, seeds: int) -> Run:
    if work.arrivals is not None:
        return Run(variant, replayed=_replay(work, variant, range(seed, seed + seeds)))
    run = _simulation(work, variant, seed, variant.policy)
    return Run(variant, run, outcome(run, work))


def _look(work: Workload, variant: Variant, seed: int, time: float) -> Snapshot:
    return snapshot(_simulation(work, variant, seed, variant.policy._replace(horizon=time)), work)


def _replay(work: Workload, variant: Variant, seeds: range) -> Replayed:
    assert work.arrivals is not None  # noqa: S101  the caller has looked
    counts, share = work.arrivals.counts, work.arrivals.share
    found, marks, fragments, lost, arrived, pods = [], [], [], [], [], []
    for seed in seeds:
        generator = np.random.default_rng(seed)
        order = (
            np.array(work.arrivals.order, dtype=np.int64)
            if share is None
            else resampled(counts, work.machine.gpu_count, share, generator)
        )
        done = replay(work.machine, list(counts), order, _strategy(work, variant), generator)
        found.append(done.allocation)
        marks.append(allocations(done, MARKS))
        fragments.append(done.fragmentation(Typical(work.typical)))
        lost.append(done.failures())
        arrived.append(done.arrived())
        pods.append(len(order))
    sizes = {size: None for one in lost for size in one}
    return Replayed(
        seeds=len(seeds),
        pods=round(float(np.mean(pods))),
        arrived=float(np.mean(arrived)),
        allocation=float(np.mean(found)),
        spread=float(np.std(found)),
        at_marks=tuple(np.mean(marks, axis=0).tolist()),
        fragmentation=float(np.mean(fragments)),
        lost={size: tuple(np.mean([one.get(size, (0, 0)) for one in lost], axis=0).tolist()) for size in sizes},
    )
