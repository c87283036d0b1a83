"""JSON Schema of a check."""

from __future__ import annotations

from typing import Any

from aiplan.report.schema_parts import COUNT, TEXT, TEXTS, UNKNOWN, closed, items, or_none

STATES = ("ok", "exempt", "note", "warning", "error")


def inputs() -> dict[str, Any]:
    """Return the schema of what was asked."""
    return closed({"paths": TEXTS, "policy": or_none(TEXT), "settings": TEXTS, "pools": or_none(TEXT)})


def result() -> dict[str, Any]:
    """Return the schema of what was found."""
    verdict = (
        {"state": {"enum": [*STATES]}}
        | dict.fromkeys(("rule", "text", "unit", "hint", "why"), TEXT)
        | dict.fromkeys(("found", "bound", "margin"), UNKNOWN)
        | dict.fromkeys(("line", "column"), or_none(COUNT))
        | dict.fromkeys(("code", "place"), or_none(TEXT))
    )
    file = {
        "file": TEXT,
        "scenario": or_none(TEXT),
        "state": {"enum": [*STATES, "broken"]},
        "verdicts": items(closed(verdict)),
    }
    return closed(
        {
            "verdict": {"enum": ["passed", "failed", "not answered"]},
            "counts": closed(dict.fromkeys(STATES, COUNT)),
            "files": items(closed(file)),
            "skipped": items(closed({"file": TEXT, "why": TEXT})),
        }
    )
