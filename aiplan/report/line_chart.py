"""Curves as a picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.report.picture import FILE, Entry, Picture, levels, note, pointer, points, series, uprights
from aiplan.units import quantity, round_steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.report.graph import Along, Graph, Series
    from aiplan.report.picture import Frame

STEPS = 5
LETTER = 7.2
"""Width that a character of a label takes at most."""


def line_chart(graph: Graph, frame: Frame = FILE) -> Picture:
    """Return a graph as a picture.

    Parameters
    ----------
    graph : Graph
        What is drawn.
    frame : Frame
        How large, and where in it.
    """
    looks = _looks(graph)
    key = tuple(Entry(one.name, looks[one.name]) for one in graph.key) if graph.top else ()
    return Picture(graph.title, graph.subtitle, frame, tuple(_drawing(graph, frame, looks)), key)


def _looks(graph: Graph) -> dict[str, str]:
    """Return the classes of every curve: a style, or the next colour."""
    plain = [one.name for one in graph.key if not one.look]
    return {one.name: one.look or f"series {series(plain.index(one.name))}" for one in graph.key}


def _drawing(graph: Graph, frame: Frame, looks: dict[str, str]) -> Iterator[str]:
    if not graph.top:
        yield note(frame.left, frame.top + 20, "there is nothing to draw")
        return
    across = graph.below(frame.left, frame.right)
    up = graph.beside(frame.bottom, frame.top, graph.headroom)
    yield from _grid(graph, frame, across, up)
    if graph.here is not None:
        place, name = graph.here
        x = across.at(place)
        yield pointer(frame, x)
        yield note(x + 6, frame.top + 12, name)
    for one in graph.drawn:
        yield _line(graph, one, across, up, looks[one.name])


def _line(graph: Graph, one: Series, across: Along, up: Along, look: str) -> str:
    return f'<polyline class="curve {look}" points="{points(graph.points(one, across, up))}"/>'


def _grid(graph: Graph, frame: Frame, across: Along, up: Along) -> Iterator[str]:
    told = graph.told or (lambda value: quantity(value, graph.unit))
    top = graph.headroom * graph.top
    values = graph.shares(STEPS) if graph.lowest else round_steps(top, graph.unit, STEPS)
    yield from levels(frame, ((up.at(value), told(value)) for value in values))
    room = (frame.right - frame.left) / max(LETTER * max(map(len, graph.places)) + 8.0, 1.0)
    every = max(1, math.ceil(len(graph.across) / max(room, 1.0)))
    named = list(zip(graph.across, graph.places, strict=True))[::every]
    yield from uprights(frame, ((across.at(value), text) for value, text in named))
