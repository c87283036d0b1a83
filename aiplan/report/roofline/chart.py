"""The roofline as SVG: both axes logarithmic, a dot for each class as large as its share of the step."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from aiplan.report.graph import COLOURS, Axis
from aiplan.report.roofline import wording
from aiplan.report.roofline.plot import decades, window
from aiplan.report.text import clean, percent
from aiplan.units import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.roofline import Class, Roofline
    from aiplan.report.roofline.plot import Window

WIDTH, HEIGHT = 980, 560
LEFT, RIGHT, TOP, BOTTOM = 104, 700, 68, 484
LARGEST, SMALLEST = 36.0, 4.0
SUBTITLE = "Speed of kernels over arithmetic intensity; area of a dot: its share of the step"
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #222 }
.small { font-size: 12px; fill: #555 }
.title { font-size: 16px; font-weight: 600 }
.grid { stroke: #ddd }
polyline { fill: none; stroke: #222; stroke-width: 2 }
.sustained { stroke-dasharray: 7 4 }
.attention { stroke: #777; stroke-dasharray: 2 4 }
circle { fill-opacity: 0.6; stroke: #fff }
.mark { font-weight: 600; text-anchor: middle }
"""


def chart(answer: Roofline) -> str:
    """Return the roofline as an SVG file of its own."""
    label = "Roofline: speed of kernels over their arithmetic intensity"
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}">',
        f'<style>{STYLE}</style>\n<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text class="title" x="{LEFT}" y="26">{_text(wording.title(answer))}</text>',
        f'<text class="small" x="{LEFT}" y="46">{SUBTITLE}</text>',
        *_drawing(answer),
        "</svg>",
    ]
    return "".join(f"{part}\n" for part in parts)


def _drawing(answer: Roofline) -> Iterator[str]:
    seen = window(answer)
    if seen is None:
        return
    across, up = Axis(seen.left, seen.right, LEFT, RIGHT), Axis(seen.low, seen.high, BOTTOM, TOP)
    yield from _grid(seen, across, up)
    yield from _roofs(answer, seen, across, up)
    placed = [pair for pair in wording.marked(answer) if pair[1].intensity is not None]
    for index, (mark, one) in enumerate(placed):
        yield _dot(answer, one, across, up, COLOURS[index])
        yield from _key(index, mark, one.label, percent(answer.share(one)), COLOURS[index])
    for index, (mark, one) in enumerate(placed):  # above and below in turn: neighbours are often alike
        x, y = across.at(one.intensity or 1.0), up.at(one.rate or 1.0)
        beside = _radius(answer, one) + 4.0
        yield f'<text class="mark" x="{x:.1f}" y="{y + (beside + 9.0 if index % 2 else -beside):.1f}">{mark}</text>'
    moved = [f"{one.label} {quantity(one.bandwidth, 'B/s')}" for one in answer.classes if one.intensity is None]
    if moved:
        yield from _moved(moved, len(placed))


def _grid(seen: Window, across: Axis, up: Axis) -> Iterator[str]:
    for rate in decades(seen.low, seen.high):
        y = up.at(rate)
        yield f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}"/>'
        text = quantity(rate, "FLOP/s")
        yield f'<text class="small" x="{LEFT - 10}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
    for power in range(round(math.log2(seen.left)), round(math.log2(seen.right)) + 1):
        x = across.at(2.0**power)
        yield f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{BOTTOM}"/>'
        yield f'<text class="small" x="{x:.1f}" y="{BOTTOM + 20}" text-anchor="middle">{2.0**power:g}</text>'
    middle = (LEFT + RIGHT) / 2
    yield f'<text class="small" x="{middle:.0f}" y="{BOTTOM + 42}" text-anchor="middle">FLOP/B</text>'


def _roofs(answer: Roofline, seen: Window, across: Axis, up: Axis) -> Iterator[str]:
    for index, (name, peak, bandwidth) in enumerate(wording.lines(answer)):
        start = max(seen.left, seen.low / bandwidth)
        points = [(start, start * bandwidth), (peak / bandwidth, peak), (seen.right, peak)]
        text = " ".join(f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in points)
        yield f'<polyline class="{name}" points="{text}"/>'
        y = BOTTOM - 44 + 22 * index
        yield f'<polyline class="{name}" points="{RIGHT + 20},{y - 4} {RIGHT + 46},{y - 4}"/>'
        told = f"{name}: {quantity(peak, 'FLOP/s')}, {quantity(bandwidth, 'B/s')}"
        yield f'<text class="small" x="{RIGHT + 54}" y="{y}">{told}</text>'


def _dot(answer: Roofline, one: Class, across: Axis, up: Axis, colour: str) -> str:
    radius = _radius(answer, one)
    place = f'cx="{across.at(one.intensity or 1.0):.1f}" cy="{up.at(one.rate or 1.0):.1f}"'
    told = f"{one.label}: {quantity(one.rate, 'FLOP/s')} at {one.intensity:.0f} FLOP/B, {wording.limit(one)}"
    return f'<circle {place} r="{radius:.1f}" fill="{colour}"><title>{_text(told)}</title></circle>'


def _radius(answer: Roofline, one: Class) -> float:
    return max(SMALLEST, LARGEST * math.sqrt(answer.share(one)))


def _key(row: int, mark: str, name: str, share: str, colour: str) -> Iterator[str]:
    y = TOP + 12 + 24 * row
    yield f'<circle cx="{RIGHT + 30}" cy="{y - 4}" r="9" fill="{colour}"/>'
    yield f'<text class="mark" x="{RIGHT + 30}" y="{y}">{mark}</text>'
    yield f'<text x="{RIGHT + 46}" y="{y}">{_text(name)} ({share})</text>'


def _moved(texts: list[str], above: int) -> Iterator[str]:
    """Yield what has no place in the plane: kernels whose arithmetic is taken as free."""
    y = TOP + 24 + 24 * above
    for index, text in enumerate(["only moves bytes:", *texts]):
        yield f'<text class="small" x="{RIGHT + 20}" y="{y + 18 * index}">{_text(text)}</text>'


def _text(text: str) -> str:
    return escape(clean(text))
