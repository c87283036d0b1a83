"""Hugging Face `config.json`: the shape of a network."""

from __future__ import annotations

import difflib
from pathlib import PurePath
from typing import TYPE_CHECKING

from aiplan.adapters.imports import hf_families as hub
from aiplan.adapters.imports import hf_parts, hf_refused
from aiplan.adapters.imports.document import JSON, at
from aiplan.adapters.imports.hf_keys import HARMLESS
from aiplan.adapters.imports.kind import Kind
from aiplan.adapters.imports.ledger import Got
from aiplan.declare import Mapping, Scalar

if TYPE_CHECKING:
    from aiplan.adapters.imports.document import Document
    from aiplan.adapters.imports.hf_families import Family
    from aiplan.adapters.imports.ledger import Ledger

TEXT_PARTS = ("text_config", "language_config", "llm_config")
OTHER_PARTS = ("vision_config", "audio_config", "vision_tower", "visual")
WIDTHS = {"hidden_size", "n_embd", "d_model", "n_embed", "dim"}
DEPTHS = {"num_hidden_layers", "n_layer", "n_layers", "num_layers"}
CONTEXT = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length", "model_max_length")
SUPPORTED = "decoder-only transformers are supported"
DIFFUSION = "a diffusion model: it makes images or sound from noise"


def detect(document: Document) -> bool:
    """Whether a document describes a network as the Hugging Face hub does."""
    keys = document.names
    described = keys & {"model_type", "architectures", "_class_name"} or (keys & WIDTHS and keys & DEPTHS)
    return document.form == JSON and bool(described or keys & set(TEXT_PARTS))


def read(ledger: Ledger) -> None:
    """Take the shape of the network."""
    part = next((name for name in TEXT_PARTS if isinstance(ledger.document.at(name), Mapping)), "")
    kind = _model_type(ledger, part)
    if kind is None or _refused(ledger, kind):
        return
    family = hub.FAMILIES.get(hub.NAMES.get(kind.text, kind.text))
    if family is None:
        known = [*hub.FAMILIES, *hub.NAMES]
        close = difflib.get_close_matches(kind.text, known, n=1, cutoff=0.75)
        hint = f"nearest known: {close[0]}; it may differ" if close else f"known: {', '.join(sorted(hub.FAMILIES))}"
        ledger.refuse(f"the family '{kind.text}' is not known, so its parameters cannot be counted", kind.mark, hint)
        return
    ledger.below = part
    _one_tower(ledger, part)
    read_shape(ledger, family, kind)
    _other_experts(ledger, family)
    ledger.put("model.name", kind, _name(ledger, family))


def _other_experts(ledger: Ledger, family: Family) -> None:
    """Refuse experts that the family does not have: its parameters would be half of what they are."""
    some = ledger.got(*hf_refused.EXPERT_KEYS) if family.experts == "none" else None
    if some is not None and isinstance(some.value, int) and some.value > 1:
        ledger.refuse(f"{some.value} experts ({some.key}), and {family.title} has none", some.mark)


def read_shape(ledger: Ledger, family: Family, kind: Got) -> None:
    """Take the shape of a network of a family, from keys as the hub has them."""
    ledger.put("model.family", kind, family.title)
    ledger.need("model.layers", *family.keys.get("layers", hub.LAYERS))
    hidden = ledger.need("model.hidden", *family.keys.get("hidden", hub.WIDTH))
    heads = ledger.need("model.heads", *family.keys.get("heads", hub.HEADS))
    if hidden is None or heads is None or "model.layers" not in ledger.facts:
        return
    hf_parts.heads(ledger, family, kind)
    _feed_forward(ledger, family, kind, hidden)
    ledger.need("model.vocab", *family.keys.get("vocab", ("vocab_size",)))
    _flags(ledger, family, kind)
    _norms(ledger, family, kind)
    _positions(ledger, family)
    hf_parts.window(ledger, family, kind)
    hf_parts.experts(ledger, family, kind)
    hf_parts.latent(ledger, family)
    hf_parts.next_token(ledger, family)


def _model_type(ledger: Ledger, part: str) -> Got | None:
    """Return what the file says the network is, in lower case."""
    if ledger.got("_class_name") is not None:
        found = ledger.got("_class_name")
        ledger.refuse(f"{found.text if found else 'this'} is {DIFFUSION}; {SUPPORTED}", found.mark if found else None)
        return None
    found = ledger.word(f"{part}.model_type") if part else None
    found = found or ledger.word("model_type")
    if found is not None:
        return found
    named = ledger.items("architectures")
    if named and named[0] and isinstance(named[0][0], Scalar):
        word = named[0][0].text
        guess = word.split("For")[0].split("LMHead")[0].lower()
        plain = {name.replace("_", ""): name for name in (*hub.FAMILIES, *hub.NAMES, *_every_refused())}
        return Got(word, "architectures", named[0][0].mark, plain.get(guess, guess))
    ledger.missing("model_type", "architectures")
    return None


def _every_refused() -> list[str]:
    return [name for _, names in hf_refused.REFUSED.values() for name in names]


def _refused(ledger: Ledger, kind: Got) -> bool:
    """Note that the network is no decoder-only transformer, and say why; return whether it is none."""
    for what, (why, names) in hf_refused.REFUSED.items():
        if kind.text in names or ledger.document.text_at("model_type") in names:
            ledger.refuse(f"'{kind.text}' is {what}: {why}; {SUPPORTED}", kind.mark)
            return True
    both = ledger.got("is_encoder_decoder")
    if both is not None and both.value is True:
        ledger.refuse(f"'{kind.text}' is an encoder with a decoder; {SUPPORTED}", both.mark)
        return True
    part = ledger.below or next((name for name in TEXT_PARTS if isinstance(ledger.document.at(name), Mapping)), "")
    inside = f"{part}." if part else ""
    tables = ledger.count(f"{inside}hidden_size_per_layer_input", minimum=0)
    if tables is not None and tables.value:
        ledger.refuse(f"'{kind.text}' has embeddings per layer ({tables.key}), which have no model here", tables.mark)
        return True
    if _sign(ledger, inside):
        return True
    cross = ledger.got("add_cross_attention")
    if cross is not None and cross.value is True:
        ledger.refuse(f"'{kind.text}' attends to another network (add_cross_attention); {SUPPORTED}", cross.mark)
        return True
    return False


def _sign(ledger: Ledger, inside: str) -> bool:
    """Note a key of a network that has no model here, whatever the family; return whether there is one."""
    for key, what in hf_refused.SIGNS.items():
        found = ledger.document.at(f"{inside}{key}")
        if found is not None and not (isinstance(found, Scalar) and found.value in (None, 0, False)):
            ledger.refuse(f"'{key}' means {what}, which has no model here", found.mark)
            return True
    return False


def _one_tower(ledger: Ledger, part: str) -> None:
    """Warn that only the text model is read where there are others."""
    others = [name for name in OTHER_PARTS if isinstance(at(ledger.document.root, name), Mapping)]
    for name in others:
        node = at(ledger.document.root, name)
        ledger.skip(name, node.mark if node else ledger.document.start, "the text model alone is read", matters=False)
    if others:
        where = f"'{part}'" if part else "the file"
        ledger.warn(f"the text model of {where} alone is read; {', '.join(others)} is left out")


def _name(ledger: Ledger, family: Family) -> str:
    """Return a name: what the file says, else the file's own, else that of its folder, else the family's."""
    got = ledger.got("_name_or_path")
    path = PurePath(ledger.document.name)
    told = PurePath(got.text).name if got is not None and got.text else ""
    options = (told, path.stem if path.stem != "config" else path.parent.name, family.title)
    return next(name for name in options if name and name not in {".", "..", "<stdin>"})


def _feed_forward(ledger: Ledger, family: Family, kind: Got, hidden: int) -> None:
    """Take the width of the feed-forward block, or what the family makes of the hidden width."""
    ledger.default("model.gated", family.gated is not False, f"as in the code of {family.title}", kind.mark)
    if family.experts in hf_parts.ONLY_EXPERTS:
        return
    ratio = ledger.got("expansion_ratio") if family.title == "MPT" else None
    width = ledger.count(*family.keys.get("ffn", hub.FFN))
    if width is not None:
        each = width.value // family.ffn_parts
        why = f"the key is that of {family.ffn_parts} matrices together" if family.ffn_parts > 1 else ""
        ledger.put("model.ffn", width, each, why)
        return
    if ratio is not None and isinstance(ratio.value, int | float) and not isinstance(ratio.value, bool):
        ledger.put("model.ffn", ratio, int(ratio.value * hidden), "expansion_ratio x hidden")
    elif family.ffn_over_hidden is not None:
        why = f"{family.ffn_over_hidden} x hidden where no key gives it"
        ledger.default("model.ffn", family.ffn_over_hidden * hidden, why, kind.mark)
    else:
        ledger.missing(*family.keys.get("ffn", hub.FFN))


def _flags(ledger: Ledger, family: Family, kind: Got) -> None:
    """Take what is tied and what has a bias."""
    tied = ledger.flag("tie_word_embeddings")
    if ledger.below:
        outside, ledger.below = ledger.below, ""
        tied = ledger.flag("tie_word_embeddings") if tied is None else tied
        ledger.used.add("tie_word_embeddings")
        ledger.below = outside
    if not ledger.put("model.tied", tied):
        what = "shares" if family.tied else "does not share"
        ledger.default(
            "model.tied", family.tied, f"{family.title} {what} the table with the head by default", kind.mark
        )
    biases = {
        "qkv": family.qkv_bias,
        "attention_output": family.output_bias,
        "mlp": family.mlp_bias,
        "head": family.head_bias,
    }
    for name, rule in biases.items():
        hf_parts.ruled(ledger, f"model.bias.{name}", rule, f"as in the code of {family.title}", kind)
    hf_parts.ruled(ledger, "model.parallel_block", family.parallel, f"as in the code of {family.title}", kind)
    if family.sinks:
        ledger.default("model.attention_sinks", True, f"{family.title} has a learned sink per head", kind.mark)


def _norms(ledger: Ledger, family: Family, kind: Got) -> None:
    """Take kind and number of norms."""
    norm, why = family.norm, f"as in the code of {family.title}"
    no_bias = ledger.flag("no_bias") if family.title == "MPT" else None
    plain = ledger.flag("rmsnorm") if family.title == "ChatGLM" else None
    if (no_bias is not None and no_bias.value) or (family.title == "MPT" and no_bias is None):
        norm = "layernorm-no-bias"
    if plain is not None and plain.value is False:
        norm = "layernorm"
    ledger.default("model.norm", norm, why, kind.mark)
    ledger.default("model.norms_per_layer", hf_parts.norms_per_layer(ledger, family), why, kind.mark)
    before = ledger.flag("do_layer_norm_before")
    final = family.final_norm and (before is None or before.value)
    ledger.default("model.final_norm", bool(final), why, kind.mark)
    if family.embedding_norm:
        ledger.default("model.embedding_norm", True, why, kind.mark)
    asked = ledger.flag(family.qk_norm_key) if family.qk_norm_key else None
    has = family.qk_norm != "none" and (not family.qk_norm_key or (asked is not None and asked.value))
    ledger.default("model.qk_norm", family.qk_norm if has else "none", why, asked.mark if asked else kind.mark)


def _positions(ledger: Ledger, family: Family) -> None:
    """Take the longest sequence, and the rows of a learned position table."""
    keys = (*family.keys.get("positions", ()), *CONTEXT)
    longest = ledger.take("model.context_length", *keys)
    offset = family.learned_positions
    if family.title == "MPT":
        alibi, learned = ledger.flag("attn_config.alibi"), ledger.flag("learned_pos_emb")
        offset = 0 if alibi is not None and not alibi.value and (learned is None or learned.value) else None
    if offset is None:
        return
    if longest is None:
        ledger.missing(*keys)
        return
    fact = ledger.facts["model.context_length"]
    more = f", and {offset} rows more" if offset else ""
    ledger.facts["model.positions"] = fact._replace(
        path="model.positions", value=longest + offset, why=f"{family.title} learns a row per position{more}"
    )
    projected = ledger.count("word_embed_proj_dim")
    if projected is not None and projected.value != ledger.number("model.hidden"):
        ledger.refuse("the embedding is projected from another width (word_embed_proj_dim)", projected.mark)


KIND = Kind("hf-config", "Hugging Face config.json", "model", detect, read, (*HARMLESS, ("*rms_norm*", "a constant")))
