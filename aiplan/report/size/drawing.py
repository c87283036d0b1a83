"""Time to train over GPUs: a curve for each kind of node, and the deadline."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.report.graph import Graph, Series
from aiplan.report.line_plot import MARKS
from aiplan.report.size import wording
from aiplan.units import duration

if TYPE_CHECKING:
    from aiplan.planning.size import Answer


def graph(answer: Answer) -> Graph:
    """Return what is to be drawn of the numbers of GPUs that were tried."""
    tried = {(trial.node, trial.accelerators): trial.time for trial in answer.trials}
    counts = sorted({count for _, count in tried})
    curves = (
        Series(node, mark, tuple(tried.get((node, count), math.nan) for count in counts))
        for node, mark in zip(answer.machines, MARKS, strict=False)
    )
    deadline, best = answer.request.limits.deadline, answer.best
    limit = (Series("deadline", "-", (deadline,) * len(counts), "bound"),) if math.isfinite(deadline) else ()
    times = [time for time in tried.values() if math.isfinite(time)]
    return Graph(
        title="Time to train over GPUs",
        subtitle=wording.title(answer),
        heading="time to train over GPUs",
        unit="s",
        across=tuple(map(float, counts)),
        places=tuple(f"{count:,}" for count in counts),
        over=(),
        curves=tuple(curves),
        under=limit,
        headroom=1.0,
        lowest=min([*times, *(one.values[0] for one in limit)], default=0.0) / 2.0,
        told=duration,
        here=None if best is None else (float(best.accelerators), f"answer: {best.accelerators:,}"),
    )
