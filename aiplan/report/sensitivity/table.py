"""What a change of each parameter does, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report.console import draw
from aiplan.report.facts import BOLD, DIM
from aiplan.report.grid import columns, lines
from aiplan.report.sensitivity import wording
from aiplan.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.planning.sensitivity import Sensitivity
    from aiplan.report.console import Look

ROOMY = 100
"""Width from which there is room for the value that a parameter has now."""
NARROW = ("change", "time", "cost", "filled")
"""What there is room for in any case."""


def table(answer: Sensitivity, look: Look) -> str:
    """Return the effects of all parameters as text."""
    return draw(look, *_blocks(answer, look))


def _blocks(answer: Sensitivity, look: Look) -> Iterator[RenderableType]:
    yield Text(clean(wording.title(answer)), BOLD)
    yield Text(f"  {clean(wording.now(answer))}")
    yield ""
    for sentence in wording.sentences(answer):
        yield Text(f"  {sentence}")
    for title, header, rows in wording.groups(answer):
        yield ""
        yield Text(title, BOLD)
        yield _table(header, rows, look)
    yield ""
    remarks = wording.remarks(answer)
    if remarks:
        yield lines(remarks)
        yield ""
    yield Text(wording.KEY, DIM)


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]], look: Look) -> RenderableType:
    shown = [index for index, name in enumerate(header) if _room(name, look) and any(row[index] for row in rows)]
    kept = [[row[index] for index in shown] for row in rows]
    return columns([header[index] for index in shown], kept, right=range(1, len(shown)), fold=(0,))


def _room(name: str, look: Look) -> bool:
    if look.narrow:
        return name in NARROW
    return name != "now" or look.width is None or look.width >= ROOMY
