"""Communication of data parallel ranks: gradients reduced, sharded parameters gathered again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import collectives, compose, overlap, topology

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.footprint import Held
    from aiplan.engine.inputs import Inputs
    from aiplan.engine.layer import Pass, Wires


class Exchange(NamedTuple):
    """Time of the collectives over one group of ranks, nothing hidden."""

    reduce_all: Array
    reduce_scatter: Array
    gather: Array


def data_parallel_terms(values: Inputs, net: Wires, held: Held, count: Array, busy: Pass) -> dict[str, Array]:
    """Time what is exposed of it; each (plans, 1).

    Parameters
    ----------
    values : Inputs
        The batch.
    net : Wires
        Bandwidths and latencies.
    held : Held
        Parameters per rank.
    count : array
        Micro-batches per step. [-]
    busy : Pass
        Forward and backward time of a micro-batch on the busiest stage. [s]
    """
    plan = values.plan
    dense = _exchange(values, net, held.dense_parameters, plan.data * plan.context, plan.tensor)
    expert = _exchange(values, net, held.expert_parameters, held.expert_shards, plan.expert * plan.expert_tensor)
    fully, sharded = plan.zero >= 3, plan.zero > 0
    rounds = np.where(fully, count, 1.0)  # fully sharded training reduces and gathers for every micro-batch
    reduction = compose.repeated(
        compose.chosen(
            sharded,
            compose.summed(dense.reduce_scatter, expert.reduce_scatter),
            compose.summed(dense.reduce_all, expert.reduce_all),
        ),
        rounds,
    )
    gathers = np.where(fully, 2.0 * count, np.where(sharded, 1.0, 0.0))
    gathering = compose.repeated(compose.summed(dense.gather, expert.gather), gathers)
    beside_gathering = compose.summed(busy.forward, compose.repeated(busy.backward, np.where(fully, 1.0, 0.0)))
    return {
        "step.data.gradients": overlap.exposed_time(
            reduction, compose.repeated(busy.backward, rounds), plan.hidden_gradients
        ),
        "step.data.parameters": overlap.exposed_time(
            gathering, compose.repeated(beside_gathering, rounds), plan.hidden_parameters
        ),
        "step.data.embedding": _tied_embedding(values, net),
    }


def _exchange(values: Inputs, net: Wires, parameters: Array, ranks: Array, stride: Array) -> Exchange:
    local = topology.ranks_per_domain(ranks, stride, values.cluster.domain)
    bandwidth = topology.ring_bandwidth(ranks, local, net.inside, net.outside)
    latency = topology.hop_latency(ranks, local, net.link_latency, net.network_latency)
    gradients = parameters * values.workload.gradient_bytes
    weights = parameters * values.workload.weight_bytes
    return Exchange(
        reduce_all=compose.least(
            collectives.ring_all_reduce_time(gradients, ranks, bandwidth, latency),
            collectives.tree_all_reduce_time(gradients, ranks, bandwidth, latency),
        ),
        reduce_scatter=collectives.ring_all_gather_time(gradients, ranks, bandwidth, latency),
        gather=collectives.ring_all_gather_time(weights, ranks, bandwidth, latency),
    )


def _tied_embedding(values: Inputs, net: Wires) -> Array:
    """First and last stage hold a copy each of a tied table and add up their gradients."""
    model, plan = values.model, values.plan
    table = model.vocab * model.hidden / plan.tensor * values.workload.gradient_bytes
    pair = np.full_like(plan.pipeline, 2.0)
    one = collectives.ring_all_reduce_time(table, pair, net.outside, net.network_latency)
    copies = np.where((plan.pipeline > 1) & (model.tied > 0), 1.0, 0.0)
    exchanged: Array = compose.repeated(one, copies)
    return exchanged
