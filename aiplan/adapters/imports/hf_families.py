"""Families of networks on the Hugging Face hub: the keys they use, and what their code does where no key says so.

Every row is what the configuration and modelling code of the family in the transformers library, or the code published
with the model, does (https://github.com/huggingface/transformers); parameter counts of published models are the check.
"""

from __future__ import annotations

from typing import NamedTuple

WIDTH = ("hidden_size",)
LAYERS = ("num_hidden_layers",)
HEADS = ("num_attention_heads",)
FFN = ("intermediate_size",)
GPT2_KEYS = {
    "layers": ("n_layer", "num_hidden_layers", "num_layers"),
    "hidden": ("n_embd", "hidden_size", "n_embed"),
    "heads": ("n_head", "num_attention_heads", "num_heads"),
    "ffn": ("n_inner", "intermediate_size"),
    "positions": ("n_positions", "n_ctx", "max_position_embeddings"),
}


class Family(NamedTuple):
    """One family.

    Parameters
    ----------
    title : str
        Name for people.
    keys : dict
        Keys that differ from the usual ones, by field: layers, hidden, heads, kv_heads, ffn, vocab, positions.
    tied : bool
        Whether the output head shares the embedding table where no key says so.
    gated : bool or None
        Whether the feed-forward block has three matrices; None: the activation says so (`silu` and `swiglu` do).
    ffn_parts : int
        Over how many matrices the key of the width is split.
    ffn_over_hidden : int or None
        Width of the feed-forward block over the hidden width where no key gives it.
    head_dim : int or None
        Head width where no key gives it; None: hidden / heads.
    norm, norms, final_norm, embedding_norm, qk_norm
        As the fields of a model; `qk_norm_key` is the flag that turns it on, `no_bias_norm_key` one that takes biases
        out of norms.
    qkv_bias, output_bias, mlp_bias, head_bias : bool or str
        Whether these matrices have a bias, or the key that says so (`!key` for its opposite; `key=true` where the key
        is not given).
    learned_positions : int or None
        Rows of the position table beyond the positions; None: there is no table.
    parallel : bool or str
        Whether attention and feed-forward run side by side, or the key that says so.
    window : str
        Which layers attend in a window: none, all, alternate, 3-of-4, 5-of-6, or from-key (`max_window_layers`).
    window_size : int or None
        Window where no key gives it.
    experts : str
        Which keys tell about experts: none, local, qwen, deepseek, ernie, or those of one family.
    router_bias : bool
        The router has a learned bias.
    sinks, latent : bool
        Attention sinks; multi-head latent attention.
    """

    title: str
    keys: dict[str, tuple[str, ...]] = {}  # noqa: RUF012  read only
    tied: bool = False
    gated: bool | None = True
    ffn_parts: int = 1
    ffn_over_hidden: int | None = None
    head_dim: int | None = None
    norm: str = "rmsnorm"
    norms: int = 2
    final_norm: bool = True
    embedding_norm: bool = False
    qk_norm: str = "none"
    qk_norm_key: str = ""
    qkv_bias: bool | str = False
    output_bias: bool | str = False
    mlp_bias: bool | str = False
    head_bias: bool | str = False
    learned_positions: int | None = None
    parallel: bool | str = False
    window: str = "none"
    window_size: int | None = None
    experts: str = "none"
    router_bias: bool = False
    sinks: bool = False
    latent: bool = False


LLAMA = Family("Llama", qkv_bias="attention_bias", output_bias="attention_bias", mlp_bias="mlp_bias", gated=True)
QWEN2 = Family("Qwen2", qkv_bias=True, window="from-key")
QWEN3 = LLAMA._replace(title="Qwen3", qk_norm="head", window="from-key", mlp_bias=False)
GEMMA = LLAMA._replace(title="Gemma", tied=True, head_dim=256, mlp_bias=False)
GPT2 = Family(
    "GPT-2",
    GPT2_KEYS,
    tied=True,
    gated=False,
    ffn_over_hidden=4,
    norm="layernorm",
    learned_positions=0,
    qkv_bias=True,
    output_bias=True,
    mlp_bias=True,
)
GPT_J = GPT2._replace(
    title="GPT-J",
    tied=False,
    norms=1,
    parallel=True,
    learned_positions=None,
    qkv_bias=False,
    output_bias=False,
    head_bias=True,
)
DEEPSEEK = Family("DeepSeek-V2", latent=True, experts="deepseek")
GLM4 = Family("GLM-4", qkv_bias="attention_bias", tied=False)
OLMO2 = LLAMA._replace(title="OLMo 2", qk_norm="full", mlp_bias=False)
COHERE = LLAMA._replace(
    title="Cohere",
    tied=True,
    norm="layernorm-no-bias",
    norms=1,
    parallel=True,
    qk_norm="full",
    qk_norm_key="use_qk_norm",
    mlp_bias=False,
)

FAMILIES: dict[str, Family] = {
    "llama": LLAMA,
    "llama4_text": LLAMA._replace(title="Llama 4 (text)", experts="llama4", mlp_bias=False),
    "mistral": Family("Mistral", window="all", window_size=4096),
    "ministral": Family("Ministral", window="all", window_size=4096),
    "mixtral": Family("Mixtral", window="all", experts="local"),
    "qwen2": QWEN2,
    "qwen2_moe": QWEN2._replace(title="Qwen2 MoE", experts="qwen", qkv_bias="qkv_bias=true"),
    "qwen3": QWEN3._replace(head_dim=128),
    "qwen3_moe": QWEN3._replace(title="Qwen3 MoE", experts="qwen"),
    "mimo": QWEN2._replace(title="MiMo", qkv_bias="attention_bias=true"),
    "deepseek": LLAMA._replace(title="DeepSeek MoE", experts="deepseek", mlp_bias=False),
    "deepseek_v2": DEEPSEEK,
    "deepseek_v3": DEEPSEEK._replace(title="DeepSeek-V3", router_bias=True),
    "kimi_k2": DEEPSEEK._replace(title="Kimi K2", router_bias=True),
    "dots1": QWEN3._replace(title="dots.llm1", qkv_bias=False, output_bias=False, experts="deepseek", router_bias=True),
    "glm4_moe_lite": DEEPSEEK._replace(title="GLM-4.7-Flash", router_bias=True),
    "ministral3": Family("Ministral 3", window="all"),
    "exaone4": LLAMA._replace(
        title="EXAONE 4", qk_norm="head", mlp_bias=False, qkv_bias=False, output_bias=False, window="3-of-4"
    ),
    "granitemoe": LLAMA._replace(title="Granite MoE", experts="local", mlp_bias=False),
    "phimoe": Family(
        "Phi-3.5 MoE",
        norm="layernorm",
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        head_bias="lm_head_bias",
        experts="local",
        window="all",
    ),
    "gemma": GEMMA,
    "gemma2": GEMMA._replace(title="Gemma 2", norms=4, window="alternate", window_size=4096),
    "gemma3_text": GEMMA._replace(title="Gemma 3", norms=4, qk_norm="head", window="5-of-6", window_size=4096),
    "gemma4_text": GEMMA._replace(title="Gemma 4", norms=4, qk_norm="head", window="5-of-6", experts="gemma4"),
    "phi": Family(
        "Phi",
        gated=False,
        norm="layernorm",
        norms=1,
        parallel=True,
        head_bias=True,
        qkv_bias=True,
        output_bias=True,
        mlp_bias=True,
    ),
    "phi3": Family("Phi-3", window="all"),
    "falcon": Family(
        "Falcon",
        {
            "layers": ("num_hidden_layers", "n_layer"),
            "heads": ("num_attention_heads", "n_head"),
            "ffn": ("ffn_hidden_size",),
        },
        tied=True,
        gated=False,
        ffn_over_hidden=4,
        norm="layernorm",
        parallel="parallel_attn=true",
        qkv_bias="bias",
        output_bias="bias",
        mlp_bias="bias",
    ),
    "gpt2": GPT2,
    "gpt_bigcode": GPT2._replace(title="StarCoder (GPT BigCode)"),
    "gpt_neo": GPT2._replace(title="GPT-Neo", qkv_bias=False, window="alternate", window_size=256),
    "gptj": GPT_J,
    "codegen": GPT_J._replace(title="CodeGen"),
    "gpt_neox": Family(
        "GPT-NeoX",
        gated=False,
        norm="layernorm",
        parallel="use_parallel_residual=true",
        qkv_bias="attention_bias=true",
        output_bias="attention_bias=true",
        mlp_bias=True,
    ),
    "opt": Family(
        "OPT",
        {"ffn": ("ffn_dim",)},
        tied=True,
        gated=False,
        norm="layernorm",
        learned_positions=2,
        final_norm=True,
        qkv_bias="enable_bias=true",
        output_bias="enable_bias=true",
        mlp_bias="enable_bias=true",
    ),
    "bloom": Family(
        "BLOOM",
        {
            "layers": ("n_layer", "num_hidden_layers"),
            "hidden": ("hidden_size", "n_embed"),
            "heads": ("n_head", "num_attention_heads"),
            "ffn": ("n_inner",),
        },
        tied=True,
        gated=False,
        ffn_over_hidden=4,
        norm="layernorm",
        embedding_norm=True,
        qkv_bias=True,
        output_bias=True,
        mlp_bias=True,
    ),
    "mpt": Family(
        "MPT",
        {
            "layers": ("n_layers",),
            "hidden": ("d_model",),
            "heads": ("n_heads",),
            "kv_heads": ("attn_config.kv_n_heads",),
            "ffn": ("ffn_hidden_size",),
            "positions": ("max_seq_len",),
        },
        tied=True,
        gated=False,
        ffn_over_hidden=4,
        norm="layernorm",
        qk_norm="full",
        qk_norm_key="attn_config.qk_ln",
        qkv_bias="!no_bias",
        output_bias="!no_bias",
        mlp_bias="!no_bias",
    ),
    "starcoder2": Family(
        "StarCoder2",
        tied=True,
        gated=False,
        norm="layernorm",
        window="all",
        qkv_bias="use_bias=true",
        output_bias="use_bias=true",
        mlp_bias="use_bias=true",
    ),
    "stablelm": Family(
        "StableLM",
        norm="layernorm",
        qkv_bias="use_qkv_bias",
        parallel="use_parallel_residual",
        qk_norm="full",
        qk_norm_key="qk_layernorm",
    ),
    "olmo": LLAMA._replace(title="OLMo", norm="none", mlp_bias=False),
    "olmo2": OLMO2,
    "olmo3": OLMO2._replace(title="OLMo 3", window="3-of-4", window_size=4096),
    "olmoe": OLMO2._replace(title="OLMoE", experts="local"),
    "cohere": COHERE,
    "cohere2": COHERE._replace(title="Cohere 2", qk_norm="none", qk_norm_key="", window="3-of-4", window_size=4096),
    "gpt_oss": Family(
        "GPT-OSS",
        head_dim=64,
        qkv_bias="attention_bias=true",
        output_bias="attention_bias=true",
        mlp_bias=True,
        experts="local",
        router_bias=True,
        sinks=True,
        window="alternate",
        window_size=128,
    ),
    "nemotron": Family(
        "Nemotron",
        gated=False,
        norm="layernorm",
        qkv_bias="attention_bias",
        output_bias="attention_bias",
        mlp_bias="mlp_bias",
    ),
    "glm": GLM4,
    "glm4": GLM4._replace(title="GLM-4-0414", norms=4),
    "glm4_moe": GLM4._replace(
        title="GLM-4.5", qk_norm="head", qk_norm_key="use_qk_norm", experts="deepseek", router_bias=True
    ),
    "chatglm": Family(
        "ChatGLM",
        {
            "layers": ("num_layers", "num_hidden_layers"),
            "kv_heads": ("multi_query_group_num",),
            "ffn": ("ffn_hidden_size",),
            "vocab": ("padded_vocab_size",),
        },
        qkv_bias="add_qkv_bias",
        output_bias="add_bias_linear",
        mlp_bias="add_bias_linear",
    ),
    "minimax_m2": Family("MiniMax-M2", qk_norm="full", qk_norm_key="use_qk_norm", experts="local"),
    "baichuan": Family("Baichuan"),
    "internlm": Family("InternLM", qkv_bias="bias", output_bias="bias"),
    "internlm2": Family("InternLM2", qkv_bias="bias", output_bias="bias"),
    "granite": LLAMA._replace(title="Granite"),
    "smollm3": LLAMA._replace(title="SmolLM3", tied=True),
    "ernie4_5": Family(
        "ERNIE 4.5", tied=True, qkv_bias="use_bias", output_bias="use_bias", mlp_bias="use_bias", head_dim=128
    ),
    "ernie4_5_moe": Family(
        "ERNIE 4.5 MoE",
        tied=True,
        qkv_bias="use_bias",
        output_bias="use_bias",
        mlp_bias="use_bias",
        head_bias="use_bias",
        experts="ernie",
        router_bias=True,
    ),
    "seed_oss": Family("Seed-OSS", head_dim=128, qkv_bias="attention_bias=true", output_bias="attention_out_bias"),
    "dbrx": Family(
        "DBRX",
        {
            "layers": ("n_layers",),
            "hidden": ("d_model",),
            "heads": ("n_heads",),
            "kv_heads": ("attn_config.kv_n_heads",),
            "positions": ("max_seq_len",),
        },
        norm="layernorm-no-bias",
        experts="dbrx",
    ),
    "qwen": Family("Qwen", qkv_bias=True, ffn_parts=2),
    "arcee": LLAMA._replace(title="Arcee", gated=False),
}
NAMES = {
    "baichuan2": "baichuan",
    "gemma3": "gemma3_text",
    "gemma4": "gemma4_text",
    "llama4": "llama4_text",
    "qwen2_vl": "qwen2",
    "qwen2_vl_text": "qwen2",
    "qwen2_5_vl": "qwen2",
    "qwen2_5_vl_text": "qwen2",
    "qwen3_vl_text": "qwen3",
    "qwen3_vl_moe_text": "qwen3_moe",
    "yi": "llama",
    "mimo_v1": "mimo",
    "kimi_k25": "deepseek_v3",
}
"""Other names of the same families."""
