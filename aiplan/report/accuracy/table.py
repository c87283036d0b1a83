"""Predicted against measured, for people: the whole, groups, memory, the worst runs, what is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from aiplan.report.accuracy import wording
from aiplan.report.accuracy.blocks import blocks
from aiplan.report.accuracy.plot import plot
from aiplan.report.console import draw
from aiplan.report.facts import BOLD, DIM
from aiplan.report.grid import columns, lines
from aiplan.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from aiplan.planning.accuracy import Accuracy
    from aiplan.report.accuracy import Answer
    from aiplan.report.accuracy.blocks import Block
    from aiplan.report.console import Look


LEAST_ROOM, GAP = 20, 2


def table(answer: Answer, look: Look) -> str:
    """Return predictions beside measurements as text."""
    return draw(look, *_blocks(answer.accuracy, answer.worst, look))


def drawn(answer: Answer, look: Look) -> str:
    """Return them as text with a plot below."""
    return f"{table(answer, look)}\n{plot(answer.accuracy, look)}"


def _blocks(answer: Accuracy, worst: int, look: Look) -> Iterator[RenderableType]:
    yield Text(wording.count(answer), BOLD)
    yield from (Text(line) for line in wording.summary(answer))
    if answer.counted:
        yield ""
        yield _listing("error of the step time", wording.HEADINGS, _groups(answer), look)
        yield Text(wording.KEY, DIM)
    elif answer.memory():
        yield ""
        yield _listing("error of memory", wording.HEADINGS, wording.memory(answer), look)
    yield from _fits(answer, look)
    rows = wording.worst(answer.worst(worst))
    if rows:
        yield ""
        yield Text("The largest errors", BOLD)
        yield _listing("  run", wording.WORST_HEADINGS[1:], [(f"  {name}", *cells) for name, *cells in rows], look)
    for block in blocks(answer):
        yield from _block(block, worst, look)
    yield from _counted("Left out", wording.skipped(answer))
    yield from _counted("Not stated, so taken as follows", wording.assumed(answer))


def _block(block: Block, worst: int, look: Look) -> Iterator[RenderableType]:
    """Yield sentences and tables; of details the first rows, which are the worst."""
    yield ""
    yield Text(block.title, BOLD)
    yield from (Text(line) for line in block.lines)
    for listing in block.listings:
        rows = listing.rows[:worst] if listing.details else listing.rows
        if rows:
            label, *headings = listing.headings
            yield ""
            indented = [(f"  {name}", *cells) for name, *cells in rows]
            yield _listing(f"  {label}", headings, indented, look)


def _listing(label: str, headings: Sequence[str], rows: Sequence[Sequence[str]], look: Look) -> RenderableType:
    """Return a table, or where there is no room, each row as a name with a sentence below."""
    if not look.narrow and _room_for_names(headings, rows, look) >= LEAST_ROOM:
        return columns((label, *headings), rows, right=range(1, len(headings) + 1), fold=(0,))
    parts: list[RenderableType] = []
    for name, *cells in rows:
        parts.append(Text(clean(name), BOLD if any(cells) else DIM))
        if any(cells):
            sentence = ", ".join(map(" ".join, zip(headings, cells, strict=True)))
            parts.append(Padding(Text(sentence), (0, 0, 0, 4)))
    return Group(*parts)


def _room_for_names(headings: Sequence[str], rows: Sequence[Sequence[str]], look: Look) -> int:
    """Return the columns of the terminal that the cells behind the names leave."""
    if look.width is None:
        return LEAST_ROOM
    widths = [
        max(len(cell) for cell in column) for column in zip(headings, *(cells for _, *cells in rows), strict=True)
    ]
    return look.width - sum(width + GAP for width in widths)


def _groups(answer: Accuracy) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = []
    for kind, groups in answer.groups().items():
        rows += [
            (kind, *[""] * len(wording.HEADINGS)),
            *((f"  {group.name}", *wording.cells(group)) for group in groups),
        ]
    return [*rows, *wording.memory(answer)]


def _fits(answer: Accuracy, look: Look) -> Iterator[RenderableType]:
    rows = wording.fits(answer)
    if not rows:
        return
    yield ""
    yield Text("Fits into memory", BOLD)
    yield Text(f"  {wording.fits_summary(answer)}")
    cells = [(f"  {name}", *numbers) for name, *numbers in rows]
    yield _listing(f"  {wording.FITS_HEADINGS[0]}", wording.FITS_HEADINGS[1:], cells, look)
    missed = wording.misses(answer)
    if missed:
        listed = [(f"  {name}", *numbers) for name, *numbers in missed]
        yield _listing("  misses more than 10 % off", wording.MISS_HEADINGS[1:], listed, look)


def _counted(title: str, rows: list[tuple[str, str]]) -> Iterator[RenderableType]:
    if rows:
        width = max(len(count) for count, _ in rows)
        yield ""
        yield Text(title, BOLD)
        yield lines([(f"  {count:>{width}}", text) for count, text in rows])
