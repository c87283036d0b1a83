"""Communication of data parallel ranks: gradients reduced, sharded parameters gathered again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.core import (
    adaptive,
    collectives,
    compose,
    compression,
    memory,
    overlap,
    sharding,
    topology,
    transformer,
    zero,
)
from aiplan.engine import reductions, wires
from aiplan.engine.compressed import Coded, coded, coding_time, shares

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.footprint import Held
    from aiplan.engine.inputs import Inputs
    from aiplan.engine.layer import Pass
    from aiplan.engine.wires import Wires


class Exchange(NamedTuple):
    """Time of the collectives over one group of ranks, nothing hidden."""

    reduce_all: Array
    reduce_scatter: Array
    gather: Array
    codes: Coded


def data_parallel_terms(values: Inputs, net: Wires, held: Held, count: Array, busy: Pass) -> dict[str, Array]:
    """Time what is exposed of it; each (1, plans).

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
    plan, how, sent = values.plan, values.communication, shares(values)
    dense_ranks = zero.gradient_ranks(plan.data, plan.context)
    dense = _exchange(values, net, held.dense_parameters, sent.dense, dense_ranks, plan.tensor)
    expert_stride = compose.product(plan.expert, plan.expert_tensor)
    expert = _exchange(values, net, held.expert_parameters, sent.expert, held.expert_shards, expert_stride)
    stage = compose.chosen(plan.stays_gathered, compose.least(plan.zero, 2.0), plan.zero)  # gathered once a step
    sharded = zero.reaches(stage, 1)
    rounds = adaptive.mean_reductions(zero.reductions_per_step(stage, count), how.reduce_every)
    reduction = compose.repeated(
        compose.chosen(
            compose.chosen(how.whole, 0.0, sharded),
            compose.summed(dense.reduce_scatter, expert.reduce_scatter),
            compose.summed(dense.reduce_all, expert.reduce_all),
        ),
        rounds,
    )
    gather = compose.summed(dense.gather, expert.gather)
    before_forward = compose.repeated(gather, compose.product(sharded, rounds))
    before_backward = compose.repeated(gather, compose.product(zero.reaches(stage, 3), rounds))
    return {
        # What runs beside the backward pass shares its time: gradients, and weights that are gathered once more.
        "step.data.gradients": overlap.exposed_time(
            compose.summed(reduction, before_backward),
            compose.repeated(busy.backward, rounds),
            plan.hidden_gradients,
            plan.contention,
        ),
        "step.data.parameters": overlap.exposed_time(
            before_forward, compose.repeated(busy.forward, rounds), plan.hidden_parameters, plan.contention
        ),
        "step.data.embedding": _tied_embedding(values, net),
        "step.data.compression": coding_time(
            values,
            compose.summed(held.dense_parameters, held.expert_parameters),
            Coded(
                compose.summed(dense.codes.sent, expert.codes.sent),
                compose.summed(dense.codes.received, expert.codes.received),
            ),
            rounds,
        ),
    }


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
    part = reductions.reduce_scatter(net, group, codes.sent)
    everything = collectives.ring_all_gather_time(codes.received, ranks, bandwidth, latency)
    added_up = reductions.all_reduce(net, group, codes.sent)
    return Exchange(
        reduce_all=compression.reduction_time(
            how.gathers, how.exchanges, everything, compose.summed(exchange, part), added_up
        ),
        reduce_scatter=compose.chosen(how.exchanges, exchange, part),
        gather=reductions.all_gather(net, group, weights),
        codes=codes,
    )


def _tied_embedding(values: Inputs, net: Wires) -> Array:
    """First and last stage hold a copy each of a tied table and add up their gradients."""
    model, plan = values.model, values.plan
    parameters = transformer.embedding_parameters(model.vocab, model.hidden)
    table = memory.state_bytes(parameters, values.workload.gradient_bytes, plan.tensor)
    stride = compose.product(plan.tensor, plan.context, plan.data)
    bandwidth = wires.send(net, plan.pipeline, stride, net.outside)
    one = collectives.ring_all_reduce_time(table, 2.0, bandwidth, net.network_latency)
    exchanged: Array = compose.repeated(one, sharding.tied_copies(model.tied, plan.pipeline))
    return exchanged
