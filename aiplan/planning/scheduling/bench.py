"""The jobs that run: where their pods are, how far they are, and what happens to both when pods come and go."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from aiplan.core import quotas
from aiplan.planning.scheduling.jobs import ANYWHERE, CPU, FRAGMENTED, GANG, GPUS, QUOTA, RACK, REQUIRED, Record
from aiplan.planning.scheduling.ledger import Ledger, request_of, totals
from aiplan.planning.scheduling.state import State
from aiplan.planning.scheduling.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.core.arrays import Array
    from aiplan.planning.scheduling.jobs import Jobs
    from aiplan.planning.scheduling.ledger import Cohort, Quota
    from aiplan.planning.scheduling.machine import Machine, Pod, Truths
    from aiplan.planning.scheduling.state import Devices
    from aiplan.planning.scheduling.strategies import Strategy

    Spot = tuple[int, Devices]
    """A pod's node and the GPUs it has there."""


@dataclass(slots=True)
class Running:
    """A job with pods on nodes. It makes progress once it has enough of them; until then it only holds them."""

    job: int
    spots: list[Spot]
    since: float
    version: int = 0
    working: bool = False
    held_since: float = 0.0
    begun: float = 0.0
    end: float = math.inf
    nodes: set[int] = field(default_factory=set)


class Bench:
    """Nodes, quotas and running jobs, changed together so that they always agree."""

    def __init__(
        self,
        machine: Machine,
        jobs: Jobs,
        queues: Sequence[Quota],
        strategy: Strategy,
        generator: np.random.Generator,
        cohorts: Sequence[Cohort] = (),
    ) -> None:
        self.jobs, self.machine, self.strategy = jobs, machine, strategy
        self.state = State(machine)
        self.tables = Tables(self.state, strategy, generator)
        self.ledger = Ledger(queues, totals(machine), cohorts)
        self.running: dict[int, Running] = {}
        self.resizable: dict[int, Running] = {}
        self.priority: list[int] = jobs.priority.tolist()
        self.queue: list[int] = jobs.queue.tolist()
        self.least: list[int] = jobs.least.tolist()
        self.most: list[int] = jobs.replicas.tolist()
        self.topology: list[int] = jobs.topology.tolist()
        self._pods: list[Pod] = [jobs.classes[kind] for kind in jobs.kind.tolist()]
        self.on_node: dict[int, set[int]] = {}
        self.records = [Record() for _ in range(jobs.size)]
        self.remaining = jobs.duration.astype(float).copy()
        self.busy = 0
        self._domains = int(machine.domain.max(initial=-1)) + 1
        self._many_domains = self._domains > 1

    def pod(self, job: int) -> Pod:
        """Return the class of a job's pods."""
        return self._pods[job]

    def request(self, job: int, pods: int) -> Array:
        """Return what so many of a job's pods ask for."""
        return request_of(self.pod(job), pods)

    # Whether a gang fits

    def fits(self, job: int, pods: int) -> bool:
        """Whether so many pods of a job can be placed now."""
        enough = self.state.idle >= self.pod(job).milli * pods
        return enough and self.admitted(job, pods) and self.has_room(job, pods)

    def has_room(self, job: int, pods: int) -> bool:
        """Whether the nodes have room for so many pods of a job."""
        pod = self.pod(job)
        if self.tables.of(pod).total < pods:
            return False
        return self.topology[job] != REQUIRED or bool(self._domain_room(pod).max(initial=0) >= pods)

    def admitted(self, job: int, pods: int) -> bool:
        """Whether the quota of a job's queue takes so many of its pods."""
        return self.ledger.admits(self.queue[job], self.request(job, pods))

    def obstacle(self, job: int, pods: int) -> str:
        """Return why so many pods of a job cannot be placed now, or nothing if they can."""
        if not self.admitted(job, pods):
            return QUOTA
        if self.fits(job, pods):
            return ""
        pod = self.pod(job)
        room = self.tables.of(pod).total
        if room >= pods:
            return RACK
        allowed = np.flatnonzero(self.tables.of(pod).allowed & self.state.up)
        if int(self.state.milli_left[allowed].sum()) < pod.milli * pods:
            return GPUS
        if int(self.state.room(pod._replace(cpu=0, memory=0), allowed).sum()) >= pods:
            return CPU
        return GANG if room else FRAGMENTED

    def _domain_room(self, pod: Pod) -> Array:
        return np.asarray(np.bincount(self.machine.domain, self.tables.of(pod).room, self._domains), dtype=float)

    # Placing and releasing

    def start(self, job: int, pods: int, now: float) -> Running:
        """Place pods of a job that is known to fit, all of them."""
        running = self.running.get(job) or self.hold(job, now)
        for within, count in self._shares(job, pods):
            for _ in range(count):
                self.add_pod(running, within)
        return running

    def hold(self, job: int, now: float) -> Running:
        """Begin to give pods to a job."""
        running = Running(job, [], now, held_since=now)
        self.running[job] = running
        if self.least[job] < self.most[job]:
            self.resizable[job] = running
        return running

    def forget(self, running: Running) -> None:
        """Take all pods of a job away, and the job with them."""
        self.drop_pods(running, list(running.spots))
        del self.running[running.job]
        self.resizable.pop(running.job, None)

    def add_pod(self, running: Running, within: Truths | None = None) -> bool:
        """Place one more pod of a job, if there is a place."""
        job = running.job
        pod = self.pod(job)
        spot = self.tables.put(pod, within)
        if spot is None:
            return False
        self._keep(running, spot)
        return True

    def _keep(self, running: Running, spot: Spot) -> None:
        pod = self.pod(running.job)
        running.spots.append(spot)
        running.nodes.add(spot[0])
        self.on_node.setdefault(spot[0], set()).add(running.job)
        self.ledger.take(self.queue[running.job], request_of(pod, 1))
        self.busy += pod.milli

    def drop_pods(self, running: Running, spots: Sequence[Spot]) -> None:
        """Take pods of a job away."""
        pod = self.pod(running.job)
        for spot in spots:
            self.state.release(pod, *spot)
        if len(spots) == len(running.spots):
            running.spots = []
        else:
            for spot in spots:
                running.spots.remove(spot)
        running.nodes = {node for node, _ in running.spots}
        for node in {node for node, _ in spots} - running.nodes:
            self.on_node[node].discard(running.job)
        self.ledger.give(self.queue[running.job], request_of(pod, len(spots)))
        self.busy -= pod.milli * len(spots)

    def put_back(self, running: Running, spots: Sequence[Spot]) -> None:
        """Place pods again where they were."""
        pod = self.pod(running.job)
        for spot in spots:
            self.state.place(pod, *spot)
            self._keep(running, spot)

    def _shares(self, job: int, pods: int) -> list[tuple[Truths | None, int]]:
        """Return how many pods go to which domain; anywhere if the topology does not matter."""
        wish = self.topology[job]
        if not self._many_domains or (wish == ANYWHERE and not self.strategy.by_domain):
            return [(None, pods)]
        taken = quotas.tightest_domains(self._domain_room(self.pod(job)), pods)
        return [(self.machine.domain == domain, int(taken[domain])) for domain in np.flatnonzero(taken)]
