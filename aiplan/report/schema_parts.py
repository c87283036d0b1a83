"""Parts of JSON Schemas that the documents share."""

from __future__ import annotations

from typing import Any

NAMESPACE = "urn:aiplan:schema"
"""Beginning of the name of every schema."""
TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
UNKNOWN: dict[str, Any] = {"type": ["number", "null"]}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}
MAYBE: dict[str, Any] = {"type": ["boolean", "null"]}
INTERVAL: dict[str, Any] = {"type": ["array", "null"], "items": NUMBER, "minItems": 2, "maxItems": 2}


def closed(properties: dict[str, Any], optional: tuple[str, ...] | list[str] = ()) -> dict[str, Any]:
    """Return an object with these keys and no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": [name for name in properties if name not in optional],
    }


def items(of: dict[str, Any]) -> dict[str, Any]:
    """Return a list of one kind."""
    return {"type": "array", "items": of}


def or_none(schema: dict[str, Any]) -> dict[str, Any]:
    """Return something that may be unknown."""
    return {"oneOf": [{"type": "null"}, schema]}
