"""Jobs as arrays, and the rules by which they are started, stopped and resized."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.core.arrays import Array
    from aiplan.planning.scheduling.bench import Bench
    from aiplan.planning.scheduling.machine import Ints, Pod, Truths

STRICT, BEST_EFFORT = "strict", "best-effort"
QUOTA, GPUS, FRAGMENTED, CPU, GANG, RACK = "quota", "GPUs", "fragmentation", "CPU or memory", "gang", "topology"
ORDER, NEVER = "order", "never fits"
"""What is in the way of a job."""
ANYWHERE, PREFERRED, REQUIRED = 0, 1, 2
"""Whether a gang may lie anywhere, should lie in as few domains as possible, or must lie in one."""


@dataclass(frozen=True, slots=True)
class Jobs:
    """All jobs, in the order in which they are named; times in seconds.

    `replicas` are the pods that a job asks for, `least` those with which it starts; they differ for elastic jobs only.
    `duration` is that with all replicas, `speeds` the relative rate with 1, 2, ... of them (proportional if empty).
    `checkpoint` is the time between checkpoints, infinite if a stop loses everything.
    """

    names: tuple[str, ...]
    classes: tuple[Pod, ...]
    kind: Ints
    submit: Array
    duration: Array
    replicas: Ints
    least: Ints
    queue: Ints
    priority: Ints
    preempts: Truths
    gang: Truths
    topology: Ints
    checkpoint: Array
    speeds: tuple[Array, ...]
    budgets: tuple[Budget, ...] = ()

    @property
    def size(self) -> int:
        """Number of jobs."""
        return len(self.names)

    def gpus(self) -> Array:
        """Return the GPUs that each job asks for, parts of them included."""
        each = np.array([pod.milli for pod in self.classes], dtype=float) / 1000.0
        return np.asarray(each[self.kind] * self.replicas)

    def speed(self, job: int, pods: int) -> float:
        """Return the rate of a job with so many pods, over that with all of them."""
        table = self.speeds[job] if self.speeds else np.empty(0)
        return float(table[pods - 1]) if table.size else pods / int(self.replicas[job])

    def useful(self, job: int, pods: int) -> int:
        """Return the largest size, of so many pods at most, at which a job is faster than with one pod less."""
        table = self.speeds[job] if self.speeds else np.empty(0)
        while table.size and pods > 1 and table[pods - 1] <= table[pods - 2]:
            pods -= 1
        return pods


class Budget(NamedTuple):
    """A disruption budget: pods of jobs, from one number to before another, that should keep running."""

    first: int
    last: int
    least: int


class Failures(NamedTuple):
    """Failures of nodes: mean time between those of one node, and how long it is gone, in seconds."""

    between: float = math.inf
    repair: float = 0.0


class Policy(NamedTuple):
    """Rules: gang scheduling, order, guard against starvation, preemption, elasticity, times in seconds.

    `guard`: a job that has waited so long gets a reservation, and nothing starts after it that would put it off.
    `ready_timeout`: a job that holds some of its pods for so long without having all of them gives them back.
    `fair`: of the jobs that are next, that of the queue that borrows least for its weight is tried first.
    `resize`: what a restart after a failure, a preemption or a change of size takes.
    """

    gang: bool = True
    queueing: str = BEST_EFFORT
    guard: float = math.inf
    preemption: bool = True
    elastic: bool = True
    fair: bool = False
    ready_timeout: float = math.inf
    resize: float = 0.0
    horizon: float = math.inf
    failures: Failures = Failures()


@dataclass(slots=True)
class Record:
    """What became of a job: times, restarts, and GPU time that was lost or held in vain, in seconds."""

    started: float = math.nan
    ended: float = math.nan
    waited: float = 0.0
    queued_at: float = math.nan
    reason: str = ""
    first_reason: str = ""
    preempted: int = 0
    failed: int = 0
    resized: int = 0
    evicted: int = 0
    lost: float = 0.0
    held: float = 0.0
    segments: list[tuple[float, float, int]] = field(default_factory=list)
    nodes: tuple[int, ...] = ()


def impossible(jobs: Jobs, bench: Bench, needed: Sequence[int]) -> dict[int, str]:
    """Return the jobs that could not even start on the empty cluster, and why.

    Parameters
    ----------
    jobs : Jobs
        All jobs.
    bench : Bench
        The cluster, empty.
    needed : sequence of int
        Pods with which each job starts.
    """
    known: dict[tuple[int, int, int, int], str] = {}
    found: dict[int, str] = {}
    shapes = zip(jobs.kind.tolist(), needed, jobs.queue.tolist(), jobs.topology.tolist(), strict=True)
    for job, shape in enumerate(shapes):
        if shape not in known:
            known[shape] = _obstacle(job, bench, shape[1])
        if known[shape]:
            found[job] = known[shape]
    return found


def _obstacle(job: int, bench: Bench, pods: int) -> str:
    pod, nodes = bench.pod(job), bench.machine
    if not bench.ledger.could_admit(bench.queue[job], bench.request(job, pods)):
        return "more than its quota can ever be"
    if bench.has_room(job, pods):
        return ""
    allowed = nodes.allowed(pod)
    gpus = int(nodes.gpus[allowed].max(initial=0))
    room = bench.tables.of(pod).total
    checks = (
        (not allowed.any(), "no pool takes it"),
        (pod.gpus > gpus, f"a pod asks for {pod.gpus} GPUs, and no node of its pools has more than {gpus}"),
        (room == 0, "no node of its pools has that many cores and that much memory beside the GPUs"),
        (room >= pods, "no rack takes all of its pods"),
    )
    otherwise = f"its pools take {room} such pods, and it needs {pods}"
    return next((text for holds, text in checks if holds), otherwise)
