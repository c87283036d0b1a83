"""Measured collectives for people: a block for each table of each log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report import grid
from aiplan.report.console import draw
from aiplan.report.facts import BAD, BOLD, DIM
from aiplan.report.measured import wording
from aiplan.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.planning.measured import Logs, Measured
    from aiplan.report.console import Look


def table(answer: Logs, look: Look) -> str:
    """Return measured collectives as text."""
    return draw(look, *(part for item in answer.tables for part in _blocks(item, look)), Text(wording.NOTE, DIM))


def _blocks(item: Measured, look: Look) -> Iterator[RenderableType]:
    yield Text(clean(wording.title(item)), BOLD)
    yield grid.facts(look, wording.facts(item))
    notes = wording.remarks(item)
    if notes:
        yield ""
        yield grid.lines(notes, BAD if item.flags else DIM)
    if item.fits:
        yield ""
        yield grid.lines(wording.formulas(item))
        yield ""
        yield grid.columns(wording.CURVES, wording.curves(item), right=range(2, 7), fold=(1,))
        yield ""
        yield grid.columns(wording.DECADES, wording.decades(item), right=range(1, 4))
    yield ""
