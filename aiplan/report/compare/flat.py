"""A comparison as records: one line a variant, in base units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.planning.compare import COMPARED, compared
from aiplan.report.compare.document import KEYS
from aiplan.report.estimate import run
from aiplan.report.estimate.document import scalars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.compare import Comparison
    from aiplan.report.records import Cell

BESIDE = ("memory_capacity_bytes", "fits", "gpus")
HEADER = ("label", "source", "settings", *(KEYS[name] for name in COMPARED), *BESIDE, "error_code", "error")
"""Columns where no scenario speaks of the run as a whole."""


def header(answer: Comparison) -> tuple[str, ...]:
    """Return the names of the columns: `HEADER`, and results of the run where any has them."""
    return ("label", "source", "settings", *_shown(answer), "error_code", "error")


def _shown(answer: Comparison) -> tuple[str, ...]:
    """Return the keys of the results; those of the run as a whole at the end, where any has them."""
    names = compared(answer)
    return (*(KEYS[name] for name in COMPARED), *BESIDE, *(KEYS[name] for name in names[len(COMPARED) :]))


def rows(answer: Comparison) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every variant; one that is not possible has a reason instead of numbers."""
    shown = _shown(answer)
    for item in answer.items:
        head = (item.label, item.source, "; ".join(item.settings))
        if item.estimate is not None:
            found = scalars(item.estimate) | run.scalars(item.estimate)
            yield (*head, *(found.get(key) for key in shown), "", "")
        else:
            yield (*head, *(None for _ in shown), item.fault.code, item.fault.problem)
