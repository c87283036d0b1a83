"""JSON Schema of a comparison of many scenarios."""

from __future__ import annotations

from typing import Any

from aiplan.planning.changes import STATES
from aiplan.report.diff import schema as of_one
from aiplan.report.schema_parts import COUNT, NUMBER, TEXT, TEXTS, closed, items, or_none


def inputs() -> dict[str, Any]:
    """Return the schema of what was compared."""
    return closed({"paths": TEXTS, "revision": or_none(TEXT), "threshold": NUMBER})


def result() -> dict[str, Any]:
    """Return the schema of what became of each scenario."""
    difference = closed(of_one.sides() | of_one.result()["properties"])
    scenario = {
        "file": TEXT,
        "state": {"enum": [*STATES]},
        "remark": TEXT,
        "figures": items(of_one.number()),
        "difference": or_none(difference),
    }
    counts = closed(dict.fromkeys(STATES, COUNT))
    return closed({"changed": {"type": "boolean"}, "counts": counts, "scenarios": items(closed(scenario))})
