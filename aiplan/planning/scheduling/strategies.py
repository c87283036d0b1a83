"""Strategies: how nodes are scored for a pod, and which of a node's GPUs it gets.

All score nodes on which the pod fits; the highest score wins. Equal scores go to the node with the smallest index, to
the first in an order that is drawn once for a run, as in FGD's simulator, or to one drawn each time, as in
kube-scheduler: scores are whole numbers, so ties are common and their rule matters.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aiplan.core import placement
from aiplan.planning.scheduling.fragments import Typical

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from aiplan.planning.scheduling.machine import Ints, Pod
    from aiplan.planning.scheduling.state import Devices, State

    Score = Callable[[State, Pod, Ints], NDArray[np.int64]]

FGD, RANDOM = "fgd", "random"
FIRST, ANY, SHUFFLED = "first", "random", "shuffled"
TIES = (FIRST, SHUFFLED, ANY)
DEFAULT_CPU, DEFAULT_MEMORY = 100, 200 * 2**20
"""What kube-scheduler's scores count for a container that asks for no CPU or memory: 100m and 200 MiB."""


class Weights(NamedTuple):
    """Weights of resources in scores; kube-scheduler's own default has no GPUs."""

    cpu: int = 1
    memory: int = 1
    gpu: int = 1


class Strategy(NamedTuple):
    """How to choose nodes: the score of nodes, or None for any node; what it is called; and how GPUs are shared out."""

    name: str
    label: str
    score: Score | None
    typical: Typical | None = None
    ties: str = FIRST
    by_domain: bool = False

    def devices(self, state: State, pod: Pod, node: int, generator: np.random.Generator) -> Devices:
        """Return the GPUs of a node that a pod gets."""
        if not pod.shared:
            return state.whole_devices(pod, node)
        if self.typical is not None:
            return self.typical.best_device(state, pod, node)
        if self.score is None:
            return (int(generator.choice(np.flatnonzero(state.gpu_left[node] >= pod.each))),)
        return state.tightest_device(pod, node)


def _allocation(formula: Callable[..., Any], weights: Weights) -> Score:
    @cache
    def asked_of(pod: Pod) -> tuple[Ints, Ints]:
        asked = np.array([pod.cpu or DEFAULT_CPU, pod.memory or DEFAULT_MEMORY, pod.milli])
        return asked, np.array([weights.cpu, weights.memory, weights.gpu if pod.gpus else 0])

    def score(state: State, pod: Pod, nodes: Ints) -> NDArray[np.int64]:
        there, left = state.there[nodes], state.left[nodes]
        asked, used = asked_of(pod)
        return np.asarray(placement.weighted_score(formula(there - left + asked, there), used), dtype=np.int64)

    return score


def _volcano(weights: Weights) -> Score:
    def score(state: State, pod: Pod, nodes: Ints) -> NDArray[np.int64]:
        there, left = state.there[nodes], state.left[nodes]
        asked = np.array([pod.cpu, pod.memory, pod.milli])
        found = placement.binpack_score(asked, there - left, there, np.array(weights), 1.0)
        return np.asarray(np.rint(found * 1e6), dtype=np.int64)

    return score


def _best_fit(state: State, pod: Pod, nodes: Ints) -> NDArray[np.int64]:
    after = placement.best_fit(state.cpu_left[nodes] - pod.cpu, state.milli_left[nodes] - pod.milli)
    return np.asarray(after, dtype=np.int64)


def _packing(state: State, pod: Pod, nodes: Ints) -> NDArray[np.int64]:
    if not pod.gpus:
        return np.zeros(nodes.shape, dtype=np.int64)
    left, gpus = state.gpu_left[nodes], state.machine.gpus[nodes]
    # GPUs that a smaller node does not have are neither free nor used: nodes of one size at a time.
    found = np.zeros(nodes.shape, dtype=np.int64)
    for count in np.unique(gpus):
        same = gpus == count
        found[same] = placement.packing_score(left[same, :count], pod.gpus, pod.each)
    return found


_FORMS: dict[str, tuple[str, Callable[[Weights], Score]]] = {
    "binpack": ("most allocated first", partial(_allocation, placement.most_allocated)),
    "spread": ("least allocated first", partial(_allocation, placement.least_allocated)),
    "bestfit": ("the node that fits most tightly", lambda _: _best_fit),
    "gpu-packing": ("GPUs in use first, then nodes in use", lambda _: _packing),
    "volcano-binpack": ("fullest node first, as Volcano scores", _volcano),
    "topology": ("as few racks as possible, packed", partial(_allocation, placement.most_allocated)),
}
NAMES = (*_FORMS, FGD, RANDOM)


def strategy(
    name: str, typical: Sequence[tuple[Pod, float]] = (), ties: str = FIRST, weights: Weights | None = None
) -> Strategy:
    """Return a strategy by name; FGD needs the pods that are typical of what is to come."""
    if name == RANDOM:
        return Strategy(name, "any node", None, ties=ANY)
    if name == FGD:
        known = Typical(typical)
        return Strategy(name, "least fragmentation", known.score, typical=known, ties=ties)
    label, form = _FORMS[name]
    return Strategy(name, label, form(weights or Weights()), ties=ties, by_domain=name == "topology")
