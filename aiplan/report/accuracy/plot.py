"""Predicted over measured against measured, drawn with plain characters: the more runs at a place, the darker."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from aiplan.report.accuracy.scatter import RATIOS, ratio_axis, time_axis
from aiplan.report.canvas import Canvas

if TYPE_CHECKING:
    from aiplan.planning.accuracy import Accuracy
    from aiplan.report.console import Look

HEIGHT, MARGIN = 21, 7
SHADES = ((1, "."), (3, ":"), (9, "+"), (27, "*"))
DARKEST, EVEN = "#", "-"


def plot(answer: Accuracy, look: Look) -> str:
    """Return the plot; nothing if no run counts."""
    runs = [(item.measured_step_time, item.ratio) for item in answer.counted]
    if not runs:
        return ""
    canvas = Canvas.of(look, HEIGHT, MARGIN)
    across = time_axis([measured for measured, _ in runs], 0, canvas.width - 1)
    up = ratio_axis([ratio for _, ratio in runs], HEIGHT - 1, 0)
    for column in range(canvas.width):
        canvas.put(column, up.at(1.0), EVEN)
    counts = Counter((round(across.at(measured)), round(up.at(ratio))) for measured, ratio in runs)
    for (column, row), count in counts.items():
        canvas.put(column, row, next((mark for most, mark in SHADES if count <= most), DARKEST))
    beside = {round(up.at(ratio)): f"{ratio:g}" for ratio in RATIOS if up.low <= ratio <= up.high}
    first, last = (f"{10.0 ** round(math.log10(end)):g} s" for end in (across.low, across.high))
    names = [f"{mark} up to {most} run{'s' if most > 1 else ''}" for most, mark in SHADES]
    key = ", ".join([*names, f"{DARKEST} more", f"{EVEN} as measured"])
    below = first + last.rjust(canvas.width - len(first))
    return canvas.framed("predicted over measured step time, over the measured one", beside, below, key)
