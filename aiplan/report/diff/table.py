"""A difference for people: causes first, then effects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report.console import draw
from aiplan.report.diff import wording
from aiplan.report.facts import BOLD, DIM
from aiplan.report.grid import columns
from aiplan.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from aiplan.planning.diff import Difference
    from aiplan.report.console import Look


def table(answer: Difference, look: Look) -> str:
    """Return a difference as text."""
    return draw(look, Text(clean(wording.title(answer)), BOLD), Text(wording.KEY, DIM), *blocks(answer))


def blocks(answer: Difference) -> Iterator[RenderableType]:
    """Yield a difference block by block, causes first."""
    if answer.fields:
        yield from _block(
            "Changed inputs", ("", "", "old", "new", "where"), [wording.field(one) for one in answer.fields]
        )
    if answer.alone:
        yield from _block("What each does alone", *wording.alone(answer))
    if answer.remarks:
        remarks = [wording.field(one) for one in answer.remarks]
        yield from _block(wording.REMARKS, ("", "", "old", "new", "where"), remarks)
    if answer.follows:
        title = "What follows from these" if answer.fields else "Changed inputs"
        yield from _block(title, ("", "", "old", "new", "change"), [wording.follows(one) for one in answer.follows])
    if answer.results:
        rows = [wording.result(one) for one in answer.results]
        yield from _block("Changed results", ("", "", "old", "new", "change"), rows)
    for tree, (title, _) in wording.TREES.items():
        rows = wording.terms(answer, tree)
        if rows:
            yield from _block(title, ("", "", "old", "new", "of the whole"), rows)
    yield ""
    if answer.hidden:
        yield Text(wording.hidden(answer), DIM)
    yield Text(clean(wording.headline(answer)), BOLD)


def _block(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[RenderableType]:
    yield ""
    yield Text(title, BOLD)
    last = len(header) - 1
    numbers = () if header[last] == "where" else tuple(range(2, last + bool(header[last])))
    gives_way = (2, 3, 4) if header[last] == "where" else (1,) if header[last] else (1, last)
    yield columns(header, [(f"  {sign}", *cells) for sign, *cells in rows], right=numbers, fold=gives_way)
