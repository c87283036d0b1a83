"""Predicted against measured as Markdown: the whole first, details folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.accuracy import wording
from aiplan.report.accuracy.blocks import blocks
from aiplan.report.records import markdown_table
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.planning.accuracy import Accuracy
    from aiplan.report.accuracy import Answer
    from aiplan.report.accuracy.blocks import Block

NUMBERS = range(1, 7)


def page(answer: Answer) -> str:
    """Return predictions beside measurements as Markdown."""
    return "\n".join(_parts(answer.accuracy, answer.worst))


def _parts(answer: Accuracy, worst: int) -> Iterator[str]:
    yield f"**{wording.count(answer)}**\n"
    yield from (f"- {line}" for line in wording.summary(answer))
    yield ""
    if answer.counted:
        for kind, groups in answer.groups().items():
            yield _table((kind, *wording.HEADINGS), [(group.name, *wording.cells(group)) for group in groups])
    memory = wording.memory(answer)
    if memory:
        yield _table(("error of memory", *wording.HEADINGS), [(name.strip(), *cells) for name, *cells in memory])
    if answer.counted:
        yield f"{wording.KEY[0].upper()}{wording.KEY[1:]}.\n"
    yield from _fits(answer)
    rows = wording.worst(answer.worst(worst))
    if rows:
        yield _folded("The largest errors", markdown_table(wording.WORST_HEADINGS, _safe(rows), right=(1, 2, 3)))
    for block in blocks(answer):
        yield from _block(block)
    for title, found in (
        ("Left out", wording.skipped(answer)),
        ("Not stated, so taken as follows", wording.assumed(answer)),
    ):
        if found:
            yield _folded(title, markdown_table(("runs", ""), _safe(found), right=(0,)))


def _block(block: Block) -> Iterator[str]:
    yield f"**{block.title}**\n"
    yield from (f"- {markdown(line)}" for line in block.lines)
    yield ""
    for listing in block.listings:
        body = markdown_table(listing.headings, _safe(listing.rows), right=range(1, len(listing.headings)))
        yield _folded(listing.title, body) if listing.details else body


def _fits(answer: Accuracy) -> Iterator[str]:
    rows = wording.fits(answer)
    if rows:
        yield f"Fits into memory: {wording.fits_summary(answer)}.\n"
        yield markdown_table(wording.FITS_HEADINGS, _safe(rows), right=(1, 2))
    missed = wording.misses(answer)
    if missed:
        body = markdown_table(wording.MISS_HEADINGS, _safe(missed), right=(2, 3, 4))
        yield _folded("Misses more than 10 % off the limit", body)


def _table(header: tuple[str, ...], rows: Sequence[Sequence[str]]) -> str:
    return markdown_table(header, _safe(rows), right=NUMBERS)


def _safe(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[markdown(cell) for cell in row] for row in rows]


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n</details>\n"
