"""Fragmentation: how much of what is idle the pods that are typical here cannot use (FGD)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core import placement
from aiplan.planning.scheduling.machine import MILLI, Pod

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from aiplan.core.arrays import Array
    from aiplan.planning.scheduling.machine import Ints
    from aiplan.planning.scheduling.state import Devices, State

COVERAGE = 0.95
"""Share of all pods that typical pods stand for."""


def typical_pods(counts: Mapping[Pod, int], coverage: float = COVERAGE) -> list[tuple[Pod, float]]:
    """Return the most common pods with their shares, as many as it takes to cover most; shares add up to one.

    Memory plays no part in fragments, so pods that differ in memory only are one.
    """
    merged: dict[Pod, int] = {}
    for pod, count in counts.items():
        plain = pod._replace(memory=0)
        merged[plain] = merged.get(plain, 0) + count
    order = sorted(merged.items(), key=lambda item: (-item[1], item[0]))
    total = sum(counts.values())
    chosen: list[tuple[Pod, int]] = []
    for pod, count in order:
        if sum(known for _, known in chosen) >= coverage * total:
            break
        chosen.append((pod, count))
    covered = sum(count for _, count in chosen)
    return [(pod, count / covered) for pod, count in chosen]


class Typical:
    """Typical pods as arrays, and the scores that follow from them.

    Pods with GPUs of one size and number are a group: they differ by their cores only, so that it is enough to know
    which share of a group has cores enough. What a GPU with so much left adds to the sums of its node stands in a
    table: what is idle, and for each group what is too small for it and whether it fits. A placement changes the sums
    of one node by the rows of the GPUs it takes.
    """

    def __init__(self, pods: Sequence[tuple[Pod, float]]) -> None:
        self.pods = [pod for pod, _ in pods]
        self.share = np.array([share for _, share in pods])
        alike = [(pod.each, pod.gpus, pod.pools) for pod in self.pods]
        self.groups = sorted({key for key in alike if key[1]})
        self.gpus = np.array([float(gpus) for _, gpus, _ in self.groups])
        self.cpu = np.array(sorted({pod.cpu for pod in self.pods}), dtype=np.int64)
        self.enough = np.zeros((self.cpu.size + 1, len(self.groups)))
        for pod, key, share in zip(self.pods, alike, self.share, strict=True):
            if pod.gpus:
                self.enough[np.searchsorted(self.cpu, pod.cpu) + 1 :, self.groups.index(key)] += share
        left = np.arange(MILLI + 1)[:, np.newaxis]
        short = left < np.array([each for each, *_ in self.groups], dtype=np.int64)
        self.rows: Array = np.concatenate([left, np.where(short, left, 0), ~short], axis=1).astype(np.float64)
        self._changes: dict[int, Array] = {}
        self._sums: _Sums | None = None

    def of(self, state: State) -> Array:
        """Return the expected fragments of all nodes as they are, in thousandths of a GPU."""
        known = self._current(state)
        return self.expected(known.sums, state.cpu_left, known.allowed)

    def expected(self, sums: Array, cpu_left: Ints, allowed: NDArray[np.bool_] | None) -> Array:
        """Return the expected fragments of nodes: as `placement.fragment`, weighted by shares and added up."""
        last = 1 + len(self.groups)
        runs = sums[:, last:] >= self.gpus
        if allowed is not None:
            runs &= allowed
        usable = (sums[:, :1] - sums[:, 1:last]) * runs
        share = self.enough[self.cpu.searchsorted(cpu_left, side="right")]
        return np.asarray(sums[:, 0] - np.einsum("ij,ij->i", usable, share))

    def score(self, state: State, pod: Pod, nodes: Ints) -> NDArray[np.int64]:
        """Return the scores of nodes on which a pod fits: those of the best GPU of each."""
        known = self._current(state)
        if not pod.shared:
            change = np.broadcast_to(pod.gpus * (self.rows[0] - self.rows[MILLI]), (nodes.size, self.rows.shape[1]))
            return known.scores(nodes, np.arange(nodes.size), change, pod)
        left = np.sort(state.gpu_left[nodes], axis=1)
        other = np.ones(left.shape, dtype=bool)  # GPUs with as much left are as good
        np.not_equal(left[:, 1:], left[:, :-1], out=other[:, 1:])
        where, which = np.nonzero((left >= pod.each) & other)
        scores = known.scores(nodes, where, self._change(pod.each)[left[where, which]], pod)
        first = np.ones(where.size, dtype=bool)
        np.not_equal(where[1:], where[:-1], out=first[1:])
        return np.maximum.reduceat(scores, np.flatnonzero(first))

    def best_device(self, state: State, pod: Pod, node: int) -> Devices:
        """Return the GPU of a node on which a shared pod leaves the least fragments; equal ones: the first."""
        left = state.gpu_left[node]
        devices = np.flatnonzero(left >= pod.each)
        change = self._change(pod.each)[left[devices]]
        here = np.zeros(devices.size, dtype=np.int64)
        return (int(devices[self._current(state).scores(np.array([node]), here, change, pod).argmax()]),)

    def _change(self, each: int) -> Array:
        """Return by how much the sums of a node change if so much is taken from a GPU, by what is left on it."""
        found = self._changes.get(each)
        if found is None:
            found = self._changes[each] = self.rows[np.maximum(np.arange(MILLI + 1) - each, 0)] - self.rows
        return found

    def _current(self, state: State) -> _Sums:
        if self._sums is None or self._sums.state is not state:
            self._sums = _Sums(self, state)
        self._sums.refresh()
        return self._sums


class _Sums:
    """Sums of all nodes of a state, brought up to date for the nodes that changed only."""

    def __init__(self, typical: Typical, state: State) -> None:
        self.typical, self.state = typical, state
        limited = any(pod.pools for pod in typical.pods)
        pods = [Pod(pools=pools) for *_, pools in typical.groups]
        self.allowed = np.stack([state.machine.allowed(pod) for pod in pods], axis=-1) if limited and pods else None
        self.sums = typical.rows[state.gpu_left].sum(axis=1)
        self.seen = len(state.log)

    def refresh(self) -> None:
        """Take account of what changed since the last time."""
        log = self.state.log
        if self.seen < len(log):
            nodes = np.array(log[self.seen :], dtype=np.int64)
            self.seen = len(log)
            self.sums[nodes] = self.typical.rows[self.state.gpu_left[nodes]].sum(axis=1)

    def scores(self, nodes: Ints, where: Ints, change: Array, pod: Pod) -> NDArray[np.int64]:
        """Return the scores of ways to place a pod, each on the node at a place in a list, from the change of sums."""
        now, cpu = self.sums[nodes], self.state.cpu_left[nodes]
        sums = np.concatenate([now, now[where] + change])
        left = np.concatenate([cpu, cpu[where] - pod.cpu])
        both = None if self.allowed is None else self.allowed[np.concatenate([nodes, nodes[where]])]
        expected = self.typical.expected(sums, left, both)
        found = placement.fragmentation_score(expected[: nodes.size][where], expected[nodes.size :])
        return np.asarray(found, dtype=np.int64)
