"""Predicted against measured as JSON: a summary, and every run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from aiplan.planning.intervals import NOMINAL
from aiplan.report import documents
from aiplan.report.accuracy.summaries import summaries

if TYPE_CHECKING:
    from aiplan.planning.accuracy import Accuracy, Comparison, Group

KEYS = {
    "accelerator": "by_accelerator",
    "precision": "by_precision",
    "family": "by_family",
    "accelerators": "by_accelerators",
    "parallel kind": "by_parallel_kind",
    "software": "by_software",
    "source": "by_source",
}
"""Kinds of group and their keys in the document."""


def document(answer: Accuracy) -> str:
    """Return a JSON document `aiplan.accuracy/1`."""
    inputs = {"files": list(answer.files), "settings": list(answer.settings), "grades": answer.grades}
    assumptions = [
        {"name": name, "value": None, "origin": "default", "why": f"not stated for {count:,} runs"}
        for name, count in answer.assumed()
    ]
    result = {"summary": _summary(answer), "rows": [row(item) for item in answer.comparisons]}
    return documents.document("accuracy", inputs, assumptions, result, [])


def row(item: Comparison) -> dict[str, Any]:
    """Return one run: predicted and measured, or why it is left out."""
    head = {"id": item.run.ident, "source": item.run.source}
    if item.estimate is None:
        return head | {"skipped": item.problem}
    found = item.interval
    return head | {
        "quality": item.run.quality,
        "predicted_step_time_s": item.estimate["step"],
        "measured_step_time_s": item.measured_step_time,
        "error": item.error,
        "interval": None if found is None else [found.low, found.high],
        "predicted_memory_bytes_per_gpu": item.predicted_memory,
        "measured_memory_bytes_per_gpu": item.measured_memory,
    }


def _summary(answer: Accuracy) -> dict[str, Any]:
    memory = answer.memory()
    kinds = {group.name: _errors(group) for group in answer.memory_kinds()}
    groups = answer.groups()
    return _errors(answer.overall()) | {
        "memory": None if memory is None else _errors(memory) | {"by_kind": kinds},
        "interval_nominal": NOMINAL,
        "interval_coverage": answer.coverage(),
        "skipped": dict(answer.skipped()),
        **{key: {group.name: _errors(group) for group in groups[kind]} for kind, key in KEYS.items()},
        **summaries(answer),
    }


def _errors(group: Group | None) -> dict[str, Any]:
    return {
        "n": 0 if group is None else group.count,
        "median_abs_error": math.nan if group is None else group.median,
        "p90_abs_error": math.nan if group is None else group.p90,
        "bias": math.nan if group is None else group.bias,
        "worst_abs_error": math.nan if group is None else group.worst,
    }
