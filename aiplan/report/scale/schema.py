"""JSON Schema of scaling."""

from __future__ import annotations

from typing import Any

from aiplan.report.scale.document import PART_KEYS, PLAN_KEYS
from aiplan.report.schema_parts import COUNT, MAYBE, NUMBER, TEXT, TEXTS, UNKNOWN, closed, items, or_none
from aiplan.report.search.schema import plan_schema

KIND = {"enum": ["weak", "strong"]}


def inputs() -> dict[str, Any]:
    """Return the schema of what was asked."""
    texts = {"source": TEXT, "settings": TEXTS, "conditions": TEXTS, "flops_convention": TEXT}
    return closed(texts | {"gpus": items(COUNT), "replan": {"type": "boolean"}, "holds": NUMBER})


def result() -> dict[str, Any]:
    """Return the schema of what was found."""
    grown = closed({"part": TEXT, "label": TEXT, "share_before": NUMBER, "share_after": NUMBER})
    curve = {
        "scaling": KIND,
        "reference_gpus": or_none(COUNT),
        "breaks_at_gpus": or_none(COUNT),
        "grown": or_none(grown),
        "sizes": items(_size()),
    }
    return closed({"batch_per_gpu": NUMBER, "curves": items(closed(curve))})


def _size() -> dict[str, Any]:
    plan = plan_schema()["properties"]
    return closed(
        {
            "scaling": KIND,
            "gpus": COUNT,
            "global_batch": NUMBER,
            "efficiency": UNKNOWN,
            "fits": MAYBE,
            "not_possible": or_none(TEXT),
        }
        | dict.fromkeys(PART_KEYS.values(), UNKNOWN)
        | {name: {"anyOf": [{"type": "null"}, plan[name]]} for name in PLAN_KEYS}
    )
