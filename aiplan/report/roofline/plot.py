"""The roofline drawn with plain characters: both axes logarithmic."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from aiplan.report.canvas import Canvas
from aiplan.report.graph import Axis
from aiplan.report.roofline import wording
from aiplan.units import quantity

if TYPE_CHECKING:
    from aiplan.planning.roofline import Roofline
    from aiplan.report.console import Look

HEIGHT = 18
WIDEST = 120
MARGIN = 14
PRINTED, SUSTAINED, SEVERAL = ".", "-", "*"


class Window(NamedTuple):
    """The part of the plane that is drawn: from and to, in FLOP/B and in FLOP/s."""

    left: float
    right: float
    low: float
    high: float


def window(answer: Roofline) -> Window | None:
    """Return what must be seen: every class with its roofs, and the ridge; None if no class has an intensity."""
    points = [(one.intensity, one.rate) for one in answer.classes if one.intensity is not None and one.rate is not None]
    if not points:
        return None
    roofs = answer.roofs
    left = min(roofs.ridge, *(at for at, _ in points)) / 4.0
    right = max(roofs.ridge, *(at for at, _ in points)) * 2.0
    low = min(min(rate for _, rate in points) / 2.0, left * roofs.bandwidth)
    high = 1.5 * max(roofs.matmul_peak, roofs.attention_peak)
    return Window(_rounded(left, down=True), _rounded(right, down=False), low, high)


def _rounded(value: float, *, down: bool) -> float:
    """Return a power of two around a value."""
    power = math.log2(value)
    return 2.0 ** (math.floor(power) if down else math.ceil(power))


def plot(answer: Roofline, look: Look) -> str:
    """Return the plot: dots for the printed roofs, dashes for the sustained ones, a letter for each class."""
    seen = window(answer)
    if seen is None:
        return ""
    canvas = Canvas.of(look, HEIGHT, MARGIN, WIDEST)
    across = Axis(seen.left, seen.right, 0, canvas.width - 1)
    up = Axis(seen.low, seen.high, HEIGHT - 1, 0)
    for column in range(canvas.width):
        at = seen.left * (seen.right / seen.left) ** (column / (canvas.width - 1))
        for mark, (_, peak, bandwidth) in zip((PRINTED, SUSTAINED), wording.lines(answer), strict=False):
            canvas.put(column, up.at(min(peak, at * bandwidth)), mark)
    for mark, one in wording.marked(answer):
        if one.intensity is not None and one.rate is not None:
            place = across.at(one.intensity), up.at(one.rate)
            canvas.put(*place, SEVERAL if canvas.at(*place) in wording.MARKS else mark)
    beside = {round(up.at(rate)): quantity(rate, "FLOP/s") for rate in decades(seen.low, seen.high)}
    names = [f"{mark} {one.label}" for mark, one in wording.marked(answer) if mark != wording.UNCOUNTED]
    key = ", ".join([*names, f"{PRINTED} printed roofs", f"{SUSTAINED} sustained", f"{SEVERAL} several"])
    return canvas.framed("FLOP/s over FLOP/B", beside, _below(seen, canvas.width), key)


def _below(seen: Window, width: int) -> str:
    """Return the numbers below the horizontal axis: powers of two, a few."""
    across = Axis(seen.left, seen.right, 0, width - 1)
    line = [" "] * (width + 8)
    powers = range(round(math.log2(seen.left)), round(math.log2(seen.right)) + 1, 2)
    for power in powers:
        text = f"{2.0**power:g}"
        start = max(0, round(across.at(2.0**power)) - len(text) // 2)
        if all(cell == " " for cell in line[max(0, start - 1) : start + len(text) + 1]):
            line[start : start + len(text)] = text
    return "".join(line)


def decades(low: float, high: float) -> list[float]:
    """Return the round numbers between two rates: 1, 2 and 5 times powers of ten."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = (step * 10.0**power for power in powers for step in (1, 2, 5))
    return [value for value in every if low <= value <= high]
