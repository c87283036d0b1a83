"""Time that one transformer layer takes for one micro-batch on one rank, part by part."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import (
    collectives,
    compose,
    compute,
    elementwise,
    flops,
    network,
    overlap,
    sharding,
    topology,
    traffic,
    training,
    widths,
)
from aiplan.engine import wires
from aiplan.engine.counts import head_widths, held_kv_heads, mean_ffn_width

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.inputs import Inputs
    from aiplan.engine.wires import Wires


class Pass(NamedTuple):
    """Forward and backward time of a part."""

    forward: Array | float
    backward: Array | float


NOTHING = Pass(0.0, 0.0)
"""A part that a network does not have."""


class Halves(NamedTuple):
    """Matmuls of a block: those that its gathered inputs go into, and the one whose results are reduced."""

    into: Pass
    out_of: Pass


class Layer(NamedTuple):
    """One layer's parts, each (1, plans)."""

    projections: Pass
    core: Pass
    feed_forward: Pass
    experts: Pass
    elementwise: Pass
    tensor_communication: Pass
    tensor_recompute: Array
    context_communication: Pass
    expert_communication: Pass


def layer(values: Inputs, net: Wires) -> Layer:
    """Time the parts of a layer."""
    plan, work = values.plan, values.workload
    tokens = training.micro_batch_tokens(plan.micro_batch, work.sequence, plan.context)
    memory = compute.achieved(values.cluster.memory_bandwidth, values.cluster.memory_fraction)
    core = _core(values, tokens, memory)
    projections, feed_forward = _projections(values, tokens, memory), _feed_forward(values, tokens, memory)
    communication, again = _tensor_communication(values, net, tokens, (projections, feed_forward))
    return Layer(
        projections=_plus(*projections),
        core=core,
        feed_forward=_plus(*feed_forward),
        experts=_experts(values, tokens, memory),
        elementwise=_elementwise(values, tokens, memory),
        tensor_communication=communication,
        tensor_recompute=again,
        context_communication=_context_communication(values, net, tokens, core),
        expert_communication=_expert_communication(values, net, tokens),
    )


def linear(
    values: Inputs,
    rows: Array,
    columns: Array,
    inner: Array,
    memory: Array,
    groups: Array | float = 1.0,
    kernel_share: Array | float = 1.0,
) -> Pass:
    """Time a linear layer: one matmul forward, two backward (towards inputs and towards weights)."""
    cluster = values.cluster
    fraction = compute.sustained_fraction(cluster.matmul_fraction, compose.product(cluster.kernel_share, kernel_share))

    def one(m: Array, n: Array, k: Array) -> Array:
        utilisation = compose.product(
            compute.tile_utilisation(m, n, cluster.multiprocessors, groups),
            compute.alignment_factor(columns, inner, values.workload.matmul_bytes),
        )
        time: Array = compute.matmul_time(
            m,
            n,
            k,
            cluster.matmul_peak,
            fraction,
            utilisation,
            values.workload.matmul_bytes,
            memory,
            cluster.launch,
            groups,
            cluster.matmul_depth,
        )
        return time

    backward = compose.summed(one(rows, inner, columns), one(inner, columns, rows))
    return Pass(one(rows, columns, inner), backward)


def _plus(*passes: Pass) -> Pass:
    return Pass(
        compose.summed(*(part.forward for part in passes)),
        compose.summed(*(part.backward for part in passes)),
    )


def _either(condition: Array, then: Pass, otherwise: Pass) -> Pass:
    return Pass(
        compose.chosen(condition, then.forward, otherwise.forward),
        compose.chosen(condition, then.backward, otherwise.backward),
    )


def _projections(values: Inputs, tokens: Array, memory: Array) -> Halves:
    model, tensor = values.model, values.plan.tensor
    if model.latent.all():
        return _latent(values, tokens, memory)
    columns = sharding.query_key_value_width(model.heads, held_kv_heads(values), model.head_dim, tensor)
    grouped = Halves(
        linear(values, tokens, columns, model.hidden, memory),
        linear(values, tokens, model.hidden, sharding.heads_width(model.heads, model.head_dim, tensor), memory),
    )
    if not model.latent.any():
        return grouped
    latent = _latent(values, tokens, memory)
    return Halves(*(_either(model.latent, one, other) for one, other in zip(latent, grouped, strict=True)))


def _latent(values: Inputs, tokens: Array, memory: Array) -> Halves:
    """Projections of latent attention: down to the ranks, up to the heads, and out."""
    model, tensor = values.model, values.plan.tensor
    down = compose.summed(model.query_rank, model.key_value_rank, model.rope_dim)
    query_inner = compose.chosen(model.query_rank, model.query_rank, model.hidden)
    query, key_value = (
        sharding.heads_width(model.heads, compose.summed(model.nope_dim, width), tensor)
        for width in (model.rope_dim, model.value_dim)
    )
    return Halves(
        _plus(
            linear(values, tokens, down, model.hidden, memory),
            linear(values, tokens, query, query_inner, memory),
            linear(values, tokens, key_value, model.key_value_rank, memory),
        ),
        linear(values, tokens, model.hidden, sharding.heads_width(model.heads, model.value_dim, tensor), memory),
    )


def _core(values: Inputs, tokens: Array, memory: Array) -> Pass:
    flash = _flash_core(values, tokens, memory)
    if values.plan.flash.all():
        return flash
    stored = _stored_core(values, memory)
    return _either(values.plan.flash, flash, stored)


def _flash_core(values: Inputs, tokens: Array, memory: Array) -> Pass:
    model, cluster, plan = values.model, values.cluster, values.plan
    key_dim, value_dim = head_widths(model)
    sequence = values.workload.sequence
    attended = widths.mean_attended_length(
        flops.attended_length(sequence, 0.0, 1.0),
        flops.attended_length(sequence, model.window, 1.0),
        model.layers,
        model.window_layers,
    )
    per_token = flops.attention_core_flops(model.heads, key_dim, value_dim, attended)
    forward = network.rank_flops(per_token, tokens, plan.tensor)
    kv_heads, size = held_kv_heads(values), values.workload.activation_bytes

    def one(operations: Array, passes: float) -> Array:
        nbytes = traffic.attention_traffic(tokens, model.heads, kv_heads, key_dim, value_dim, size, plan.tensor, passes)
        fraction = compute.attention_fraction(
            cluster.attention_fraction, cluster.kernel_share, cluster.attention_share, sequence, cluster.attention_ramp
        )
        time: Array = compute.attention_time(
            operations, cluster.attention_peak, fraction, nbytes, memory, cluster.launch
        )
        return time

    return Pass(one(forward, 1.0), one(network.fused_backward_flops(forward), 2.0))


def _stored_core(values: Inputs, memory: Array) -> Pass:
    """Scores, softmax and weighted values as separate kernels; the score matrix goes through memory."""
    model, plan, work = values.model, values.plan, values.workload
    key_dim, value_dim = head_widths(model)
    groups = sharding.attention_groups(plan.micro_batch, model.heads, plan.tensor)
    queries = sharding.share(work.sequence, plan.context)
    scores = linear(values, queries, work.sequence, key_dim, memory, groups)
    weighted = linear(values, queries, value_dim, work.sequence, memory, groups)
    elements = compose.product(groups, queries, work.sequence)

    def softmax(touches: float) -> Array:
        nbytes = traffic.softmax_traffic(elements, plan.score_passes, touches, work.activation_bytes, work.dropout)
        time: Array = compute.memory_bound_time(nbytes, memory, 2.0, values.cluster.launch)
        return time

    return _plus(scores, weighted, Pass(softmax(2.0), softmax(3.0)))


def _feed_forward(values: Inputs, tokens: Array, memory: Array) -> Halves:
    return _block(values, tokens, sharding.share(values.model.ffn, values.plan.tensor), memory)


def _block(
    values: Inputs,
    rows: Array,
    width: Array,
    memory: Array,
    groups: Array | float = 1.0,
    kernel_share: Array | float = 1.0,
) -> Halves:
    model = values.model
    first = widths.first_matrix_width(width, model.gated)
    return Halves(
        linear(values, rows, first, model.hidden, memory, groups, kernel_share),
        linear(values, rows, model.hidden, width, memory, groups, kernel_share),
    )


def _experts(values: Inputs, tokens: Array, memory: Array) -> Pass:
    model, plan = values.model, values.plan
    if not model.experts.any():
        return NOTHING
    size = values.workload.activation_bytes
    held = sharding.held_experts(model.experts, plan.expert)
    rows = sharding.routed_rows(tokens, model.top_k, plan.expert_tensor, plan.tensor)
    width = sharding.share(model.expert_ffn, plan.expert_tensor)
    each = sharding.share(rows, held)
    work = compute.matmul_flops(each, width, model.hidden)
    kept = compute.grouped_share(values.cluster.expert_share, work, values.cluster.expert_lost_work, held)
    routed = _block(values, each, width, memory, held, kept)
    shared = _block(values, tokens, sharding.share(model.shared_ffn, plan.tensor), memory)
    own_tokens = sharding.share(tokens, sharding.sequence_shards(plan.tensor, plan.sequence_parallel))
    router = linear(values, own_tokens, model.experts, model.hidden, memory)
    shuffled = traffic.shuffle_traffic(rows, model.hidden, size, values.cluster.expert_passes)
    moves = compute.memory_bound_time(shuffled, memory, 6.0, values.cluster.launch)
    return _plus(_plus(*routed), _plus(*shared), router, Pass(moves, moves))


def _elementwise(values: Inputs, tokens: Array, memory: Array) -> Pass:
    """Norms, residuals, dropout, activation function and rotary positions: all bound by memory."""
    model, plan, size = values.model, values.plan, values.workload.activation_bytes
    passes = elementwise.elementwise_passes(plan.fused_elementwise)
    norms = elementwise.norm_traffic(model.hidden, model.norms_per_layer, size)
    residuals = elementwise.residual_traffic(model.hidden, size, values.workload.dropout)
    activation = elementwise.activation_traffic(mean_ffn_width(values), model.gated, size, plan.tensor)
    rotary = elementwise.rotary_traffic(model.heads, model.kv_heads, model.head_dim, size, plan.tensor, model.positions)
    shards = sharding.sequence_shards(plan.tensor, plan.sequence_parallel)
    casts = elementwise.cast_traffic(
        tokens,
        model.hidden,
        sharding.heads_width(model.heads, model.head_dim, plan.tensor),
        sharding.share(mean_ffn_width(values), plan.tensor),
        size,
        values.workload.matmul_bytes,
        plan.separate_casts,
    )

    def one(weight: float, chains: float) -> Array:
        moved = elementwise.elementwise_traffic(tokens, norms, residuals, activation, rotary, shards, weight, passes)
        nbytes = compose.summed(moved, casts)
        kernels = elementwise.elementwise_kernels(chains, passes)
        time: Array = compute.memory_bound_time(nbytes, memory, kernels, values.cluster.launch)
        return time

    return Pass(one(1.0, 6.0), one(1.5, 8.0))


def _tensor_communication(
    values: Inputs, net: Wires, tokens: Array, blocks: tuple[Halves, Halves]
) -> tuple[Pass, Array]:
    """Two all-reduces of the residual stream forward, two backward, and the forward ones again in full recompute."""
    plan, pieces = values.plan, values.communication.tensor_pieces
    bandwidth, latency = wires.ring(net, plan.tensor, 1.0)
    nbytes = traffic.residual_bytes(tokens, values.model.hidden, values.workload.activation_bytes)
    one = collectives.ring_all_reduce_time(nbytes, plan.tensor, bandwidth, latency)
    each = overlap.share_exposed(one, plan.hidden_tensor)
    both = compose.repeated(each, network.residual_blocks(values.model.parallel_block))
    time = Pass(both, both)
    if np.any(pieces):
        in_pieces = _in_pieces(values, (bandwidth, latency), nbytes, blocks)
        time = in_pieces if np.all(pieces) else _either(pieces, in_pieces, time)
    return time, compose.repeated(time.forward, plan.recompute_full)


def _in_pieces(values: Inputs, ring: tuple[Array, Array], nbytes: Array, blocks: tuple[Halves, Halves]) -> Pass:
    """Half of each all-reduce in pieces beside the matmuls that it feeds, the other beside the one that feeds it."""
    pieces = compose.largest(values.communication.tensor_pieces, 1.0)
    share = sharding.share(1.0, pieces)
    piece = collectives.ring_all_gather_time(compose.product(nbytes, share), values.plan.tensor, *ring)

    def left(beside: Array | float) -> Array:
        time: Array = overlap.bucketed_exposed_time(
            piece, piece, piece, beside, share, share, compose.summed(pieces, -2.0)
        )
        return time

    def over(*halves: Pass) -> Pass:
        return _plus(*(Pass(left(half.forward), left(half.backward)) for half in halves))

    attention, feed_forward = blocks
    in_turn = over(*attention, *feed_forward)
    if not values.model.parallel_block.any():
        return in_turn
    side_by_side = over(_plus(attention.into, feed_forward.into), _plus(attention.out_of, feed_forward.out_of))
    return _either(values.model.parallel_block, side_by_side, in_turn)


def _context_communication(values: Inputs, net: Wires, tokens: Array, core: Pass) -> Pass:
    """Keys and values of the other context ranks, passed round a ring beside the attention core."""
    model, plan = values.model, values.plan
    bandwidth, latency = wires.ring(net, plan.context, plan.tensor)
    key_dim, value_dim = head_widths(model)
    nbytes = traffic.context_bytes(
        tokens,
        plan.context,
        held_kv_heads(values),
        key_dim,
        value_dim,
        values.workload.activation_bytes,
        plan.tensor,
    )
    gather = collectives.ring_all_gather_time(nbytes, plan.context, bandwidth, latency)
    return Pass(
        overlap.exposed_time(gather, core.forward, 1.0),
        overlap.exposed_time(compose.repeated(gather, 2.0), core.backward, 1.0),
    )


def _expert_communication(values: Inputs, net: Wires, tokens: Array) -> Pass:
    """Tokens to the ranks of their experts and back, forward and backward."""
    model, plan = values.model, values.plan
    if not model.experts.any():
        return NOTHING
    local = topology.ranks_per_domain(plan.expert, plan.expert_tensor, values.cluster.domain)
    crosses = topology.crosses(plan.expert, local)
    latency = compose.chosen(crosses, net.network_latency, net.link_latency)
    outside = wires.uniform(net, plan.expert, plan.expert_tensor, local)
    rows = sharding.routed_rows(tokens, model.top_k, 1.0, plan.tensor)
    every_copy = collectives.all_to_all_time(
        traffic.residual_bytes(rows, model.hidden, values.workload.activation_bytes),
        plan.expert,
        local,
        net.inside,
        outside,
        latency,
    )
    own_rows = sharding.routed_rows(tokens, 1.0, 1.0, plan.tensor)
    once_a_node = collectives.two_level_dispatch_time(
        traffic.residual_bytes(own_rows, model.hidden, values.workload.activation_bytes),
        model.top_k,
        collectives.distinct_nodes(sharding.share(plan.expert, local), model.top_k),
        plan.expert,
        local,
        net.inside,
        outside,
        latency,
    )
    one = compose.chosen(plan.two_level_dispatch, once_a_node, every_copy)
    pipelined = compose.chosen(crosses, 0.0, plan.hidden_dispatch)  # inside a scale-up network only
    exposed = overlap.share_exposed(overlap.share_exposed(one, pipelined), plan.hidden_expert)
    both = compose.repeated(exposed, 2.0)
    return Pass(both, both)
