"""Step time over memory: the plans that none beats in both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.graph import Even, Graph, Series
from aiplan.report.search import wording
from aiplan.units import quantity

if TYPE_CHECKING:
    from aiplan.planning.search import Answer


def graph(answer: Answer) -> Graph:
    """Return what is to be drawn of a search: its trade-offs, and where the plan of the scenario lies among them."""
    found = [item.estimate for item in answer.front]
    points = sorted({one.needed_memory: one["step"] for one in reversed(found)}.items())
    own = answer.own
    inside = own is not None and points and points[0][0] <= own.needed_memory <= points[-1][0]
    return Graph(
        title="Step time over memory",
        subtitle=wording.title(answer),
        heading="step time [{unit}] of the trade-offs over memory per GPU",
        unit="s",
        across=tuple(memory for memory, _ in points),
        places=tuple(quantity(memory, "B") for memory, _ in points),
        over=(),
        curves=(Series("no plan is faster with less memory", "o", tuple(step for _, step in points)),),
        spread=Even,
        here=(own.needed_memory, f"yours: {quantity(own['step'], 's')}") if own is not None and inside else None,
    )
