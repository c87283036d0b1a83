"""Contention factors of a whole fabric from those of its two tiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core import fabric
from aiplan.core.topologies.record import Factors

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric
    from aiplan.core.topologies.record import Contention

RING_FLOWS, TREE_FLOWS = 1.0, 4.0


def factors(hosts: Numeric, leaf: Numeric, at_leaf: Contention, pod: Numeric, at_pod: Contention) -> Factors:
    """Return the factors when all hosts take part, ranks in the order of the hosts.

    Parameters
    ----------
    hosts : numeric
        Host ports of the fabric.
    leaf, pod : numeric
        Host ports below one leaf switch, and below one pod or group.
    at_leaf, at_pod : Contention
        What traffic meets that leaves those.
    """

    def few(flows: float) -> Numeric:
        return np.maximum(
            fabric.neighbour_contention(at_leaf.ring, hosts, leaf, flows),
            fabric.neighbour_contention(at_pod.ring, hosts, pod, flows),
        )

    def spread(leaf_over: Numeric, pod_over: Numeric) -> Numeric:
        return np.maximum(
            fabric.crossing_contention(leaf_over, hosts, leaf), fabric.crossing_contention(pod_over, hosts, pod)
        )

    return Factors(
        ring=few(RING_FLOWS),
        tree=few(TREE_FLOWS),
        all_to_all=np.maximum(
            fabric.uniform_contention(at_leaf.uniform, hosts, leaf),
            fabric.uniform_contention(at_pod.uniform, hosts, pod),
        ),
        pipeline=spread(at_leaf.send, at_pod.send),
        storage=spread(at_leaf.uniform, at_pod.uniform),
    )
