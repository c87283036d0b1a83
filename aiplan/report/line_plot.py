"""Curves drawn with plain characters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.report.canvas import Canvas
from aiplan.units import scale

if TYPE_CHECKING:
    from aiplan.report.console import Look
    from aiplan.report.graph import Graph, Series

HEIGHT = 16
MARGIN = 8
MARKS = "abcdefghijklmnopqrstuvwxyz"
HERE = "|"


def line_plot(graph: Graph, look: Look) -> str:
    """Return a graph as lines of text, a character for each curve; nothing if there is nothing to draw."""
    if not graph.top:
        return ""
    canvas = Canvas.of(look, HEIGHT, MARGIN)
    across = graph.below(0.0, canvas.width - 1.0)
    if graph.here is not None:
        for row in range(HEIGHT):
            canvas.put(across.at(graph.here[0]), row, HERE)
    for one in graph.drawn:
        _trace(canvas, graph, one)
    values = graph.shares(2)[::-1]
    unit, labels = scale(values, graph.unit)
    if graph.told is not None:
        labels = [graph.told(value) for value in values]
    beside = dict(zip((0, (HEIGHT - 1) // 2, HEIGHT - 1), labels, strict=True))
    first, last = graph.places[0], graph.places[-1]
    below = first + last.rjust(canvas.width - len(first))
    key = [f"{one.mark} {one.name}" for one in graph.key]
    if graph.here is not None:
        key.append(f"{HERE} {graph.here[1]}")
    return canvas.framed(graph.heading.format(unit=unit), beside, below, ", ".join(key))


def _trace(canvas: Canvas, graph: Graph, one: Series) -> None:
    """Draw one curve: its mark in every column, on the line between the two places around it."""
    across, up = graph.below(0.0, canvas.width - 1.0), graph.beside(HEIGHT - 1.0, 0.0)
    places = [across.at(place) for place in graph.across]
    at = 0
    for column in range(canvas.width):
        while at < len(places) - 2 and column > places[at + 1]:
            at += 1
        part = (column - places[at]) / (places[at + 1] - places[at])
        value = _between(one.values[at], one.values[at + 1], part, even=not graph.lowest)
        if math.isfinite(value) and value >= graph.lowest:
            canvas.put(column, up.at(min(value, graph.top)), one.mark)


def _between(left: float, right: float, part: float, *, even: bool) -> float:
    """Return a value on the line between two others, where that line is drawn straight."""
    if even:
        return left + part * (right - left)
    return math.nan if left <= 0 or right <= 0 else left ** (1.0 - part) * right**part
