"""Curves as an SVG file of its own."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from aiplan.report.graph import COLOURS, Axis
from aiplan.report.text import clean
from aiplan.units import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.report.graph import Graph, Series

WIDTH, HEIGHT = 960, 520
LEFT, RIGHT, TOP, BOTTOM = 90, 740, 64, 452
STEPS = 5
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #222 }
.small { font-size: 12px; fill: #555 }
.title { font-size: 16px; font-weight: 600 }
.grid { stroke: #ddd }
polyline { fill: none; stroke-width: 1.6 }
.choice { stroke: #222; stroke-width: 3.2 }
.bound { stroke: #777; stroke-dasharray: 6 4 }
"""


def line_chart(graph: Graph) -> str:
    """Return a graph as an SVG file."""
    label = escape(clean(graph.title))
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}">',
        f'<style>{STYLE}</style>\n<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text class="title" x="{LEFT}" y="26">{label}</text>',
        f'<text class="small" x="{LEFT}" y="46">{escape(clean(graph.subtitle))}</text>',
        *_drawing(graph),
        "</svg>",
    ]
    return "".join(f"{part}\n" for part in parts)


def _drawing(graph: Graph) -> Iterator[str]:
    top = graph.headroom * graph.top
    if not top:
        return
    across = Axis(graph.across[0], graph.across[-1], LEFT, RIGHT)
    colours = dict(zip((one.name for one in graph.key if not one.look), _colours(), strict=False))
    yield from _grid(graph, across, top)
    for one in graph.drawn:
        yield _line(graph, one, across, top, _look(one, colours))
    for row, one in enumerate(graph.key):
        height = TOP + 12 + 22 * row
        yield f'<polyline {_look(one, colours)} points="{RIGHT + 20},{height - 4} {RIGHT + 46},{height - 4}"/>'
        yield f'<text x="{RIGHT + 54}" y="{height}">{escape(clean(one.name))}</text>'


def _colours() -> Iterator[str]:
    yield from COLOURS
    while True:
        yield COLOURS[-1]


def _look(one: Series, colours: dict[str, str]) -> str:
    return f'class="{one.look}"' if one.look else f'stroke="{colours[one.name]}"'


def _line(graph: Graph, one: Series, across: Axis, top: float, look: str) -> str:
    points = " ".join(
        f"{across.at(place):.1f},{_up(value, top):.1f}"
        for place, value in zip(graph.across, one.values, strict=True)
        if math.isfinite(value)
    )
    return f'<polyline {look} points="{points}"/>'


def _up(value: float, top: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * value / top


def _grid(graph: Graph, across: Axis, top: float) -> Iterator[str]:
    for step in range(STEPS + 1):
        value = top * step / STEPS
        height = _up(value, top)
        yield f'<line class="grid" x1="{LEFT}" y1="{height:.1f}" x2="{RIGHT}" y2="{height:.1f}"/>'
        text = quantity(value, graph.unit)
        yield f'<text class="small" x="{LEFT - 10}" y="{height + 4:.1f}" text-anchor="end">{text}</text>'
    every = max(1, len(graph.across) // 8)
    for value, text in list(zip(graph.across, graph.places, strict=True))[::every]:
        place = across.at(value)
        yield f'<line class="grid" x1="{place:.1f}" y1="{TOP}" x2="{place:.1f}" y2="{BOTTOM}"/>'
        yield f'<text class="small" x="{place:.1f}" y="{BOTTOM + 20}" text-anchor="middle">{escape(clean(text))}</text>'
