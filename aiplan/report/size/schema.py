"""JSON Schema of a size."""

from __future__ import annotations

from typing import Any

from aiplan.planning.trial import GOALS, LIMITS
from aiplan.report.schema_parts import COUNT, MAYBE, TEXT, TEXTS, UNKNOWN, closed, items, or_none
from aiplan.report.search.schema import plan_schema
from aiplan.report.size.document import PLAN_KEYS


def inputs() -> dict[str, Any]:
    """Return the schema of what was asked."""
    limits = closed(dict.fromkeys(("deadline_s", "budget_usd", "power_w"), UNKNOWN))
    texts = {"source": TEXT, "flops_convention": TEXT} | dict.fromkeys(("settings", "nodes", "conditions"), TEXTS)
    return closed(texts | {"goal": {"enum": list(GOALS)}, "limits": limits, "sure": {"type": "boolean"}})


def result() -> dict[str, Any]:
    """Return the schema of what was found."""
    trial = _trial()
    named = dict.fromkeys(("best", "binds", "shortest", "cheapest"), or_none(trial))
    return closed(
        named
        | {
            "deadline_holds_at_upper_end": MAYBE,
            "possible_below": items(COUNT),
            "possible_above": items(COUNT),
            "would_do": items(closed({"limit": {"enum": list(LIMITS)}, "trial": trial})),
            "tried": items(trial),
            "left_out": items(closed({"node": TEXT, "reason": TEXT})),
        }
    )


def _trial() -> dict[str, Any]:
    plan = plan_schema()["properties"]
    return closed(
        {"node": TEXT, "nodes": COUNT, "gpus": COUNT, "meets": {"type": "boolean"}, "no_plan": or_none(TEXT)}
        | {"misses": items({"enum": ["plan", *LIMITS]})}
        | dict.fromkeys(("power_w", "time_to_train_upper_s", "cost_upper_usd"), UNKNOWN)
        | {name: {"anyOf": [{"type": "null"}, plan[name]]} for name in PLAN_KEYS}
    )
