"""Device memory of the fullest pipeline stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import (
    buffers,
    compose,
    flops,
    memory,
    offload,
    pipeline,
    sharding,
    training,
    transformer,
    widths,
    zero,
)
from aiplan.engine.compressed import coding_memory
from aiplan.engine.counts import Parameters, head_widths, held_kv_heads, mean_ffn_width, parameters, stage_layers

if TYPE_CHECKING:
    from aiplan.core.arrays import Array, StageIndex
    from aiplan.engine.inputs import Inputs


class Held(NamedTuple):
    """Parameters that one rank holds or updates: of every stage, (stages, plans), or of the fullest, (1, plans).

    `in_layers`, `embedding` and `head` are those of the fullest stage, routed experts apart, `layers` its layers.
    """

    dense: Array
    experts: Array
    layer: Array
    expert_shards: Array
    dense_parameters: Array
    expert_parameters: Array
    optimizer_parameters: Array
    layers: Array
    in_layers: Array
    embedding: Array
    head: Array


class Dense(NamedTuple):
    """What a rank of every stage holds, routed experts apart: all of it, and what of it is where."""

    every: Array
    in_layers: Array
    embedding: Array
    head: Array


def held(values: Inputs) -> Held:
    """Parameters per rank: after tensor, expert and pipeline sharding, before ZeRO."""
    model, plan = values.model, values.plan
    count = parameters(model)
    parts = _dense_parameters(values, count)
    dense = parts.every
    per_layer = sharding.expert_layer_parameters(model.experts, count.expert, plan.expert, plan.expert_tensor)
    experts = compose.product(values.stages.moe_layers, per_layer)
    expert_shards = sharding.expert_shards(plan.data, plan.context, plan.tensor, plan.expert, plan.expert_tensor)
    sharing = zero.sharing_ranks(zero.gradient_ranks(plan.data, plan.context), plan.copies)
    updated = compose.summed(
        sharding.share(dense, zero.state_shards(plan.zero, 1, sharing)),
        sharding.share(experts, zero.state_shards(plan.zero, 1, zero.sharing_ranks(expert_shards, plan.copies))),
    )
    fullest = compose.busiest(compose.summed(dense, experts), values.stages.copies)
    return Held(
        dense=dense,
        experts=experts,
        layer=sharding.largest_layer(count.attention, count.dense_mlp, per_layer, model.moe_layers, plan.tensor),
        expert_shards=expert_shards,
        dense_parameters=compose.at_stage(dense, fullest),
        expert_parameters=compose.at_stage(experts, fullest),
        optimizer_parameters=compose.at_stage(updated, fullest),
        layers=compose.at_stage(stage_layers(values.stages), fullest),
        in_layers=compose.at_stage(parts.in_layers, fullest),
        embedding=compose.at_stage(parts.embedding, fullest),
        head=compose.at_stage(parts.head, fullest),
    )


def _dense_parameters(values: Inputs, count: Parameters) -> Dense:
    """Count what a rank of every stage holds, routed experts apart; biases are taken as split like their matrices."""
    model, plan, stages = values.model, values.plan, values.stages
    matrices = compose.summed(
        compose.product(stages.dense_layers, compose.summed(count.attention, count.dense_mlp)),
        compose.product(stages.moe_layers, compose.summed(count.attention, count.shared)),
    )
    table = transformer.embedding_parameters(model.vocab, model.hidden)
    own_head = compose.chosen(sharding.tied_copies(model.tied, plan.pipeline), table, count.head)
    embedding, head = (
        compose.product(stages.has_embedding, count.embedding),
        compose.product(stages.has_head, own_head),
    )
    copied = compose.summed(
        compose.product(stage_layers(stages), count.norms), compose.product(stages.moe_layers, count.router)
    )
    return Dense(
        every=sharding.stage_parameters(matrices, compose.summed(embedding, head), copied, plan.tensor),
        in_layers=sharding.stage_parameters(matrices, 0.0, copied, plan.tensor),
        embedding=sharding.share(embedding, plan.tensor),
        head=sharding.share(head, plan.tensor),
    )


def memory_terms(values: Inputs, holds: Held) -> tuple[dict[str, Array], StageIndex]:
    """Bytes by kind on the fullest stage, each (1, plans), and the row of that stage."""
    per_stage, needed = _per_stage(values, holds)
    fullest = compose.busiest(needed, values.stages.copies)
    return {name: compose.at_stage(part, fullest) for name, part in per_stage.items()}, fullest


def stage_terms(values: Inputs) -> dict[str, Array]:
    """Bytes by kind on every stage that differs, each (stages, plans), or (1, plans) where all are alike."""
    return _per_stage(values, held(values))[0]


def first_stage_terms(values: Inputs) -> dict[str, Array]:
    """Bytes by kind on the first stage, each (1, plans)."""
    return {name: part[..., :1, :] for name, part in stage_terms(values).items()}


def _per_stage(values: Inputs, holds: Held) -> tuple[dict[str, Array], Array]:
    """Bytes by kind on every stage, and the sum of those that a step cannot do without."""
    per_stage = _states(values, holds) | _dynamic(values, holds)
    per_stage["memory.reserved"] = values.cluster.reserved_memory
    needed: Array = compose.summed(*per_stage.values())
    per_stage["memory.cached"] = buffers.cached_bytes(_queued(values), needed, values.cluster.memory_capacity)
    return per_stage, needed


def _states(values: Inputs, holds: Held) -> dict[str, Array]:
    plan, work = values.plan, values.workload
    ranks = zero.sharing_ranks(zero.gradient_ranks(plan.data, plan.context), plan.copies)
    expert_ranks = zero.sharing_ranks(holds.expert_shards, plan.copies)
    terms = {}
    kinds = (
        ("memory.weights", work.weight_bytes, 3),
        ("memory.gradients", work.kept_gradient_bytes, 2),
        ("memory.optimizer", compose.summed(work.optimizer_bytes, work.shard_gradient_bytes), 1),
    )
    for name, size, from_stage in kinds:
        dense = memory.state_bytes(holds.dense, size, zero.state_shards(plan.zero, from_stage, ranks))
        experts = memory.state_bytes(holds.experts, size, zero.state_shards(plan.zero, from_stage, expert_ranks))
        terms[name] = compose.summed(dense, experts)
    if not np.any(plan.offload_optimizer):
        return terms
    gone = {
        "memory.weights": plan.offload_weights,
        "memory.gradients": compose.repeated(zero.reaches(plan.zero, 2), plan.offload_optimizer),
        "memory.optimizer": plan.offload_optimizer,
    }
    return {name: offload.on_device(term, gone[name]) for name, term in terms.items()}


def activation_bytes_per_layer(values: Inputs) -> tuple[Array, Array]:
    """Bytes per token that a layer keeps, and what a layer that is being recomputed needs besides."""
    model, plan, work = values.model, values.plan, values.workload
    shards = sharding.sequence_shards(plan.tensor, plan.sequence_parallel)
    query_width, kv_width = _attention_widths(values)
    ffn = mean_ffn_width(values)
    whole = memory.layer_activation_bytes(
        model.hidden,
        query_width,
        compose.product(kv_width, compose.summed(1.0, plan.kv_copies)),
        widths.stored_ffn_width(
            ffn, model.gated, plan.fused_elementwise, model.hidden, model.top_k, model.layers, model.moe_layers
        ),
        plan.tensor,
        shards,
        sharding.sequence_shards(plan.tensor, plan.inputs_split),
        work.activation_bytes,
        work.dropout,
        model.parallel_block,
    )
    attended = flops.attended_length(work.sequence, 0.0, 0.0)
    scores = memory.score_bytes(model.heads, attended, plan.tensor, work.activation_bytes, work.dropout)
    kept = memory.kept_layer_bytes(whole, scores, plan.flash, plan.recompute_selective)
    again = compose.summed(plan.recompute_full, plan.recompute_operations)
    working = memory.working_layer_bytes(kept, scores, plan.flash, plan.recompute_selective, again)
    operations = memory.kept_operations_bytes(
        model.hidden, query_width, kv_width, ffn, plan.tensor, shards, work.activation_bytes
    )
    kept = compose.chosen(plan.recompute_operations, operations, kept)
    checkpoint = memory.checkpointed_layer_bytes(model.hidden, shards, work.activation_bytes)
    return memory.partly_checkpointed_bytes(kept, checkpoint, plan.recompute_full), working


def _attention_widths(values: Inputs) -> tuple[Array, Array]:
    """Return the widths of all queries and of all keys, or values, of a layer."""
    key_dim, value_dim = head_widths(values.model)
    return (
        widths.mean_head_width(values.model.heads, key_dim, value_dim),
        widths.mean_head_width(held_kv_heads(values), key_dim, value_dim),
    )


def _tokens(values: Inputs) -> Array:
    """Return the tokens of a micro-batch on one rank."""
    work, plan = values.workload, values.plan
    tokens: Array = training.micro_batch_tokens(plan.micro_batch, work.sequence, plan.context)
    return tokens


def _in_flight(values: Inputs) -> Array:
    """Return the micro-batches that each stage holds at its peak."""
    work, plan, stages = values.workload, values.plan, values.stages
    count = training.micro_batches(work.global_batch, plan.micro_batch, plan.data)
    held_there: Array = pipeline.micro_batches_in_flight(plan.pipeline, stages.index, plan.interleave, count)
    return held_there


def _dynamic(values: Inputs, holds: Held) -> dict[str, Array]:
    model, plan, work, stages = values.model, values.plan, values.workload, values.stages
    tokens = _tokens(values)
    per_layer, working = activation_bytes_per_layer(values)
    activations = memory.stage_activation_bytes(per_layer, stage_layers(stages), tokens, _in_flight(values), working)
    logits = compose.product(
        stages.has_head, memory.logits_bytes(tokens, model.vocab, plan.tensor, work.activation_bytes, work.loss_bytes)
    )
    dynamic = compose.summed(activations, logits)
    return {
        "memory.activations": activations,
        "memory.logits": logits,
        "memory.inputs": buffers.whole_input_bytes(
            tokens, model.hidden, work.activation_bytes, plan.whole_inputs, plan.sequence_parallel
        ),
        "memory.gathered": _gathered(values, holds, dynamic),
        "memory.compression": coding_memory(values, holds, zero.gradient_ranks(plan.data, plan.context)),
        "memory.fragmentation": memory.fragmentation_bytes(dynamic, values.cluster.fragmentation),
    }


def _gathered(values: Inputs, holds: Held, dynamic: Array) -> Array:
    """Return what weights take that are gathered: for the layer in use, for a whole stage, or after the update."""
    plan, work = values.plan, values.workload
    ranks = zero.sharing_ranks(zero.gradient_ranks(plan.data, plan.context), plan.copies)
    expert_ranks, sharded = zero.sharing_ranks(holds.expert_shards, plan.copies), zero.reaches(plan.zero, 3)
    layers = memory.gathered_layer_bytes(holds.layer, work.weight_bytes, sharded, values.communication.prefetch)
    stage = buffers.gathered_stage_bytes(
        compose.summed(holds.dense, holds.experts), work.weight_bytes, work.gradient_bytes, sharded
    )
    dense = buffers.gather_buffer_bytes(holds.dense, work.weight_bytes, ranks, plan.gather_copy)
    experts = buffers.gather_buffer_bytes(holds.experts, work.weight_bytes, expert_ranks, plan.gather_copy)
    gathered: Array = compose.summed(
        compose.chosen(plan.stays_gathered, stage, layers),
        buffers.bytes_beyond(compose.summed(dense, experts), dynamic),
    )
    return gathered


def _queued(values: Inputs) -> Array:
    """Return what waits for its reduce-scatter while the host has queued further micro-batches."""
    plan = values.plan
    waiting: Array = buffers.run_ahead_bytes(
        _tokens(values),
        values.model.hidden,
        values.workload.activation_bytes,
        stage_layers(values.stages),
        _in_flight(values),
        plan.run_ahead,
        plan.run_ahead_behind,
        plan.sequence_parallel,
    )
    return waiting
