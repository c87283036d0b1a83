"""Parts of a Hugging Face config that families write in many ways: heads, windows, experts, latent attention."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiplan.declare import Scalar

if TYPE_CHECKING:
    from aiplan.adapters.imports.hf_families import Family
    from aiplan.adapters.imports.ledger import Got, Ledger

ONLY_EXPERTS = ("local", "dbrx", "llama4", "gemma4")
"""Ways of writing experts in which `intermediate_size` is not the width of a dense block of every layer."""
HEAD_DIM = ("head_dim", "kv_channels", "attention_head_dim")
NEXT_TOKEN = ("num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers")
LINEAR = {"linear_attention", "mamba", "conv", "recurrent", "hybrid"}
SHARES = {"alternate": (1, 2), "3-of-4": (3, 4), "5-of-6": (5, 6)}


def ruled(ledger: Ledger, path: str, rule: str | bool, why: str, kind: Got) -> None:  # noqa: FBT001  a rule, no switch
    """Take a flag by a rule: a truth value, the key that says so, `!key` for its opposite, `key=true` by default."""
    if isinstance(rule, bool):
        if rule:
            ledger.default(path, rule, why, kind.mark)
        return
    key, _, default = rule.removeprefix("!").partition("=")
    got = ledger.flag(key)
    turned = rule.startswith("!")
    if got is not None:
        ledger.put(path, got, got.value != turned)
    elif default == "true":
        ledger.default(path, True, f"'{key}' is true by default", kind.mark)


def heads(ledger: Ledger, family: Family, kind: Got) -> None:
    """Take key-value heads and the width of a head."""
    if family.latent:
        ledger.count("num_key_value_heads")
        return
    _kv_heads(ledger, family)
    if ledger.take("model.head_dim", *HEAD_DIM) is None:
        hidden, count = ledger.number("model.hidden"), ledger.number("model.heads")
        if family.head_dim is not None:
            ledger.default("model.head_dim", family.head_dim, f"as in the code of {family.title} by default", kind.mark)
        elif hidden % count:
            mark = ledger.facts["model.hidden"].mark
            ledger.diagnostics.error(
                "AIP310", f"hidden {hidden} is not a multiple of {count} heads, and no head_dim is given", mark
            )
        else:
            ledger.default("model.head_dim", hidden // count, "hidden / heads", kind.mark)


def _kv_heads(ledger: Ledger, family: Family) -> None:
    keys = family.keys.get("kv_heads", ("num_key_value_heads", "num_kv_heads", "n_head_kv"))
    shared = ledger.flag("multi_query")
    grouped = ledger.flag("new_decoder_architecture")
    all_alike = ledger.flag("multi_query_attention")
    if all_alike is not None and not all_alike.value:
        ledger.put("model.kv_heads", all_alike, ledger.number("model.heads"), "every head has its own")
        return
    one = ledger.got("attn_config.attn_type")
    if one is not None and one.text == "multiquery_attention":
        ledger.put("model.kv_heads", one, 1, "all heads share one")
        return
    falcon = family.title == "Falcon"
    if (falcon and not (grouped is not None and grouped.value)) or "BigCode" in family.title:
        ledger.count(*keys)
        if shared is None:
            ledger.default("model.kv_heads", 1, "all heads share one by default (multi_query)")
        else:
            ledger.put("model.kv_heads", shared, 1 if shared.value else ledger.number("model.heads"))
        return
    if ledger.take("model.kv_heads", *keys) is None:
        ledger.default("model.kv_heads", ledger.number("model.heads"), "no key, so every head has its own")


def norms_per_layer(ledger: Ledger, family: Family) -> int:
    """Return the norms of a layer, of which networks with parallel blocks may have one."""
    if family.title == "Falcon":
        parallel, new = ledger.flag("parallel_attn"), ledger.flag("new_decoder_architecture")
        count = ledger.count("num_ln_in_parallel_attn")
        side_by_side = parallel is None or parallel.value
        two = new is not None and new.value
        return 2 if not side_by_side else count.value if count else 2 if two else 1
    if family.title == "StableLM":
        parallel = ledger.flag("use_parallel_residual")
        return 1 if parallel is not None and parallel.value else 2
    return family.norms


def window(ledger: Ledger, family: Family, kind: Got) -> None:
    """Take the layers that attend in a sliding window."""
    size = ledger.count("sliding_window", "window_size")
    types = ledger.items("layer_types")
    names = [node.text for node in types[0] if isinstance(node, Scalar)] if types else []
    for linear in LINEAR & set(names):
        ledger.refuse(f"layers of the type '{linear}' have no attention", types[1] if types else None)
        return
    layers, rule = ledger.number("model.layers"), family.window
    if names and len(names) != layers and types:
        ledger.diagnostics.error(
            "AIP310", f"layer_types has {len(names)} entries, and there are {layers} layers", types[1]
        )
    turned_off = rule == "from-key" and not _on(ledger.flag("use_sliding_window"))
    pattern = _pattern(ledger)
    first = ledger.count("max_window_layers", minimum=0)
    if turned_off or (rule == "none" and not names) or (names and "sliding_attention" not in names):
        return
    if size is None and (family.window_size is None or _null(ledger, "sliding_window")):
        return
    if names:
        count, why = names.count("sliding_attention"), "by layer_types"
    elif rule == "all":
        count, why = layers, "all layers"
    elif rule == "from-key":
        count, why = max(0, layers - first.value) if first else layers, "from max_window_layers on"
    else:
        part, whole = (pattern - 1, pattern) if pattern else SHARES[rule]
        count, why = layers - layers // whole * (whole - part), f"{part} of {whole} layers"
    if count:
        if not ledger.put("model.window.size", size):
            ledger.default(
                "model.window.size", family.window_size or 0, f"as in the code of {family.title} by default", kind.mark
            )
        ledger.default("model.window.layers", count, why, types[1] if types else kind.mark)


def _pattern(ledger: Ledger) -> int | None:
    """Return of how many layers the last attends to everything: a number, or a word such as `LLLG`."""
    got = ledger.got("sliding_window_pattern", "_sliding_window_pattern")
    if got is not None and isinstance(got.value, str) and re.fullmatch(r"L{1,63}G", got.value):
        return len(got.value)
    found = ledger.as_count(got)
    return found.value if found else None


def experts(ledger: Ledger, family: Family, kind: Got) -> None:
    """Take the mixture of experts."""
    readers = {
        "local": _local,
        "qwen": _qwen,
        "deepseek": _deepseek,
        "llama4": _llama4,
        "gemma4": _gemma4,
        "dbrx": _dbrx,
        "ernie": _ernie,
    }
    if family.experts != "none":
        readers[family.experts](ledger, family, kind)


def _local(ledger: Ledger, family: Family, kind: Got) -> None:
    """Every layer has experts, and `intermediate_size` is the width of one."""
    _routed(
        ledger,
        ("num_local_experts", "num_experts"),
        ("num_experts_per_tok", "experts_per_token"),
        ("intermediate_size",),
    )
    if family.router_bias:
        ledger.default("model.experts.router_bias", True, f"as in the code of {family.title}", kind.mark)
    shared = ledger.count("shared_intermediate_size", minimum=0)
    if shared is not None and shared.value:
        ledger.put("model.experts.shared_ffn", shared)
    bias = ledger.flag("use_routing_bias")
    if bias is not None and bias.value:
        ledger.skip(bias.key, bias.mark, "kept as a buffer, not as a parameter", matters=False)


def _qwen(ledger: Ledger, _family: Family, kind: Got) -> None:
    """Layers take turns by `decoder_sparse_step`; `mlp_only_layers` are dense; one gated shared expert."""
    _routed(ledger, ("num_experts",), ("num_experts_per_tok",), ("moe_intermediate_size",))
    layers = ledger.number("model.layers")
    step, dense = ledger.count("decoder_sparse_step"), ledger.items("mlp_only_layers")
    every = step.value if step else 1
    left_out = {node.value for node in dense[0] if isinstance(node, Scalar)} if dense else set()
    count = sum(1 for layer in range(layers) if (layer + 1) % every == 0 and layer not in left_out)
    _moe_layers(ledger, count, layers, "by decoder_sparse_step and mlp_only_layers", kind, interleaved=every > 1)
    if count == layers and "model.ffn" in ledger.facts:
        del ledger.facts["model.ffn"]
        got = ledger.got("intermediate_size")
        if got is not None:
            ledger.skip(got.key, got.mark, "no layer is dense, so no block has this width", matters=False)
    shared = ledger.count("shared_expert_intermediate_size", minimum=0)
    if shared is not None and shared.value:
        ledger.put("model.experts.shared_ffn", shared)
        ledger.default("model.experts.shared_gate", True, "the shared expert has a gate", shared.mark)


def _deepseek(ledger: Ledger, family: Family, kind: Got) -> None:
    """Take experts behind dense layers; shared ones are as wide as routed ones."""
    _routed(ledger, ("n_routed_experts", "num_experts"), ("num_experts_per_tok",), ("moe_intermediate_size",))
    layers = ledger.number("model.layers")
    first, step = ledger.count("first_k_dense_replace", minimum=0), ledger.count("moe_layer_freq")
    every, dense = step.value if step else 1, first.value if first else 0
    count = sum(1 for layer in range(layers) if layer >= dense and layer % every == 0)
    _moe_layers(ledger, count, layers, "all behind first_k_dense_replace", kind, interleaved=every > 1)
    if count == layers:
        ledger.facts.pop("model.ffn", None)
    shared, width = ledger.count("n_shared_experts", minimum=0), ledger.number("model.experts.ffn")
    if shared is not None and shared.value:
        ledger.put("model.experts.shared_ffn", shared, shared.value * width, "shared experts x their width")
    method = ledger.word("topk_method")
    if family.router_bias or (method is not None and method.text == "noaux_tc"):
        ledger.default(
            "model.experts.router_bias", True, "the router corrects its scores", method.mark if method else kind.mark
        )


def _llama4(ledger: Ledger, _family: Family, kind: Got) -> None:
    """`intermediate_size` is the width of an expert, `intermediate_size_mlp` that of a dense block."""
    _routed(ledger, ("num_local_experts",), ("num_experts_per_tok",), ("intermediate_size",))
    layers, step, named = (
        ledger.number("model.layers"),
        ledger.count("interleave_moe_layer_step"),
        ledger.items("moe_layers"),
    )
    every = step.value if step else 1
    count = len(named[0]) if named and named[0] else layers // every
    _moe_layers(ledger, count, layers, "by interleave_moe_layer_step", kind, interleaved=True)
    wide = ledger.count("intermediate_size_mlp")
    if count < layers:
        ledger.need("model.ffn", "intermediate_size_mlp")
    elif wide is not None:
        ledger.skip(wide.key, wide.mark, "no layer is dense, so no block has this width", matters=False)
    width = ledger.facts.get("model.experts.ffn")
    if width is not None:
        ledger.facts["model.experts.shared_ffn"] = width._replace(
            path="model.experts.shared_ffn", why="one shared expert of the same width"
        )
    ledger.flag("use_qk_norm")
    chunk = ledger.count("attention_chunk_size")
    if chunk is not None:
        ledger.skip(chunk.key, chunk.mark, "attention within chunks is counted as whole", matters=False)
        ledger.warn(
            f"3 layers in 4 attend within chunks of {chunk.value:,} tokens; longer sequences are over-counted",
            chunk.mark,
        )


def _gemma4(ledger: Ledger, _family: Family, kind: Got) -> None:
    """Take experts beside a dense block; layers of full attention have other heads."""
    enabled = ledger.flag("enable_moe_block")
    if enabled is None or not enabled.value:
        ledger.need("model.ffn", "intermediate_size")
    else:
        _routed(ledger, ("num_experts",), ("top_k_experts",), ("moe_intermediate_size",))
        ledger.put(
            "model.experts.shared_ffn", ledger.count("intermediate_size"), why="the dense block beside the experts"
        )
    wide = ledger.count("global_head_dim")
    few = ledger.count("num_global_key_value_heads")
    ledger.flag("attention_k_eq_v")
    if wide is not None or few is not None:
        mark = (wide or few or kind).mark
        ledger.warn(
            f"layers of full attention have other heads (width {wide.value if wide else 'alike'}, "
            f"{few.value if few else 'as many'} key-value heads); all layers are counted like those with a window",
            mark,
            "parameters and attention of these layers are approximate",
        )


def _ernie(ledger: Ledger, family: Family, kind: Got) -> None:
    """Layers from `moe_layer_start_index` to `moe_layer_end_index` have experts, every `moe_layer_interval` of them."""
    _routed(ledger, ("moe_num_experts", "num_experts"), ("moe_k", "num_experts_per_tok"), ("moe_intermediate_size",))
    layers = ledger.number("model.layers")
    step, first = ledger.count("moe_layer_interval"), ledger.count("moe_layer_start_index", minimum=0)
    last = ledger.count("moe_layer_end_index", minimum=-1)
    every, start = step.value if step else 1, first.value if first else 1
    end = last.value if last is not None and last.value >= 0 else layers - 1
    count = sum(1 for layer in range(start, min(end + 1, layers)) if (layer + 1) % every == 0)
    _moe_layers(ledger, count, layers, "by moe_layer_start_index, end and interval", kind, interleaved=every > 1)
    shared, width = ledger.count("moe_num_shared_experts", minimum=0), ledger.number("model.experts.ffn")
    if count and shared is not None and shared.value:
        ledger.put("model.experts.shared_ffn", shared, shared.value * width, "shared experts x their width")
    if count and family.router_bias:
        ledger.default("model.experts.router_bias", True, "the router corrects its scores", kind.mark)


def _dbrx(ledger: Ledger, _family: Family, _kind: Got) -> None:
    _routed(ledger, ("ffn_config.moe_num_experts",), ("ffn_config.moe_top_k",), ("ffn_config.ffn_hidden_size",))


def _routed(ledger: Ledger, count: tuple[str, ...], top_k: tuple[str, ...], width: tuple[str, ...]) -> None:
    ledger.need("model.experts.count", *count)
    ledger.need("model.experts.top_k", *top_k)
    ledger.need("model.experts.ffn", *width)


def _moe_layers(ledger: Ledger, count: int, layers: int, why: str, kind: Got, *, interleaved: bool) -> None:
    if count == 0:
        for path in [path for path in ledger.facts if path.startswith("model.experts.")]:
            del ledger.facts[path]
        return
    if count < layers:
        ledger.default("model.experts.layers", count, why, kind.mark)
        if interleaved:
            ledger.default("model.experts.interleaved", True, why, kind.mark)


def latent(ledger: Ledger, family: Family) -> None:
    """Take multi-head latent attention."""
    if not family.latent:
        return
    ledger.facts.pop("model.kv_heads", None)
    ledger.take("model.latent_attention.query_rank", "q_lora_rank", default=0, why="queries have full rank")
    ledger.need("model.latent_attention.key_value_rank", "kv_lora_rank")
    ledger.need("model.latent_attention.nope_dim", "qk_nope_head_dim")
    ledger.need("model.latent_attention.rope_dim", "qk_rope_head_dim")
    ledger.need("model.latent_attention.value_dim", "v_head_dim")
    for name in ("head_dim", "qk_head_dim", "attention_bias"):
        ledger.got(name)


def next_token(ledger: Ledger, family: Family) -> None:
    """Take modules for further tokens, each of a layer: published counts are of the main network without them."""
    got, used = ledger.count(*NEXT_TOKEN, minimum=0, path="model.mtp_layers"), ledger.flag("use_mtp")
    each = ledger.count("mtp_transformer_layers")
    if got is None or not got.value:
        return
    if used is not None and not used.value:
        ledger.skip(got.key, got.mark, f"{used.key} is false", matters=False)
        return
    if family.experts == "ernie":  # its modules have a dense layer, those counted here one like the last of the network
        ledger.skip(got.key, got.mark, "modules of another kind of layer are left out")
        return
    if each is not None and each.value > 1:
        ledger.refuse(f"modules of {each.value} layers for further tokens have no model here", each.mark)
    ledger.put("model.mtp_layers", got, why="trained along; parameters are counted apart")


def _on(got: Got | None) -> bool:
    return got is not None and bool(got.value)


def _null(ledger: Ledger, key: str) -> bool:
    """Whether a key is there and says null."""
    path = f"{ledger.below}.{key}" if ledger.below else key
    node = ledger.document.at(path)
    return isinstance(node, Scalar) and node.value is None
