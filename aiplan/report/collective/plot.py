"""Bus bandwidth over size, drawn with plain characters."""

from __future__ import annotations

import math
from textwrap import wrap
from typing import TYPE_CHECKING

from aiplan.report.collective import wording
from aiplan.units import scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.collective import Collective
    from aiplan.report.console import Look

HEIGHT = 16
USUAL_WIDTH, WIDEST = 80, 200
MARGIN = 8
MARKS = "abcdefghijklmnopqrstuvwxyz"
CHOICE, BOUND = "*", "-"


def plot(answer: Collective, look: Look) -> str:
    """Return the plot: a letter for each algorithm, an asterisk for what NCCL takes, dashes for the bound."""
    width = min(look.width or USUAL_WIDTH, WIDEST) - MARGIN - 2
    series = [(BOUND, answer.busbw(answer.bound))]
    if answer.compared:
        series += [(MARKS[at], answer.busbw(curve.time)) for at, curve in enumerate(answer.curves)]
    series.append((CHOICE, answer.busbw(answer.choice.time)))
    top = max((value for _, values in series for value in values if math.isfinite(value)), default=0.0)
    if not top or answer.sizes.size < 2:
        return ""
    canvas = [[" "] * width for _ in range(HEIGHT)]
    logs = [math.log2(size) for size in answer.sizes]
    for mark, values in series:
        _trace(canvas, mark, logs, [float(value) / top for value in values])
    return "".join(f"{line}\n" for line in _framed(answer, canvas, top))


def _trace(canvas: list[list[str]], mark: str, logs: Sequence[float], shares: Sequence[float]) -> None:
    """Draw one series: a mark in every column, on the line between the two sizes around it."""
    width, span = len(canvas[0]), logs[-1] - logs[0]
    at = 0
    for column in range(width):
        where = logs[0] + span * column / (width - 1)
        while at < len(logs) - 2 and where > logs[at + 1]:
            at += 1
        part = (where - logs[at]) / (logs[at + 1] - logs[at])
        share = shares[at] + part * (shares[at + 1] - shares[at])
        if math.isfinite(share):
            canvas[HEIGHT - 1 - round(min(max(share, 0.0), 1.0) * (HEIGHT - 1))][column] = mark


def _framed(answer: Collective, canvas: list[list[str]], top: float) -> list[str]:
    """Return the lines with axes and a key."""
    unit, labels = scale([top, 0.5 * top, 0.0], "B/s")
    beside = dict(zip((0, (HEIGHT - 1) // 2, HEIGHT - 1), labels, strict=True))
    found = [f"busbw [{unit}] over size"]
    for row, cells in enumerate(canvas):
        found.append(f"{beside.get(row, ''):>{MARGIN - 1}} |{''.join(cells)}".rstrip())
    found.append(" " * MARGIN + "+" + "-" * len(canvas[0]))
    first, last = wording.size(answer.sizes[0]), wording.size(answer.sizes[-1])
    found.append(" " * (MARGIN + 1) + first + last.rjust(len(canvas[0]) - len(first)))
    names = [f"{MARKS[at]} {curve.name}" for at, curve in enumerate(answer.curves)] if answer.compared else []
    key = ", ".join([f"{CHOICE} what NCCL takes", *names, f"{BOUND} bound"])
    return [*found, *wrap(key, width=MARGIN + 1 + len(canvas[0]))]
