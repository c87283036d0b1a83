"""Reductions of gradients by the algorithm that a scenario asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import collectives, compose, topology, trees
from aiplan.core.choices import ALL_REDUCES
from aiplan.core.net import Net
from aiplan.engine import wires

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.wires import Wires

ALL_REDUCE, REDUCE_SCATTER, ALL_GATHER = "all-reduce", "reduce-scatter", "all-gather"
ON_RAILS = ("hierarchical",)
"""Algorithms that send to neighbours only, ring by ring; the others send across all tiers."""


class Group(NamedTuple):
    """Ranks that reduce together: how many, how far apart, and the code of the algorithm that is asked for."""

    ranks: Array
    stride: Array
    asked: Array


def all_reduce(net: Wires, group: Group, nbytes: Array) -> Array:
    """Time of an all-reduce."""
    bandwidth, latency = wires.ring(net, group.ranks, group.stride)
    ring = collectives.ring_all_reduce_time(nbytes, group.ranks, bandwidth, latency)
    tree = trees.double_tree(nbytes, group.ranks, _two_levels(net, group, rails=True))
    known = {"auto": compose.least(ring, tree), "ring": ring, "tree": tree}
    return _asked(net, group, ALL_REDUCE, nbytes, known)


def two_level(net: Wires, group: Group, nbytes: Array) -> Array:
    """Time of an all-reduce inside the nodes and between them; inside only if the ranks are those of one node."""
    return _by_form(net, group, ALL_REDUCE, "hierarchical", nbytes)


def reduce_scatter(net: Wires, group: Group, nbytes: Array) -> Array:
    """Time of a reduce-scatter, half an all-reduce."""
    half = _half(net, group, nbytes)
    return _asked(net, group, REDUCE_SCATTER, nbytes, {"auto": half, "ring": half})


def all_gather(net: Wires, group: Group, nbytes: Array) -> Array:
    """Time of an all-gather, the other half."""
    half = _half(net, group, nbytes)
    return _asked(net, group, ALL_GATHER, nbytes, {"auto": half, "ring": half})


def _half(net: Wires, group: Group, nbytes: Array) -> Array:
    bandwidth, latency = wires.ring(net, group.ranks, group.stride)
    half: Array = collectives.ring_all_gather_time(nbytes, group.ranks, bandwidth, latency)
    return half


def _asked(net: Wires, group: Group, operation: str, nbytes: Array, known: dict[str, Array]) -> Array:
    """Return the time by the algorithm that each plan asks for; one without a form for the operation is automatic."""
    time = known["auto"]
    for code, name in enumerate(ALL_REDUCES[1:], start=1):
        wanted = group.asked == code
        if not np.any(wanted):
            continue
        found = known.get(name)
        time = compose.chosen(wanted, _by_form(net, group, operation, name, nbytes) if found is None else found, time)
    return time


def _by_form(net: Wires, group: Group, operation: str, name: str, nbytes: Array) -> Array:
    from aiplan.core.algorithms import ALGORITHMS  # noqa: PLC0415 - start-up: only a plan that asks for one

    form = ALGORITHMS[name].forms.get(operation)
    if form is None:
        return _half(net, group, nbytes)
    time: Array = form(nbytes, group.ranks, _two_levels(net, group, rails=name in ON_RAILS))
    return time


def _two_levels(net: Wires, group: Group, *, rails: bool) -> Net:
    """Return links and ports as an algorithm sees them that knows which ranks are near."""
    ranks, stride = group.ranks, group.stride
    local = topology.ranks_per_domain(ranks, stride, net.domain)
    return Net(
        local_ranks=local,
        inside_latency=net.link_latency,
        inside_bandwidth=net.inside,
        outside_latency=net.network_latency,
        outside_bandwidth=wires.rail(net, ranks, stride, local) if rails else wires.uniform(net, ranks, stride, local),
    )
