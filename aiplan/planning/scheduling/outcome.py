"""What a run comes to: use of GPUs, waits by class and size, what was lost, what waits and why."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.planning.scheduling.fragments import Typical
from aiplan.planning.scheduling.jobs import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from aiplan.core.arrays import Array
    from aiplan.planning.scheduling.jobs import Jobs
    from aiplan.planning.scheduling.machine import Truths
    from aiplan.planning.scheduling.simulation import Deadlock, Simulation
    from aiplan.planning.scheduling.workload import Workload

HOUR = 3600.0
SIZES = ((0.0, 0.0, "no GPU"), (0.0, 1.0, "1 GPU or less"), (1.0, 4.0, "2 to 4"), (4.0, 8.0, "5 to 8"))
SIZES_ABOVE = ((8.0, 64.0, "9 to 64"), (64.0, 512.0, "65 to 512"), (512.0, math.inf, "more than 512"))


class Waits(NamedTuple):
    """How long a group of jobs waited, in seconds; of those that still wait, so far."""

    label: str
    jobs: int
    never: int
    mean: float
    median: float
    p90: float
    longest: float


NOBODY = Waits("", 0, 0, math.nan, math.nan, math.nan, math.nan)


class Outcome(NamedTuple):
    """A run in numbers: GPU-seconds and seconds."""

    jobs: int
    finished: int
    running: int
    waiting: int
    never: int
    span: float
    gpus: int
    busy: float
    down: float
    useful: float
    lost: float
    held: float
    preemptions: int
    failures: int
    resizes: int
    evictions: int
    everyone: Waits
    by_class: tuple[Waits, ...]
    by_size: tuple[Waits, ...]
    by_queue: tuple[Waits, ...]
    reasons: dict[str, int]
    deadlock: Deadlock | None

    @property
    def later(self) -> int:
        """Jobs that are submitted after the end."""
        return self.jobs - self.finished - self.running - self.waiting - self.never

    @property
    def utilisation(self) -> float:
        """Share of all GPU time, from the first submission to the end, that was given to jobs."""
        return self.busy / (self.gpus * self.span) if self.span and self.gpus else 0.0

    @property
    def goodput(self) -> float:
        """Share of all GPU time in which work was done that was not lost."""
        return self.useful / (self.gpus * self.span) if self.span and self.gpus else 0.0


def outcome(run: Simulation, work: Workload) -> Outcome:
    """Return the numbers of a run."""
    records, jobs, now = run.records, run.jobs, run.now
    ended = np.array([not math.isnan(record.ended) for record in records])
    never = np.array([record.first_reason == NEVER for record in records])
    working = np.array([job in run.bench.running and run.bench.running[job].working for job in range(jobs.size)])
    arrived = np.array([not math.isnan(record.queued_at) for record in records])
    waits = waits_of(run)
    gpus = jobs.gpus()
    progress = jobs.duration - run.bench.remaining
    progress += np.array([_since(run, job) for job in range(jobs.size)])
    reasons: dict[str, int] = {}
    for record in records:
        if record.first_reason:
            reasons[record.first_reason] = reasons.get(record.first_reason, 0) + 1
    names = [work.priority_name(value) for value in jobs.priority.tolist()]
    return Outcome(
        jobs=jobs.size,
        finished=int(ended.sum()),
        running=int(working.sum()),
        waiting=int((arrived & ~ended & ~working & ~never).sum()),
        never=int(never.sum()),
        span=now,
        gpus=run.bench.machine.gpu_count,
        busy=run.busy_time,
        down=run.lost_capacity,
        useful=float((progress * gpus).sum()),
        lost=sum(record.lost for record in records),
        held=float(sum(held_of(run, job) for job in range(jobs.size))),
        preemptions=sum(record.preempted for record in records),
        failures=sum(record.failed for record in records),
        resizes=sum(record.resized for record in records),
        evictions=sum(record.evicted for record in records),
        everyone=next(iter(_groups(waits, never, arrived, [""], lambda _: arrived)), NOBODY),
        by_class=tuple(_groups(waits, never, arrived, dict.fromkeys(names), lambda name: np.array(names) == name)),
        by_size=tuple(_by_size(waits, never, arrived, gpus)),
        by_queue=tuple(_by_queue(waits, never, arrived, run)),
        reasons=dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        deadlock=run.deadlock,
    )


def waits_of(run: Simulation) -> Array:
    """Return the seconds that each job has waited in all."""
    waits = [record.waited for record in run.records]
    for job, record in enumerate(run.records):
        running = run.bench.running.get(job)
        idle = (running is None or not running.working) and math.isnan(record.ended)
        if idle and not math.isnan(record.queued_at) and record.first_reason != NEVER:
            waits[job] += run.now - record.queued_at
    return np.array(waits)


def held_of(run: Simulation, job: int) -> float:
    """Return the GPU-seconds that a job has held without working."""
    held, running = run.records[job].held, run.bench.running.get(job)
    if running is not None and not running.working:
        held += run.bench.pod(job).milli / 1000.0 * len(running.spots) * run.now
    return held


def _since(run: Simulation, job: int) -> float:
    running = run.bench.running.get(job)
    if running is None or not running.working:
        return 0.0
    return max(run.now - running.since, 0.0) * run.jobs.speed(job, len(running.spots))


def _by_queue(waits: Array, never: Truths, arrived: Truths, run: Simulation) -> Iterable[Waits]:
    queues = [queue.name for queue in run.bench.ledger.queues]
    return _groups(waits, never, arrived, queues, lambda name: np.asarray(run.jobs.queue == queues.index(name)))


def _by_size(waits: Array, never: Truths, arrived: Truths, gpus: Array) -> Iterable[Waits]:
    names = [name for *_, name in (*SIZES, *SIZES_ABOVE)]
    limits = {name: (low, high) for low, high, name in (*SIZES, *SIZES_ABOVE)}

    def chosen(name: str) -> Truths:
        low, high = limits[name]
        return np.asarray((gpus > low) & (gpus <= high) if high else gpus == 0)

    return _groups(waits, never, arrived, names, chosen)


def _groups(
    waits: Array, never: Truths, arrived: Truths, names: Iterable[str], chosen: Callable[[str], Truths]
) -> Iterable[Waits]:
    for name in names:
        group = chosen(name) & arrived
        found = waits[group & ~never]
        if not group.any():
            continue
        middle, high = np.percentile(found, (50, 90)) if found.size else (math.nan, math.nan)
        mean, longest = (float(found.mean()), float(found.max())) if found.size else (math.nan, math.nan)
        yield Waits(name, int(group.sum()), int((group & never).sum()), mean, float(middle), float(high), longest)


class Waiting(NamedTuple):
    """A job that waits at the time of a snapshot: why, for how long so far, and what it asks for."""

    name: str
    reason: str
    waited: float
    pods: int
    gpus: float


class Snapshot(NamedTuple):
    """The cluster at one time: what lies where, what waits and why, and how much of what is idle is of use.

    `room` is for every entry of the file the largest gang of its pods that could start.
    """

    time: float
    allocated: float
    fragmentation: float
    nodes: tuple[tuple[str, tuple[str, ...]], ...]
    waiting: tuple[Waiting, ...]
    room: tuple[int, ...]


def busiest(run: Simulation) -> float:
    """Return the second at which the most GPUs were waited for; the first of equal ones."""
    jobs: Jobs = run.jobs
    gpus = jobs.gpus()
    starts = [(float(jobs.submit[job]), float(gpus[job])) for job in range(jobs.size)]
    ends = [
        (record.started if not math.isnan(record.started) else run.now, -float(gpus[job]))
        for job, record in enumerate(run.records)
    ]
    changes = sorted((time, change) for time, change in (*starts, *ends) if time <= run.now)
    times = np.array([time for time, _ in changes])
    level = np.cumsum([change for _, change in changes])
    last = np.append(np.diff(times) > 0, True)
    return float(times[last][level[last].argmax()]) if times.size else 0.0


def snapshot(run: Simulation, work: Workload) -> Snapshot:
    """Return the cluster as a run has left it."""
    bench, state = run.bench, run.bench.state
    devices = [["" if state.up[node] else "down"] * int(count) for node, count in enumerate(bench.machine.gpus)]
    for job, running in sorted(bench.running.items()):
        for node, taken in running.spots:
            for device in taken:
                devices[node][device] = ",".join(filter(None, (devices[node][device], run.jobs.names[job])))
    waits = waits_of(run)
    waiting = [
        Waiting(run.jobs.names[job], run.reason(job), float(waits[job]), bench.most[job], float(run.jobs.gpus()[job]))
        for job in sorted(run.waiting(), key=lambda job: (-bench.priority[job], run.records[job].queued_at, job))
    ]
    idle = float(state.milli_left.sum())
    typical = Typical(work.typical)
    return Snapshot(
        run.now,
        1.0 - idle / (bench.machine.gpu_count * 1000.0) if bench.machine.gpu_count else 0.0,
        float(typical.of(state).sum()) / idle if idle else 0.0,
        tuple((name, tuple(there)) for name, there in zip(bench.machine.names, devices, strict=True)),
        tuple(waiting),
        tuple(_room_now(run, job) for job in work.first_jobs()),
    )


def _room_now(run: Simulation, job: int) -> int:
    """Return the largest gang of a job's pods that nodes and quota take now; in one rack, if it must lie in one."""
    bench, low = run.bench, 0
    high = bench.tables.of(bench.pod(job)).total
    while low < high:
        middle = (low + high + 1) // 2
        if bench.admitted(job, middle) and bench.has_room(job, middle):
            low = middle
        else:
            high = middle - 1
    return low
