"""Quotas: what each queue may still admit, by the rules of Kueue, of Volcano, or of a plain ResourceQuota.

Queues of Kueue and their cohorts are the nodes of a tree, queues first. What a node keeps for itself is used first;
what goes beyond counts as used in the node above, so that each node knows only what its children take from it.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import quotas

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.core.arrays import Array
    from aiplan.planning.scheduling.machine import Machine, Pod, Truths

RESOURCES = ("gpus", "cpus", "memory")
SLACK = 1e-9
UNLIMITED = (float("inf"),) * len(RESOURCES)
NOTHING = (0.0,) * len(RESOURCES)
MUCH = 2.0**60
"""Stands for no limit where amounts are added up: infinity less infinity is not a number."""

Amounts = tuple[float, ...]
"""GPUs, cores and bytes."""


class Quota(NamedTuple):
    """A queue: its kind, and amounts of `RESOURCES`. Volcano's capability is `nominal`, its guarantee is on GPUs."""

    name: str
    kind: str = "kueue"
    nominal: Amounts = UNLIMITED
    cohort: str = ""
    borrowing: Amounts = UNLIMITED
    lending: Amounts = UNLIMITED
    weight: float = 1.0
    guarantee: float = 0.0


class Cohort(NamedTuple):
    """Queues and cohorts that lend to each other: what it has of its own, and how it lends and borrows above."""

    name: str
    parent: str = ""
    nominal: Amounts = NOTHING
    borrowing: Amounts = UNLIMITED
    lending: Amounts = UNLIMITED
    weight: float = 1.0


@cache
def request_of(pod: Pod, replicas: int) -> Array:
    """Return what pods of one class ask for in all, in the units of quotas."""
    return np.array([pod.milli / 1000.0, pod.cpu / 1000.0, pod.memory]) * replicas


def totals(machine: Machine) -> Array:
    """Return what a machine has, in the units of quotas."""
    return np.array([machine.gpu_count, machine.cpu.sum() / 1000.0, machine.memory.sum()], dtype=float)


class Ledger:
    """What queues use, and what they may still admit."""

    def __init__(self, queues: Sequence[Quota], total: Array, cohorts: Sequence[Cohort] = ()) -> None:
        self.queues, self.total = tuple(queues), total
        known = {cohort.name: cohort for cohort in cohorts}
        for name in [*(queue.cohort for queue in queues), *(cohort.parent for cohort in cohorts)]:
            if name:
                known.setdefault(name, Cohort(name))
        places = {name: len(queues) + index for index, name in enumerate(known)}
        nodes: list[Quota | Cohort] = [*queues, *known.values()]
        above = [*(queue.cohort for queue in queues), *(cohort.parent for cohort in known.values())]
        self.parent = [places.get(name, -1) for name in above]
        self._paths = [self._path(node) for node in range(len(nodes))]
        self.weight = [node.weight for node in nodes]
        own = _table([node.nominal for node in nodes])
        self.limited = np.isfinite(own[: len(queues)])
        self.lending = _table([node.lending for node in nodes])
        self.borrowing = _table([node.borrowing for node in nodes])
        self.quota = np.where(np.isfinite(own), own, MUCH)
        for node in self._upwards():
            if self.parent[node] >= 0:
                self.quota[self.parent[node]] += quotas.lendable(self.quota[node], self.lending[node])
        self.nominal = self.quota[: len(queues)]
        self.kept = self.quota - quotas.lendable(self.quota, self.lending)
        self.usage = np.zeros_like(self.quota)
        self.used = self.usage[: len(queues)]
        self.root = [path[-1] for path in self._paths[: len(queues)]]
        self.asked = np.zeros_like(self.used)
        volcano = [index for index, queue in enumerate(queues) if queue.kind == "volcano"]
        self.volcano = np.array(volcano, dtype=np.intp)
        guarantees = [(queues[index].guarantee, 0.0, 0.0) for index in volcano]
        self._guarantee = _table(guarantees).T
        self._capability = quotas.real_capability(total[:, np.newaxis], self.quota[self.volcano].T, self._guarantee).T
        self._deserved: Array | None = None
        self._open: dict[int, Array] = {}
        self._unlimited = [
            not limited.any() and queue.kind != "volcano" for limited, queue in zip(self.limited, queues, strict=True)
        ]

    def _path(self, node: int) -> list[int]:
        """Return a node and those above it, up to the root of its tree."""
        found = [node]
        while self.parent[found[-1]] >= 0:
            found.append(self.parent[found[-1]])
        return found

    def _upwards(self) -> Iterator[int]:
        """Yield all nodes, each before the one above it."""
        yield from sorted(range(len(self.parent)), key=lambda node: -len(self._paths[node]))

    # What may be admitted

    def available(self, queue: int) -> Array:
        """Return what a queue can still admit of each resource."""
        found = self._open.get(queue)
        if found is None:
            left = np.maximum(self._available(queue, self.usage), 0.0)
            found = self._open[queue] = np.where(self.limited[queue], left, np.inf)
        return found

    def _available(self, node: int, usage: Array) -> Array:
        *below, root = self._paths[node]
        left = self.quota[root] - usage[root]
        for one in reversed(below):
            # What the one above has left is the pool of this one.
            left = quotas.available_quota(self.quota[one], usage[one], self.lending[one], self.borrowing[one], left)
        return np.asarray(left)

    def admits(self, queue: int, request: Array) -> bool:
        """Whether the quota of a queue takes a request."""
        if self._unlimited[queue]:
            return True
        if self.queues[queue].kind == "volcano":
            return self.could_admit(queue, self.used[queue] + request) and not self.overused(queue)
        return bool((request <= self.available(queue) + SLACK).all())

    def could_admit(self, queue: int, request: Array) -> bool:
        """Whether the quota of a queue would take a request if nothing else ran."""
        if self.queues[queue].kind == "volcano":
            most = self._capability[int(np.searchsorted(self.volcano, queue))]
            return bool((request <= most + SLACK).all())
        return self.admits(queue, request)

    def overused(self, queue: int) -> bool:
        """Whether a queue of Volcano has what it deserves of every resource, so that it starts nothing new."""
        if self._deserved is None:
            self._deserved = self._deserve(self.used[self.volcano] + self.asked[self.volcano])
        share = self._deserved[:, int(np.searchsorted(self.volcano, queue))]
        return bool((share <= self.used[queue] + SLACK).all())

    def between(self, queue: int) -> tuple[float, float]:
        """Return the most GPUs that a queue of Volcano can have, and what it deserves if all ask for everything."""
        place = int(np.searchsorted(self.volcano, queue))
        deserved = self._deserve(np.broadcast_to(self.total, self.used[self.volcano].shape))
        return float(self._capability[place, 0]), float(deserved[0, place])

    def _deserve(self, request: Array) -> Array:
        chosen = [self.queues[index] for index in self.volcano]
        weights = np.array([item.weight for item in chosen])
        capability = self.quota[self.volcano].T
        return np.asarray(quotas.deserved(self.total[:, np.newaxis], weights, request.T, capability, self._guarantee))

    # Who borrows

    def shares(self, queue: int, request: Array) -> list[tuple[int, float]]:
        """Return what each node of a queue's path would borrow for its weight with a request; from the root down."""
        found: list[tuple[int, float]] = []
        more = request
        for node in self._paths[queue][:-1]:
            used = self.usage[node] + more
            borrowed = np.maximum(used - self.quota[node], 0.0)
            most = self._available(self.parent[node], np.zeros_like(self.usage))
            share = float(np.max(quotas.fair_share(borrowed, most, self.weight[node])))
            found.append((node, share))
            more = np.maximum(used - self.kept[node], 0.0) - np.maximum(self.usage[node] - self.kept[node], 0.0)
        return found[::-1]

    def lenders_out(self, queue: int, request: Array) -> frozenset[int]:
        """Return the queues from which a request may be reclaimed, as what they use was lent to them.

        A request that fits the quota of its queue takes from whatever borrows in its cohort; one that only fits the
        quota of a cohort above, from what borrows outside of that cohort. Cohorts that stay within their quota are left
        alone with all that is in them.
        """
        found: set[int] = set()
        more, entitled = request, False
        path = self._paths[queue]
        for node, above in pairwise(path):
            entitled |= bool((self.usage[node] + more <= self.quota[node] + SLACK)[more > 0].all())
            more = np.maximum(more - np.maximum(self.kept[node] - self.usage[node], 0.0), 0.0)
            if entitled:
                found |= set(self._borrowers(above, request > 0))
        return frozenset(found)

    def _borrowers(self, cohort: int, which: Truths) -> Iterator[int]:
        for node, above in enumerate(self.parent):
            if above == cohort and (self.usage[node] > self.quota[node] + SLACK)[which].any():
                if node < len(self.queues):
                    yield node
                else:
                    yield from self._borrowers(node, which)

    # What is used

    def take(self, queue: int, request: Array) -> None:
        """Count what has been admitted."""
        self._add(queue, request)
        self._deserved = None
        for other in [other for other in self._open if self.root[other] == self.root[queue]]:
            del self._open[other]

    def give(self, queue: int, request: Array) -> None:
        """Count back what has ended."""
        self.take(queue, -request)

    def _add(self, queue: int, request: Array) -> None:
        for node in self._paths[queue]:
            before = np.maximum(self.usage[node] - self.kept[node], 0.0)
            self.usage[node] += request
            request = np.maximum(self.usage[node] - self.kept[node], 0.0) - before

    def restore(self, usage: Array) -> None:
        """Count as used what was used at another time."""
        self.usage[:] = usage
        self._deserved = None
        self._open.clear()

    def ask(self, queue: int, request: Array) -> None:
        """Count what waits, or with negative amounts no longer waits."""
        self.asked[queue] += request
        self._deserved = None


def _table(rows: Sequence[Amounts]) -> Array:
    return np.array(rows, dtype=float).reshape(len(rows), len(RESOURCES))
