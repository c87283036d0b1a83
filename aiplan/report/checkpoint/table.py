"""Checkpoints for people: size, stall, interval, what others would cost, and the loss over the interval as a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report import grid
from aiplan.report.checkpoint import wording
from aiplan.report.checkpoint.drawing import graph
from aiplan.report.console import draw
from aiplan.report.facts import BOLD
from aiplan.report.line_plot import line_plot
from aiplan.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from aiplan.planning.checkpoint import CheckpointAnswer
    from aiplan.report.console import Look


def table(answer: CheckpointAnswer, look: Look) -> str:
    """Return the answer as text."""
    return draw(look, *_blocks(answer, look))


def _blocks(answer: CheckpointAnswer, look: Look) -> Iterator[RenderableType]:
    yield Text(clean(wording.title(answer)), BOLD)
    yield grid.facts(look, wording.facts(answer))
    yield ""
    yield _columns(wording.INTERVALS, wording.intervals(answer), left=("", "mode"))
    yield ""
    yield _columns(wording.MODES, wording.modes(answer), left=("mode", ""))
    yield ""
    yield _columns(wording.FLEETS, wording.fleets(answer), left=("rate of",))
    drawn = line_plot(graph(answer), look)
    if drawn:
        yield ""
        yield Text(drawn.rstrip("\n"))


def _columns(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str]) -> RenderableType:
    names, cells = wording.filled(header, rows)
    right = [index for index, name in enumerate(names) if name not in left]
    fold = [index for index, name in enumerate(names) if name == ""]
    return grid.columns(names, cells, right=right, fold=fold)
