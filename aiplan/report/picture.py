"""Pictures as SVG: what all of them share, wherever they stand. A file of its own, or a part of a page."""

from __future__ import annotations

from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from aiplan.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LIGHT = {
    "ink": "#1c2330",
    "soft": "#55606e",
    "grid": "#d9dee5",
    "paper": "#ffffff",
    "band": "#eef2f6",
    "wide": "#d55e00",
}
DARK = {
    "ink": "#e8ecf1",
    "soft": "#a9b4c0",
    "grid": "#3a424d",
    "paper": "#14181d",
    "band": "#20262e",
    "wide": "#ff9147",
}
"""Colours of pictures by what they are for, on white and on dark."""
SERIES = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#b07d00",
    "#3d9bdc",
    "#6b4c9a",
    "#8c510a",
    "#b2182b",
    "#4d4d4d",
    "#3a9a90",
    "#7d5a0b",
)
SERIES_DARK = (
    "#4ba3e3",
    "#ff8a3d",
    "#2fc795",
    "#e39cc4",
    "#e6b33c",
    "#8cc8f2",
    "#ab8fdc",
    "#d29a55",
    "#f0707e",
    "#b5b5b5",
    "#6cccc2",
    "#cfa348",
)
"""Told apart by people who see colours differently; in this order, on white and on dark."""
STYLE = """
text { font: 13px system-ui, sans-serif; fill: var(--ink) }
.small { font-size: 12px; fill: var(--soft) }
.title { font-size: 16px; font-weight: 600 }
.mark { font-weight: 600 }
.m { text-anchor: middle }
.e { text-anchor: end }
.label { font-size: 12px; fill: var(--ink) }
.grid { stroke: var(--grid) }
.even, .choice { stroke: var(--ink) }
.choice { stroke-width: 3.2 }
.dashed { stroke-dasharray: 7 4 }
.bound { stroke: var(--soft); stroke-dasharray: 6 4 }
.curve { fill: none; stroke-width: 1.8 }
.series { stroke: currentColor }
.dot { fill: currentColor; fill-opacity: 0.6 }
.dots { stroke-width: 6; stroke-linecap: round; stroke-opacity: 0.45 }
.area { fill: currentColor; fill-opacity: 0.32; stroke: currentColor }
.band { fill: var(--band) }
.box { fill: var(--band); stroke: var(--soft) }
.host { fill: var(--paper); stroke: currentColor }
.wire { fill: none; stroke: var(--soft); stroke-opacity: 0.7 }
.wide { fill: none; stroke: var(--wide) }
"""
LINE, DOT, AREA = "line", "dot", "area"
KEY_STEP = 22
LONGEST = 130
"""Characters of a line below the title."""


class Frame(NamedTuple):
    """The size of a picture, and where in it lies what is drawn."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int

    def placed(self, **changes: int) -> Frame:
        """Return the frame with another margin or size."""
        return self._replace(**changes)


FILE = Frame(960, 520, 90, 740, 64, 452)
"""A file of its own: title above, key to the right."""
PAGE = Frame(480, 304, 76, 466, 12, 276)
"""A part of a page, which says title and key itself: small enough to be read on a telephone."""


class Entry(NamedTuple):
    """A line of the key: what is called what, and how it looks: classes of the style, and its shape."""

    name: str
    look: str
    shape: str = LINE


class Picture(NamedTuple):
    """A picture: its title, what it shows in words, its frame, the elements of SVG, the key, and remarks below it."""

    title: str
    text: str
    frame: Frame
    parts: tuple[str, ...]
    key: tuple[Entry, ...] = ()
    remarks: tuple[str, ...] = ()


def series(index: int) -> str:
    """Return the class that gives an element the colour of a series; those beyond the last share it."""
    return f"c{min(index, len(SERIES) - 1)}"


def colours(palette: Iterable[str]) -> str:
    """Return the rules that give the classes of series their colours."""
    return "".join(f".c{index} {{ color: {colour} }}\n" for index, colour in enumerate(palette))


def rules(below: str) -> str:
    """Return the style for the pictures of a page, its rules held to what lies below an element."""
    lines = STYLE.strip().splitlines()
    return "".join(
        f"{', '.join(f'{below} {one.strip()}' for one in _selectors(line))} {{{_body(line)}\n" for line in lines
    )


def _selectors(rule: str) -> list[str]:
    return rule.partition("{")[0].split(",")


def _body(rule: str) -> str:
    return rule.partition("{")[2]


def svg(picture: Picture) -> str:
    """Return a picture as an SVG file of its own, on white whatever shows it."""
    frame, label = picture.frame, shown(picture.title)
    told = quoted(picture.title)
    size = f'viewBox="0 0 {frame.width} {frame.height}" width="{frame.width}" height="{frame.height}"'
    style = STYLE
    for name, colour in LIGHT.items():
        style = style.replace(f"var(--{name})", colour)
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{told}">',
        f"<style>{style}{colours(SERIES)}</style>",
        f'<rect x="0" y="0" width="{frame.width}" height="{frame.height}" fill="{LIGHT["paper"]}"/>',
        f'<text class="title" x="{min(frame.left, 90)}" y="26">{label}</text>',
        *(note(min(frame.left, 90), 46 + 18 * row, line) for row, line in enumerate(wrap(picture.text, LONGEST))),
        *picture.parts,
        *_key(picture),
        "</svg>",
    ]
    return "".join(f"{part}\n" for part in parts)


def _key(picture: Picture) -> Iterator[str]:
    left = picture.frame.right + 20
    for row, one in enumerate(picture.key):
        y = picture.frame.top + 12 + KEY_STEP * row
        yield swatch(one, left, y - 4)
        yield f'<text x="{left + 34}" y="{y}">{shown(one.name)}</text>'
    below = picture.frame.top + 24 + KEY_STEP * len(picture.key)
    for row, text in enumerate(picture.remarks):
        yield note(left, below + 18 * row, text)


def swatch(one: Entry, x: float, y: float) -> str:
    """Return the sample of a line of the key; `y` is its middle."""
    if one.shape == DOT:
        return f'<circle class="dot {one.look}" cx="{x + 13}" cy="{y}" r="5"/>'
    if one.shape == AREA:
        return f'<rect class="area {one.look}" x="{x + 6}" y="{y - 6}" width="14" height="12"/>'
    return f'<polyline class="curve {one.look}" points="{x},{y} {x + 26},{y}"/>'


def note(x: float, y: float, text: str, kind: str = "small") -> str:
    """Return a line of text; `e` among its classes has it end at the place, `m` has it centred there."""
    return f'<text class="{kind}" x="{at(x)}" y="{at(y)}">{shown(text)}</text>' if text else ""


def levels(frame: Frame, values: Iterable[tuple[float, str]]) -> Iterator[str]:
    """Yield lines across the plot, given by their heights, each with its value beside it."""
    places = list(values)
    yield _grid(f"M{frame.left} {at(y)}H{frame.right}" for y, _ in places)
    yield from (note(frame.left - 8, y + 4, text, "small e") for y, text in places)


def uprights(frame: Frame, values: Iterable[tuple[float, str]]) -> Iterator[str]:
    """Yield lines up the plot, given by their places, each with its value below it."""
    places = list(values)
    yield _grid(f"M{at(x)} {frame.top}V{frame.bottom}" for x, _ in places)
    yield from (note(x, frame.bottom + 20, text, "small m") for x, text in places)


def pointer(frame: Frame, x: float, kind: str = "bound") -> str:
    """Return a line up the plot that points out a place."""
    return f'<path class="{kind}" d="M{at(x)} {frame.top}V{frame.bottom}"/>'


def _grid(lines: Iterable[str]) -> str:
    return f'<path class="grid" d="{"".join(lines)}"/>'


def points(places: Iterable[tuple[float, float]]) -> str:
    """Return the corners of a line."""
    return " ".join(f"{at(x)},{at(y)}" for x, y in places)


def at(place: float) -> str:
    """Return a coordinate, exact enough to be seen."""
    return f"{place:.1f}".removesuffix(".0")


def shown(text: str) -> str:
    """Return text of a user as it may stand between the marks of SVG and HTML."""
    return escape(clean(text), quote=False)


def quoted(text: str) -> str:
    """Return text of a user as it may stand as the value of an attribute."""
    return escape(clean(text))
