"""Loss over the interval between checkpoints: saves, work lost, and both."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.report.checkpoint import wording
from aiplan.report.graph import Graph, Series
from aiplan.units import duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiplan.planning.checkpoint import CheckpointAnswer, Interval

BELOW = 0.5
"""How far the axis reaches below the least loss, as a factor."""


def graph(answer: CheckpointAnswer) -> Graph:
    """Return what is to be drawn of checkpoints: nothing where nothing is lost at any interval that is possible."""
    lossy = [one.loss for one in answer.curve if _counts(one)]
    both = Series("saves and work lost", "*", _values(answer, lambda one: one.loss))
    saves = Series("saves", "s", _values(answer, lambda one: one.saves))
    lost = Series("work lost", "l", _values(answer, lambda one: one.lost))
    return Graph(
        title="Share of the wall clock lost, over the interval between checkpoints",
        subtitle=wording.title(answer),
        heading="share of the wall clock over the interval between saves",
        unit="%",
        across=tuple(one.interval for one in answer.curve),
        places=tuple(duration(one.interval) for one in answer.curve),
        over=(both,),
        curves=(saves, lost),
        headroom=1.0,
        lowest=BELOW * min(lossy, default=0.0),
        told=wording.share,
        here=(answer.used.interval, f"used: {duration(answer.used.interval)}"),
    )


def _counts(one: Interval) -> bool:
    return one.durable and math.isfinite(one.loss) and one.loss > 0


def _values(answer: CheckpointAnswer, share: Callable[[Interval], float]) -> tuple[float, ...]:
    return tuple(share(one) if _counts(one) else math.nan for one in answer.curve)
