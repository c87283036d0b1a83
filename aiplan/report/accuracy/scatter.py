"""A scatter plot of all runs: predicted over measured against measured, both logarithmic."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from aiplan.planning import evidence
from aiplan.report.accuracy import wording
from aiplan.report.graph import Axis
from aiplan.report.picture import DOT, FILE, Entry, Picture, at, levels, note, series, shown, uprights
from aiplan.report.text import change
from aiplan.units import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.planning.accuracy import Accuracy, Comparison
    from aiplan.report.picture import Frame

PLANE = FILE.placed(height=560, left=76, right=760, bottom=496)
RATIOS = (0.1, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0, 5.0, 10.0)
LEAST_SPAN = 2.0
TITLE = "Predicted over measured step time"


class Point(NamedTuple):
    """A run: measured step time, predicted over measured, and what it says when pointed at."""

    measured: float
    ratio: float
    text: str


def plot(answer: Accuracy, frame: Frame = PLANE) -> Picture:
    """Return the plot.

    Parameters
    ----------
    answer : Accuracy
        The runs.
    frame : Frame
        How large, and where in it.
    """
    subtitle = "; ".join([wording.count(answer), *wording.summary(answer)[:1]])
    points = _points(answer.counted)
    key = tuple(Entry(f"{name} ({len(group):,})", series(at), DOT) for at, (name, group) in enumerate(points.items()))
    return Picture(TITLE, subtitle, frame, tuple(_drawing(points, frame)), key)


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


def _drawing(points: dict[str, list[Point]], frame: Frame) -> Iterator[str]:
    every = [point for group in points.values() for point in group]
    if not every:
        return
    across = time_axis([point.measured for point in every], frame.left, frame.right)
    up = ratio_axis([point.ratio for point in every], frame.bottom, frame.top)
    yield band(frame, up, 1.0 / 1.1, 1.1)
    yield from ratio_grid(frame, up)
    powers = range(round(math.log10(across.low)), round(math.log10(across.high)) + 1)
    yield from uprights(frame, ((across.at(10.0**one), f"{10.0**one:,.{max(0, -one)}f} s") for one in powers))
    yield note((frame.left + frame.right) / 2, frame.bottom + 44, "measured step time", "text m")
    middle = at((frame.top + frame.bottom) / 2)
    turned = f'x="22" y="{middle}" transform="rotate(-90 22 {middle})"'
    yield f'<text {turned} class="m">predicted / measured (band: 10 %)</text>'
    for index, group in enumerate(points.values()):
        yield f'<g class="{series(index)}">'
        for point in group:
            place = f'cx="{at(across.at(point.measured))}" cy="{at(up.at(point.ratio))}"'
            yield f'<circle class="dot" {place} r="3.5"><title>{shown(point.text)}</title></circle>'
        yield "</g>"


def time_axis(values: Sequence[float], left: float, right: float) -> Axis:
    """Return an axis of measured times between two places, from a power of ten to another."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return Axis(10.0**low, 10.0 ** max(high, low + 1), left, right)


def ratio_axis(ratios: Sequence[float], bottom: float, top: float) -> Axis:
    """Return an axis of ratios between two places, as far up as down."""
    span = 1.05 * max(LEAST_SPAN, *ratios, *(1.0 / ratio for ratio in ratios))
    return Axis(1.0 / span, span, bottom, top)


def ratio_grid(frame: Frame, up: Axis) -> Iterator[str]:
    """Yield the lines of that axis, the one where both are equal drawn as such."""
    yield from levels(frame, ((up.at(ratio), f"{ratio:g}") for ratio in RATIOS if up.low <= ratio <= up.high))
    yield f'<path class="even" d="M{frame.left} {at(up.at(1.0))}H{frame.right}"/>'


def band(frame: Frame, up: Axis, low: float, high: float) -> str:
    """Return what lies between two ratios as a band."""
    bottom, top = up.at(low), up.at(high)
    size = f'width="{frame.right - frame.left}" height="{bottom - top:.1f}"'
    return f'<rect class="band" x="{frame.left}" y="{top:.1f}" {size}/>'
