"""A comparison as records: one line a variant, in base units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.compare.document import KEYS
from aiplan.report.estimate.document import scalars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.compare import Comparison
    from aiplan.report.records import Cell

SHOWN = (*KEYS.values(), "memory_capacity_bytes", "fits", "gpus")
HEADER = ("label", "source", "settings", *SHOWN, "error_code", "error")


def rows(answer: Comparison) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every variant; one that is not possible has a reason instead of numbers."""
    for item in answer.items:
        head = (item.label, item.source, "; ".join(item.settings))
        if item.estimate is not None:
            found = scalars(item.estimate)
            yield (*head, *(found[key] for key in SHOWN), "", "")
        else:
            yield (*head, *(None for _ in SHOWN), item.fault.code, item.fault.problem)
