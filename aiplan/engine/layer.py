"""Time that one transformer layer takes for one micro-batch on one rank, part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import collectives, compose, compute, overlap, topology, training, transformer
from aiplan.engine.counts import head_widths

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.inputs import Inputs


class Pass(NamedTuple):
    """Forward and backward time of a part."""

    forward: Array
    backward: Array


@dataclass(frozen=True, slots=True)
class Wires:
    """Bandwidths and latencies that the groups of a plan see."""

    inside: Array
    outside: Array
    link_latency: Array
    network_latency: Array


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer's parts, each (plans, 1)."""

    projections: Pass
    core: Pass
    feed_forward: Pass
    experts: Pass
    elementwise: Pass
    tensor_communication: Pass
    tensor_recompute: Array
    context_communication: Pass
    expert_communication: Pass


def wires(values: Inputs) -> Wires:
    """Bandwidths inside and between nodes, after what long transfers reach."""
    cluster = values.cluster
    return Wires(
        inside=compute.achieved(cluster.link_bandwidth, cluster.link_fraction),
        outside=topology.ports_per_rank(
            cluster.network_ports,
            cluster.network_bandwidth,
            cluster.network_fraction,
            cluster.accelerators_per_node,
            cluster.oversubscription,
        ),
        link_latency=cluster.link_latency,
        network_latency=cluster.network_latency,
    )


def layer(values: Inputs, net: Wires) -> Layer:
    """Time the parts of a layer."""
    plan, work = values.plan, values.workload
    tokens = training.micro_batch_tokens(plan.micro_batch, work.sequence, plan.context)
    memory = compute.achieved(values.cluster.memory_bandwidth, values.cluster.memory_fraction)
    core = _core(values, tokens, memory)
    communication, again = _tensor_communication(values, net, tokens)
    return Layer(
        projections=_projections(values, tokens, memory),
        core=core,
        feed_forward=_feed_forward(values, tokens, memory),
        experts=_experts(values, tokens, memory),
        elementwise=_elementwise(values, tokens, memory),
        tensor_communication=communication,
        tensor_recompute=again,
        context_communication=_context_communication(values, net, tokens, core),
        expert_communication=_expert_communication(values, net, tokens),
    )


def linear(
    values: Inputs, rows: Array, columns: Array, inner: Array, memory: Array, groups: Array | float = 1.0
) -> Pass:
    """Time a linear layer: one matmul forward, two backward (towards inputs and towards weights)."""
    cluster = values.cluster

    def one(m: Array, n: Array, k: Array) -> Array:
        time: Array = compute.matmul_time(
            m,
            n,
            k,
            cluster.matmul_peak,
            cluster.matmul_fraction,
            compute.tile_utilisation(m, n, cluster.multiprocessors, groups),
            values.workload.matmul_bytes,
            memory,
            cluster.launch,
            groups,
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


def _projections(values: Inputs, tokens: Array, memory: Array) -> Pass:
    model, tensor = values.model, values.plan.tensor
    kv_heads = np.maximum(model.kv_heads, tensor)  # key-value heads are copied when there are fewer than ranks
    grouped = _plus(
        linear(values, tokens, model.head_dim * (model.heads + 2.0 * kv_heads) / tensor, model.hidden, memory),
        linear(values, tokens, model.hidden, model.head_dim * model.heads / tensor, memory),
    )
    if not model.latent.any():
        return grouped
    query_width = model.heads * (model.nope_dim + model.rope_dim) / tensor
    key_value_width = model.heads * (model.nope_dim + model.value_dim) / tensor
    down = model.query_rank + model.key_value_rank + model.rope_dim
    query_inner = np.where(model.query_rank > 0, model.query_rank, model.hidden)
    latent = _plus(
        linear(values, tokens, down, model.hidden, memory),
        linear(values, tokens, query_width, query_inner, memory),
        linear(values, tokens, key_value_width, model.key_value_rank, memory),
        linear(values, tokens, model.hidden, model.heads * model.value_dim / tensor, memory),
    )
    return _either(model.latent, latent, grouped)


def _core(values: Inputs, tokens: Array, memory: Array) -> Pass:
    flash = _flash_core(values, tokens, memory)
    if values.plan.flash.all():
        return flash
    stored = _stored_core(values, memory)
    return _either(values.plan.flash, flash, stored)


def _flash_core(values: Inputs, tokens: Array, memory: Array) -> Pass:
    model, cluster, plan = values.model, values.cluster, values.plan
    key_dim, value_dim = head_widths(model)
    causal = np.ones_like(tokens)
    windowed = transformer.attended_length(values.workload.sequence, model.window, causal)
    whole = transformer.attended_length(values.workload.sequence, np.zeros_like(model.window), causal)
    share = model.window_layers / model.layers
    attended = (1.0 - share) * whole + share * windowed
    flops = transformer.attention_core_flops(model.heads, key_dim, value_dim, attended) * tokens / plan.tensor
    kv_heads = np.maximum(model.kv_heads, plan.tensor)
    nbytes = tokens * (model.heads + kv_heads) * (key_dim + value_dim) / plan.tensor * values.workload.activation_bytes
    times = [
        compute.attention_time(
            flops * work,
            cluster.attention_peak,
            cluster.attention_fraction,
            nbytes * traffic,
            memory,
            cluster.launch,
        )
        for work, traffic in ((1.0, 1.0), (2.5, 2.0))  # backward: five matmuls for two, scores computed again
    ]
    return Pass(*times)


def _stored_core(values: Inputs, memory: Array) -> Pass:
    """Scores, softmax and weighted values as separate kernels; the score matrix goes through memory."""
    model, plan, work = values.model, values.plan, values.workload
    key_dim, value_dim = head_widths(model)
    groups = plan.micro_batch * model.heads / plan.tensor
    queries = work.sequence / plan.context
    scores = linear(values, queries, work.sequence, key_dim, memory, groups)
    weighted = linear(values, queries, value_dim, work.sequence, memory, groups)
    elements = groups * queries * work.sequence
    nbytes = elements * (plan.score_passes * 2.0 * work.activation_bytes + work.dropout * 5.0)
    softmax = compute.memory_bound_time(nbytes, memory, 2.0, values.cluster.launch)
    softmax_backward = compute.memory_bound_time(
        elements * (plan.score_passes * 3.0 * work.activation_bytes + work.dropout * 5.0),
        memory,
        2.0,
        values.cluster.launch,
    )
    return _plus(scores, weighted, Pass(softmax, softmax_backward))


def _feed_forward(values: Inputs, tokens: Array, memory: Array) -> Pass:
    model, tensor = values.model, values.plan.tensor
    return _block(values, tokens, model.ffn / tensor, memory)


def _block(values: Inputs, rows: Array, width: Array, memory: Array, groups: Array | float = 1.0) -> Pass:
    model = values.model
    up = linear(values, rows, width * (1.0 + model.gated), model.hidden, memory, groups)
    return _plus(up, linear(values, rows, model.hidden, width, memory, groups))


def _experts(values: Inputs, tokens: Array, memory: Array) -> Pass:
    model, plan = values.model, values.plan
    if not model.experts.any():
        return Pass(np.zeros_like(tokens), np.zeros_like(tokens))
    held = np.maximum(model.experts / plan.expert, 1.0)
    routed_rows = tokens * model.top_k * plan.expert_tensor / plan.tensor
    routed = _block(values, routed_rows / held, model.expert_ffn / plan.expert_tensor, memory, held)
    shared = _block(values, tokens, model.shared_ffn / plan.tensor, memory)
    router = linear(values, tokens / _sequence_shards(values), model.experts, model.hidden, memory)
    shuffled = routed_rows * model.hidden * values.workload.activation_bytes
    moves = compute.memory_bound_time(6.0 * shuffled, memory, 6.0, values.cluster.launch)
    return _plus(routed, shared, router, Pass(moves, moves))


def _sequence_shards(values: Inputs) -> Array:
    plan = values.plan
    shards: Array = np.where(plan.sequence_parallel > 0, plan.tensor, 1.0)
    return shards


def _elementwise(values: Inputs, tokens: Array, memory: Array) -> Pass:
    """Norms, residuals, dropout, activation function and rotary positions: all bound by memory."""
    model, plan, work = values.model, values.plan, values.workload
    size = work.activation_bytes
    passes = 2.0 - plan.fused_elementwise  # without fusion every chain of operations goes through memory twice
    norms = model.norms_per_layer * model.hidden * 2.0 * size
    residuals = 2.0 * model.hidden * (3.0 * size + work.dropout)
    width = np.where(
        model.moe_layers > 0,
        (model.top_k * model.expert_ffn * plan.expert_tensor + model.shared_ffn) * model.moe_layers / model.layers
        + model.ffn * (1.0 - model.moe_layers / model.layers),
        model.ffn,
    )
    activation = width * (2.0 + model.gated) * size / plan.tensor
    rotary = np.where(
        model.positions > 0, 0.0, 2.0 * size * model.head_dim * (model.heads + model.kv_heads) / plan.tensor
    )
    shards = _sequence_shards(values)
    forward = (norms + residuals) / shards + activation + rotary
    backward = (1.5 * norms + residuals) / shards + 1.5 * activation + rotary
    launch = values.cluster.launch
    return Pass(
        compute.memory_bound_time(tokens * forward * passes, memory, 6.0 * passes, launch),
        compute.memory_bound_time(tokens * backward * passes, memory, 8.0 * passes, launch),
    )


def _tensor_communication(values: Inputs, net: Wires, tokens: Array) -> tuple[Pass, Array]:
    """Two all-reduces of the residual stream forward, two backward, and the forward ones again in full recompute."""
    plan = values.plan
    local = topology.ranks_per_domain(plan.tensor, np.ones_like(plan.tensor), values.cluster.domain)
    bandwidth = topology.ring_bandwidth(plan.tensor, local, net.inside, net.outside)
    latency = topology.hop_latency(plan.tensor, local, net.link_latency, net.network_latency)
    nbytes = tokens * values.model.hidden * values.workload.activation_bytes
    one = collectives.ring_all_reduce_time(nbytes, plan.tensor, bandwidth, latency)
    each = overlap.share_exposed(one, plan.hidden_tensor)
    both = compose.repeated(each, 2.0 - values.model.parallel_block)
    return Pass(both, both), compose.repeated(both, plan.recompute_full)


def _context_communication(values: Inputs, net: Wires, tokens: Array, core: Pass) -> Pass:
    """Keys and values of the other context ranks, passed round a ring beside the attention core."""
    model, plan = values.model, values.plan
    local = topology.ranks_per_domain(plan.context, plan.tensor, values.cluster.domain)
    bandwidth = topology.ring_bandwidth(plan.context, local, net.inside, net.outside)
    latency = topology.hop_latency(plan.context, local, net.link_latency, net.network_latency)
    key_dim, value_dim = head_widths(model)
    kv_heads = np.where(model.latent > 0, model.heads, np.maximum(model.kv_heads, plan.tensor))
    width = kv_heads * (key_dim + value_dim) / plan.tensor
    nbytes = tokens * plan.context * width * values.workload.activation_bytes
    gather = collectives.ring_all_gather_time(nbytes, plan.context, bandwidth, latency)
    return Pass(
        overlap.exposed_time(gather, core.forward, 1.0),
        overlap.exposed_time(2.0 * gather, core.backward, 1.0),
    )


def _expert_communication(values: Inputs, net: Wires, tokens: Array) -> Pass:
    """Tokens to the ranks of their experts and back, forward and backward."""
    model, plan = values.model, values.plan
    if not model.experts.any():
        return Pass(np.zeros_like(tokens), np.zeros_like(tokens))
    local = topology.ranks_per_domain(plan.expert, plan.expert_tensor, values.cluster.domain)
    nbytes = tokens * model.top_k / plan.tensor * model.hidden * values.workload.activation_bytes
    one = collectives.all_to_all_time(
        nbytes,
        plan.expert,
        local,
        net.inside,
        net.outside,
        np.where(plan.expert > local, net.network_latency, net.link_latency),
    )
    both = compose.repeated(one, 2.0)
    return Pass(both, both)
