"""Results over the one field that was varied, each against that of the first variant."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.planning.compare import Varied
from aiplan.report.graph import Axis, Even, Graph, Series

if TYPE_CHECKING:
    from aiplan.planning.compare import Comparison

CURVES = (
    ("time to train", "t", "run.time_to_train"),
    ("step time", "s", "step"),
    ("MFU", "u", "utilisation"),
    ("memory", "m", "memory"),
    ("cost", "c", "run.cost"),
)
WIDE = 4.0
"""How far apart numbers must be, as a factor, to be drawn over a logarithmic axis."""


def graph(answer: Comparison) -> Graph:
    """Return what is to be drawn of variants of one scenario along one field; nothing of other comparisons."""
    varied = answer.varied or Varied("", "", ())
    numbers = [number for number, _ in varied.places]
    curves = [Series(name, mark, _values(answer, varied, term)) for name, mark, term in CURVES]
    known = {one.name: one for one in curves if any(math.isfinite(value) for value in one.values)}
    if "time to train" in known:
        known.pop("step time", None)
    far = bool(numbers) and numbers[0] > 0 and numbers[-1] >= WIDE * numbers[0]
    return Graph(
        title=f"Results over {varied.path}",
        subtitle=f"each against that of {answer.items[0].label}",
        heading=f"result against that of {answer.items[0].label} [{{unit}}] over {varied.path}",
        unit="%",
        across=tuple(numbers),
        places=tuple(f"{number:,g} {varied.unit}".rstrip() for number in numbers),
        over=(),
        curves=tuple(known.values()),
        spread=Axis if far else Even,
    )


def _values(answer: Comparison, varied: Varied, term: str) -> tuple[float, ...]:
    """Return a result of each variant over that of the first, NaN where either is unknown."""
    changes = answer.changes(term)
    first = any(change is not None for change in changes)
    shares = [math.nan if change is None else change + 1.0 for change in changes]
    if first:
        shares[0] = 1.0
    return tuple(shares[place] for _, place in varied.places)
