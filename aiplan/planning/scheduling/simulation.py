"""Jobs over time, event by event: submitted, started, finished, preempted, resized, failed.

Deterministic: events of one time are handled in the order finish, repair, failure, time-out, submission, each by
number; jobs are tried by priority, then by the time they were queued, then by number.
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core.quotas import requeue_delay
from aiplan.planning.scheduling.bench import Bench, Running
from aiplan.planning.scheduling.fair import Entry, fairest
from aiplan.planning.scheduling.jobs import NEVER, ORDER, STRICT, Policy, impossible
from aiplan.planning.scheduling.making_room import make_room, shrink_for
from aiplan.planning.scheduling.reserving import earliest_start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.scheduling.jobs import Jobs
    from aiplan.planning.scheduling.ledger import Cohort, Quota
    from aiplan.planning.scheduling.machine import Machine
    from aiplan.planning.scheduling.strategies import Strategy

FINISH, REPAIR, FAIL, TIMEOUT, SUBMIT = range(5)
"""Kinds of events, in the order in which those of one time are handled; `_handlers` has the same order."""
LOOK_AHEAD = 100
"""Jobs of one shape among which one is looked for that ends before a reservation."""
JITTER = 1e-4
"""Largest share that is added to the time after which an evicted job is queued again, so that ties come undone."""

Shape = tuple[int, int, int, int, int, bool]
"""Jobs that fit or do not fit alike: class of pods, pods, queue, priority, topology, and whether they preempt."""
Head = tuple[int, float, int, Shape]
"""The first job of a shape: its priority with a minus, when it was queued, its number, and the shape."""


class Deadlock(NamedTuple):
    """Jobs that hold pods and wait for more, while nothing else will ever end: since when, jobs, GPUs they hold."""

    time: float
    jobs: tuple[int, ...]
    gpus: float


class Simulation:
    """One run. `step` handles all events of one time; `run` all there are, or those before the horizon."""

    def __init__(
        self,
        machine: Machine,
        jobs: Jobs,
        queues: Sequence[Quota],
        strategy: Strategy,
        policy: Policy | None = None,
        seed: int = 0,
        cohorts: Sequence[Cohort] = (),
    ) -> None:
        self.policy = policy or Policy()
        self.generator = np.random.default_rng(seed)
        self.bench = Bench(machine, jobs, queues, strategy, self.generator, cohorts)
        self.jobs, self.records = jobs, self.bench.records
        self.now = 0.0
        self.timeline: list[tuple[float, int]] = []
        self.lost_capacity = 0.0
        self.busy_time = 0.0
        self.unfinished = jobs.size
        self.deadlock: Deadlock | None = None
        self._kind: list[int] = jobs.kind.tolist()
        self._preempts: list[bool] = jobs.preempts.tolist()
        self._stopped_at = [math.nan] * jobs.size
        self._handlers = (self._finish, self._repair, self._fail, self._time_out, self._submit)
        self._reserved = (-1, math.inf)
        self._lengths = [float(jobs.duration[job]) / jobs.speed(job, self._needed(job)) for job in range(jobs.size)]
        self._versions = [0] * jobs.size
        self._waiting: dict[Shape, list[tuple[float, int]]] = {}
        self._partial: dict[int, None] = {}
        self._fresh: set[Shape] = set()
        self._freed = False
        self.never = impossible(jobs, self.bench, [self._needed(job) for job in range(jobs.size)])
        self._events: list[tuple[float, int, int, int]] = []
        for job, time in enumerate(jobs.submit.tolist()):
            if job in self.never:
                self.records[job].reason = self.records[job].first_reason = NEVER
                self.records[job].queued_at = time
                self.unfinished -= 1
            else:
                self._events.append((time, SUBMIT, job, 0))
        heapq.heapify(self._events)
        self._pending = len(self._events)
        """Events but for failures: when there are none, nothing will ever end or start."""
        self._schedule_failures()

    # The loop

    def run(self) -> Simulation:
        """Handle all events up to the horizon."""
        while self.unfinished and self._pending and self._events[0][0] <= self.policy.horizon:
            self.step()
        self._see_deadlock()
        if math.isfinite(self.policy.horizon):
            self._advance(self.policy.horizon)
        return self

    def step(self) -> None:
        """Handle all events of the next time, then start what can be started."""
        self._advance(self._events[0][0])
        while self._events and self._events[0][0] == self.now:
            _, kind, which, version = heapq.heappop(self._events)
            self._pending -= kind != FAIL
            self._handlers[kind](which, version)
        self._start_what_fits()
        self._note_use()

    def _advance(self, time: float) -> None:
        self.busy_time += (time - self.now) * self.bench.busy / 1000.0
        down = self.bench.machine.gpus[~self.bench.state.up].sum() if self.policy.failures.repair else 0
        self.lost_capacity += (time - self.now) * float(down)
        self.now = time

    def _note_use(self) -> None:
        """Note from when on how many thousandths of GPUs are in use."""
        if self.timeline and self.timeline[-1][0] == self.now:
            self.timeline.pop()
        if not self.timeline or self.timeline[-1][1] != self.bench.busy:
            self.timeline.append((self.now, self.bench.busy))

    def _push(self, time: float, kind: int, which: int, version: int = 0) -> None:
        heapq.heappush(self._events, (time, kind, which, version))
        self._pending += kind != FAIL

    # Events

    def _submit(self, job: int, _: int) -> None:
        record = self.records[job]
        record.queued_at = self.now
        if self._counts_as_gang(job):
            self._enqueue(job)
        else:
            self._partial[job] = None
            self._freed = True
            self._ask(job, self.bench.most[job])

    def _ask(self, job: int, pods: int) -> None:
        """Count pods that a job waits for, or with a negative number no longer waits for."""
        self.bench.ledger.ask(self.bench.queue[job], self.bench.request(job, pods))

    def _finish(self, job: int, version: int) -> None:
        running = self.bench.running.get(job)
        if running is None or running.version != version or not running.working:
            return
        self._progress(running)
        record = self.records[job]
        record.ended = self.now
        self.bench.remaining[job] = 0.0
        self.unfinished -= 1
        self._vacate(running)

    def _repair(self, node: int, _: int) -> None:
        self.bench.state.set_up(node, up=True)
        self._freed = True
        self._push(self.now + self.generator.exponential(self.policy.failures.between), FAIL, node)

    def _fail(self, node: int, _: int) -> None:
        self.bench.state.set_up(node, up=False)
        self._push(self.now + self.policy.failures.repair, REPAIR, node)
        for job in sorted(self.bench.on_node.get(node, ())):
            running = self.bench.running[job]
            self.records[job].failed += 1
            gone = [spot for spot in running.spots if spot[0] == node]
            left = len(running.spots) - len(gone)
            if running.working and self.policy.elastic and self._elastic(job) and left >= self.bench.least[job]:
                self._lose_progress(running)
                self.bench.drop_pods(running, gone)
                self.bench.drop_pods(running, running.spots[self.jobs.useful(job, left) :])
                self._resume(running)
            elif running.working:
                self.stop(job)
            else:
                self._ask(job, len(gone))
                self.bench.drop_pods(running, gone)
            self._freed = True

    def _time_out(self, job: int, version: int) -> None:
        running = self.bench.running.get(job)
        if running is None or running.working or running.version != version:
            return
        record = self.records[job]
        self._ask(job, len(running.spots) - self.bench.most[job])
        self._vacate(running)
        self._partial.pop(job, None)
        jitter = 1.0 + JITTER * self.generator.random()
        self._push(self.now + float(requeue_delay(record.evicted)) * jitter, SUBMIT, job)
        record.evicted += 1

    def _schedule_failures(self) -> None:
        between = self.policy.failures.between
        if math.isfinite(between):
            for node, time in enumerate(self.generator.exponential(between, self.bench.machine.size).tolist()):
                self._push(time, FAIL, node)

    # Starting

    def _counts_as_gang(self, job: int) -> bool:
        return self.bench.most[job] == 1 or (self.policy.gang and bool(self.jobs.gang[job]))

    def _elastic(self, job: int) -> bool:
        return job in self.bench.resizable

    def _needed(self, job: int) -> int:
        return self.bench.least[job] if self.policy.elastic else self.bench.most[job]

    def _shape(self, job: int) -> Shape:
        bench = self.bench
        size = (self._kind[job], self._needed(job), bench.queue[job])
        return (*size, bench.priority[job], bench.topology[job], self._preempts[job])

    def _enqueue(self, job: int) -> None:
        shape = self._shape(job)
        heapq.heappush(self._waiting.setdefault(shape, []), (self.records[job].queued_at, job))
        self._fresh.add(shape)
        self._ask(job, self._needed(job))

    def _start_what_fits(self) -> None:
        """Try the first job of every shape, in order; one that does not fit stands for all of its shape.

        If nothing was freed since the last time, only shapes with new jobs need to be tried.
        """
        tried = set(self._waiting) if self._freed or self._guards() else self._fresh
        self._fresh, self._freed = set(), False
        heads = [(-shape[3], *self._waiting[shape][0], shape) for shape in tried if shape in self._waiting]
        heapq.heapify(heads)
        shut: set[int] = set()
        until = math.inf
        while heads:
            _, queued, job, shape = self._next(heads)
            if shape[2] in shut:
                self._note(job, ORDER)
                continue
            chosen = job if until == math.inf or self._ends(job) <= until else self._in_time(shape, until)
            if chosen is not None and self._try(chosen):
                if shape in self._waiting:
                    heapq.heappush(heads, (-shape[3], *self._waiting[shape][0], shape))
                continue
            self._note(job, "" if until == math.inf else ORDER)
            if until == math.inf and self.now - queued >= self.policy.guard:
                until = self._reserve(job)
            if self.policy.queueing == STRICT:
                shut.add(shape[2])
        if self._partial:
            self._fill_partial()
        if self.policy.elastic and not self._waiting and not self._partial:
            self._grow()

    def _next(self, heads: list[Head]) -> Head:
        """Take out the head that goes first."""
        if not self.policy.fair:
            return heapq.heappop(heads)
        ledger, bench = self.bench.ledger, self.bench
        entries = []
        for head in heads:
            queue = head[3][2]
            shares = ledger.shares(queue, bench.request(head[2], head[3][1]))
            entries.append(Entry(head[:3], ledger.root[queue], shares))
        return heads.pop(entries.index(fairest(entries)))

    def _in_time(self, shape: Shape, until: float) -> int | None:
        """Return the first job of a shape, not its head, that would end in time; None if none fits or would."""
        waiting = self._waiting[shape]
        if not self.bench.fits(waiting[0][1], shape[1]):
            return None
        return next((job for _, job in heapq.nsmallest(LOOK_AHEAD, waiting) if self._ends(job) <= until), None)

    def _ends(self, job: int) -> float:
        """Return when a job would end if it were started now."""
        if math.isnan(self._stopped_at[job]):
            return self.now + self._lengths[job]
        speed = self.jobs.speed(job, self._needed(job))
        return self.now + self.policy.resize + float(self.bench.remaining[job]) / speed

    def _reserve(self, job: int) -> float:
        """Return the time at which a job that has waited long enough can start; nothing is started that ends later.

        What is let past does not put it off, so the time holds until it has come, or another job is the first.
        """
        if self._reserved[0] != job or self._reserved[1] <= self.now:
            self._reserved = (job, earliest_start(self.bench, job, self._needed(job)))
        return self._reserved[1] if math.isfinite(self._reserved[1]) else self.now

    def _guards(self) -> bool:
        """Whether an order must be kept for which all that wait have to be looked at."""
        return self.policy.queueing == STRICT or math.isfinite(self.policy.guard)

    def _note(self, job: int, reason: str) -> None:
        """Note what is in the way of a job, once: looking for it takes longer than trying."""
        record = self.records[job]
        if not record.first_reason:
            record.first_reason = reason or self.bench.obstacle(job, self._needed(job))

    def _try(self, job: int) -> bool:
        """Start a job if it fits, or if room can be made for it; whether it was started."""
        pods, policy = self._needed(job), self.policy
        if not (
            self.bench.fits(job, pods)
            or (policy.elastic and shrink_for(self, job, pods))
            or (self._may_preempt(job) and make_room(self, job, pods))
        ):
            return False
        self._dequeue(job)
        self._begin(self.bench.start(job, pods, self.now))
        return True

    def _may_preempt(self, job: int) -> bool:
        """Whether a job may stop others: not if it was itself stopped right now, so that this comes to an end."""
        return self.policy.preemption and self._preempts[job] and self._stopped_at[job] != self.now

    def _dequeue(self, job: int) -> None:
        shape = self._shape(job)
        heap = self._waiting[shape]
        if heap[0][1] == job:
            heapq.heappop(heap)
        else:
            heap.remove((self.records[job].queued_at, job))
            heapq.heapify(heap)
        if not heap:
            del self._waiting[shape]
        self._ask(job, -self._needed(job))

    def _begin(self, running: Running) -> None:
        """Let a job work that has the pods to start with."""
        record = self.records[running.job]
        again = not math.isnan(record.started)
        if not again:
            record.started = self.now
        record.waited += self.now - record.queued_at
        record.reason = ""
        running.begun = self.now
        self._resume(running, paid=not again)

    def _resume(self, running: Running, *, paid: bool = False) -> None:
        """Let a job go on with the pods it has now, after the time that a restart takes unless that is paid."""
        job = running.job
        running.working = True
        running.version = self._next_version(job)
        running.since = self.now + (0.0 if paid else self.policy.resize)
        rate = self.jobs.speed(job, len(running.spots))
        self.records[job].nodes = tuple(sorted(running.nodes))
        running.end = running.since + float(self.bench.remaining[job]) / rate
        self._push(running.end, FINISH, job, running.version)

    def _next_version(self, job: int) -> int:
        """Return a number for what is due to end; events with an earlier number of the same job are out of date."""
        self._versions[job] += 1
        return self._versions[job]

    def _fill_partial(self) -> None:
        """Give pods one by one to jobs that are no gangs, those queued at one time in turn."""
        order = sorted(self._partial, key=lambda job: (-self.bench.priority[job], self.records[job].queued_at, job))
        groups: dict[tuple[int, float], list[int]] = {}
        for job in order:
            groups.setdefault((self.bench.priority[job], self.records[job].queued_at), []).append(job)
        for members in groups.values():
            while members:
                members = [job for job in members if self._one_more(job)]  # noqa: PLW2901  those that still take some

    def _one_more(self, job: int) -> bool:
        """Give a job one more pod; whether it can take another one after that."""
        if not self.bench.fits(job, 1):
            self._note(job, "")
            return False
        running = self.bench.running.get(job) or self.bench.hold(job, self.now)
        if not running.spots:
            running.held_since = self.now
            running.version = self._next_version(job)
            if math.isfinite(self.policy.ready_timeout):
                self._push(self.now + self.policy.ready_timeout, TIMEOUT, job, running.version)
        self.records[job].held -= self._pod_gpus(job) * self.now  # completed once the job works or gives up
        self.bench.add_pod(running)
        self._ask(job, -1)
        if len(running.spots) < self.bench.most[job]:
            return True
        self.records[job].held += self._pod_gpus(job) * self.now * len(running.spots)
        del self._partial[job]
        self._begin(running)
        return False

    def _pod_gpus(self, job: int) -> float:
        return self.bench.pod(job).milli / 1000.0

    def _grow(self) -> None:
        """Give idle GPUs to elastic jobs, as nothing waits: highest priority first, then the earliest."""
        bench = self.bench
        small = [
            job for job, running in bench.resizable.items() if running.working and len(running.spots) < bench.most[job]
        ]
        for job in sorted(small, key=lambda job: (-bench.priority[job], self.records[job].started, job)):
            running = bench.running[job]
            room = bench.most[job] - len(running.spots)
            while room > 0 and not self.bench.fits(job, room):
                room -= 1
            room = self.jobs.useful(job, len(running.spots) + room) - len(running.spots)
            if room > 0:
                at_start = running.begun == self.now
                self._progress(running)
                self.bench.start(job, room, self.now)
                self.records[job].resized += not at_start
                self._resume(running, paid=at_start)

    # What waits

    def waiting(self) -> list[int]:
        """Return the jobs that wait, those that hold some pods without working among them."""
        queued = [job for heap in self._waiting.values() for _, job in heap]
        never = [
            job
            for job, record in enumerate(self.records)
            if record.first_reason == NEVER and record.queued_at <= self.now
        ]
        return [*queued, *self._partial, *never]

    def reason(self, job: int) -> str:
        """Return why a job waits now."""
        if job in self.never:
            return self.never[job]
        if job in self._partial:
            return self.bench.obstacle(job, 1) or ORDER
        return self.bench.obstacle(job, self._needed(job)) or ORDER

    # Stopping

    def _progress(self, running: Running) -> None:
        """Count what a job has done since the last time."""
        job, pods = running.job, len(running.spots)
        elapsed = max(self.now - running.since, 0.0)
        self.bench.remaining[job] -= elapsed * self.jobs.speed(job, pods)
        self.records[job].segments.append((min(running.since, self.now), self.now, pods))
        running.since = max(self.now, running.since)

    def _lose_progress(self, running: Running) -> None:
        """Count what a job has done, less what was done after its last checkpoint."""
        self._progress(running)
        job = running.job
        done = float(self.jobs.duration[job] - self.bench.remaining[job])
        every = float(self.jobs.checkpoint[job])
        lost = done % every if math.isfinite(every) and every > 0 else done if every > 0 else 0.0
        self.bench.remaining[job] += lost
        self.records[job].lost += lost * float(self._pod_gpus(job)) * int(self.jobs.replicas[job])

    def stop(self, job: int) -> None:
        """Stop a job that works; it waits again, with what its last checkpoint holds."""
        running = self.bench.running[job]
        self._lose_progress(running)
        self._vacate(running)
        self._stopped_at[job] = self.now
        self._push(self.now, SUBMIT, job)

    def resize(self, job: int, spots: Sequence[tuple[int, tuple[int, ...]]]) -> None:
        """Take pods away from an elastic job, which goes on with the rest."""
        running = self.bench.running[job]
        self._progress(running)
        self.bench.drop_pods(running, spots)
        self.records[job].resized += 1
        self._resume(running)

    def _vacate(self, running: Running) -> None:
        if not running.working:
            self.records[running.job].held += self._pod_gpus(running.job) * self.now * len(running.spots)
        self.bench.forget(running)
        self._freed = True

    def _see_deadlock(self) -> None:
        """Note jobs that hold pods in vain, if nothing is left that could end."""
        holding = [job for job, running in self.bench.running.items() if not running.working]
        if holding and not any(running.working for running in self.bench.running.values()) and not self._pending:
            gpus = sum(self._pod_gpus(job) * len(self.bench.running[job].spots) for job in holding)
            self.deadlock = Deadlock(self.now, tuple(sorted(holding)), gpus)
