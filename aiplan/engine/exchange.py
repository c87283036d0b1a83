"""Collectives of data parallel ranks, nothing hidden: gradients reduced, weights gathered, each over its group."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import adaptive, collectives, compose, compression, overlap, sharding, topology, zero
from aiplan.engine import reductions, wires
from aiplan.engine.compressed import Coded, coded, shares

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.footprint import Held
    from aiplan.engine.inputs import Inputs
    from aiplan.engine.wires import Wires


class Exchange(NamedTuple):
    """Time of the collectives over one group of ranks; `reduce_inside` stays inside the nodes."""

    reduce_all: Array
    reduce_inside: Array
    reduce_scatter: Array
    gather: Array
    codes: Coded


class Exchanges(NamedTuple):
    """Those of the ranks that hold the same dense parameters, and of those that hold the same experts."""

    dense: Exchange
    expert: Exchange


def exchanges(values: Inputs, net: Wires, held: Held, dense: Array, expert: Array) -> Exchanges:
    """Time the collectives of so many dense parameters of a rank, and of so many of its experts."""
    plan, sent = values.plan, shares(values)
    dense_ranks = zero.gradient_ranks(plan.data, plan.context)
    expert_stride = compose.product(plan.expert, plan.expert_tensor)
    return Exchanges(
        dense=_exchange(values, net, dense, sent.dense, dense_ranks, plan.tensor),
        expert=_exchange(values, net, expert, sent.expert, held.expert_shards, expert_stride),
    )


def stage_of_a_step(values: Inputs) -> Array:
    """Return the ZeRO stage as a step sees it: weights that stay gathered all the while are those of stage 2."""
    plan = values.plan
    stage: Array = compose.chosen(plan.stays_gathered, compose.least(plan.zero, 2.0), plan.zero)
    return stage


def scatters(values: Inputs) -> Array:
    """Whether a reduction leaves each rank its share of the gradients, as sharded states need it, not all of them."""
    whole = compose.largest(values.communication.whole, values.plan.reduces_after)
    scattered: Array = compose.chosen(whole, 0.0, zero.reaches(stage_of_a_step(values), 1))
    return scattered


def hidden_gradients(values: Inputs) -> Array:
    """Return the share of the backward pass under which gradients are reduced."""
    hidden: Array = compose.chosen(values.plan.reduces_after, 0.0, values.plan.hidden_gradients)
    return hidden


def contention(values: Inputs) -> Array:
    """Return the share of hidden communication by which computation is delayed: by its channels if these are known."""
    plan, multiprocessors = values.plan, values.cluster.multiprocessors
    if not np.any(plan.channels):
        return plan.contention
    left = compose.largest(compose.summed(multiprocessors, compose.product(plan.channels, -1.0)), 1.0)
    share: Array = overlap.contention_share(overlap.contention_slowdown(multiprocessors, left))
    if not np.all(plan.channels):
        share = compose.chosen(plan.channels, share, plan.contention)
    return share


def _exchange(values: Inputs, net: Wires, parameters: Array, share: Array, ranks: Array, stride: Array) -> Exchange:
    how, group = values.communication, reductions.Group(ranks, stride, values.communication.all_reduce)
    local = topology.ranks_per_domain(ranks, stride, net.domain)
    bandwidth, latency = wires.ring(net, ranks, stride)
    codes = coded(values, parameters, share, ranks)
    weights = compose.product(parameters, values.workload.weight_bytes)
    exchange = adaptive.two_hop_exchange_time(
        codes.sent,
        ranks,
        local,
        net.inside,
        wires.uniform(net, ranks, stride, local),
        net.link_latency,
        net.network_latency,
    )
    near = _sharing(values, group)
    part = reductions.reduce_scatter(net, near, codes.sent)
    everything = collectives.ring_all_gather_time(codes.received, ranks, bandwidth, latency)
    added_up = inside = reductions.all_reduce(net, group, codes.sent)
    if np.any(how.inside_every):
        inside = reductions.two_level(net, group._replace(ranks=local), codes.sent)
        added_up = compose.chosen(how.inside_every, reductions.two_level(net, group, codes.sent), added_up)
    return Exchange(
        reduce_all=compression.reduction_time(
            how.gathers, how.exchanges, everything, compose.summed(exchange, part), added_up
        ),
        reduce_inside=inside,
        reduce_scatter=compose.chosen(how.exchanges, exchange, _over_copies(values, net, near, codes.sent, part)),
        gather=reductions.all_gather(net, near, weights),
        codes=codes,
    )


def _sharing(values: Inputs, group: reductions.Group) -> reductions.Group:
    """Return the ranks of a group that share one copy of the states: all of them, or neighbours."""
    copies = values.plan.copies
    if not np.any(copies > 1):
        return group
    return group._replace(ranks=zero.sharing_ranks(group.ranks, copies))


def _over_copies(values: Inputs, net: Wires, near: reductions.Group, nbytes: Array, part: Array) -> Array:
    """Return the time of a reduction that is scattered over the ranks of a copy, and added up over the copies then."""
    copies = values.plan.copies
    if not np.any(copies > 1):
        return part
    across = near._replace(ranks=copies, stride=compose.product(near.stride, near.ranks))
    time: Array = compose.summed(part, reductions.all_reduce(net, across, sharding.share(nbytes, near.ranks)))
    return time
