"""What the arguments of Megatron-LM and Megatron-Core mean, by their names there.

Defaults are those of its argument parser (https://github.com/NVIDIA/Megatron-LM, megatron/training/arguments.py).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiplan.adapters.imports.vocabularies import vocabulary_of

if TYPE_CHECKING:
    from aiplan.adapters.imports.arguments import Arguments
    from aiplan.adapters.imports.ledger import Got

PADDING = 128
GPT2_VOCABULARY = 50257
GATED = {"swiglu", "fast-swiglu", "geglu", "fast-geglu", "reglu", "fast-reglu", "quick-geglu"}
_PATTERN = re.compile(r"\[([01](?:\s*,\s*[01])*)\](?:\s*\*\s*(\d{1,4}))?")


def model(arguments: Arguments) -> None:
    """Take the shape of the network."""
    ledger = arguments.ledger
    ledger.default("model.family", "megatron", "read from arguments of Megatron")
    layers = arguments.need("model.layers", "num-layers")
    hidden = arguments.need("model.hidden", "hidden-size")
    heads = arguments.need("model.heads", "num-attention-heads")
    if layers is None or hidden is None or heads is None:
        return
    _attention(arguments, hidden, heads)
    _feed_forward(arguments, hidden)
    _norms_and_biases(arguments)
    _experts(arguments, layers)
    _positions(arguments)
    _vocabulary(arguments)
    arguments.put("model.mtp_layers", "mtp-num-layers")


def _attention(arguments: Arguments, hidden: int, heads: int) -> None:
    ledger = arguments.ledger
    if arguments.on("multi-latent-attention"):
        widths = (
            ("nope_dim", "qk-head-dim", 128),
            ("rope_dim", "qk-pos-emb-head-dim", 64),
            ("value_dim", "v-head-dim", 128),
        )
        for field, name, default in (("query_rank", "q-lora-rank", 0), ("key_value_rank", "kv-lora-rank", 32), *widths):
            if arguments.put(f"model.latent_attention.{field}", name) is None:
                ledger.default(f"model.latent_attention.{field}", default, f"no --{name}")
        for name in ("kv-channels", "num-query-groups", "group-query-attention", "qk-layernorm"):
            arguments.got(name)
        return
    grouped, groups = arguments.on("group-query-attention"), arguments.count("num-query-groups")
    if groups is not None and (grouped is not None or "group-query-attention" not in arguments.values):
        ledger.put("model.kv_heads", groups)
    elif grouped is not None:
        ledger.default("model.kv_heads", 1, "no --num-query-groups, which is 1 by default", grouped.mark)
    else:
        ledger.default("model.kv_heads", heads, "no --num-query-groups: every head has its own")
    if arguments.put("model.head_dim", "kv-channels") is None:
        if hidden % heads:
            ledger.diagnostics.error(
                "AIP310", f"hidden-size {hidden} is not a multiple of {heads} heads", ledger.facts["model.hidden"].mark
            )
        else:
            ledger.default("model.head_dim", hidden // heads, "hidden / heads, as --kv-channels is by default")
    normed = arguments.on("qk-layernorm")
    ledger.put("model.qk_norm", normed, "head")
    _window(arguments)


def _window(arguments: Arguments) -> None:
    got, every = arguments.got("window-size"), arguments.count("window-attn-skip-freq")
    if got is None:
        return
    sizes = re.findall(r"-?\d{1,9}", got.text)
    if not sizes or int(sizes[0]) < 1:
        arguments.ledger.wrong(got, f"'{got.text[:40]}' is no window such as '128,0'")
        return
    ledger = arguments.ledger
    ledger.put("model.window.size", got, int(sizes[0]))
    layers = ledger.number("model.layers")
    if every is not None:
        ledger.put("model.window.layers", every, layers - layers // every.value, "every layer but one in so many")


def _feed_forward(arguments: Arguments, hidden: int) -> None:
    ledger = arguments.ledger
    activation = arguments.word("activation-func", "activation")
    named = activation if activation is not None and activation.text in GATED else None
    gated = arguments.on("swiglu", "quick-geglu", "gated-linear-unit") or named
    arguments.got("squared-relu", "openai-gelu")
    if not ledger.put("model.gated", gated, True):
        ledger.default(
            "model.gated", False, "neither --swiglu nor another gate: two matrices", activation and activation.mark
        )
    if arguments.put("model.ffn", "ffn-hidden-size") is not None:
        return
    if gated is None:
        ledger.default("model.ffn", 4 * hidden, "4 x hidden, as --ffn-hidden-size is by default")
        return
    width = (4 * hidden * 2 // 3) // 64 * 64
    ledger.default("model.ffn", width, "8/3 x hidden in multiples of 64, as with a gate by default", gated.mark)
    if not arguments.got("moe-ffn-hidden-size"):
        ledger.warn(
            f"no --ffn-hidden-size, so its default with a gate: {width:,}",
            gated.mark,
            "networks of this shape are often published with another width; give --ffn-hidden-size",
        )


def _norms_and_biases(arguments: Arguments) -> None:
    ledger = arguments.ledger
    norm = arguments.word("normalization")
    root = norm is not None and norm.text.replace("_", "") in {"rmsnorm", "rms"}
    if not ledger.put("model.norm", norm, "rmsnorm" if root else "layernorm"):
        ledger.default("model.norm", "layernorm", "no --normalization")
    arguments.got("apply-layernorm-1p", "layernorm-zero-centered-gamma")
    none = arguments.on("disable-bias-linear")
    for name in ("qkv", "attention_output", "mlp"):
        if not ledger.put(f"model.bias.{name}", none, False):
            ledger.default(f"model.bias.{name}", True, "no --disable-bias-linear")
    ledger.put("model.bias.qkv", arguments.on("add-qkv-bias"), True)
    apart = arguments.on("untie-embeddings-and-output-weights")
    if not ledger.put("model.tied", apart, False):
        ledger.default("model.tied", True, "no --untie-embeddings-and-output-weights")
    ledger.put("model.embedding_norm", arguments.on("embed-layernorm"), True)


def _experts(arguments: Arguments, layers: int) -> None:
    ledger = arguments.ledger
    count = arguments.count("num-experts")
    names = (
        "moe-router-topk",
        "moe-ffn-hidden-size",
        "moe-layer-freq",
        "moe-shared-expert-intermediate-size",
        "moe-router-enable-expert-bias",
        "moe-shared-expert-gate",
    )
    if count is None:
        arguments.got(*names)
        return
    ledger.put("model.experts.count", count)
    if arguments.put("model.experts.top_k", "moe-router-topk") is None:
        ledger.default("model.experts.top_k", 2, "no --moe-router-topk")
    if arguments.put("model.experts.ffn", "moe-ffn-hidden-size") is None:
        ledger.copy("model.ffn", "model.experts.ffn", "no --moe-ffn-hidden-size")
    arguments.put("model.experts.shared_ffn", "moe-shared-expert-intermediate-size")
    ledger.put("model.experts.router_bias", arguments.on("moe-router-enable-expert-bias"), True)
    ledger.put("model.experts.shared_gate", arguments.on("moe-shared-expert-gate"), True)
    frequency = arguments.got("moe-layer-freq")
    pattern = _layer_pattern(arguments, frequency, layers)
    if pattern is None:
        return
    if frequency is not None and sum(pattern) < layers:
        ledger.put("model.experts.layers", frequency, sum(pattern))
        ledger.put(
            "model.experts.interleaved", frequency, value=0 in pattern[pattern.index(1) :] if 1 in pattern else False
        )
    else:
        ledger.facts.pop("model.ffn")


def _layer_pattern(arguments: Arguments, got: Got | None, layers: int) -> list[int] | None:
    """Return for each layer whether it has experts: from a number, or from lists joined by `+` and `*`."""
    if got is None:
        return [1] * layers
    if isinstance(got.value, int) and not isinstance(got.value, bool) and got.value > 0:
        return [int(layer % got.value == 0) for layer in range(layers)]
    pattern: list[int] = []
    for items, times in _PATTERN.findall(got.text):
        pattern += [int(item) for item in items.split(",")] * int(times or 1)
    if len(pattern) != layers or not any(pattern) or _PATTERN.sub("", got.text).strip(" ()+\"'"):
        arguments.ledger.wrong(got, f"'{got.text[:60]}' does not say for {layers} layers which have experts")
        return None
    return pattern


def _positions(arguments: Arguments) -> None:
    ledger = arguments.ledger
    longest = arguments.count("max-position-embeddings")
    ledger.put("model.context_length", longest)
    kind = arguments.word("position-embedding-type")
    rotary = arguments.on("use-rotary-position-embeddings", "no-position-embedding")
    if rotary is not None or (
        kind is not None and kind.text not in {"learned_absolute", "learned", "learned_parameters"}
    ):
        return
    why = "learned positions, as by default" if kind is None else "learned positions"
    if kind is None and ledger.value("model.norm") == "rmsnorm" and ledger.value("model.gated"):
        ledger.warn(
            "no --position-embedding-type: taken as rotary, as networks with RMSNorm and a gate have them",
            ledger.facts["model.norm"].mark,
            "Megatron's own default is a table of learned positions; give --position-embedding-type",
        )
        return
    if longest is not None:
        fact = ledger.facts["model.context_length"]
        ledger.facts["model.positions"] = fact._replace(path="model.positions", why=why)
    else:
        ledger.warn("no --max-position-embeddings, so learned positions are not counted", kind and kind.mark)


def _vocabulary(arguments: Arguments) -> None:
    ledger = arguments.ledger
    padded = arguments.count("padded-vocab-size", "pad-vocab-size-to")
    plain = arguments.count("vocab-size")
    tokenizer, kind = arguments.got("tokenizer-model", "tokenizer-name-or-path"), arguments.word("tokenizer-type")
    merges = arguments.got("merge-file")
    multiple, tensor = arguments.count("make-vocab-size-divisible-by"), arguments.count("tensor-model-parallel-size")
    step = (multiple.value if multiple else PADDING) * (tensor.value if tensor else 1)
    if padded is not None:
        ledger.put("model.vocab", padded)
        return
    if plain is not None:
        ledger.put(
            "model.vocab", plain, _up(plain.value, step), f"in multiples of {step}" if plain.value % step else ""
        )
        return
    told = f"{tokenizer.text if tokenizer else ''} {kind.text if kind else ''}"
    source = tokenizer or merges or kind
    rows = vocabulary_of(told)
    if rows is not None and source is not None:
        ledger.default("model.vocab", rows, "rows of published models with that tokenizer", source.mark)
    elif source is not None and (merges is not None or "gpt2bpe" in told.lower()):
        why = f"{GPT2_VOCABULARY:,} tokens of that tokenizer, in multiples of {step}"
        ledger.default("model.vocab", _up(GPT2_VOCABULARY, step), why, source.mark)
    else:
        ledger.ask("model.vocab", source or arguments.values["num-layers"], "no --vocab-size; set model.vocab")


def _up(number: int, step: int) -> int:
    """Return the next multiple of a step."""
    return -(-number // step) * step
