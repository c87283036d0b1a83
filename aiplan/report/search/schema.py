"""JSON Schema of the answer of a search."""

from __future__ import annotations

from typing import Any

from aiplan.report.schema_parts import COUNT, MAYBE, NUMBER, TEXT, TEXTS, UNKNOWN, closed, items, or_none
from aiplan.report.search.document import OVERLAPS, SIZES, WHOLE_RUN


def inputs() -> dict[str, Any]:
    """Return the schema of what was asked."""
    texts = dict.fromkeys(("source", "objective", "flops_convention"), TEXT)
    return closed(texts | dict.fromkeys(("settings", "variants", "conditions"), TEXTS))


def result() -> dict[str, Any]:
    """Return the schema of what was found."""
    counts = dict.fromkeys(("plans", "layouts", "layouts_possible", "layouts_near", "layouts_ahead_of_own"), COUNT)
    fallen = {
        "illegal_combinations": {"type": "object", "additionalProperties": COUNT},
        "memory_plans": COUNT,
        "condition_plans": COUNT,
        "least_memory_bytes_per_gpu": UNKNOWN,
    }
    return closed(
        counts
        | {
            "finished": {"type": "boolean"},
            "near_factor": NUMBER,
            "own": or_none(plan_schema()),
            "best": items(plan_schema()),
            "front": items(plan_schema()),
            "left_out": closed(fallen),
        }
    )


def plan_schema() -> dict[str, Any]:
    """Return the schema of a plan and its estimate."""
    numbers = (
        "step_time_s",
        "time_to_train_s",
        "tokens_per_s_per_gpu",
        "mfu",
        "memory_bytes_per_gpu",
        "cost_usd",
        "energy_j",
        *WHOLE_RUN,
    )
    flags = {"sequence_parallel": {"type": "boolean"}, "count_embedding_as_layer": {"type": "boolean"}}
    return closed(
        dict.fromkeys(numbers, UNKNOWN)
        | dict.fromkeys((*SIZES, "gpus", "data", "zero"), COUNT)
        | {"rank": or_none(COUNT), "variant": TEXT, "recompute": TEXT}
        | flags
        | {f"overlap_{name}": MAYBE for name in OVERLAPS}
    )
