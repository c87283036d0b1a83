"""JSON Schema of a difference."""

from __future__ import annotations

from typing import Any

from aiplan.report.diff.wording import ALONE
from aiplan.report.schema_parts import COUNT, NUMBER, TEXT, UNKNOWN, closed, items, or_none


def inputs() -> dict[str, Any]:
    """Return the schema of what was compared."""
    return closed(sides() | {"threshold": NUMBER})


def sides() -> dict[str, Any]:
    """Return the schemas of the two sides."""
    return dict.fromkeys(("old", "new"), closed({"scenario": TEXT, "source": TEXT}))


def number() -> dict[str, Any]:
    """Return the schema of a number before and after."""
    scalar = {"type": ["string", "number", "boolean", "null"]}
    return closed({"name": TEXT, "old": scalar, "new": scalar, "change": UNKNOWN})


def result() -> dict[str, Any]:
    """Return the schema of what lies between."""
    field = dict.fromkeys(("old", "new"), or_none(TEXT)) | dict.fromkeys(("name", "old_where", "new_where"), TEXT)
    term = {"tree": {"enum": ["step", "memory", "wallclock"]}, "name": TEXT, "label": TEXT}
    return closed(
        {
            "changed": {"type": "boolean"},
            "fields": items(closed(field)),
            "alone": items(closed({"name": TEXT, "changes": closed(dict.fromkeys(ALONE, UNKNOWN)), "problem": TEXT})),
            "remarks": items(closed(field)),
            "values": items(number()),
            "results": items(number()),
            "terms": items(closed(term | dict.fromkeys(("old", "new", "change", "share_of_whole"), NUMBER))),
            "results_within_threshold": COUNT,
        }
    )
