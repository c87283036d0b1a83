"""Device memory of the fullest pipeline stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aiplan.core import compose, memory, pipeline, training, transformer
from aiplan.engine.counts import head_widths, parameters

if TYPE_CHECKING:
    from aiplan.core.arrays import Array, StageIndex
    from aiplan.engine.inputs import Inputs


@dataclass(frozen=True, slots=True)
class Held:
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
    model, plan, stages = values.model, values.plan, values.stages
    count = parameters(model)
    layers = stages.dense_layers + stages.moe_layers
    # Norms, routers and biases are copied on every tensor parallel rank; beside the matrices they do not show.
    split = stages.dense_layers * (count.attention + count.dense_mlp)
    split = split + stages.moe_layers * (count.attention + count.shared)
    own_head = np.where((model.tied > 0) & (plan.pipeline > 1), model.vocab * model.hidden, count.head)
    ends = stages.has_embedding * count.embedding + stages.has_head * own_head
    dense = (split + ends) / plan.tensor + layers * count.norms + stages.moe_layers * count.router
    held_experts = model.experts / (plan.expert * plan.expert_tensor)
    experts = stages.moe_layers * held_experts * count.expert
    world = plan.data * plan.context * plan.tensor
    expert_shards = np.maximum(world / (plan.expert * plan.expert_tensor), 1.0)
    zero = plan.zero > 0
    dense_shards = np.where(zero, plan.data * plan.context, 1.0)
    fullest = np.argmax(dense + experts, axis=-1, keepdims=True)
    layer = np.maximum(
        (count.attention + count.dense_mlp) / plan.tensor,
        np.where(model.moe_layers > 0, count.attention / plan.tensor + held_experts * count.expert, 0.0),
    )
    updated = dense / dense_shards + experts / np.where(zero, expert_shards, 1.0)
    return Held(
        dense=dense,
        experts=experts,
        layer=layer,
        expert_shards=expert_shards,
        dense_parameters=compose.at_stage(dense, fullest),
        expert_parameters=compose.at_stage(experts, fullest),
        optimizer_parameters=compose.at_stage(updated, fullest),
    )


def memory_terms(values: Inputs, holds: Held) -> tuple[dict[str, Array], StageIndex]:
    """Bytes by kind on the fullest stage, each (plans, 1), and the column of that stage."""
    per_stage = _states(values, holds) | _dynamic(values, holds)
    per_stage["memory.reserved"] = values.cluster.reserved_memory + np.zeros_like(holds.dense)
    total = compose.summed(*per_stage.values())
    fullest = np.argmax(np.where(values.stages.copies > 0, total, -1.0), axis=-1, keepdims=True)
    return {name: compose.at_stage(part, fullest) for name, part in per_stage.items()}, fullest


def _states(values: Inputs, holds: Held) -> dict[str, Array]:
    plan, work = values.plan, values.workload
    one = np.ones_like(plan.zero)
    terms = {}
    kinds = (
        ("memory.weights", work.weight_bytes, 3),
        ("memory.gradients", work.gradient_bytes, 2),
        ("memory.optimizer", work.optimizer_bytes, 1),
    )
    for name, size, from_stage in kinds:
        sharded = plan.zero >= from_stage
        dense = memory.state_bytes(holds.dense, size, np.where(sharded, plan.data * plan.context, one))
        experts = memory.state_bytes(holds.experts, size, np.where(sharded, holds.expert_shards, one))
        terms[name] = compose.summed(dense, experts)
    return terms


def activation_bytes_per_layer(values: Inputs) -> tuple[Array, Array]:
    """Bytes per token that a layer keeps, and what a layer that is being recomputed needs besides."""
    model, plan, work = values.model, values.plan, values.workload
    key_dim, value_dim = head_widths(model)
    moe_share = model.moe_layers / model.layers
    routed = model.top_k * model.expert_ffn * plan.expert_tensor + model.shared_ffn
    width = model.ffn * (1.0 - moe_share) + routed * moe_share
    shards = np.where(plan.sequence_parallel > 0, plan.tensor, 1.0)
    whole = memory.layer_activation_bytes(
        model.hidden,
        model.heads * (key_dim + value_dim) / 2.0,
        np.where(model.latent > 0, model.heads, np.maximum(model.kv_heads, plan.tensor)) * (key_dim + value_dim) / 2.0,
        width * (2.0 + model.gated) + moe_share * model.top_k * 2.0 * model.hidden,
        plan.tensor,
        shards,
        work.activation_bytes,
        work.dropout,
        model.parallel_block,
    )
    attended = transformer.attended_length(work.sequence, np.zeros_like(model.window), np.zeros_like(model.window))
    scores = memory.score_bytes(model.heads, attended, plan.tensor, work.activation_bytes, work.dropout)
    stores_scores = (1.0 - plan.flash) * (1.0 - plan.recompute_selective)
    kept = whole + stores_scores * scores
    checkpoint = memory.checkpointed_layer_bytes(model.hidden, shards, work.activation_bytes)
    full = plan.recompute_full > 0
    working = np.where(full, kept, (1.0 - plan.flash) * plan.recompute_selective * scores)
    return np.where(full, checkpoint, kept), working


def _dynamic(values: Inputs, holds: Held) -> dict[str, Array]:
    model, plan, work, stages = values.model, values.plan, values.workload, values.stages
    tokens = training.micro_batch_tokens(plan.micro_batch, work.sequence, plan.context)
    count = training.micro_batches(work.global_batch, plan.micro_batch, plan.data)
    per_layer, working = activation_bytes_per_layer(values)
    in_flight = pipeline.micro_batches_in_flight(plan.pipeline, stages.index, plan.interleave, count)
    layers = stages.dense_layers + stages.moe_layers
    activations = memory.stage_activation_bytes(per_layer, layers, tokens, in_flight, working)
    logits = stages.has_head * memory.logits_bytes(tokens, model.vocab, plan.tensor, work.activation_bytes)
    gathered = memory.gathered_layer_bytes(holds.layer, work.weight_bytes, np.where(plan.zero >= 3, 1.0, 0.0))
    dynamic = compose.summed(activations, logits)
    return {
        "memory.activations": activations,
        "memory.logits": logits,
        "memory.gathered": gathered + np.zeros_like(activations),
        "memory.fragmentation": memory.fragmentation_bytes(dynamic, values.cluster.fragmentation),
    }
