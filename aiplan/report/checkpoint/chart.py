"""Loss over the interval between checkpoints as SVG."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from aiplan.report.checkpoint import wording
from aiplan.report.graph import COLOURS, Axis
from aiplan.report.text import clean
from aiplan.units import duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aiplan.planning.checkpoint import CheckpointAnswer, Interval

WIDTH, HEIGHT = 960, 520
LEFT, RIGHT, TOP, BOTTOM = 90, 740, 64, 452
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #222 }
.small { font-size: 12px; fill: #555 }
.title { font-size: 16px; font-weight: 600 }
.grid { stroke: #ddd }
polyline { fill: none; stroke-width: 2 }
.used { stroke: #777; stroke-dasharray: 6 4 }
"""
CURVES: tuple[tuple[str, Callable[[Interval], float]], ...] = (
    ("saves and work lost", lambda one: one.loss),
    ("saves", lambda one: one.saves),
    ("work lost", lambda one: one.lost),
)


def chart(answer: CheckpointAnswer) -> str:
    """Return the chart as an SVG file of its own."""
    label = "Share of the wall clock lost, over the interval between checkpoints"
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


def _drawing(answer: CheckpointAnswer) -> Iterator[str]:
    points = [one for one in answer.curve if one.durable and math.isfinite(one.loss) and one.loss > 0]
    if len(points) < 2:
        yield f'<text x="{LEFT}" y="{TOP + 20}">nothing is lost at any interval that is possible</text>'
        return
    across = Axis(answer.curve[0].interval, answer.curve[-1].interval, LEFT, RIGHT)
    up = Axis(min(one.loss for one in points) / 2, max(one.loss for one in points), BOTTOM, TOP)
    yield from _grid(across, up)
    used = across.at(answer.used.interval)
    yield f'<line class="used" x1="{used:.1f}" y1="{TOP}" x2="{used:.1f}" y2="{BOTTOM}"/>'
    yield f'<text class="small" x="{used + 6:.1f}" y="{TOP + 12}">used: {duration(answer.used.interval)}</text>'
    for row, (name, share) in enumerate(CURVES):
        shown = [one for one in points if share(one) >= up.low]
        places = " ".join(f"{across.at(one.interval):.1f},{up.at(share(one)):.1f}" for one in shown)
        yield f'<polyline stroke="{COLOURS[row]}" points="{places}"/>'
        height = TOP + 12 + 22 * row
        yield (
            f'<line stroke="{COLOURS[row]}" stroke-width="2" x1="{RIGHT + 20}" y1="{height - 4}"'
            f' x2="{RIGHT + 46}" y2="{height - 4}"/>'
        )
        yield f'<text x="{RIGHT + 54}" y="{height}">{escape(name)}</text>'


def _grid(across: Axis, up: Axis) -> Iterator[str]:
    for step in range(6):
        share = up.low * (up.high / up.low) ** (step / 5)
        height = up.at(share)
        yield f'<line class="grid" x1="{LEFT}" y1="{height:.1f}" x2="{RIGHT}" y2="{height:.1f}"/>'
        text = wording.share(share)
        yield f'<text class="small" x="{LEFT - 10}" y="{height + 4:.1f}" text-anchor="end">{text}</text>'
    for step in range(6):
        interval = across.low * (across.high / across.low) ** (step / 5)
        place = across.at(interval)
        yield f'<line class="grid" x1="{place:.1f}" y1="{TOP}" x2="{place:.1f}" y2="{BOTTOM}"/>'
        text = duration(interval)
        yield f'<text class="small" x="{place:.1f}" y="{BOTTOM + 20}" text-anchor="middle">{text}</text>'
