"""JSON Schema of a page."""

from __future__ import annotations

from typing import Any

from aiplan.report.schema_parts import TEXT, closed, or_none


def inputs() -> dict[str, Any]:
    """Return the schema of what was asked."""
    return closed({"code": TEXT})


def result() -> dict[str, Any]:
    """Return the schema of a page."""
    sample = closed({"file": or_none(TEXT), "text": TEXT, "command": TEXT})
    words = dict.fromkeys(("code", "name", "what", "why"), TEXT)
    return closed(words | {"example": sample, "instead": or_none(sample)})
