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
    from aiplan.planning.scheduling.machine import Ints, Machine
    from aiplan.planning.scheduling.state import Devices, State

NOTHING = Pod()
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
    """Typical pods as tables, and the scores that follow from them.

    What a node offers them is a sum: over its GPUs, what is left on each times the share of pods of one GPU that it is
    enough for, and for pods of several GPUs the whole ones times the share for which they are enough. Both depend on
    the cores that are left, so that a table by cores and by what is left on a GPU, and one by cores and whole GPUs,
    give the fragments of a node; a placement changes one or a few entries of the sum.
    """

    def __init__(self, pods: Sequence[tuple[Pod, float]]) -> None:
        self.pods = [pod for pod, _ in pods]
        self.share = np.array([share for _, share in pods])
        self.cpu = np.array(sorted({pod.cpu for pod in self.pods}), dtype=np.int64)
        self._tables: _Tables | None = None

    def of(self, state: State) -> Array:
        """Return the expected fragments of all nodes as they are, in thousandths of a GPU."""
        return self._of(state).expected(state, np.arange(state.machine.size))

    def score(self, state: State, pod: Pod, nodes: Ints) -> NDArray[np.int64]:
        """Return the scores of nodes on which a pod fits: those of the best GPU of each."""
        tables = self._of(state)
        before = tables.expected(state, nodes)
        if not pod.shared:
            return _whole(placement.fragmentation_score(before, tables.expected(state, nodes, pod)))
        scores = placement.fragmentation_score(before[:, np.newaxis], tables.by_device(state, nodes, pod))
        return _whole(np.maximum.reduce(scores, axis=1, where=state.gpu_left[nodes] >= pod.each, initial=0.0))

    def best_device(self, state: State, pod: Pod, node: int) -> Devices:
        """Return the GPU of a node on which a shared pod leaves the least fragments; equal ones: the first."""
        tables, nodes = self._of(state), np.array([node])
        scores = placement.fragmentation_score(tables.expected(state, nodes), tables.by_device(state, nodes, pod)[0])
        return (int(np.where(state.gpu_left[node] >= pod.each, scores, -1.0).argmax()),)

    def _of(self, state: State) -> _Tables:
        if self._tables is None or self._tables.machine is not state.machine:
            self._tables = _Tables(self, state.machine)
        return self._tables


def _whole(scores: Array) -> NDArray[np.int64]:
    return scores.astype(np.int64)


class _Tables:
    """What nodes of a machine offer typical pods: by cores left, and by what is left on a GPU or by whole GPUs.

    Nodes that are open to the same pods have the same rows. A pod that takes a part of a GPU takes it of one GPU.
    """

    def __init__(self, typical: Typical, machine: Machine) -> None:
        self.machine, self.cpu = machine, typical.cpu
        opens = np.stack([machine.allowed(pod) for pod in typical.pods], axis=-1).reshape(machine.size, -1)
        kinds, kind = np.unique(opens, axis=0, return_inverse=True)
        levels = self.cpu.size + 1
        self.first_row: Ints = kind.reshape(-1) * levels
        single = np.zeros((len(kinds), levels, MILLI + 1))
        several = np.zeros((len(kinds), levels, machine.most_gpus + 1))
        for index, (pod, share) in enumerate(zip(typical.pods, typical.share.tolist(), strict=True)):
            enough = slice(int(np.searchsorted(self.cpu, pod.cpu)) + 1, None)
            table, least = (single, pod.each) if pod.gpus == 1 else (several, pod.gpus)
            if pod.gpus:
                table[kinds[:, index], enough, least:] += share
        self.single: Array = (single * np.arange(MILLI + 1)).reshape(-1, MILLI + 1)
        self.several: Array = (several * MILLI * np.arange(machine.most_gpus + 1)).reshape(-1, machine.most_gpus + 1)

    def expected(self, state: State, nodes: Ints, pod: Pod = NOTHING) -> Array:
        """Return the expected fragments of nodes with a pod of whole GPUs on them: what is left less what is of use."""
        rows = self._rows(state, nodes, pod)
        use = np.add.reduce(self.single[rows[:, np.newaxis], state.gpu_left[nodes]], axis=1)
        use += self.several[rows, state.whole_left[nodes] - pod.gpus]
        if pod.gpus:
            use -= pod.gpus * self.single[rows, MILLI]
        return np.asarray(state.milli_left[nodes] - pod.milli - use)

    def by_device(self, state: State, nodes: Ints, pod: Pod) -> Array:
        """Return the expected fragments of nodes with a shared pod on each of their GPUs; no meaning if one is full."""
        rows, left = self._rows(state, nodes, pod)[:, np.newaxis], state.gpu_left[nodes]
        now = self.single[rows, left]
        use = np.add.reduce(now, axis=1, keepdims=True) - now + self.single[rows, np.maximum(left - pod.each, 0)]
        use += self.several[rows, np.maximum(state.whole_left[nodes][:, np.newaxis] - (left == MILLI), 0)]
        return np.asarray((state.milli_left[nodes] - pod.each)[:, np.newaxis] - use)

    def _rows(self, state: State, nodes: Ints, pod: Pod) -> Ints:
        return np.asarray(self.first_row[nodes] + self.cpu.searchsorted(state.cpu_left[nodes] - pod.cpu, side="right"))
