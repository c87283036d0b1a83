"""Parameters and operations of the networks of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aiplan.core import transformer

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.inputs import Inputs, ModelInputs

CONVENTIONS = ("megatron", "full", "6nd", "hardware")


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters by where they are held, each (plans, 1): whole network, before any sharding."""

    attention: Array
    dense_mlp: Array
    expert: Array
    shared: Array
    router: Array
    norms: Array
    embedding: Array
    head: Array
    ends: Array
    next_token: Array
    total: Array
    active: Array

    @property
    def dense_layer(self) -> Array:
        """Parameters of one layer without experts."""
        return self.attention + self.dense_mlp + self.norms

    @property
    def moe_layer_rest(self) -> Array:
        """Parameters of one layer with experts, the routed experts apart."""
        return self.attention + self.shared + self.router + self.norms


def parameters(model: ModelInputs) -> Parameters:
    """Count parameters, exact to the last digit."""
    attention = _attention_parameters(model)
    dense_mlp = transformer.mlp_parameters(model.hidden, model.ffn, model.gated, model.mlp_bias)
    one_expert = transformer.mlp_parameters(model.hidden, model.expert_ffn, model.gated, model.mlp_bias)
    shared = transformer.mlp_parameters(model.hidden, model.shared_ffn, model.gated, model.mlp_bias)
    shared = np.where(model.shared_ffn > 0, shared, 0.0) + model.shared_gate * model.hidden
    router = transformer.router_parameters(model.hidden, model.experts, model.router_bias)
    norms = transformer.norm_parameters(model.hidden, model.norms_per_layer, model.norm_vectors)
    embedding = transformer.embedding_parameters(model.vocab, model.hidden, model.positions)
    head = transformer.embedding_parameters(model.vocab, model.hidden) * (1.0 - model.tied)
    head = head + model.head_bias * model.vocab
    ends = transformer.norm_parameters(model.hidden, model.embedding_norm + model.final_norm, model.norm_vectors)
    dense_layers = model.layers - model.moe_layers
    outside = embedding + head + ends + model.layers * (attention + norms) + dense_layers * dense_mlp
    outside = outside + model.moe_layers * (shared + router)
    experts = model.moe_layers * one_expert
    next_token = _next_token_parameters(model, attention, norms, dense_mlp, one_expert, shared, router)
    return Parameters(
        attention=attention,
        dense_mlp=dense_mlp,
        expert=one_expert,
        shared=shared,
        router=router,
        norms=norms,
        embedding=embedding,
        head=head,
        ends=ends,
        next_token=next_token,
        total=outside + experts * model.experts + next_token,
        active=outside + experts * model.top_k + next_token,
    )


def _attention_parameters(model: ModelInputs) -> Array:
    grouped = transformer.attention_parameters(
        model.hidden, model.heads, model.kv_heads, model.head_dim, model.qkv_bias, model.output_bias
    )
    latent = transformer.latent_attention_parameters(
        model.hidden,
        model.heads,
        model.query_rank,
        model.key_value_rank,
        model.nope_dim,
        model.rope_dim,
        model.value_dim,
    )
    query_key_norm = model.qk_norm_head * 2.0 * model.head_dim
    query_key_norm = query_key_norm + model.qk_norm_full * model.head_dim * (model.heads + model.kv_heads)
    chosen: Array = np.where(model.latent > 0, latent, grouped)
    return chosen + query_key_norm + model.sinks * model.heads


def _next_token_parameters(
    model: ModelInputs,
    attention: Array,
    norms: Array,
    dense: Array,
    expert: Array,
    shared: Array,
    router: Array,
) -> Array:
    """Count multi-token-prediction modules: a layer, a projection of twice the width, three norms."""
    block = np.where(model.moe_layers > 0, expert * model.experts + shared + router, dense)
    own = 2.0 * model.hidden * model.hidden + 3.0 * model.hidden * model.norm_vectors
    return model.mtp_layers * (attention + norms + block + own)


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
    extra = model.mtp_layers
    layers = model.layers + extra
    grouped = transformer.attention_projection_flops(model.hidden, model.heads, model.kv_heads, model.head_dim)
    latent = transformer.latent_projection_flops(
        transformer.latent_attention_parameters(
            model.hidden,
            model.heads,
            model.query_rank,
            model.key_value_rank,
            model.nope_dim,
            model.rope_dim,
            model.value_dim,
        )
    )
    half = np.full_like(sequence, float(causal))
    key_dim, value_dim = head_widths(model)
    core = [
        transformer.attention_core_flops(
            model.heads, key_dim, value_dim, transformer.attended_length(sequence, window, half)
        )
        for window in (np.zeros_like(model.window), model.window)
    ]
    dense = transformer.mlp_flops(model.hidden, model.ffn, model.gated)
    routed = transformer.mlp_flops(model.hidden, model.top_k * model.expert_ffn + model.shared_ffn, model.gated)
    moe_layers = model.moe_layers + np.where(model.moe_layers > 0, extra, 0.0)
    return {
        "attention_projections": layers * np.where(model.latent > 0, latent, grouped),
        "attention_core": (layers - model.window_layers) * core[0] + model.window_layers * core[1],
        "feed_forward": (layers - moe_layers) * dense + moe_layers * routed,
        "logits": transformer.logits_flops(model.hidden, model.vocab) * (1.0 + extra),
        "next_token": transformer.next_token_module_flops(model.hidden) * extra,
    }


def head_widths(model: ModelInputs) -> tuple[Array, Array]:
    """Return the widths of a head's keys and of its values."""
    key_dim = np.where(model.latent > 0, model.nope_dim + model.rope_dim, model.head_dim)
    value_dim = np.where(model.latent > 0, model.value_dim, model.head_dim)
    return key_dim, value_dim


def flops_per_token(values: Inputs, convention: str) -> Array:
    """Operations per token, forward and backward, in one of the `CONVENTIONS`.

    `megatron` counts the causal half of attention, `full` its full square, `6nd` six times the active parameters,
    `hardware` is `full` with what the plan recomputes.
    """
    if convention == "6nd":
        counted: Array = transformer.flops_6nd(parameters(values.model).active)
        return counted
    parts = forward_flops_per_token(values, causal=convention == "megatron")
    forward = sum(parts.values(), np.zeros_like(values.workload.sequence))
    total: Array = transformer.training_flops(forward)
    if convention == "hardware":
        layers = forward - parts["logits"]
        again = values.plan.recompute_full * layers
        return total + again + values.plan.recompute_selective * parts["attention_core"]
    return total
