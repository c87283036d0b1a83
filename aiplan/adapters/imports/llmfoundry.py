"""llm-foundry YAML: model, batch, sharding."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiplan.adapters.imports import batches, named_models
from aiplan.adapters.imports.document import YAML
from aiplan.adapters.imports.interpolate import interpolated
from aiplan.adapters.imports.kind import Kind

if TYPE_CHECKING:
    from aiplan.adapters.imports.document import Document
    from aiplan.adapters.imports.kind import Harmless
    from aiplan.adapters.imports.ledger import Ledger

MARKS = {"global_train_batch_size", "device_train_microbatch_size", "train_loader", "fsdp_config", "max_duration"}
PRECISIONS = {"amp_bf16": "bf16", "amp_fp16": "fp16", "amp_fp8": "fp8", "fp32": "fp32", "bf16": "bf16"}
STRATEGIES = {"full_shard": 3, "shard_grad_op": 2, "no_shard": 0, "hybrid_shard": 3}
_DURATION = re.compile(r"(\d{1,16}(?:_\d+)*|\d+(?:\.\d+)?e\d{1,2})(ba|tok|sp|ep)")
HARMLESS: Harmless = tuple(
    (pattern, why)
    for why, patterns in {
        "data, logs, checkpoints": (
            "variables.*",
            "tokenizer.*",
            "train_loader.*",
            "eval*",
            "callbacks.*",
            "save_*",
            "load_*",
            "log*",
            "loggers*",
            "console_*",
            "progress_bar",
            "run_name",
            "*seed",
            "autoresume",
            "python_log*",
            "device_eval*",
            "icl_*",
        ),
        "how the optimizer steps": ("optimizer.*", "scheduler.*", "algorithms.*"),
        "the code that runs": (
            "dist_timeout",
            "expandable_segments",
            "*state_dict*",
            "*limit_all*",
            "*backward_prefetch",
            "*reentrant",
            "*init_device",
            "*init_config*",
            "*attn_impl",
            "*use_flash*",
            "*use_auth*",
            "*pretrained",
            "*mixed_precision",
            "compile*",
            "*_pdrop",
            "*dropout*",
            "*softmax*",
            "*loss_fn",
            "*sync_module*",
            "*forward_prefetch",
            "*.rope*",
            "*.name",
            "*trust_remote*",
            "*verbose",
            "*embedding_fraction",
            "*logit_scale",
            "*alibi_bias_max",
            "max_seq_len",
            "*load_planner*",
            "*.torch_dtype",
        ),
    }.items()
    for pattern in patterns
)


def detect(document: Document) -> bool:
    """Whether a document is a training of llm-foundry."""
    return document.form == YAML and len(document.names & MARKS) >= 2 and "model" in document.names


def read(ledger: Ledger) -> None:
    """Take model, batch and sharding."""
    root = ledger.document.root
    if root is not None:
        ledger.document = ledger.document._replace(root=interpolated(root))
    _model(ledger)
    if not ledger.put("workload.sequence_length", ledger.count("max_seq_len", "model.max_seq_len")):
        ledger.missing("max_seq_len")
    ledger.put("workload.global_batch", ledger.count("global_train_batch_size"))
    micro = ledger.got("device_train_microbatch_size")
    if micro is not None and micro.text.lower() == "auto":
        ledger.ask("plan.micro_batch", micro, "device_train_microbatch_size is 'auto'")
    else:
        ledger.put("plan.micro_batch", ledger.as_count(micro))
    _duration(ledger)
    precision = ledger.word("precision")
    if precision is not None and precision.text in PRECISIONS:
        ledger.put("workload.precision", precision, PRECISIONS[precision.text])
    elif precision is None:
        ledger.default("workload.precision", "bf16", "llm-foundry trains so")
    else:
        ledger.wrong(
            precision, f"'{precision.text[:40]}' is no precision that is known", f"known: {', '.join(PRECISIONS)}"
        )
    name = ledger.word("optimizer.name")
    if name is not None and "lion" in name.text:
        ledger.put("workload.optimizer", name, "sgd-momentum", "one state per parameter, as Lion has")
    else:
        ledger.put("workload.optimizer", name, "adam")
    _sharding(ledger)
    ledger.default("software", "llm-foundry", "the preset of llm-foundry")


def _sharding(ledger: Ledger) -> None:
    """Take how states are sharded; without FSDP they are copied."""
    strategy = ledger.word("fsdp_config.sharding_strategy")
    if strategy is not None and strategy.text in STRATEGIES:
        ledger.put("plan.zero", strategy, STRATEGIES[strategy.text])
        if strategy.text == "hybrid_shard":
            batches.in_node(ledger, strategy)
    elif strategy is not None:
        ledger.wrong(strategy, f"'{strategy.text[:40]}' is no sharding strategy", f"known: {', '.join(STRATEGIES)}")
    else:
        sharded = "fsdp_config" in ledger.document.names
        ledger.default(
            "plan.zero", 3 if sharded else 0, "FSDP shards everything by default" if sharded else "no fsdp_config"
        )
    again, host = ledger.flag("fsdp_config.activation_checkpointing"), ledger.flag("fsdp_config.activation_cpu_offload")
    if again is not None:
        ledger.put("plan.recompute", again, "full" if again.value else "none")
    if host is not None and host.value:
        ledger.skip(host.key, host.mark, "memory of the host is not modelled")
        ledger.warn("activation_cpu_offload is not modelled: activations are kept on the accelerator", host.mark)


def _duration(ledger: Ledger) -> None:
    got = ledger.got("max_duration")
    parts = _DURATION.fullmatch(got.text) if got is not None else None
    batch, sequence = ledger.number("workload.global_batch"), ledger.number("workload.sequence_length")
    if got is None or parts is None or parts[2] == "ep":
        return
    number = int(float(parts[1].replace("_", "")))
    each = {"ba": batch * sequence, "sp": sequence, "tok": 1}[parts[2]]
    if number and each:
        ledger.put("workload.tokens", got, number * each, {"ba": "batches", "sp": "samples", "tok": ""}[parts[2]])


def _model(ledger: Ledger) -> None:
    name, hub = ledger.word("model.name"), ledger.got("model.pretrained_model_name_or_path")
    if name is not None and name.text == "hf_t5":
        ledger.refuse("hf_t5 is an encoder with a decoder; decoder-only transformers are supported", name.mark)
        return
    if hub is not None:
        found = named_models.published(hub.text)
        if found is not None:
            ledger.put("model", hub, found, "by the library of models")
        else:
            ledger.ask("model", hub, f"the shape of '{hub.text[:80]}' is not in the file; give its config.json as well")
        return
    ledger.below = "model"
    _shape(ledger)
    ledger.below = ""


def _shape(ledger: Ledger) -> None:
    """Take an MPT network."""
    ledger.default("model.family", "MPT", "what llm-foundry trains")
    layers, hidden = ledger.need("model.layers", "n_layers"), ledger.need("model.hidden", "d_model")
    heads = ledger.need("model.heads", "n_heads")
    ledger.need("model.vocab", "vocab_size")
    if layers is None or hidden is None or heads is None:
        return
    kind = ledger.word("attn_config.attn_type")
    if kind is not None and kind.text == "multiquery_attention":
        ledger.put("model.kv_heads", kind, 1, "all heads share one")
    elif ledger.take("model.kv_heads", "attn_config.kv_n_heads") is None:
        ledger.default("model.kv_heads", heads, "every head has its own")
    _feed_forward(ledger, hidden)
    bare, norm = ledger.flag("no_bias"), ledger.word("norm_type")
    without = bare is not None and bare.value
    for field in ("qkv", "attention_output", "mlp"):
        if not ledger.put(f"model.bias.{field}", bare, not without):
            ledger.default(f"model.bias.{field}", True, "no no_bias")
    if norm is not None and "rms" in norm.text:
        ledger.put("model.norm", norm, "rmsnorm")
    else:
        why = "LayerNorm by default"
        ledger.default("model.norm", "layernorm-no-bias" if without else "layernorm", why, norm and norm.mark)
    tied = ledger.flag("tie_word_embeddings")
    if not ledger.put("model.tied", tied):
        ledger.default("model.tied", True, "tied by default")
    normed, window = ledger.flag("attn_config.qk_ln"), ledger.got("attn_config.sliding_window_size")
    ledger.put("model.qk_norm", normed, "full" if normed and normed.value else "none")
    if window is not None and window.value != -1:
        ledger.put("model.window.size", ledger.as_count(window))
    longest = ledger.count("max_seq_len")
    ledger.put("model.context_length", longest)
    turned = [ledger.flag(f"attn_config.{name}") for name in ("alibi", "rope")]
    learned = ledger.flag("learned_pos_emb")
    other = any(got is not None and got.value for got in turned)
    if not other and (learned is None or learned.value) and longest is not None:
        ledger.put("model.positions", longest, why="learned positions, as without ALiBi and rotary ones")


def _feed_forward(ledger: Ledger, hidden: int) -> None:
    kind, ratio = ledger.word("ffn_config.ffn_type"), ledger.got("expansion_ratio")
    gated = kind is not None and "glu" in kind.text
    if not ledger.put("model.gated", kind, gated):
        ledger.default("model.gated", False, "two matrices by default")
    experts = ledger.count("ffn_config.moe_num_experts")
    width = ledger.count("ffn_config.ffn_hidden_size")
    value = width.value if width else 4 * hidden
    if (
        width is None
        and ratio is not None
        and isinstance(ratio.value, int | float)
        and not isinstance(ratio.value, bool)
    ):
        value = int(ratio.value * hidden)
    field = "model.experts.ffn" if experts is not None and experts.value > 1 else "model.ffn"
    source = width or ratio
    if not ledger.put(field, source, value, "" if width else "expansion_ratio x d_model"):
        ledger.default(field, value, "4 x d_model by default")
    if field != "model.ffn":
        ledger.put("model.experts.count", experts)
        ledger.need("model.experts.top_k", "ffn_config.moe_top_k")


KIND = Kind("llmfoundry-yaml", "llm-foundry training", "model, workload, sharding", detect, read, HARMLESS)
