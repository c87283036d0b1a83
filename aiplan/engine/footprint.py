"""Device memory of the fullest pipeline stage."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.core import compose, memory, pipeline, sharding, training, transformer, widths, zero
from aiplan.engine.counts import Parameters, head_widths, held_kv_heads, mean_ffn_width, parameters, stage_layers

if TYPE_CHECKING:
    from aiplan.core.arrays import Array, StageIndex
    from aiplan.engine.inputs import Inputs


class Held(NamedTuple):
    """Parameters that one rank of every stage holds or updates, each (plans, stages)."""

    dense: Array
    experts: Array
    layer: Array
    expert_shards: Array
    dense_parameters: Array
    expert_parameters: Array
    optimizer_parameters: Array


def held(values: Inputs) -> Held:
    """Parameters per rank: after tensor, expert and pipeline sharding, before ZeRO."""
    model, plan = values.model, values.plan
    count = parameters(model)
    dense = _dense_parameters(values, count)
    per_layer = sharding.expert_layer_parameters(model.experts, count.expert, plan.expert, plan.expert_tensor)
    experts = compose.product(values.stages.moe_layers, per_layer)
    expert_shards = sharding.expert_shards(plan.data, plan.context, plan.tensor, plan.expert, plan.expert_tensor)
    updated = compose.summed(
        sharding.share(dense, zero.state_shards(plan.zero, 1, zero.gradient_ranks(plan.data, plan.context))),
        sharding.share(experts, zero.state_shards(plan.zero, 1, expert_shards)),
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
    )


def _dense_parameters(values: Inputs, count: Parameters) -> Array:
    """Count what a rank of every stage holds, routed experts apart; biases are taken as split like their matrices."""
    model, plan, stages = values.model, values.plan, values.stages
    matrices = compose.summed(
        compose.product(stages.dense_layers, compose.summed(count.attention, count.dense_mlp)),
        compose.product(stages.moe_layers, compose.summed(count.attention, count.shared)),
    )
    table = transformer.embedding_parameters(model.vocab, model.hidden)
    own_head = compose.chosen(sharding.tied_copies(model.tied, plan.pipeline), table, count.head)
    ends = compose.summed(
        compose.product(stages.has_embedding, count.embedding), compose.product(stages.has_head, own_head)
    )
    copied = compose.summed(
        compose.product(stage_layers(stages), count.norms), compose.product(stages.moe_layers, count.router)
    )
    held: Array = sharding.stage_parameters(matrices, ends, copied, plan.tensor)
    return held


def memory_terms(values: Inputs, holds: Held) -> tuple[dict[str, Array], StageIndex]:
    """Bytes by kind on the fullest stage, each (plans, 1), and the column of that stage."""
    per_stage = _states(values, holds) | _dynamic(values, holds)
    per_stage["memory.reserved"] = values.cluster.reserved_memory
    total = compose.summed(*per_stage.values())
    fullest = compose.busiest(total, values.stages.copies)
    return {name: compose.at_stage(part, fullest) for name, part in per_stage.items()}, fullest


def _states(values: Inputs, holds: Held) -> dict[str, Array]:
    plan, work = values.plan, values.workload
    ranks = zero.gradient_ranks(plan.data, plan.context)
    terms = {}
    kinds = (
        ("memory.weights", work.weight_bytes, 3),
        ("memory.gradients", compose.summed(work.gradient_bytes, work.raw_gradient_bytes), 2),
        ("memory.optimizer", work.optimizer_bytes, 1),
    )
    for name, size, from_stage in kinds:
        dense = memory.state_bytes(holds.dense, size, zero.state_shards(plan.zero, from_stage, ranks))
        experts = memory.state_bytes(holds.experts, size, zero.state_shards(plan.zero, from_stage, holds.expert_shards))
        terms[name] = compose.summed(dense, experts)
    return terms


def activation_bytes_per_layer(values: Inputs) -> tuple[Array, Array]:
    """Bytes per token that a layer keeps, and what a layer that is being recomputed needs besides."""
    model, plan, work = values.model, values.plan, values.workload
    key_dim, value_dim = head_widths(model)
    shards = sharding.sequence_shards(plan.tensor, plan.sequence_parallel)
    whole = memory.layer_activation_bytes(
        model.hidden,
        widths.mean_head_width(model.heads, key_dim, value_dim),
        widths.mean_head_width(held_kv_heads(values), key_dim, value_dim),
        widths.stored_ffn_width(
            mean_ffn_width(values), model.gated, model.hidden, model.top_k, model.layers, model.moe_layers
        ),
        plan.tensor,
        shards,
        sharding.sequence_shards(plan.tensor, plan.inputs_split),
        work.activation_bytes,
        work.dropout,
        model.parallel_block,
    )
    attended = transformer.attended_length(work.sequence, 0.0, 0.0)
    scores = memory.score_bytes(model.heads, attended, plan.tensor, work.activation_bytes, work.dropout)
    kept = memory.kept_layer_bytes(whole, scores, plan.flash, plan.recompute_selective)
    working = memory.working_layer_bytes(kept, scores, plan.flash, plan.recompute_selective, plan.recompute_full)
    checkpoint = memory.checkpointed_layer_bytes(model.hidden, shards, work.activation_bytes)
    return compose.chosen(plan.recompute_full, checkpoint, kept), working


def _dynamic(values: Inputs, holds: Held) -> dict[str, Array]:
    model, plan, work, stages = values.model, values.plan, values.workload, values.stages
    tokens = training.micro_batch_tokens(plan.micro_batch, work.sequence, plan.context)
    count = training.micro_batches(work.global_batch, plan.micro_batch, plan.data)
    per_layer, working = activation_bytes_per_layer(values)
    in_flight = pipeline.micro_batches_in_flight(plan.pipeline, stages.index, plan.interleave, count)
    activations = memory.stage_activation_bytes(per_layer, stage_layers(stages), tokens, in_flight, working)
    logits = compose.product(
        stages.has_head, memory.logits_bytes(tokens, model.vocab, plan.tensor, work.activation_bytes, work.loss_bytes)
    )
    dynamic = compose.summed(activations, logits)
    return {
        "memory.activations": activations,
        "memory.logits": logits,
        "memory.gathered": _gathered(values, holds),
        "memory.fragmentation": memory.fragmentation_bytes(dynamic, values.cluster.fragmentation),
    }


def _gathered(values: Inputs, holds: Held) -> Array:
    plan, size = values.plan, values.workload.weight_bytes
    ranks = zero.gradient_ranks(plan.data, plan.context)
    layers = memory.gathered_layer_bytes(holds.layer, size, zero.reaches(plan.zero, 3))
    dense = memory.gather_buffer_bytes(holds.dense, size, ranks, plan.gather_copy)
    experts = memory.gather_buffer_bytes(holds.experts, size, holds.expert_shards, plan.gather_copy)
    buffers: Array = compose.summed(layers, dense, experts)
    return buffers
