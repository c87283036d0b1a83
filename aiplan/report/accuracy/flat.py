"""Predicted against measured as records: one line a run, in base units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.accuracy.document import row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.report.accuracy import Answer
    from aiplan.report.records import Cell

BEFORE = ("id", "source", "quality", "predicted_step_time_s", "measured_step_time_s", "error")
AFTER = (
    "predicted_memory_bytes_per_gpu",
    "measured_memory_bytes_per_gpu",
    "fits_predicted",
    "fits_measured",
    "skipped",
)
HEADER = (*BEFORE, "interval_low_s", "interval_high_s", *AFTER)


def rows(answer: Answer) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every run; one that is left out has a reason instead of numbers."""
    for item in answer.accuracy.comparisons:
        found = row(item)
        low, high = found.get("interval") or (None, None)
        yield (*(found.get(key) for key in BEFORE), low, high, *(found.get(key) for key in AFTER))
