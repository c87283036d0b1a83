"""The roofline as a picture: both axes logarithmic, a dot for each class as large as its share of the step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.report.graph import Axis
from aiplan.report.picture import DOT, FILE, Entry, Picture, at, levels, note, points, series, shown, uprights
from aiplan.report.roofline import wording
from aiplan.report.roofline.plot import decades, window
from aiplan.report.text import percent
from aiplan.units import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.roofline import Class, Roofline
    from aiplan.report.picture import Frame
    from aiplan.report.roofline.plot import Window

PLANE = FILE.placed(width=1000, right=680)
"""The frame of a file of its own, whose key is long."""
LARGEST, SMALLEST = 36.0, 4.0
SUBTITLE = "Speed of kernels over arithmetic intensity; area of a dot: its share of the step"
ROOFS = {"printed": "even", "sustained": "even dashed", "attention": "bound"}
"""Classes of the style of each roof."""


def chart(answer: Roofline, frame: Frame = PLANE) -> Picture:
    """Return the roofline as a picture.

    Parameters
    ----------
    answer : Roofline
        What is drawn.
    frame : Frame
        How large, and where in it.
    """
    frame = frame.placed(left=frame.left + 14, bottom=frame.bottom - 20)
    moved = [f"{one.label} {quantity(one.bandwidth, 'B/s')}" for one in answer.classes if one.intensity is None]
    return Picture(
        title=wording.title(answer),
        text=SUBTITLE,
        frame=frame,
        parts=tuple(_drawing(answer, frame)),
        key=tuple(_key(answer)),
        remarks=("only moves bytes:", *moved) if moved else (),
    )


def _drawing(answer: Roofline, frame: Frame) -> Iterator[str]:
    seen = window(answer)
    if seen is None:
        return
    across = Axis(seen.left, seen.right, frame.left, frame.right)
    up = Axis(seen.low, seen.high, frame.bottom, frame.top)
    yield from _grid(seen, frame, across, up)
    for name, peak, bandwidth in wording.lines(answer):
        start = max(seen.left, seen.low / bandwidth)
        corners = [(start, start * bandwidth), (peak / bandwidth, peak), (seen.right, peak)]
        line = points((across.at(x), up.at(y)) for x, y in corners)
        yield f'<polyline class="curve {ROOFS[name]}" points="{line}"/>'
    placed = _placed(answer)
    for index, (_, one) in enumerate(placed):
        yield _dot(answer, one, across, up, series(index))
    for index, (mark, one) in enumerate(placed):  # above and below in turn: neighbours are often alike
        x, y = across.at(one.intensity or 1.0), up.at(one.rate or 1.0)
        beside = _radius(answer, one) + 4.0
        yield note(x, y + (beside + 9.0 if index % 2 else -beside), mark, "mark m")


def _placed(answer: Roofline) -> list[tuple[str, Class]]:
    """Return the classes that have a place in the plane, with the letters that stand for them."""
    return [pair for pair in wording.marked(answer) if pair[1].intensity is not None]


def _grid(seen: Window, frame: Frame, across: Axis, up: Axis) -> Iterator[str]:
    rates = decades(seen.low, seen.high)
    yield from levels(frame, ((up.at(rate), quantity(rate, "FLOP/s")) for rate in rates))
    first, last = round(math.log2(seen.left)), round(math.log2(seen.right))
    every = 1 if frame.right - frame.left > 36 * (last - first) else 2
    powers = range(first, last + 1, every)
    yield from uprights(frame, ((across.at(2.0**power), f"{2.0**power:,.10g}") for power in powers))
    yield note((frame.left + frame.right) / 2, frame.bottom + 38, "FLOP/B", "small m")


def _dot(answer: Roofline, one: Class, across: Axis, up: Axis, colour: str) -> str:
    radius = _radius(answer, one)
    place = f'cx="{at(across.at(one.intensity or 1.0))}" cy="{at(up.at(one.rate or 1.0))}"'
    told = f"{one.label}: {quantity(one.rate, 'FLOP/s')} at {one.intensity:.0f} FLOP/B, {wording.limit(one)}"
    return f'<circle class="dot {colour}" {place} r="{radius:.1f}"><title>{shown(told)}</title></circle>'


def _radius(answer: Roofline, one: Class) -> float:
    return max(SMALLEST, LARGEST * math.sqrt(answer.share(one)))


def _key(answer: Roofline) -> Iterator[Entry]:
    """Yield the classes of kernels that have a place, and the roofs."""
    for index, (mark, one) in enumerate(_placed(answer)):
        yield Entry(f"{mark} {one.label} ({percent(answer.share(one))})", series(index), DOT)
    for name, peak, bandwidth in wording.lines(answer):
        yield Entry(f"{name}: {quantity(peak, 'FLOP/s')}, {quantity(bandwidth, 'B/s')}", ROOFS[name])
