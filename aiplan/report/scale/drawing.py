"""Efficiency over accelerators: a curve for each kind of scaling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.graph import Graph, Series
from aiplan.report.scale import wording

if TYPE_CHECKING:
    from aiplan.planning.scale import Answer


def graph(answer: Answer) -> Graph:
    """Return what is to be drawn of a scenario on more and more accelerators."""
    gpus = answer.request.accelerators
    curves = tuple(
        Series(f"{curve.kind} scaling", curve.kind[0], tuple(curve.efficiency(size) for size in curve.sizes))
        for curve in answer.curves
    )
    return Graph(
        title="Efficiency over GPUs",
        subtitle=wording.title(answer),
        heading="efficiency [{unit}] over GPUs",
        unit="fraction",
        across=tuple(map(float, gpus)),
        places=tuple(f"{count:,}" for count in gpus),
        over=(),
        curves=curves,
        under=(Series("none lost", "-", (1.0,) * len(gpus), "bound"),),
        headroom=1.0,
    )
