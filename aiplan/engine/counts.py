"""Parameters and operations of the networks of a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.core import compose, flops, network, pipeline, sharding, transformer, widths

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.inputs import Inputs, ModelInputs, StageInputs

CONVENTIONS = ("megatron", "full", "6nd", "hardware")


class Parameters(NamedTuple):
    """Parameters by where they are held, each (1, plans): whole network, before any sharding."""

    attention: Array
    dense_mlp: Array
    expert: Array
    shared: Array
    router: Array
    norms: Array
    embedding: Array
    head: Array
    total: Array
    active: Array


def parameters(model: ModelInputs) -> Parameters:
    """Count parameters, exact to the last digit."""
    attention = _attention_parameters(model)
    dense_mlp = transformer.mlp_parameters(model.hidden, model.ffn, model.gated, model.mlp_bias)
    one_expert = transformer.mlp_parameters(model.hidden, model.expert_ffn, model.gated, model.mlp_bias)
    shared = _shared_parameters(model)
    router = transformer.router_parameters(model.hidden, model.experts, model.router_bias)
    norms = transformer.norm_parameters(model.hidden, model.norms_per_layer, model.norm_vectors)
    embedding = transformer.embedding_parameters(model.vocab, model.hidden, model.positions)
    head = network.head_parameters(model.vocab, model.hidden, model.tied, model.head_bias)
    end_norms = compose.summed(model.embedding_norm, model.final_norm)
    ends = transformer.norm_parameters(model.hidden, end_norms, model.norm_vectors)
    every = compose.summed(attention, norms)
    all_experts = network.moe_block_parameters(model.experts, one_expert, shared, router)
    active_experts = network.moe_block_parameters(model.top_k, one_expert, shared, router)

    def whole(moe_block: Array) -> Array:
        module = compose.summed(every, compose.chosen(model.moe_layers, moe_block, dense_mlp))
        next_token = network.next_token_parameters(module, model.hidden, model.norm_vectors, model.mtp_layers)
        outside = compose.summed(embedding, head, ends, next_token)
        counted: Array = network.network_parameters(
            model.layers, model.moe_layers, every, dense_mlp, moe_block, outside
        )
        return counted

    return Parameters(
        attention=attention,
        dense_mlp=dense_mlp,
        expert=one_expert,
        shared=shared,
        router=router,
        norms=norms,
        embedding=embedding,
        head=head,
        total=whole(all_experts),
        active=whole(active_experts),
    )


def _attention_parameters(model: ModelInputs) -> Array:
    grouped = transformer.attention_parameters(
        model.hidden, model.heads, model.kv_heads, model.head_dim, model.qkv_bias, model.output_bias
    )
    norms = network.query_key_norm_parameters(
        model.heads, model.kv_heads, model.head_dim, model.qk_norm_head, model.qk_norm_full
    )
    projections = compose.chosen(model.latent, _latent_parameters(model), grouped)
    total: Array = compose.summed(projections, norms, compose.product(model.sinks, model.heads))
    return total


def _latent_parameters(model: ModelInputs) -> Array:
    projections: Array = transformer.latent_attention_parameters(
        model.hidden,
        model.heads,
        model.query_rank,
        model.key_value_rank,
        model.nope_dim,
        model.rope_dim,
        model.value_dim,
    )
    return projections


def _shared_parameters(model: ModelInputs) -> Array:
    """Count the shared experts of a layer, with their gate."""
    block = transformer.mlp_parameters(model.hidden, model.shared_ffn, model.gated, model.mlp_bias)
    shared: Array = compose.summed(
        compose.chosen(model.shared_ffn, block, 0.0), compose.product(model.shared_gate, model.hidden)
    )
    return shared


def forward_flops_per_token(values: Inputs, *, causal: bool) -> dict[str, Array]:
    """Count forward operations per token, by part.

    Parameters
    ----------
    values : Inputs
        The batch.
    causal : bool
        Whether attention counts the causal half only (as Megatron-LM does) or the full square.
    """
    model, sequence = values.model, values.workload.sequence
    modules = model.mtp_layers
    layers = compose.summed(model.layers, modules)
    moe_layers = compose.summed(model.moe_layers, compose.chosen(model.moe_layers, modules, 0.0))
    grouped = flops.attention_projection_flops(model.hidden, model.heads, model.kv_heads, model.head_dim)
    latent = flops.latent_projection_flops(_latent_parameters(model))
    key_dim, value_dim = head_widths(model)
    whole, windowed = (
        flops.attention_core_flops(
            model.heads, key_dim, value_dim, flops.attended_length(sequence, window, float(causal))
        )
        for window in (0.0, model.window)
    )
    dense = flops.mlp_flops(model.hidden, model.ffn, model.gated)
    routed_width = widths.routed_width(model.top_k, model.expert_ffn, model.shared_ffn, 1.0)
    routed = flops.mlp_flops(model.hidden, routed_width, model.gated)
    logits = flops.logits_flops(model.hidden, model.vocab)
    return {
        "attention_projections": compose.product(layers, compose.chosen(model.latent, latent, grouped)),
        "attention_core": network.over_layers(whole, layers, windowed, model.window_layers),
        "feed_forward": network.over_layers(dense, layers, routed, moe_layers),
        "logits": compose.product(logits, pipeline.head_passes(modules, 1.0)),
        "next_token": compose.product(flops.next_token_module_flops(model.hidden), modules),
    }


def head_widths(model: ModelInputs) -> tuple[Array, Array]:
    """Return the widths of a head's keys and of its values."""
    key_dim = compose.chosen(model.latent, compose.summed(model.nope_dim, model.rope_dim), model.head_dim)
    value_dim = compose.chosen(model.latent, model.value_dim, model.head_dim)
    return key_dim, value_dim


def held_kv_heads(values: Inputs) -> Array:
    """Return the key-value heads that the tensor parallel ranks hold together."""
    model = values.model
    held: Array = sharding.held_kv_heads(model.heads, model.kv_heads, model.latent, values.plan.tensor)
    return held


def mean_ffn_width(values: Inputs) -> Array:
    """Return the inner width that a token passes in a feed-forward block, mean over the layers."""
    model = values.model
    routed = widths.routed_width(model.top_k, model.expert_ffn, model.shared_ffn, values.plan.expert_tensor)
    mean: Array = widths.mean_ffn_width(model.ffn, routed, model.layers, model.moe_layers)
    return mean


def stage_layers(stages: StageInputs) -> Array:
    """Return the layers of each stage, with and without experts."""
    layers: Array = compose.summed(stages.dense_layers, stages.moe_layers)
    return layers


def flops_per_token(values: Inputs, convention: str) -> Array:
    """Operations per token, forward and backward, in one of the `CONVENTIONS`.

    `megatron` counts the causal half of attention, `full` its full square, `6nd` six times the active parameters,
    `hardware` is `full` with what the plan recomputes.
    """
    if convention == "6nd":
        counted: Array = flops.flops_6nd(parameters(values.model).active)
        return counted
    parts = forward_flops_per_token(values, causal=convention == "megatron")
    forward = compose.summed(*parts.values())
    total: Array = flops.training_flops(forward)
    if convention == "hardware":
        total = network.hardware_flops(
            total,
            forward,
            parts["logits"],
            parts["attention_core"],
            values.plan.recompute_full,
            values.plan.recompute_selective,
        )
    return total
