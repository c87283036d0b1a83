"""Loss over the interval between checkpoints, drawn with plain characters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.report.checkpoint import wording
from aiplan.units import duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.planning.checkpoint import CheckpointAnswer
    from aiplan.report.console import Look

HEIGHT = 12
USUAL_WIDTH, WIDEST = 80, 160
MARGIN = 9
SAVES, LOST, BOTH, USED = "s", "l", "*", "|"
KEY = "* saves and work lost, s saves alone, l work lost alone, | the interval used"


def plot(answer: CheckpointAnswer, look: Look) -> str:
    """Return the plot: losses on a logarithmic scale over intervals on one."""
    width = min(look.width or USUAL_WIDTH, WIDEST) - MARGIN - 2
    points = [one for one in answer.curve if one.durable and math.isfinite(one.loss) and one.loss > 0]
    if len(points) < 2 or not answer.estimate["reliability.rate"]:
        return ""
    top = max(one.loss for one in points)
    bottom = min(one.loss for one in points) / 2
    canvas = [[" "] * width for _ in range(HEIGHT)]
    first, last = math.log(answer.curve[0].interval), math.log(answer.curve[-1].interval)

    def column(interval: float) -> int:
        return round((math.log(interval) - first) / (last - first) * (width - 1))

    for row in canvas:
        row[column(answer.used.interval)] = USED
    places = [column(one.interval) for one in points]
    for mark, shares in (
        (SAVES, [one.saves for one in points]),
        (LOST, [one.lost for one in points]),
        (BOTH, [one.loss for one in points]),
    ):
        for place, share in _every_column(places, shares):
            if share >= bottom:
                level = (math.log(share) - math.log(bottom)) / (math.log(top) - math.log(bottom))
                canvas[HEIGHT - 1 - round(level * (HEIGHT - 1))][place] = mark
    return "".join(f"{line}\n" for line in _framed(answer, canvas, top, bottom))


def _every_column(places: Sequence[int], shares: Sequence[float]) -> Iterator[tuple[int, float]]:
    """Yield a share for every column between the first and the last place, on the line between its neighbours."""
    for here, there, left, right in zip(places, places[1:], shares, shares[1:], strict=False):
        for place in range(here, there):
            part = (place - here) / (there - here)
            yield place, left ** (1.0 - part) * right**part
    yield places[-1], shares[-1]


def _framed(answer: CheckpointAnswer, canvas: list[list[str]], top: float, bottom: float) -> list[str]:
    width = len(canvas[0])
    found = ["share of the wall clock over the interval between saves"]
    for row, cells in enumerate(canvas):
        share = math.exp(math.log(top) + row / (HEIGHT - 1) * (math.log(bottom) - math.log(top)))
        label = wording.share(share) if row in {0, HEIGHT // 2, HEIGHT - 1} else ""
        found.append(f"{label:>{MARGIN - 1}} |{''.join(cells)}".rstrip())
    found.append(" " * MARGIN + "+" + "-" * width)
    first, last = duration(answer.curve[0].interval), duration(answer.curve[-1].interval)
    found.append(" " * (MARGIN + 1) + first + last.rjust(width - len(first)))
    return [*found, KEY]
