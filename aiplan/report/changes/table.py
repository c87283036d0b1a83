"""A comparison of many scenarios for people: one table, then what lies between each pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report.changes import wording
from aiplan.report.console import draw
from aiplan.report.diff import table as of_one
from aiplan.report.diff.wording import title
from aiplan.report.facts import BOLD, DIM
from aiplan.report.grid import columns
from aiplan.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.planning.changes import Changes
    from aiplan.report.console import Look


NARROW = (0, 1, 3, 4, 6)
"""The columns that are shown where there is little room: without time and cost."""


def table(answer: Changes, look: Look) -> str:
    """Return a comparison as text."""
    return draw(look, *_blocks(answer, look))


def _blocks(answer: Changes, look: Look) -> Iterator[RenderableType]:
    yield Text(clean(wording.title(answer)), BOLD)
    rows = wording.rows(answer, wording.short)
    if rows:
        yield Text(wording.KEY, DIM)
        yield ""
        shown = NARROW if look.narrow else range(len(wording.HEADER))
        lines = [[Text(f"  {row[index]}" if index == 0 else row[index]) for index in shown] for row in rows]
        last = len(shown) - 1
        yield columns([wording.HEADER[at] for at in shown], lines, right=range(2, last), fold=(1, last))
    for one in answer.all:
        if one.difference is not None:
            yield ""
            yield Text(clean(title(one.difference)), BOLD)
            yield from of_one.blocks(one.difference)
    yield ""
    yield Text(clean(wording.headline(answer)), BOLD)
