"""The shape of a network, as a model file states it."""

from __future__ import annotations

from aiplan.declare import Declared, choice, flag, integer, listing, record, text


class Bias(Declared):
    """Which matrices have a bias."""

    qkv: bool = flag(doc="Query, key and value projections", default=False)
    attention_output: bool = flag(doc="Attention output projection", default=False)
    mlp: bool = flag(doc="Feed-forward matrices, experts included", default=False)
    head: bool = flag(doc="Output head", default=False)


class Window(Declared):
    """Layers that attend in a sliding window."""

    size: int = integer(doc="Tokens that a query sees", minimum=1)
    layers: int | None = integer(doc="Layers with the window; all if not given", default=None, minimum=1)


class Experts(Declared):
    """A mixture of experts in place of the dense feed-forward block."""

    count: int = integer(doc="Routed experts per layer", minimum=1)
    top_k: int = integer(doc="Routed experts that a token passes", minimum=1)
    ffn: int = integer(doc="Inner width of one routed expert", minimum=1)
    layers: int | None = integer(doc="Layers with experts; all if not given", default=None, minimum=1)
    interleaved: bool = flag(doc="Layers without experts are spread evenly instead of coming first", default=False)
    shared_ffn: int = integer(doc="Inner width of all shared experts together", default=0, minimum=0)
    router_bias: bool = flag(doc="Router has a bias or a learned score correction", default=False)
    shared_gate: bool = flag(doc="Shared experts have a gate of width 1", default=False)


class LatentAttention(Declared):
    """Multi-head latent attention (MLA)."""

    query_rank: int = integer(doc="Rank of the query path; 0 for a full-rank projection", default=0, minimum=0)
    key_value_rank: int = integer(doc="Rank of the shared key-value path", minimum=1)
    nope_dim: int = integer(doc="Head width without rotary positions", minimum=1)
    rope_dim: int = integer(doc="Head width with rotary positions", minimum=0)
    value_dim: int = integer(doc="Head width of values", minimum=1)


class Model(Declared):
    """A decoder-only transformer."""

    schema_version: int = integer(doc="Version of this format", default=1)
    name: str = text(doc="Name of the model", default="unnamed model")
    family: str | None = text(doc="Family it belongs to", default=None)
    layers: int = integer(doc="Transformer layers", minimum=1, maximum=100_000)
    hidden: int = integer(doc="Width of the residual stream", minimum=1)
    heads: int = integer(doc="Query heads", minimum=1)
    kv_heads: int | None = integer(doc="Key-value heads; as many as heads if not given", default=None, minimum=1)
    head_dim: int | None = integer(doc="Width of a head; hidden / heads if not given", default=None, minimum=1)
    ffn: int | None = integer(
        doc="Inner width of the dense feed-forward block; may be left out only if every layer has experts",
        default=None,
        minimum=1,
    )
    gated: bool = flag(doc="Three matrices (SwiGLU, GeGLU) instead of two", default=True)
    vocab: int = integer(doc="Rows of the embedding table, padding included", minimum=1)
    positions: int = integer(doc="Rows of a learned position table", default=0, minimum=0)
    tied: bool = flag(doc="Output head shares the embedding table", default=False)
    norm: str = choice(("rmsnorm", "layernorm", "layernorm-no-bias", "none"), doc="Kind of norm", default="rmsnorm")
    norms_per_layer: int = integer(doc="Norms of width hidden in a layer", default=2, minimum=0)
    embedding_norm: bool = flag(doc="Norm behind the embedding", default=False)
    final_norm: bool = flag(doc="Norm before the output head", default=True)
    qk_norm: str = choice(
        ("none", "head", "full"), doc="Norm of queries and keys, per head or full width", default="none"
    )
    bias: Bias = record(Bias, doc="Which matrices have a bias", default="empty")
    attention_sinks: bool = flag(doc="One learned sink per head", default=False)
    parallel_block: bool = flag(doc="Attention and feed-forward run side by side", default=False)
    window: Window | None = record(Window, doc="Sliding-window attention", default=None)
    experts: Experts | None = record(Experts, doc="Mixture of experts", default=None)
    latent_attention: LatentAttention | None = record(LatentAttention, doc="Multi-head latent attention", default=None)
    mtp_layers: int = integer(doc="Multi-token-prediction modules", default=0, minimum=0)
    context_length: int | None = integer(doc="Longest sequence it was made for", default=None, minimum=1)
    parameters: int | None = integer(doc="Exact parameter count; checked against the shape", default=None, minimum=1)
    notes: str | None = text(doc="What a reader should know", default=None)
    sources: tuple[str, ...] = listing(text(doc="Address"), doc="Public addresses of the shape", default=())
