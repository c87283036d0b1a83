"""Files of other programs for people: what they give, and the account of every key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report.console import draw
from aiplan.report.facts import BOLD, DIM, Fact
from aiplan.report.grid import columns, facts
from aiplan.report.imports import wording
from aiplan.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.planning.imports import Imported
    from aiplan.report.console import Look


def table(answer: Imported, look: Look) -> str:
    """Return what was read as text."""
    return draw(look, *_blocks(answer, look))


def _blocks(answer: Imported, look: Look) -> Iterator[RenderableType]:
    for name, kind in wording.headings(answer):
        yield Text.assemble((clean(name), BOLD), "  ", (kind, DIM))
    yield facts(look, [Fact(label, text, "", "") for label, text in wording.summary(answer)])
    tables = (
        (wording.TAKEN, wording.taken(answer), (1,), (2,)),
        (wording.DEFAULTED, wording.defaulted(answer), (1,), (2,)),
        (wording.OPEN, wording.left_open(answer), (), (1,)),
        (wording.UNUSED, wording.unused(answer), (), (0, 1)),
        (wording.QUIET, wording.quiet(answer), (), (0, 1)),
    )
    for header, rows, right, fold in tables:
        if rows:
            yield ""
            yield columns(header, [[clean(cell) for cell in row] for row in rows], right=right, fold=fold)
