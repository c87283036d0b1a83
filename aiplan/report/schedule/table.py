"""A schedule for people: numbers, runs side by side, waits, a map of the cluster, what waits and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report.console import draw
from aiplan.report.facts import BAD, BOLD, DIM
from aiplan.report.grid import columns, facts
from aiplan.report.schedule import wording

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from aiplan.planning.scheduling.question import Answer
    from aiplan.report.console import Look


def table(answer: Answer, look: Look) -> str:
    """Return a schedule as text."""
    return draw(look, *_blocks(answer, look))


def _blocks(answer: Answer, look: Look) -> Iterator[RenderableType]:
    yield Text(wording.title(answer), BOLD)
    yield facts(look, wording.headline(answer))
    if len(answer.runs) > 1:
        yield from _block(*wording.compare(answer))
        yield from (Text(told, BAD) for told in wording.deadlocks(answer))
    first = answer.first
    if first.outcome is not None:
        yield from _block(wording.WAITS, wording.waits(first.outcome))
        reasons = wording.reasons(first.outcome)
        if reasons:
            yield Text(reasons, DIM)
    yield from _static(answer)
    if first.snapshot is not None:
        yield ""
        yield Text(wording.moment(first.snapshot), BOLD)
        rows, legend = wording.cluster_map(first.snapshot, look.width)
        yield from (_map_line(row) for row in rows)
        if legend:
            yield Text(legend, DIM)
        if first.snapshot.waiting:
            yield from _block(wording.WAITING, wording.waiting(first.snapshot), first_number=2)
    yield ""
    yield Text(wording.NOTE, DIM)


def _static(answer: Answer) -> Iterator[RenderableType]:
    if len(answer.static.shares) > 1:
        yield from _block(wording.SHARES, wording.shares(answer), first_number=2)
    if answer.static.fits:
        yield from _block(wording.FITS, wording.fits(answer))
    if answer.static.steps:
        yield from _block(wording.STEPS, wording.steps(answer))
    if answer.static.goodput:
        yield from _block(wording.GOODPUT, wording.goodput(answer))


def _block(header: Sequence[str], rows: Sequence[Sequence[str]], first_number: int = 1) -> Iterator[RenderableType]:
    yield ""
    yield columns(header, rows, right=range(first_number, len(header)), fold=(0, 1) if first_number > 1 else (0,))


def _map_line(nodes: Sequence[tuple[str, str]]) -> Text:
    line = Text()
    for place, (name, letters) in enumerate(nodes):
        line.append(" " * wording.GAP if place else "").append(f"{name} ", DIM).append(letters)
    line.rstrip()
    return line
