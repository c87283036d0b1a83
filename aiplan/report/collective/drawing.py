"""Bus bandwidth over size: a curve for each algorithm, what NCCL takes, and the bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.collective import wording
from aiplan.report.graph import Graph, Series, floats
from aiplan.report.line_plot import MARKS

if TYPE_CHECKING:
    from aiplan.planning.collective import Collective


def graph(answer: Collective) -> Graph:
    """Return what is to be drawn of a collective."""
    curves = zip(MARKS, answer.curves, strict=False) if answer.compared else ()
    return Graph(
        title="Bus bandwidth over size",
        subtitle=wording.title(answer),
        heading="busbw [{unit}] over size",
        unit="B/s",
        across=floats(answer.sizes),
        places=tuple(wording.size(size) for size in answer.sizes),
        over=(Series("what NCCL takes", "*", floats(answer.busbw(answer.choice.time)), "choice"),),
        curves=tuple(Series(curve.name, mark, floats(answer.busbw(curve.time))) for mark, curve in curves),
        under=(Series("bound", "-", floats(answer.busbw(answer.bound)), "bound"),),
    )
