"""A scatter plot of all runs, as SVG and in a page: predicted over measured against measured, both logarithmic."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from aiplan.planning import evidence
from aiplan.report.accuracy import wording
from aiplan.report.accuracy.blocks import blocks
from aiplan.report.graph import COLOURS, Axis
from aiplan.report.text import change, clean
from aiplan.units import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.planning.accuracy import Accuracy, Comparison

WIDTH, HEIGHT = 960, 560
LEFT, RIGHT, TOP, BOTTOM = 76, 760, 64, 496
RATIOS = (0.1, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0, 5.0, 10.0)
LEAST_SPAN = 2.0
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #222 }
.small { font-size: 12px; fill: #555 }
.title { font-size: 16px; font-weight: 600 }
.grid { stroke: #ddd }
.even { stroke: #222 }
.near { fill: #f2f4f7 }
circle { fill-opacity: 0.65 }
"""
PAGE_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 960px; margin: 2rem auto; padding: 0 1rem }
svg { max-width: 100%; height: auto }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { padding: 0.15rem 0.9rem 0.15rem 0; text-align: left; border-bottom: 1px solid #eee }
th:first-child { min-width: 16rem }
td:not(:first-child), th:not(:first-child) { text-align: right; font-variant-numeric: tabular-nums }
"""


class Point(NamedTuple):
    """A run: measured step time, predicted over measured, and what it says when pointed at."""

    measured: float
    ratio: float
    text: str


def plot(answer: Accuracy) -> str:
    """Return the plot as an SVG file of its own."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{_svg(answer)}'


def page(answer: Accuracy, worst: int) -> str:
    """Return plot and tables as an HTML page."""
    return "".join(f"{line}\n" for line in _page(answer, worst))


def _page(answer: Accuracy, worst: int) -> Iterator[str]:
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Predicted against measured</title>\n<style>{PAGE_STYLE}</style>\n</head>\n<body>"
    yield f"<h1>Predicted against measured</h1>\n{_svg(answer)}"
    yield from (f"<p>{_text(line)}</p>" for line in wording.summary(answer)[1:])
    if answer.counted:
        yield f"<h2>Errors by group</h2>\n<p>{_text(wording.KEY[0].upper() + wording.KEY[1:])}.</p>"
        for kind, groups in answer.groups().items():
            yield _table((kind, *wording.HEADINGS), [(group.name, *wording.cells(group)) for group in groups])
    memory = wording.memory(answer)
    if memory:
        yield "<h2>Memory</h2>"
        yield _table(("error of memory", *wording.HEADINGS), [(name.strip(), *cells) for name, *cells in memory])
    if wording.fits(answer):
        yield f"<h2>Fits into memory</h2>\n<p>{_text(wording.fits_summary(answer))}</p>"
        yield _table(wording.FITS_HEADINGS, wording.fits(answer))
        yield _table(wording.MISS_HEADINGS, wording.misses(answer))
    if answer.counted:
        yield "<h2>The largest errors</h2>"
        yield _table(wording.WORST_HEADINGS, wording.worst(answer.worst(worst)))
    for block in blocks(answer):
        yield f"<h2>{_text(block.title)}</h2>"
        yield from (f"<p>{_text(line)}</p>" for line in block.lines)
        for listing in block.listings:
            body = _table(listing.headings, listing.rows)
            title = f"<summary>{_text(listing.title)}</summary>"
            yield f"<details>{title}\n{body}\n</details>" if listing.details else body
    if answer.skipped():
        yield "<h2>Left out</h2>"
        yield _table(("reason", "runs"), [(reason, count) for count, reason in wording.skipped(answer)])
    yield "</body>\n</html>"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{_text(cell)}</th>" for cell in header)
    body = "".join(f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>\n" for row in rows)
    return f"<table>\n<tr>{head}</tr>\n{body}</table>"


def _svg(answer: Accuracy) -> str:
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    label = "Predicted over measured step time against measured step time"
    subtitle = "; ".join([wording.count(answer), *wording.summary(answer)[:1]])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}">',
        f'<style>{STYLE}</style>\n<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text class="title" x="{LEFT}" y="26">Predicted over measured step time</text>',
        f'<text class="small" x="{LEFT}" y="46">{_text(subtitle)}</text>',
        *_drawing(_points(answer.counted)),
        "</svg>",
    ]
    return "".join(f"{part}\n" for part in parts)


def _points(items: Sequence[Comparison]) -> dict[str, list[Point]]:
    """Return the points by accelerator, the most first."""
    found: dict[str, list[Point]] = {}
    for item in items:
        scenario = item.run.scenario
        if scenario is not None:
            time = quantity(item.measured_step_time, "s")
            text = f"{item.run.ident}: measured {time}, {change(item.error)}"
            point = Point(item.measured_step_time, item.ratio, text)
            found.setdefault(evidence.like(scenario).accelerator, []).append(point)
    return dict(sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0])))


def _drawing(points: dict[str, list[Point]]) -> Iterator[str]:
    if not points:
        return
    every = [point for group in points.values() for point in group]
    across = _across([point.measured for point in every])
    up = _up([point.ratio for point in every])
    yield from _grid(across, up)
    for index, (name, group) in enumerate(points.items()):
        colour = COLOURS[min(index, len(COLOURS) - 1)]
        yield f'<g fill="{colour}">'
        for point in group:
            place = f'cx="{across.at(point.measured):.1f}" cy="{up.at(point.ratio):.1f}"'
            yield f'<circle {place} r="3.5"><title>{_text(point.text)}</title></circle>'
        yield "</g>"
        height = TOP + 12 + 22 * index
        yield f'<circle cx="{RIGHT + 24}" cy="{height - 4}" r="5" fill="{colour}"/>'
        yield f'<text x="{RIGHT + 36}" y="{height}">{_text(name)} ({len(group):,})</text>'


def _across(values: Sequence[float]) -> Axis:
    """Return the axis of measured times, from a power of ten to another."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return Axis(10.0**low, 10.0 ** max(high, low + 1), LEFT, RIGHT)


def _up(ratios: Sequence[float]) -> Axis:
    """Return the axis of ratios, as far up as down."""
    span = 1.05 * max(LEAST_SPAN, *ratios, *(1.0 / ratio for ratio in ratios))
    return Axis(1.0 / span, span, BOTTOM, TOP)


def _grid(across: Axis, up: Axis) -> Iterator[str]:
    near = up.at(1.1), up.at(1.0 / 1.1)
    yield f'<rect class="near" x="{LEFT}" y="{near[0]:.1f}" width="{RIGHT - LEFT}" height="{near[1] - near[0]:.1f}"/>'
    for ratio in RATIOS:
        if up.low <= ratio <= up.high:
            height, kind = up.at(ratio), "even" if ratio == 1.0 else "grid"
            yield f'<line class="{kind}" x1="{LEFT}" y1="{height:.1f}" x2="{RIGHT}" y2="{height:.1f}"/>'
            yield f'<text class="small" x="{LEFT - 10}" y="{height + 4:.1f}" text-anchor="end">{ratio:g}</text>'
    for power in range(round(math.log10(across.low)), round(math.log10(across.high)) + 1):
        place = across.at(10.0**power)
        yield f'<line class="grid" x1="{place:.1f}" y1="{TOP}" x2="{place:.1f}" y2="{BOTTOM}"/>'
        time = f"{10.0**power:,.{max(0, -power)}f} s"
        yield f'<text class="small" x="{place:.1f}" y="{BOTTOM + 20}" text-anchor="middle">{time}</text>'
    middle = (LEFT + RIGHT) / 2
    yield f'<text x="{middle:.1f}" y="{BOTTOM + 44}" text-anchor="middle">measured step time</text>'
    turned = f'transform="translate(22 {(TOP + BOTTOM) / 2:.1f}) rotate(-90)"'
    yield f'<text {turned} text-anchor="middle">predicted / measured (band: 10 %)</text>'


def _text(text: str) -> str:
    return escape(clean(text))
