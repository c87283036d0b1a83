"""Fitted constants as JSON, and as records: one line a constant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.report import documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.core.arrays import Array
    from aiplan.planning.calibration import Calibration
    from aiplan.report.records import Cell

HEADER = ("owner", "key", "file", "now", "fitted", "usual", "low", "high", "runs")


def document(answer: Calibration) -> str:
    """Return a JSON document `aiplan.calibrate/1`."""
    result = {
        "summary": {"n": len(answer.sources)} | _errors(answer, None),
        "constants": [dict(zip(HEADER, row, strict=True)) for row in rows(answer)],
        "sources": [{"source": name} | _errors(answer, name) for name in answer.source_names()],
    }
    return documents.document("calibrate", {"files": list(answer.files), "grades": answer.grades}, [], result, [])


def rows(answer: Calibration) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every constant."""
    for item, now, then in zip(answer.constants, answer.before, answer.after, strict=True):
        kind = item.kind
        yield (item.owner, item.key, item.file, float(now), float(then), kind.usual, kind.low, kind.high, item.runs)


def _errors(answer: Calibration, source: str | None) -> dict[str, Any]:
    named = {"now": answer.ratio_before, "fitted": answer.ratio_after, "without": answer.ratio_without}
    return {name: _error(answer, ratio, source) for name, ratio in named.items()}


def _error(answer: Calibration, ratio: Array, source: str | None) -> dict[str, Any] | None:
    group = answer.errors(ratio, source)
    if group is None:
        return None
    return {
        "n": group.count,
        "median_abs_error": group.median,
        "p90_abs_error": group.p90,
        "bias": group.bias,
        "worst_abs_error": group.worst,
    }
