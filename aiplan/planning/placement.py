"""Which parallel group of a plan crosses which tier of the fabric, and what bandwidth that leaves its ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import compose, sharding, topology, zero
from aiplan.core.topologies.registry import KINDS
from aiplan.engine.wires import Tier, Wires, ring, send, uniform, wires
from aiplan.planning.estimate import columns

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.scenario.load import Scenario

REACH = ("one rank", "scale-up network")


class Group(NamedTuple):
    """A parallel group: its ranks, how far apart neighbours are, and what its traffic crosses.

    `inside`, `leaf` and `pod` are ranks of the group in one scale-up network, below one leaf, and in one pod.
    `bandwidth` is what a rank has at the slowest place, one way in B/s; `share` is that over what it would have if no
    tier were narrow.
    """

    name: str
    traffic: str
    ranks: int
    stride: int
    inside: int
    leaf: int
    pod: int
    reach: str
    bandwidth: float
    share: float


def placement(scenario: Scenario) -> tuple[Group, ...]:
    """Return the parallel groups of a scenario's plan in the order in which ranks are numbered, innermost first."""
    values = columns([scenario])
    net, plan = wires(values), values.plan
    sizes = (
        ("tensor", "ring", plan.tensor, np.ones_like(plan.tensor)),
        ("context", "ring", plan.context, plan.tensor),
        ("expert", "all-to-all", plan.expert, plan.expert_tensor),
        ("data", "ring", zero.gradient_ranks(plan.data, plan.context), plan.tensor),
        ("pipeline", "send", plan.pipeline, compose.product(plan.tensor, plan.context, plan.data)),
    )
    names = KINDS[scenario.file.cluster.network.topology].tiers
    return tuple(_group(net, names, *each) for each in sizes)


def _group(net: Wires, names: tuple[str, str], name: str, traffic: str, ranks: Array, stride: Array) -> Group:
    inside = topology.ranks_per_domain(ranks, stride, net.domain)
    leaf, pod = (topology.ranks_per_domain(ranks, stride, tier.accelerators) for tier in net.tiers)
    count = int(ranks.flat[0])
    bounds = (
        (1, REACH[0]),
        (int(inside.flat[0]), REACH[1]),
        (int(leaf.flat[0]), names[0]),
        (int(pod.flat[0]), names[1]),
    )
    reach = next((text for most, text in bounds if count <= most), f"beyond a {names[1]}")
    got = _bandwidth(net, traffic, ranks, stride, inside)
    free = _bandwidth(net._replace(tiers=_wide(net.tiers)), traffic, ranks, stride, inside)
    return Group(
        name=name,
        traffic=traffic,
        ranks=count,
        stride=int(stride.flat[0]),
        inside=int(inside.flat[0]),
        leaf=int(leaf.flat[0]),
        pod=int(pod.flat[0]),
        reach=reach,
        bandwidth=got,
        share=float(sharding.share(got, free)) if np.isfinite(free) else 1.0,
    )


def _wide(tiers: tuple[Tier, Tier]) -> tuple[Tier, Tier]:
    """Return the tiers as if none of them were narrow."""
    first, second = (
        tier._replace(**dict.fromkeys(("ring", "send", "uniform"), np.ones_like(tier.ring))) for tier in tiers
    )
    return first, second


def _bandwidth(net: Wires, traffic: str, ranks: Array, stride: Array, inside: Array) -> float:
    """Return what a rank has of its links or ports at the slowest place that its group crosses."""
    if traffic == "ring":
        found = ring(net, ranks, stride)[0]
    elif traffic == "send":
        found = send(net, ranks, stride)[0]
    else:
        found = compose.chosen(topology.crosses(ranks, inside), uniform(net, ranks, stride, inside), net.inside)
    return float(np.asarray(found).flat[0])
