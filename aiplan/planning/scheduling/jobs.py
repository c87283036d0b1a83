"""Jobs as arrays, and the rules by which they are started, stopped and resized."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.planning.scheduling.machine import Ints, Machine, Pod, Truths

STRICT, BEST_EFFORT = "strict", "best-effort"
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


class Failures(NamedTuple):
    """Failures of nodes: mean time between those of one node, and how long it is gone, in seconds."""

    between: float = math.inf
    repair: float = 0.0


class Policy(NamedTuple):
    """Rules: gang scheduling, order, guard against starvation, preemption, elasticity, times in seconds.

    `guard`: a job that has waited so long is next: of what comes after it in the order, nothing starts before it does.
    `ready_timeout`: a job that holds some of its pods for so long without having all of them gives them back.
    `resize`: what a restart after a failure, a preemption or a change of size takes.
    """

    gang: bool = True
    queueing: str = BEST_EFFORT
    guard: float = math.inf
    preemption: bool = True
    elastic: bool = True
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


def impossible(jobs: Jobs, machine: Machine) -> dict[int, str]:
    """Return the classes of pods that no node could ever take, and why."""
    found: dict[int, str] = {}
    for index, pod in enumerate(jobs.classes):
        allowed = machine.allowed(pod)
        gpus = int(machine.gpus[allowed].max(initial=0))
        if not allowed.any():
            found[index] = "no pool takes it"
        elif pod.gpus > gpus:
            found[index] = f"a pod asks for {pod.gpus} GPUs, and no node of its pools has more than {gpus}"
        elif not (
            (machine.gpus >= pod.gpus) & (machine.cpu >= pod.cpu) & (machine.memory >= pod.memory) & allowed
        ).any():
            found[index] = "no node of its pools has that many cores and that much memory beside the GPUs"
    return found
