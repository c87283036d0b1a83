"""Arrivals without departures: how much of a cluster can be given away before nothing fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.planning.scheduling.machine import MILLI
from aiplan.planning.scheduling.state import State
from aiplan.planning.scheduling.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aiplan.core.arrays import Array
    from aiplan.planning.scheduling.fragments import Typical
    from aiplan.planning.scheduling.machine import Ints, Machine, Pod
    from aiplan.planning.scheduling.strategies import Strategy


class Replay(NamedTuple):
    """What became of arrivals: the class of each, its node or -1, and the state that they leave."""

    classes: tuple[Pod, ...]
    order: Ints
    nodes: Ints
    state: State

    @property
    def allocation(self) -> float:
        """Share of all GPUs that is given away."""
        total = self.state.machine.gpu_count * MILLI
        return 1.0 - float(self.state.milli_left.sum()) / total

    def arrived(self) -> float:
        """Return what has been asked for in all, over all GPUs."""
        milli = np.array([pod.milli for pod in self.classes])
        return float(milli[self.order].sum()) / (self.state.machine.gpu_count * MILLI)

    def failures(self) -> dict[str, tuple[int, int]]:
        """Return how many pods of each size arrived, and how many of them found no place."""
        sizes = np.array([pod.gpus * 2 - pod.shared for pod in self.classes])[self.order]
        lost = self.nodes < 0
        return {
            f"{size // 2} GPU" if size % 2 == 0 else "part of a GPU": (
                int((sizes == size).sum()),
                int((lost & (sizes == size)).sum()),
            )
            for size in np.unique(sizes).tolist()
        }

    def fragmentation(self, typical: Typical) -> float:
        """Return the share of what is idle that typical pods cannot use."""
        idle = float(self.state.milli_left.sum())
        return float(typical.of(self.state).sum()) / idle if idle else 0.0


def resampled(counts: Mapping[Pod, int], gpus: int, arrivals: float, generator: np.random.Generator) -> Ints:
    """Return the classes of arrivals: all pods that there are, shuffled, and more drawn from them until enough arrive.

    Parameters
    ----------
    counts : mapping of Pod to int
        Pods of each class.
    gpus : int
        GPUs of the cluster.
    arrivals : float
        GPUs asked for over what the cluster has; of more pods than that takes, some are left out.
    generator : numpy.random.Generator
        Draws and shuffles.
    """
    each = np.array([pod.milli for pod in counts])
    there = np.repeat(np.arange(len(counts)), list(counts.values()))
    generator.shuffle(there)
    wanted = arrivals * gpus * MILLI
    missing = wanted - each[there].sum()
    if missing > 0:
        mean = each[there].mean()
        there = np.concatenate([there, generator.choice(there, int(1.5 * missing / mean) + 1000)])
    return there[: int(np.searchsorted(np.cumsum(each[there]), wanted, side="right"))]


def replay(
    machine: Machine,
    classes: Sequence[Pod],
    order: Ints,
    strategy: Strategy,
    generator: np.random.Generator,
) -> Replay:
    """Place pods one after the other; what does not fit is lost."""
    state = State(machine)
    tables = Tables(state, strategy, generator)
    nodes = np.full(order.shape, -1, dtype=np.int64)
    for index, kind in enumerate(order.tolist()):
        done = tables.put(classes[kind])
        if done is not None:
            nodes[index] = done[0]
    return Replay(tuple(classes), order, nodes, state)


def allocations(replayed: Replay, marks: Sequence[float]) -> Array:
    """Return the share of GPUs given away by the time that so much had arrived, over all GPUs."""
    milli = np.array([pod.milli for pod in replayed.classes])[replayed.order]
    total = replayed.state.machine.gpu_count * MILLI
    arrived = np.cumsum(milli) / total
    placed = np.cumsum(np.where(replayed.nodes >= 0, milli, 0)) / total
    return placed[np.minimum(np.searchsorted(arrived, marks), placed.size - 1)]
