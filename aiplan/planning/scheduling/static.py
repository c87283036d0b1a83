"""What can be said without simulating anything: what fits an empty cluster, what is stranded, who may use how much."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import placement, resizing
from aiplan.planning.scheduling.ledger import Ledger, totals
from aiplan.planning.scheduling.machine import MILLI
from aiplan.planning.scheduling.state import State

if TYPE_CHECKING:
    from aiplan.planning.scheduling.machine import Pod
    from aiplan.planning.scheduling.workload import Workload


class Fit(NamedTuple):
    """A job on the empty cluster: pods, most that fit, GPUs out of reach for lack of CPU or memory.

    `blocked` is the share of such jobs that would find too few GPUs free, if none waited: of jobs that come again.
    """

    name: str
    pods: int
    gpus_per_pod: float
    most: int
    stranded: int
    unused: int
    blocked: float


class Share(NamedTuple):
    """A queue: its own GPUs, the most it can have while others are idle, and what is left while they use all."""

    name: str
    kind: str
    nominal: float
    most: float
    least: float


class Goodput(NamedTuple):
    """An elastic job on nodes that fail: share of the full rate if it shrinks and grows, and if it waits for all."""

    name: str
    least: int
    most: int
    elastic: float
    rigid: float


class Step(NamedTuple):
    """A job with a scenario at one of its sizes: time of a step, rate over that with all pods, and rate of a pod."""

    name: str
    pods: int
    gpus: int
    step: float
    rate: float
    efficiency: float


class Static(NamedTuple):
    """Closed-form answers."""

    fits: tuple[Fit, ...]
    shares: tuple[Share, ...]
    goodput: tuple[Goodput, ...]
    steps: tuple[Step, ...]


def static(work: Workload) -> Static:
    """Return what is known of jobs and queues from the file alone."""
    return Static(_fits(work), _shares(work), _goodput(work), _steps(work))


def _fits(work: Workload) -> tuple[Fit, ...]:
    if work.jobs is None or not work.plan.file.jobs:
        return ()
    found = []
    blocked = _blocking(work)
    for index, (job, first) in enumerate(zip(work.plan.file.jobs, work.first_jobs(), strict=True)):
        pod = work.jobs.classes[int(work.jobs.kind[first])]
        most, stranded, unused = _on_empty(work, pod)
        pods = int(work.jobs.replicas[first])
        found.append(Fit(job.name, pods, pod.milli / MILLI, most, stranded, unused, blocked[index]))
    return tuple(found)


def _goodput(work: Workload) -> tuple[Goodput, ...]:
    """Return elastic jobs alone on nodes of their own; one pod a node, no spares."""
    between, repair = work.policy.failures
    jobs = work.jobs
    if jobs is None or not math.isfinite(between):
        return ()
    found: dict[str, Goodput] = {}
    for job, row in zip(work.plan.file.jobs, work.first_jobs(), strict=True):
        least, most = int(jobs.least[row]), int(jobs.replicas[row])
        if least < most:
            lost = float(jobs.checkpoint[row]) / 2.0
            lost = lost if math.isfinite(lost) else float(jobs.duration[row]) / 2.0
            speeds = np.array([jobs.speed(row, pods) for pods in range(1, most + 1)])
            shared = (between, repair, work.policy.resize, lost)
            grown = float(resizing.resizing_goodput(speeds, float(least), *shared))
            found[job.name] = Goodput(
                job.name, least, most, grown, float(resizing.waiting_goodput(float(most), *shared))
            )
    return tuple(found.values())


def _steps(work: Workload) -> tuple[Step, ...]:
    """Return elastic jobs at every size at which their plan divides and fits."""
    found = []
    for index, size in work.sizes.items():
        job = work.plan.file.jobs[index]
        for pods, step in zip(size.legal, size.steps, strict=True):
            rate = float(size.speeds[pods - 1])
            if job.min_replicas is not None and pods >= job.min_replicas:
                efficiency = rate * size.pods / pods
                found.append(Step(job.name, pods, pods * size.gpus, step, rate, efficiency))
    return tuple(found)


def _on_empty(work: Workload, pod: Pod) -> tuple[int, int, int]:
    """Return pods that fit an empty cluster, GPUs stranded by CPU or memory, and GPUs left over on nodes."""
    nodes = np.flatnonzero(work.machine.allowed(pod))
    state = State(work.machine)
    room = state.room(pod, nodes)
    most = int(room.sum())
    if not pod.gpus:
        return most, 0, 0
    gpus = work.machine.gpus[nodes]
    each = pod.milli / MILLI
    usable = placement.usable_gpus(
        gpus, work.machine.cpu[nodes], work.machine.memory[nodes], pod.cpu / each, pod.memory / each
    )
    stranded = int((gpus - np.floor(usable)).sum())
    return most, stranded, int(gpus.sum()) - stranded - math.ceil(most * each)


def _blocking(work: Workload) -> list[float]:
    """Return the share of jobs lost if none waits, of jobs that come one after the other."""
    jobs = work.plan.file.jobs
    assert work.jobs is not None  # noqa: S101  the caller has looked
    firsts = work.first_jobs()
    sizes = np.ceil(work.jobs.gpus()[firsts]).astype(int)
    comes = np.array([job.count > 1 and job.every > 0 for job in jobs]) & (sizes > 0)
    found = np.full(len(jobs), math.nan)
    if comes.any():
        every = np.array([job.every for job in jobs])[comes]
        loads = work.jobs.duration[firsts][comes] / every
        found[comes] = placement.blocking(work.machine.gpu_count, sizes[comes], loads)
    return [float(value) for value in found]


def _shares(work: Workload) -> tuple[Share, ...]:
    queues = work.queues
    total = totals(work.machine)
    ledger = Ledger(queues, total, work.cohorts)
    found = []
    for index, queue in enumerate(queues):
        nominal = min(queue.nominal[0], total[0])
        if queue.kind == "volcano":
            most, least = ledger.between(index)
        else:
            most, least = min(float(ledger.available(index)[0]), total[0]), nominal
        found.append(Share(queue.name, queue.kind, nominal, most, least))
    return tuple(found)
