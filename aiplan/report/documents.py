"""JSON documents: one envelope for every kind, numbers at full precision, unknown is null."""

from __future__ import annotations

import json
import math
from typing import Any

from aiplan import __version__


def document(kind: str, inputs: Any, assumptions: list[Any], result: Any, warnings: list[Any]) -> str:
    """Return a JSON document of the kind `aiplan.<kind>/1`: sorted, indented by two, the same for the same input."""
    content = {
        "schema": f"aiplan.{kind}/1",
        "aiplan_version": __version__,
        "inputs": inputs,
        "assumptions": assumptions,
        "result": result,
        "warnings": warnings,
    }
    return dumps(_finite(content))


def dumps(content: Any) -> str:
    """Return plain data as JSON text."""
    return json.dumps(content, indent=2, sort_keys=True, allow_nan=False) + "\n"


def _finite(content: Any) -> Any:
    """Return the content with null for every number that JSON does not know."""
    if isinstance(content, dict):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content
