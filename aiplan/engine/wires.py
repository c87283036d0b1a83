"""Bandwidths and latencies that the groups of a plan see, through the tiers of the fabric they cross."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import compose, compute, topology

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.core.arrays import Array
    from aiplan.engine.inputs import Inputs


class Tier(NamedTuple):
    """A tier of switches: accelerators below one part of it, and what slows each kind of traffic that leaves that."""

    accelerators: Array
    ring: Array
    send: Array
    uniform: Array


class Wires(NamedTuple):
    """Bandwidths and latencies of links and network ports, and the tiers between the ports."""

    inside: Array
    outside: Array
    link_latency: Array
    network_latency: Array
    domain: Array
    tiers: tuple[Tier, Tier]


def wires(values: Inputs) -> Wires:
    """Bandwidths inside and between nodes, after what long transfers reach."""
    cluster = values.cluster
    latency = cluster.network_latency
    if np.any(cluster.path_latency):
        latency = compose.summed(latency, cluster.path_latency)
    return Wires(
        inside=compute.achieved(cluster.link_bandwidth, cluster.link_fraction),
        outside=topology.ports_per_rank(
            cluster.network_ports,
            cluster.network_bandwidth,
            cluster.network_fraction,
            cluster.accelerators_per_node,
            1.0,  # oversubscription slows what crosses a tier, below
        ),
        link_latency=cluster.link_latency,
        network_latency=latency,
        domain=cluster.domain,
        tiers=(
            Tier(cluster.leaf_accelerators, cluster.leaf_ring, cluster.leaf_send, cluster.leaf_uniform),
            Tier(cluster.pod_accelerators, cluster.pod_ring, cluster.pod_send, cluster.pod_uniform),
        ),
    )


def ring(net: Wires, group: Array, stride: Array | float) -> tuple[Array, Array]:
    """Return bandwidth and latency of a ring through a group whose ranks are `stride` apart."""
    local = topology.ranks_per_domain(group, stride, net.domain)
    bandwidth = topology.ring_bandwidth(group, local, net.inside, net.outside)
    for accelerators, contention in _narrow(net, "ring"):
        below = topology.ranks_per_domain(group, stride, accelerators)
        bandwidth = topology.ring_bandwidth(group, below, bandwidth, net.outside, contention)
    return bandwidth, topology.hop_latency(group, local, net.link_latency, net.network_latency)


def send(net: Wires, group: Array, stride: Array) -> tuple[Array, Array]:
    """Return bandwidth and latency of sends between neighbours of a group whose ranks are `stride` apart."""
    crosses = topology.crosses(group, topology.ranks_per_domain(group, stride, net.domain))
    bandwidth = compose.chosen(crosses, net.outside, net.inside)
    for accelerators, contention in _narrow(net, "send"):
        below = topology.ranks_per_domain(group, stride, accelerators)
        bandwidth = topology.ring_bandwidth(group, below, bandwidth, net.outside, contention)
    return bandwidth, compose.chosen(crosses, net.network_latency, net.link_latency)


def rail(net: Wires, group: Array, stride: Array, local: Array) -> Array:
    """Return what a rank has between domains when each rank of a domain is part of a ring of its own."""
    bandwidth = net.outside
    for accelerators, contention in _narrow(net, "ring"):
        below = topology.ranks_per_domain(group, stride, accelerators)
        bandwidth = topology.ring_bandwidth(group, below, bandwidth, net.outside, compose.product(contention, local))
    return bandwidth


def uniform(net: Wires, group: Array, stride: Array, local: Array) -> Array:
    """Return what a rank has between domains when all ranks of its group send to all others."""
    bandwidth = net.outside
    for accelerators, contention in _narrow(net, "uniform"):
        below = topology.ranks_per_domain(group, stride, accelerators)
        bandwidth = topology.uniform_bandwidth(bandwidth, net.outside, group, local, below, contention)
    return bandwidth


def _narrow(net: Wires, traffic: str) -> Iterator[tuple[Array, Array]]:
    """Yield the tiers that slow a kind of traffic; the others would leave every bandwidth as it is."""
    for tier in net.tiers:
        contention = getattr(tier, traffic)
        if np.any(contention > 1):
            yield tier.accelerators, contention
