"""Curves drawn with plain characters."""

from __future__ import annotations

import math
from textwrap import wrap
from typing import TYPE_CHECKING

from aiplan.units import scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.report.console import Look
    from aiplan.report.graph import Graph

HEIGHT = 16
USUAL_WIDTH, WIDEST = 80, 200
MARGIN = 8
MARKS = "abcdefghijklmnopqrstuvwxyz"


def line_plot(graph: Graph, look: Look) -> str:
    """Return a graph as lines of text, a character for each curve; nothing if there is nothing to draw."""
    width = min(look.width or USUAL_WIDTH, WIDEST) - MARGIN - 2
    top = graph.top
    if not top:
        return ""
    canvas = [[" "] * width for _ in range(HEIGHT)]
    logs = [math.log2(place) for place in graph.across]
    for one in graph.drawn:
        _trace(canvas, one.mark, logs, [value / top for value in one.values])
    return "".join(f"{line}\n" for line in _framed(graph, canvas, top))


def _trace(canvas: list[list[str]], mark: str, logs: Sequence[float], shares: Sequence[float]) -> None:
    """Draw one curve: a mark in every column, on the line between the two places around it."""
    width, span = len(canvas[0]), logs[-1] - logs[0]
    at = 0
    for column in range(width):
        where = logs[0] + span * column / (width - 1)
        while at < len(logs) - 2 and where > logs[at + 1]:
            at += 1
        part = (where - logs[at]) / (logs[at + 1] - logs[at])
        share = shares[at] + part * (shares[at + 1] - shares[at])
        if math.isfinite(share):
            canvas[HEIGHT - 1 - round(min(max(share, 0.0), 1.0) * (HEIGHT - 1))][column] = mark


def _framed(graph: Graph, canvas: list[list[str]], top: float) -> list[str]:
    """Return the lines with axes and a key."""
    unit, labels = scale([top, 0.5 * top, 0.0], graph.unit)
    beside = dict(zip((0, (HEIGHT - 1) // 2, HEIGHT - 1), labels, strict=True))
    found = [graph.heading.format(unit=unit)]
    for row, cells in enumerate(canvas):
        found.append(f"{beside.get(row, ''):>{MARGIN - 1}} |{''.join(cells)}".rstrip())
    found.append(" " * MARGIN + "+" + "-" * len(canvas[0]))
    first, last = graph.places[0], graph.places[-1]
    found.append(" " * (MARGIN + 1) + first + last.rjust(len(canvas[0]) - len(first)))
    key = ", ".join(f"{one.mark} {one.name}" for one in graph.key)
    return [*found, *wrap(key, width=MARGIN + 1 + len(canvas[0]))]
