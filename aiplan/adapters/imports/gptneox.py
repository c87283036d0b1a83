"""GPT-NeoX YAML: model, batch, layout.

Defaults are those of https://github.com/EleutherAI/gpt-neox (megatron/neox_arguments).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.adapters.imports import batches, deepspeed
from aiplan.adapters.imports.document import JSON, YAML, at
from aiplan.adapters.imports.kind import Kind
from aiplan.declare import Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from aiplan.adapters.imports.document import Document
    from aiplan.adapters.imports.kind import Harmless
    from aiplan.adapters.imports.ledger import Ledger
    from aiplan.declare import Node

MARKS = {"pipe_parallel_size", "model_parallel_size", "num_layers", "hidden_size", "num_attention_heads"}
GATED = {"swiglu", "geglu", "reglu", "bilinear", "glu"}
PADDING, LLAMA_TOKENS, NEOX_TOKENS = 128, 32000, 50277
HARMLESS: Harmless = (
    *deepspeed.HARMLESS,
    *tuple(
        (pattern, why)
        for why, patterns in {
            "how the optimizer steps": (
                "optimizer.*",
                "*lr*",
                "warmup",
                "*weight_decay",
                "gradient_clipping",
                "fp16.*",
                "bf16.*",
                "*decay*",
            ),
            "data, logs, checkpoints": (
                "*data*",
                "*vocab_file",
                "*merge_file",
                "split",
                "save*",
                "load*",
                "log*",
                "eval*",
                "*checkpoint_factor",
                "extra_save*",
                "keep_last*",
                "tokenizer_type",
                "*wandb*",
                "tensorboard*",
                "*iters",
                "launcher",
                "hostfile",
                "*seed*",
                "finetune",
                "init_method*",
                "output_layer_init*",
                "num_workers",
                "use_shared_fs",
                "master_port",
            ),
            "the code that runs": (
                "*fusion",
                "attention_config*",
                "distributed_backend",
                "output_layer_parallelism",
                "partition_activations",
                "synchronize_each_layer",
                "checkpoint_num_layers",
                "*softmax*",
                "*dropout*",
                "*epsilon",
                "rotary*",
                "*_eps",
                "pos_emb",
                "*theta*",
                "*in_cpu",
                "gpt_j_tied",
                "contiguous_checkpointing",
                "make_vocab*",
                "steps_per_print",
                "wall_clock*",
                "*stochastic*",
                "mlp_multiple_of",
                "norm",
                "activation",
                "scaled_*",
                "*rope*",
            ),
        }.items()
        for pattern in patterns
    ),
)


def detect(document: Document) -> bool:
    """Whether a document is a configuration of GPT-NeoX."""
    keys = {key.replace("-", "_") for key in document.names}
    own = keys & {"pipe_parallel_size", "model_parallel_size", "no_weight_tying", "gpt_j_residual", "attention_config"}
    return document.form in {YAML, JSON} and bool(own) and len(keys & MARKS) >= 2


def read(ledger: Ledger) -> None:
    """Take model, batch and layout."""
    root = ledger.document.root
    ledger.document = ledger.document._replace(root=_underscored(root) if root is not None else None)
    if _other_layers(ledger):
        return
    layers, hidden = ledger.need("model.layers", "num_layers"), ledger.need("model.hidden", "hidden_size")
    heads = ledger.need("model.heads", "num_attention_heads")
    ledger.default("model.family", "gpt-neox", "read from a configuration of GPT-NeoX")
    if layers is not None and hidden is not None and heads is not None:
        _attention(ledger, hidden, heads)
        _feed_forward(ledger, hidden)
        _norms(ledger)
    _plan(ledger)
    if hidden is not None:
        _vocabulary(ledger)
    ledger.put("workload.sequence_length", ledger.count("seq_length"))
    micro = batches.automatic(ledger, batches.MICRO, "train_micro_batch_size_per_gpu")
    total = batches.automatic(ledger, batches.BATCH, "train_batch_size")
    batches.batch(ledger, micro, deepspeed.accumulation(ledger), total)
    ledger.put(batches.STEPS, ledger.count("train_iters"))
    _precision(ledger)
    ledger.default("software", "megatron-deepspeed", "the nearest preset")


def _underscored(node: Node) -> Node:
    """Return a tree in which names have underscores: this program reads dashes the same."""
    if not isinstance(node, Mapping):
        return node
    return Mapping(
        [(key._replace(text=key.text.replace("-", "_")), _underscored(child)) for key, child in node.items], node.mark
    )


def _other_layers(ledger: Ledger) -> bool:
    """Note layers without attention."""
    found = at(ledger.document.root, "attention_config")
    names = _words(found) if found is not None else []
    for name in ("mamba", "rwkv", "gmlp"):
        if name in names and found is not None:
            ledger.refuse(
                f"attention_config has layers of the type '{name}'; decoder-only transformers are supported", found.mark
            )
            return True
    experts = ledger.count("moe_num_experts", "num_experts")
    if experts is not None and experts.value > 1:
        ledger.refuse("experts of GPT-NeoX are not read", experts.mark, "write the model as a file of aiplan")
        return True
    return False


def _words(node: Node) -> list[str]:
    if isinstance(node, Sequence):
        return [word for item in node.items for word in _words(item)]
    return [node.text] if isinstance(node, Scalar) else []


def _attention(ledger: Ledger, hidden: int, heads: int) -> None:
    if ledger.take("model.kv_heads", "num_kv_heads") is None:
        ledger.default("model.kv_heads", heads, "no num_kv_heads: every head has its own")
    if hidden % heads:
        mark = ledger.facts["model.hidden"].mark
        ledger.diagnostics.error("AIP310", f"hidden_size {hidden} is not a multiple of {heads} heads", mark)
    else:
        ledger.default("model.head_dim", hidden // heads, "hidden / heads")
    kind, longest = ledger.word("pos_emb"), ledger.count("max_position_embeddings")
    ledger.put("model.context_length", longest)
    if (kind is None or kind.text == "learned") and longest is not None:
        ledger.put("model.positions", longest, why="learned positions")
    ledger.put("model.parallel_block", ledger.flag("gpt_j_residual"))


def _feed_forward(ledger: Ledger, hidden: int) -> None:
    """Take the width: with a gate, this program splits `intermediate_size` over its three matrices."""
    activation, old = ledger.word("activation"), ledger.word("mlp_type")
    gated = (activation is not None and activation.text in GATED) or (old is not None and old.text == "llama")
    named = activation or old
    if not ledger.put("model.gated", named, gated):
        ledger.default("model.gated", False, "no activation with a gate")
    size, step = ledger.count("intermediate_size"), ledger.count("mlp_multiple_of")
    multiple = step.value if step else 1
    if size is not None and gated:
        ledger.put(
            "model.ffn", size, _up(size.value // 3, multiple), "intermediate_size / 3: it is split over three matrices"
        )
    elif size is not None:
        ledger.put("model.ffn", size)
    elif gated:
        ledger.default("model.ffn", _up(8 * hidden // 3, multiple), "8/3 x hidden with a gate", named and named.mark)
    else:
        ledger.default("model.ffn", 4 * hidden, "4 x hidden")
    linear, inside = ledger.flag("use_bias_in_attn_linear"), ledger.flag("use_bias_in_mlp")
    for name in ("qkv", "attention_output"):
        if not ledger.put(f"model.bias.{name}", linear):
            ledger.default(f"model.bias.{name}", True, "no use_bias_in_attn_linear")
    if gated:
        ledger.default("model.bias.mlp", False, "blocks with a gate have none", named and named.mark)
    elif not ledger.put("model.bias.mlp", inside):
        ledger.default("model.bias.mlp", True, "blocks without a gate have them")


def _norms(ledger: Ledger) -> None:
    norm, plain = ledger.word("norm"), ledger.flag("use_bias_in_norms")
    if norm is not None and "rms" in norm.text:
        ledger.put("model.norm", norm, "rmsnorm")
    else:
        bare = plain is not None and not plain.value
        ledger.default("model.norm", "layernorm-no-bias" if bare else "layernorm", "as by default", norm and norm.mark)
    apart = ledger.flag("no_weight_tying")
    if not ledger.put("model.tied", apart, not (apart is not None and apart.value)):
        ledger.default("model.tied", True, "no no_weight_tying")


def _plan(ledger: Ledger) -> None:
    stages = ledger.count("pipe_parallel_size", minimum=0)
    ledger.put("plan.pipeline", stages, max(1, stages.value) if stages else 1)
    ledger.put("plan.tensor", ledger.count("model_parallel_size"))
    ledger.put("plan.sequence_parallel", ledger.flag("sequence_parallel"))
    deepspeed.zero(ledger)
    again = ledger.flag("checkpoint_activations")
    if again is None:
        ledger.default("plan.recompute", "none", "no checkpoint_activations")
    else:
        ledger.put("plan.recompute", again, "full" if again.value else "none")


def _vocabulary(ledger: Ledger) -> None:
    """Take the rows of the table, which the file gives through its tokenizer alone."""
    padded, multiple = ledger.count("padded_vocab_size"), ledger.count("make_vocab_size_divisible_by")
    if ledger.put("model.vocab", padded):
        return
    step = (multiple.value if multiple else PADDING) * max(1, ledger.number("plan.tensor"))
    like_llama = ledger.value("model.norm") == "rmsnorm" and multiple is not None and multiple.value == 1
    tokens = LLAMA_TOKENS if like_llama else NEOX_TOKENS
    whose = "Llama 1 and 2" if like_llama else "GPT-NeoX"
    kind = ledger.got("tokenizer_type")
    why = f"the {tokens:,} tokens of {whose}, in multiples of {step}"
    ledger.default("model.vocab", _up(tokens, step), why, kind and kind.mark)
    ledger.warn(
        f"the size of the vocabulary is not in the file: {why}", kind and kind.mark, "set model.vocab if it is another"
    )


def _precision(ledger: Ledger) -> None:
    named = ledger.word("precision")
    found = {name: ledger.got(f"{name}.enabled", f"{name}.{name}") for name in ("bf16", "fp16")}
    words = {"bfloat16": "bf16", "fp16": "fp16", "fp32": "fp32"}
    on = next(((name, got) for name, got in found.items() if got is not None and got.value is True), None)
    if named is not None and named.text in words:
        ledger.put("workload.precision", named, words[named.text])
    elif on is not None:
        ledger.put("workload.precision", on[1], on[0])


def _up(number: int, step: int) -> int:
    """Return the next multiple of a step."""
    return -(-number // step) * step


KIND = Kind("gptneox-yml", "GPT-NeoX configuration", "model, batch, plan", detect, read, HARMLESS)
