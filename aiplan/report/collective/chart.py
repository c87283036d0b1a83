"""Bus bandwidth over size as SVG: a line for each algorithm, what NCCL takes, and the bound."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from aiplan.report.accuracy.scatter import COLOURS, Axis
from aiplan.report.collective import wording
from aiplan.report.text import clean
from aiplan.units import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.core.arrays import Array
    from aiplan.planning.collective import Collective

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


def chart(answer: Collective) -> str:
    """Return the chart as an SVG file of its own."""
    label = "Bus bandwidth over size"
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}">',
        f'<style>{STYLE}</style>\n<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text class="title" x="{LEFT}" y="26">{label}</text>',
        f'<text class="small" x="{LEFT}" y="46">{escape(clean(wording.title(answer)))}</text>',
        *_drawing(answer),
        "</svg>",
    ]
    return "".join(f"{part}\n" for part in parts)


def _drawing(answer: Collective) -> Iterator[str]:
    bound, choice = answer.busbw(answer.bound), answer.busbw(answer.choice.time)
    curves = [(curve.name, answer.busbw(curve.time)) for curve in answer.curves] if answer.compared else []
    values = [float(v) for _, line in [("", bound), ("", choice), *curves] for v in line if math.isfinite(v)]
    if not values or answer.sizes.size < 2:
        return
    top = 1.05 * max(values)
    across = Axis(float(answer.sizes[0]), float(answer.sizes[-1]), LEFT, RIGHT)
    yield from _grid(answer, across, top)
    for at, (name, line) in enumerate(curves):
        colour = COLOURS[min(at, len(COLOURS) - 1)]
        yield _line(answer, line, across, top, f'stroke="{colour}"')
        yield from _key(at + 2, name, f'stroke="{colour}"')
    yield _line(answer, bound, across, top, 'class="bound"')
    yield _line(answer, choice, across, top, 'class="choice"')
    yield from _key(0, "what NCCL takes", 'class="choice"')
    yield from _key(1, "bound", 'class="bound"')


def _line(answer: Collective, values: Array, across: Axis, top: float, look: str) -> str:
    points = " ".join(
        f"{across.at(float(size)):.1f},{_up(float(value), top):.1f}"
        for size, value in zip(answer.sizes, values, strict=True)
        if math.isfinite(value)
    )
    return f'<polyline {look} points="{points}"/>'


def _key(row: int, name: str, look: str) -> Iterator[str]:
    height = TOP + 12 + 22 * row
    yield f'<polyline {look} points="{RIGHT + 20},{height - 4} {RIGHT + 46},{height - 4}"/>'
    yield f'<text x="{RIGHT + 54}" y="{height}">{escape(clean(name))}</text>'


def _up(value: float, top: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * value / top


def _grid(answer: Collective, across: Axis, top: float) -> Iterator[str]:
    for step in range(STEPS + 1):
        value = top * step / STEPS
        height = _up(value, top)
        yield f'<line class="grid" x1="{LEFT}" y1="{height:.1f}" x2="{RIGHT}" y2="{height:.1f}"/>'
        text = quantity(value, "B/s")
        yield f'<text class="small" x="{LEFT - 10}" y="{height + 4:.1f}" text-anchor="end">{text}</text>'
    every = max(1, answer.sizes.size // 8)
    for size in answer.sizes[::every]:
        place = across.at(float(size))
        yield f'<line class="grid" x1="{place:.1f}" y1="{TOP}" x2="{place:.1f}" y2="{BOTTOM}"/>'
        yield f'<text class="small" x="{place:.1f}" y="{BOTTOM + 20}" text-anchor="middle">{wording.size(size)}</text>'
