"""MaxText YAML: a model, or a whole training.

Names and defaults are those of https://github.com/AI-Hypercomputer/maxtext (src/maxtext/configs/base.yml).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.adapters.imports import batches, hf_families, hf_parts, named_models
from aiplan.adapters.imports.document import YAML
from aiplan.adapters.imports.kind import Kind
from aiplan.adapters.imports.ledger import Got
from aiplan.declare import Scalar

if TYPE_CHECKING:
    from aiplan.adapters.imports.document import Document
    from aiplan.adapters.imports.hf_families import Family
    from aiplan.adapters.imports.kind import Harmless
    from aiplan.adapters.imports.ledger import Ledger
    from aiplan.declare import Mark

MARKS = {
    "base_emb_dim",
    "base_num_decoder_layers",
    "base_mlp_dim",
    "decoder_block",
    "per_device_batch_size",
    "max_target_length",
}
BLOCKS: dict[str, Family] = {
    "default": hf_families.LLAMA,
    "llama2": hf_families.LLAMA,
    "mistral": hf_families.LLAMA,
    "mixtral": hf_families.LLAMA,
    "qwen3": hf_families.FAMILIES["qwen3"],
    "qwen3_moe": hf_families.FAMILIES["qwen3_moe"],
    "gemma": hf_families.FAMILIES["gemma"],
    "gemma2": hf_families.FAMILIES["gemma2"],
    "gemma3": hf_families.FAMILIES["gemma3_text"],
    "deepseek": hf_families.FAMILIES["deepseek_v3"],
    "gpt3": hf_families.GPT2,
}
"""Blocks of layers and the families of networks that have the same ones."""
REMAT = {
    "full": "full",
    "none": "none",
    "minimal": "selective",
    "minimal_with_context": "selective",
    "save_qkv_proj": "selective",
}
HARMLESS: Harmless = (
    ("*dataset*", "data"),
    ("*tokenizer*", "data"),
    ("*checkpoint*", "checkpoints"),
    ("eval*", "evaluation"),
    ("adam_*", "how the optimizer steps"),
    ("gradient_clipping*", "how the optimizer steps"),
    ("target_eval*", "evaluation"),
    ("opt_type", "how the optimizer steps"),
    ("learning_rate*", "how the optimizer steps"),
    ("*epsilon", "a constant"),
    ("*rope*", "positions without parameters"),
    ("enable_dropout", "dropout"),
    ("logits_dot*", "the code that runs"),
    ("normalize_embedding*", "a constant"),
    ("use_iota_embed", "the code that runs"),
    ("fused_*", "the code that runs"),
    ("base_output_directory", "a label"),
    ("run_name", "a label"),
    ("profiler*", "logs"),
    ("log_*", "logs"),
    ("enable_checkpointing", "checkpoints"),
    ("*softcap*", "a constant"),
    ("decoder_block", "the block of layers"),
    ("sparse_matmul", "the code that runs"),
    ("megablox", "the code that runs"),
    ("use_post_*", "norms of the block"),
    ("sliding_window_size", "windows of the block"),
    ("attention", "the code that runs"),
    ("routed_*", "the router"),
    ("n_routing*", "the router"),
    ("topk_*", "the router"),
    ("load_balance*", "the router"),
    ("norm_topk*", "the router"),
    ("hardware", "a label"),
    ("mscale", "positions without parameters"),
    ("beta_*", "positions without parameters"),
    ("original_max*", "positions without parameters"),
    ("attention_type", "attention of the block"),
    ("use_qk_norm", "norms of the block"),
    ("query_pre*", "a constant"),
    ("async_checkpointing", "checkpoints"),
)


def detect(document: Document) -> bool:
    """Whether a document is a configuration of MaxText."""
    return document.form == YAML and len(document.names & MARKS) >= 2


def read(ledger: Ledger) -> None:
    """Take the model, and batch and layout where the file has them."""
    block = ledger.word("decoder_block")
    name = block.text if block is not None else "default"
    family = BLOCKS.get(name)
    if family is None and block is not None:
        ledger.refuse(f"the block '{name[:40]}' is not known", block.mark, f"known: {', '.join(BLOCKS)}")
        return
    if family is not None and "base_emb_dim" in ledger.document.names:
        _shape(ledger, family, name, block)
    else:
        _named(ledger)
    _training(ledger)
    ledger.default("software", "maxtext", "the preset of MaxText")


def _named(ledger: Ledger) -> None:
    got = ledger.got("model_name")
    found = named_models.published(got.text) if got is not None else None
    if got is not None and found is not None:
        ledger.put("model", got, found, "by the library of models")
    elif got is not None:
        ledger.ask("model", got, f"the shape of '{got.text[:80]}' is not in the file")


def _shape(ledger: Ledger, family: Family, name: str, block: Got | None) -> None:
    mark = block.mark if block is not None else ledger.document.start
    ledger.default("model.family", name, "the block of layers", mark)
    ledger.need("model.layers", "base_num_decoder_layers")
    hidden, heads = ledger.need("model.hidden", "base_emb_dim"), ledger.need("model.heads", "base_num_query_heads")
    ledger.need("model.vocab", "vocab_size")
    if hidden is None or heads is None or "model.layers" not in ledger.facts:
        return
    scale = ledger.count("global_parameter_scale")
    if scale is not None and scale.value > 1:
        ledger.refuse("global_parameter_scale above 1 is not read", scale.mark, "write the scaled sizes")
    _attention(ledger, heads)
    _feed_forward(ledger, mark)
    why = f"what the block '{name}' has"
    tied = ledger.flag("logits_via_embedding")
    if not ledger.put("model.tied", tied):
        ledger.default("model.tied", False, "no logits_via_embedding")
    for field, value in (
        ("norm", family.norm),
        ("norms_per_layer", family.norms),
        ("qk_norm", family.qk_norm if not family.qk_norm_key else "none"),
    ):
        ledger.default(f"model.{field}", value, why, mark)
    if family is hf_families.GPT2:
        for field in ("qkv", "attention_output", "mlp"):
            ledger.default(f"model.bias.{field}", True, why, mark)
    hf_parts.window(
        ledger, family._replace(window=family.window if name.startswith("gemma") else "none"), _got(block, mark)
    )
    modules = ledger.count("mtp_num_layers", minimum=0, path="model.mtp_layers")
    if modules is not None and modules.value:
        ledger.put("model.mtp_layers", modules)
    rows = ledger.got("trainable_position_size")
    if rows is not None and rows.value != -1:
        ledger.put("model.positions", ledger.as_count(rows), why="rows of a table, not the sequence")


def _got(block: Got | None, mark: Mark) -> Got:
    return block or Got("default", "", mark, "default")


def _attention(ledger: Ledger, heads: int) -> None:
    kind = ledger.word("attention_type")
    if kind is not None and kind.text == "mla":
        hf_parts.latent(ledger, hf_families.DEEPSEEK)
        for key in ("base_num_kv_heads", "head_dim"):
            ledger.got(key)
        return
    if ledger.take("model.kv_heads", "base_num_kv_heads") is None:
        ledger.default("model.kv_heads", heads, "no base_num_kv_heads")
    if ledger.take("model.head_dim", "head_dim") is None:
        ledger.default("model.head_dim", 128, "128 by default")


def _feed_forward(ledger: Ledger, mark: Mark) -> None:
    """Take dense and routed widths; two activations mean a gate."""
    activations = ledger.items("mlp_activations")
    names = [node.text for node in activations[0] if isinstance(node, Scalar)] if activations else ["silu", "linear"]
    place = activations[1] if activations else mark
    ledger.default("model.gated", len(names) > 1, "two activations are a gate", place)
    experts = ledger.count("num_experts")
    if experts is None or experts.value == 1:
        ledger.need("model.ffn", "base_mlp_dim")
        return
    layers, first = ledger.number("model.layers"), ledger.count("first_num_dense_layers", minimum=0)
    dense = first.value if first else 0
    ledger.put("model.experts.count", experts)
    ledger.need("model.experts.top_k", "num_experts_per_tok")
    ledger.need("model.experts.ffn", "base_moe_mlp_dim", "base_mlp_dim")
    if dense:
        ledger.need("model.ffn", "base_mlp_dim")
        ledger.put("model.experts.layers", first, layers - dense, "all but the first")
    else:
        ledger.got("base_mlp_dim")
    shared = ledger.count("shared_experts", minimum=0)
    if shared is not None and shared.value:
        width = ledger.number("model.experts.ffn") * shared.value
        ledger.put("model.experts.shared_ffn", shared, width, "shared experts x their width")
    bias = ledger.flag("routed_bias")
    ledger.put("model.experts.router_bias", bias)


def _training(ledger: Ledger) -> None:
    """Take batch, sequence, precision and layout, which a file of a model alone does not have."""
    ledger.put("workload.sequence_length", ledger.count("max_target_length"))
    micro = ledger.got("per_device_batch_size")
    if micro is not None:
        ledger.put(batches.MICRO, ledger.as_count(micro))
        steps = ledger.count("gradient_accumulation_steps")
        ledger.put(batches.ACCUMULATION, steps or micro, steps.value if steps else 1)
    ledger.put(batches.STEPS, ledger.count("steps"))
    for field, word in (("tensor", "tensor"), ("context", "context"), ("expert", "expert"), ("pipeline", "pipeline")):
        inner, outer = (ledger.got(f"{scope}_{word}_parallelism") for scope in ("ici", "dcn"))
        sizes = [got for got in (inner, outer) if got is not None and got.value != -1]
        counted = [got for got in (ledger.as_count(got) for got in sizes) if got is not None]
        if counted:
            product = 1
            for got in counted:
                product *= got.value
            ledger.put(f"plan.{field}", counted[0], product)
    sharded = ledger.got("ici_fsdp_parallelism", "dcn_fsdp_parallelism")
    if sharded is not None:
        ledger.put("plan.zero", sharded, 0 if sharded.value == 1 else 3)
    copies = [ledger.got(f"{scope}_data_parallelism") for scope in ("dcn", "ici")]
    counted = [got for got in map(ledger.as_count, (got for got in copies if got and got.value != -1)) if got]
    if counted and sharded is not None and sharded.value != 1:
        batches.copies(ledger, counted[0], math.prod(got.value for got in counted))
    policy = ledger.word("remat_policy")
    if policy is not None and policy.text in REMAT:
        ledger.put("plan.recompute", policy, REMAT[policy.text])
    dtype, narrow = ledger.word("dtype"), ledger.word("quantization")
    if narrow is not None and "fp8" in narrow.text:
        ledger.put("workload.precision", narrow, "fp8")
    elif dtype is not None:
        ledger.put("workload.precision", dtype, {"bfloat16": "bf16", "float16": "fp16"}.get(dtype.text, "fp32"))


KIND = Kind("maxtext-yml", "MaxText configuration", "model, batch, plan", detect, read, HARMLESS)
