"""Predicted against published runs as a page of HTML: the plot, and every table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report import html
from aiplan.report.accuracy import wording
from aiplan.report.accuracy.blocks import blocks
from aiplan.report.accuracy.scatter import PLANE, plot

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.planning.accuracy import Accuracy
    from aiplan.report.accuracy import Answer

TITLE = "Predicted against measured"
FRAME = PLANE.placed(width=720, right=700, height=500, top=12, bottom=450)
Section = tuple[str, tuple[str, ...]]
"""Title and parts."""


def page(answer: Answer) -> str:
    """Return plot and tables as a page."""
    found = list(_sections(answer.accuracy, answer.worst))
    named = [(f"part-{at}", title, parts) for at, (title, parts) in enumerate(found)]
    body = [html.section(ident, title, 2, *parts) for ident, title, parts in named]
    header = f"<h1>{TITLE}</h1>\n"
    return html.document(TITLE, header, [(ident, title) for ident, title, _ in named], body)


def _sections(answer: Accuracy, worst: int) -> Iterator[Section]:
    yield "All runs", (html.tiles(wording.tiles(answer)), html.figure(plot(answer, FRAME), "scatter"))
    if answer.counted:
        tables = (
            _table(f"By {kind}", (kind, *wording.HEADINGS), [(group.name, *wording.cells(group)) for group in groups])
            for kind, groups in answer.groups().items()
        )
        yield "Errors by group", (html.paragraph(f"{wording.KEY[0].upper()}{wording.KEY[1:]}."), *tables)
    memory = wording.memory(answer)
    if memory:
        rows = [(name.strip(), *cells) for name, *cells in memory]
        yield "Memory", (_table("Error of memory", ("runs", *wording.HEADINGS), rows),)
    if wording.fits(answer):
        yield (
            "Fits into memory",
            (
                html.paragraph(wording.fits_summary(answer)),
                _table("Told against what happened", wording.FITS_HEADINGS, wording.fits(answer)),
                _table("Told wrongly", wording.MISS_HEADINGS, wording.misses(answer)),
            ),
        )
    if answer.counted:
        rows = wording.worst(answer.worst(worst))
        yield "The largest errors", (_table("Runs", wording.WORST_HEADINGS, rows),)
    for block in blocks(answer):
        listings = (_table(one.title or block.title, one.headings, one.rows) for one in block.listings)
        yield block.title, (*(html.paragraph(line) for line in block.lines), *listings)
    if answer.skipped():
        left_out = [(reason, count) for count, reason in wording.skipped(answer)]
        yield "Left out", (_table("Runs by reason", ("reason", "runs"), left_out),)


def _table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return html.table(title, header, rows) if rows else ""
