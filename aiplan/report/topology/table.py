"""Fabrics for people: what they are built of, what they do to traffic, and where the groups of a plan lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report.console import draw
from aiplan.report.facts import BOLD, DIM
from aiplan.report.grid import columns, lines
from aiplan.report.topology import wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.report.console import Look
    from aiplan.report.topology import Answer


RIGHT = ((1, 3, 4, 5), (), range(1, 7), (1, 2, 3))
"""Columns of numbers in each table."""


def table(answer: Answer, look: Look) -> str:
    """Return a comparison of fabrics as text."""
    return draw(look, *_blocks(answer))


def _blocks(answer: Answer) -> Iterator[RenderableType]:
    yield Text(wording.title(answer), BOLD)
    if answer.survey.fits:
        for (header, rows), right in zip(wording.tables(answer), RIGHT, strict=True):
            yield ""
            yield columns(header, rows, right=right, fold=(0,))
        yield ""
        yield Text(wording.NOTE, DIM)
    if wording.misfits(answer):
        yield ""
        yield Text("does not fit", DIM)
        yield lines(wording.misfits(answer), style="")
    if answer.groups:
        yield ""
        yield Text(wording.places(answer), BOLD)
        yield columns(wording.GROUPS, wording.groups(answer), right=(1, 2, 5, 6), fold=(4,))
