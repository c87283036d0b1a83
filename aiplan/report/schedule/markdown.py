"""A schedule as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.records import markdown_table
from aiplan.report.schedule import wording
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.planning.scheduling.question import Answer


def page(answer: Answer) -> str:
    """Return a schedule as Markdown."""
    return "\n".join(_parts(answer))


def _parts(answer: Answer) -> Iterator[str]:
    yield f"**{markdown(wording.title(answer))}**\n"
    yield _table(("", "", ""), [(fact.label, fact.value, fact.note) for fact in wording.headline(answer)], 3)
    if len(answer.runs) > 1:
        yield _table(*wording.compare(answer))
        yield from (f"{markdown(told)}\n" for told in wording.deadlocks(answer))
    first = answer.first
    if first.outcome is not None:
        yield _table(wording.WAITS, wording.waits(first.outcome))
    if len(answer.static.shares) > 1:
        yield _table(wording.SHARES, wording.shares(answer), 2)
    if answer.static.fits:
        yield _table(wording.FITS, wording.fits(answer))
    if answer.static.steps:
        yield _table(wording.STEPS, wording.steps(answer))
    if answer.static.goodput:
        yield _table(wording.GOODPUT, wording.goodput(answer))
    if first.snapshot is not None and first.snapshot.waiting:
        yield f"**{markdown(wording.moment(first.snapshot))}**\n"
        yield _table(wording.WAITING, wording.waiting(first.snapshot), 2)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], first_number: int = 1) -> str:
    cells = [[markdown(cell) for cell in row] for row in rows]
    return markdown_table(header, cells, right=range(first_number, len(header)))
