"""A comparison as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.planning.compare import compared
from aiplan.report import documents
from aiplan.report.estimate import run
from aiplan.report.estimate.document import assumptions, scalars, warnings

if TYPE_CHECKING:
    from aiplan.planning.compare import Compared, Comparison

KEYS = {
    "run.time_to_train": "time_to_train_s",
    "step": "step_time_s",
    "run.tokens_per_s_per_gpu": "tokens_per_s_per_gpu",
    "utilisation": "mfu",
    "memory": "memory_bytes_per_gpu",
    "run.cost": "cost_usd",
    "wallclock": "wallclock_s",
    "run.goodput": "goodput",
    "total.cost": "whole_run_cost_usd",
}


def document(answer: Comparison) -> str:
    """Return a JSON document `aiplan.compare/1`."""
    changes = {KEYS[name]: answer.changes(name) for name in compared(answer)}
    result = {
        "differences": {row.name: list(row.texts) for row in answer.differences()},
        "variants": [
            _variant(item, {key: values[index] for key, values in changes.items()})
            for index, item in enumerate(answer.items)
        ],
    }
    inputs = [{"label": item.label, "source": item.source, "settings": list(item.settings)} for item in answer.items]
    used = [
        {"variant": item.label} | found
        for item in answer.items
        if item.estimate is not None
        for found in assumptions(item.estimate)
    ]
    unknown = [
        {"variant": item.label} | found
        for item in answer.items
        if item.estimate is not None
        for found in warnings(item.estimate)
    ]
    return documents.document("compare", inputs, used, result, unknown)


def _variant(item: Compared, changes: dict[str, float | None]) -> dict[str, Any]:
    if item.estimate is not None:
        return (
            {"label": item.label, "error": None, "change": changes}
            | scalars(item.estimate)
            | run.scalars(item.estimate)
        )
    fault = item.fault
    return {"label": item.label, "error": {"code": fault.code, "message": fault.problem, "hint": fault.hint}}
