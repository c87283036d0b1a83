"""Predicted against measured as JSON: a summary, and every run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from aiplan.planning.intervals import NOMINAL
from aiplan.report import documents
from aiplan.report.accuracy.summaries import summaries

if TYPE_CHECKING:
    from aiplan.planning.accuracy import Accuracy, Comparison, Group
    from aiplan.planning.memory_accuracy import Fits
    from aiplan.report.accuracy import Answer

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


MEMORY_KEYS = (
    "predicted_memory_bytes_per_gpu",
    "measured_memory_bytes_per_gpu",
    "memory_interval",
    "fits_predicted",
    "fits_measured",
)


def document(answer: Answer) -> str:
    """Return a JSON document `aiplan.accuracy/1`."""
    found = answer.accuracy
    inputs = {"files": list(found.files), "settings": list(found.settings), "grades": found.grades}
    assumptions = [
        {"name": name, "value": None, "origin": "default", "why": f"not stated for {count:,} runs"}
        for name, count in found.assumed()
    ]
    result = {"summary": _summary(found), "rows": [row(item) for item in found.comparisons]}
    return documents.document("accuracy", inputs, assumptions, result, [])


def row(item: Comparison) -> dict[str, Any]:
    """Return one run: predicted and measured, or why it is left out."""
    head = {"id": item.run.ident, "source": item.run.source}
    if item.estimate is None and item.footprint is None:
        return head | {"skipped": item.problem}
    head |= {"quality": item.run.quality}
    if item.estimate is None:
        return head | _memory(item)
    found = item.interval
    return (
        head
        | {
            "predicted_step_time_s": item.estimate["step"],
            "measured_step_time_s": item.measured_step_time,
            "error": item.error,
            "interval": None if found is None else [found.low, found.high],
        }
        | _memory(item)
    )


def _memory(item: Comparison) -> dict[str, Any]:
    """Return the memory of a run; without a measurement, what is predicted for all of the device."""
    cells: tuple[Any, ...] = (None,) * len(MEMORY_KEYS)
    if item.footprint is not None:
        there = item.footprint
        found = there.interval if math.isfinite(there.measured) else None
        ends = None if found is None else [found.low, found.high]
        cells = (there.predicted, there.measured, ends, there.fits_predicted, there.fits_measured)
    elif item.estimate is not None:
        cells = (item.estimate["memory"], None, None, item.estimate.fits, None)
    return dict(zip(MEMORY_KEYS, cells, strict=True))


def _summary(answer: Accuracy) -> dict[str, Any]:
    groups = answer.groups()
    return _errors(answer.overall()) | {
        "memory": _memory_errors(answer),
        "fits": _fits(answer.fits()),
        "interval_nominal": NOMINAL,
        "skipped": dict(answer.skipped()),
        **{key: {group.name: _errors(group) for group in groups[kind]} for kind, key in KEYS.items()},
        **summaries(answer),
    }


def _memory_errors(answer: Accuracy) -> dict[str, Any] | None:
    memory = answer.memory()
    if memory is None:
        return None
    kinds = {group.name: _errors(group) for group in answer.memory_kinds()}
    return _errors(memory) | {"by_kind": kinds}


def _fits(found: Fits | None) -> dict[str, Any] | None:
    """Return the table of plans that fitted or ran out of memory by what was predicted, and every miss."""
    if found is None:
        return None
    return {
        "fitted": {"predicted_fits": found.fitted_as_predicted, "predicted_does_not_fit": found.fitted_against},
        "ran_out": {"predicted_fits": found.ran_out_against, "predicted_does_not_fit": found.ran_out_as_predicted},
        "balanced_accuracy": found.balanced_accuracy,
        "misses": [
            {
                "id": item.run.ident,
                "source": item.run.source,
                "fits_predicted": item.fits_predicted,
                "fits_measured": item.fits_measured,
                "needed_memory_bytes_per_gpu": item.needed,
                "memory_capacity_bytes": item.capacity,
                "over_limit": item.over_limit,
            }
            for item in found.misses
        ],
    }


def _errors(group: Group | None) -> dict[str, Any]:
    return {
        "n": 0 if group is None else group.count,
        "median_abs_error": math.nan if group is None else group.median,
        "p90_abs_error": math.nan if group is None else group.p90,
        "bias": math.nan if group is None else group.bias,
        "worst_abs_error": math.nan if group is None else group.worst,
        "interval_coverage": math.nan if group is None else group.covered,
    }
