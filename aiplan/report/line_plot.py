"""Curves drawn with plain characters."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from aiplan.report.canvas import Canvas
from aiplan.units import scale

if TYPE_CHECKING:
    from aiplan.report.console import Look
    from aiplan.report.graph import Graph, Series

HEIGHT = 16
MARGIN = 8
NEARLY = 1e-6
MARKS = "abcdefghijklmnopqrstuvwxyz"
HERE = "|"
NOTHING = "Nothing to draw: a curve needs two places with values.\n"


def with_plot(text: str, graph: Graph, look: Look) -> str:
    """Return text with a plot below, or that there is nothing to draw."""
    return f"{text}\n{line_plot(graph, look) or NOTHING}"


def line_plot(graph: Graph, look: Look) -> str:
    """Return a graph as lines of text, a character for each curve; nothing if there is nothing to draw."""
    if not graph.top:
        return ""
    values = graph.shares(2)[::-1]
    unit, labels = scale(values, graph.unit)
    if graph.told is not None:
        labels = [graph.told(value) for value in values]
    canvas = Canvas.of(look, HEIGHT, max(MARGIN, *(len(label) + 1 for label in labels)))
    if graph.here is not None:
        place = graph.below(0.0, canvas.width - 1.0).at(graph.here[0])
        for row in range(HEIGHT):
            canvas.put(place, row, HERE)
    for one in graph.drawn:
        _trace(canvas, graph, one)
    beside = dict(zip((0, (HEIGHT - 1) // 2, HEIGHT - 1), labels, strict=True))
    first, last = graph.places[0], graph.places[-1]
    below = first + last.rjust(canvas.width - len(first))
    return canvas.framed(graph.heading.format(unit=unit), beside, below, ", ".join(_key(graph)))


def _key(graph: Graph) -> list[str]:
    names = [f"{one.mark} {one.name}" for one in graph.key]
    return names if graph.here is None else [*names, f"{HERE} {graph.here[1]}"]


def _trace(canvas: Canvas, graph: Graph, one: Series) -> None:
    """Draw one curve: its mark in every column, on the straight line between the two places around it."""
    across, up = graph.below(0.0, canvas.width - 1.0), graph.beside(HEIGHT - 1.0, 0.0)
    known = graph.points(one, across, up)
    for (left, start), (right, end) in pairwise(known):
        for column in range(math.ceil(left - NEARLY), math.floor(right + NEARLY) + 1):
            canvas.put(column, start + (column - left) / (right - left) * (end - start), one.mark)
