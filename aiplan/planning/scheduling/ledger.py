"""Quotas: what each queue may still admit, by the rules of Kueue, of Volcano, or of a plain ResourceQuota."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import quotas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.core.arrays import Array
    from aiplan.planning.scheduling.machine import Pod

RESOURCES = ("gpus", "cpus", "memory")
SLACK = 1e-9
UNLIMITED = (float("inf"),) * len(RESOURCES)
MUCH = 2.0**60
"""Stands for no limit where amounts are added up: infinity less infinity is not a number."""

Amounts = tuple[float, ...]
"""GPUs, cores and bytes."""


class Quota(NamedTuple):
    """A queue: its kind, and amounts of `RESOURCES`. Volcano's weight, capability and guarantee are on GPUs."""

    name: str
    kind: str = "kueue"
    nominal: Amounts = UNLIMITED
    cohort: str = ""
    borrowing: Amounts = UNLIMITED
    lending: Amounts = UNLIMITED
    weight: float = 1.0
    guarantee: float = 0.0


@cache
def request_of(pod: Pod, replicas: int) -> Array:
    """Return what pods of one class ask for in all, in the units of quotas."""
    return np.array([pod.milli / 1000.0, pod.cpu / 1000.0, pod.memory]) * replicas


class Ledger:
    """What queues use, and what they may still admit."""

    def __init__(self, queues: Sequence[Quota], gpus: float) -> None:
        self.queues = tuple(queues)
        self.gpus = gpus
        cohorts = [queue.cohort or f"/{index}" for index, queue in enumerate(queues)]
        self.cohort = np.array([cohorts.index(name) for name in cohorts])
        alone = np.array([[not queue.cohort] for queue in queues])
        nominal = _table([queue.nominal for queue in queues])
        self.limited = np.isfinite(nominal)
        self.nominal = np.where(self.limited, nominal, MUCH)
        self.lending = _table([queue.lending for queue in queues])
        self.borrowing = np.where(alone, 0.0, _table([queue.borrowing for queue in queues]))
        self.lent = quotas.lendable(self.nominal, self.lending)
        self.kept = self.nominal - self.lent
        self.used = np.zeros_like(self.nominal)
        self.asked = np.zeros(len(queues))
        volcano = [index for index, queue in enumerate(queues) if queue.kind == "volcano"]
        self.volcano = np.array(volcano, dtype=np.intp)
        self._deserved: Array | None = None
        self._open: dict[int, Array] = {}
        self._unlimited = [
            not limited.any() and queue.kind != "volcano" for limited, queue in zip(self.limited, queues, strict=True)
        ]

    def available(self, queue: int) -> Array:
        """Return what a queue can still admit of each resource."""
        found = self._open.get(queue)
        if found is None:
            members = self.cohort == self.cohort[queue]
            beyond = np.maximum(self.used[members] - self.kept[members], 0.0)
            pool = self.lent[members].sum(axis=0) - beyond.sum(axis=0)
            left = quotas.available_quota(
                self.nominal[queue], self.used[queue], self.lending[queue], self.borrowing[queue], pool
            )
            found = self._open[queue] = np.where(self.limited[queue], left, np.inf)
        return found

    def admits(self, queue: int, request: Array) -> bool:
        """Whether the quota of a queue takes a request."""
        if self._unlimited[queue]:
            return True
        if self.queues[queue].kind == "volcano":
            room = self._capability(queue) - self.used[queue, 0]
            return bool(request[0] <= room + SLACK) and not self.overused(queue)
        return bool((request <= self.available(queue) + SLACK).all())

    def could_admit(self, queue: int, request: Array) -> bool:
        """Whether the quota of a queue would take a request if nothing else ran."""
        if self.queues[queue].kind == "volcano":
            return bool(request[0] <= self._capability(queue) + SLACK)
        return self.admits(queue, request)

    def overused(self, queue: int) -> bool:
        """Whether a queue of Volcano has what it deserves, so that it starts nothing new."""
        if self._deserved is None:
            chosen = [self.queues[index] for index in self.volcano]
            self._deserved = quotas.deserved(
                self.gpus,
                np.array([item.weight for item in chosen]),
                self.used[self.volcano, 0] + self.asked[self.volcano],
                self.nominal[self.volcano, 0],
                np.array([item.guarantee for item in chosen]),
            )
        share = float(self._deserved[int(np.searchsorted(self.volcano, queue))])
        return share <= float(self.used[queue, 0]) + SLACK

    def _capability(self, queue: int) -> float:
        guarantees = np.array([self.queues[index].guarantee for index in self.volcano])
        most = quotas.real_capability(self.gpus, self.nominal[self.volcano, 0], guarantees)
        return float(most[int(np.searchsorted(self.volcano, queue))])

    def borrows(self, queue: int) -> bool:
        """Whether a queue uses more than its own quota."""
        return bool((self.used[queue] > self.nominal[queue] + SLACK).any())

    def within(self, queue: int, request: Array) -> bool:
        """Whether a queue stays within its own quota with a request."""
        return bool((self.used[queue] + request <= self.nominal[queue] + SLACK).all())

    def borrowers(self, queue: int) -> frozenset[int]:
        """Return the other queues of a queue's cohort that use more than their own quota."""
        others = np.flatnonzero(self.cohort == self.cohort[queue]).tolist()
        return frozenset(other for other in others if other != queue and self.borrows(other))

    def _changed(self, queue: int) -> None:
        self._deserved = None
        for other in [other for other in self._open if self.cohort[other] == self.cohort[queue]]:
            del self._open[other]

    def take(self, queue: int, request: Array) -> None:
        """Count what has been admitted."""
        self.used[queue] += request
        self._changed(queue)

    def give(self, queue: int, request: Array) -> None:
        """Count back what has ended."""
        self.used[queue] -= request
        self._changed(queue)

    def restore(self, used: Array) -> None:
        """Count as used what was used at another time."""
        self.used[:] = used
        self._deserved = None
        self._open.clear()

    def ask(self, queue: int, gpus: float) -> None:
        """Count GPUs that wait, or with a negative number no longer wait."""
        self.asked[queue] += gpus
        self._deserved = None


def _table(rows: Sequence[Amounts]) -> Array:
    return np.array(rows, dtype=float).reshape(len(rows), len(RESOURCES))
