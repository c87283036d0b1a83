"""JSON Schema of whole trainings in an accuracy report."""

from __future__ import annotations

from typing import Any

from aiplan.planning.trainings import COUNTS
from aiplan.report.schema_parts import COUNT, INTERVAL, NUMBER, TEXT, TEXTS, closed, items, or_none


def trainings() -> dict[str, Any]:
    """Return the schema of whole trainings, published and predicted."""
    head = {"id": TEXT, "source": TEXT}
    counts = ("tensor", "pipeline", "interleave", "context", "expert", "data", "zero", "micro_batch")
    compared = {
        "quality": TEXT,
        "model": TEXT,
        "accelerator": TEXT,
        "gpus": COUNT,
        "assumed": TEXTS,
        "plan_is_ours": {"type": "boolean"},
        "plan": closed(dict.fromkeys(counts, COUNT) | {"recompute": TEXT}),
        "measured_time_s": NUMBER,
        "predicted_time_s": NUMBER,
        "published_over_predicted": NUMBER,
        "error": NUMBER,
        "predicted_interval_s": INTERVAL,
        "counts": {"enum": list(COUNTS)},
        "circumstances": TEXT,
    }
    part = {
        "counts": {"enum": list(COUNTS)},
        "plans_are_ours": {"type": "boolean"},
        "n": COUNT,
        "median_error": NUMBER,
        "within_15_percent": NUMBER,
        "median_published_over_predicted": NUMBER,
    }
    return closed(
        {
            "n": COUNT,
            "own_plans": COUNT,
            "over_10_percent": TEXTS,
            "published_over_predicted": or_none(closed({"median": NUMBER, "min": NUMBER, "max": NUMBER})),
            "classes": items(closed(part)),
            "skipped": {"type": "object", "additionalProperties": COUNT},
            "rows": items({"oneOf": [closed(head | compared), closed(head | {"skipped": TEXT})]}),
        }
    )
