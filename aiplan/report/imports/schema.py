"""The JSON Schema of what was read from files of other programs."""

from __future__ import annotations

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
MAYBE_COUNT: dict[str, Any] = {"type": ["integer", "null"], "minimum": 0}
FLAG: dict[str, Any] = {"type": "boolean"}
MAYBE_TEXT: dict[str, Any] = {"type": ["string", "null"]}
PLACE = {"file": TEXT, "line": COUNT, "column": COUNT}
COUNTS = (
    "experts",
    "experts_per_token",
    "expert_ffn",
    "expert_layers",
    "shared_ffn",
    "head_dim",
    "ffn",
    "context_length",
)


def inputs() -> dict[str, Any]:
    """Return the schema of `inputs`."""
    return _closed({"files": _list(TEXT)})


def result() -> dict[str, Any]:
    """Return the schema of `result`."""
    value = {"type": ["string", "number", "boolean", "array"]}
    fact = _closed({"field": TEXT, "value": value, "key": TEXT, "why": TEXT} | PLACE)
    return _closed(
        {
            "kind": TEXT,
            "files": _list(_closed({"file": TEXT, "kind": TEXT})),
            "model": {"oneOf": [{"type": "null"}, _model()]},
            "parameters_total": MAYBE_COUNT,
            "parameters_active": MAYBE_COUNT,
            "parameters_modules": MAYBE_COUNT,
            "parameters_with_modules": MAYBE_COUNT,
            "taken": _list(fact),
            "defaulted": _list(fact),
            "ignored": _list(_closed({"key": TEXT, "why": TEXT, "matters": FLAG} | PLACE)),
            "open": _list(_closed({"field": TEXT, "key": TEXT, "why": TEXT} | PLACE)),
            "node": {"oneOf": [{"type": "null"}, _node()]},
            "scenario": {"type": "object"},
        }
    )


def exported() -> dict[str, Any]:
    """Return the schema of the `result` of an export."""
    setting = _closed({"name": TEXT, "value": TEXT})
    return _closed({"kind": TEXT, "text": TEXT, "settings": _list(setting), "not_said": _list(TEXT)})


def _model() -> dict[str, Any]:
    sizes = dict.fromkeys(("layers", "hidden", "heads", "kv_heads", "vocab", "positions", "mtp_layers"), COUNT)
    words = {"name": TEXT, "family": MAYBE_TEXT, "norm": TEXT, "qk_norm": TEXT}
    flags = dict.fromkeys(("gated", "tied", "parallel_block"), FLAG)
    parts = {"bias": {"type": "object", "additionalProperties": FLAG}}
    maybe = {"type": ["object", "null"], "additionalProperties": COUNT}
    return _closed(
        sizes
        | words
        | flags
        | parts
        | dict.fromkeys(COUNTS, MAYBE_COUNT)
        | {"latent_attention": maybe, "window": maybe}
    )


def _node() -> dict[str, Any]:
    port = {
        "name": TEXT,
        "distance": TEXT,
        "nearest": _list(COUNT),
        "bits_per_s": {"type": ["number", "null"]},
        "numa": MAYBE_COUNT,
        "for_traffic": FLAG,
    }
    counts = ("accelerators", "links_min", "links_max", "linked_accelerators", "traffic_ports")
    return _closed(
        dict.fromkeys(counts, COUNT)
        | {
            "links_known": FLAG,
            "pairs": {"type": "object", "additionalProperties": COUNT},
            "numa": _list(MAYBE_COUNT),
            "ports": _list(_closed(port)),
        }
    )


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    """Return an object with these keys and no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": list(properties),
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}
