"""JSON Schema of what a change of each parameter does."""

from __future__ import annotations

from typing import Any

from aiplan.report.schema_parts import COUNT, MAYBE, NUMBER, TEXT, TEXTS, UNKNOWN, closed, items, or_none
from aiplan.report.sensitivity.keys import VALUES


def inputs() -> dict[str, Any]:
    """Return the schema of what was asked."""
    return closed({"scenario": TEXT, "source": TEXT, "settings": TEXTS})


def result() -> dict[str, Any]:
    """Return the schema of what was found."""
    outcomes = closed(dict.fromkeys(VALUES, UNKNOWN))
    trial = closed({"change": outcomes, "fits": MAYBE, "refused": or_none(TEXT)})
    effect = {
        "parameter": TEXT,
        "group": {"enum": ["hardware", "money", "workload"]},
        "inputs": TEXTS,
        "fields": TEXTS,
        "value": NUMBER,
        "unit": TEXT,
        "elasticity": outcomes,
        "elasticity_below": UNKNOWN,
        "elasticity_above": UNKNOWN,
        "between": NUMBER,
        "kink": {"type": "boolean"},
        "doubled": trial,
        "halved": trial,
    }
    return closed(
        {
            "ranked_by": {"enum": ["wall_clock", "time_to_train", "time_per_token"]},
            "columns": COUNT,
            "now": closed(dict.fromkeys(VALUES.values(), UNKNOWN) | {"fits": {"type": "boolean"}}),
            "parameters": items(closed(effect)),
            "absent": items(closed({"parameter": TEXT, "reason": TEXT})),
        }
    )
