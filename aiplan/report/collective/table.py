"""A collective for people: what NCCL takes at every size, the time of every algorithm, where the best changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report.collective import wording
from aiplan.report.collective.drawing import graph
from aiplan.report.console import draw
from aiplan.report.facts import BOLD, DIM
from aiplan.report.grid import columns, lines
from aiplan.report.line_plot import with_plot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.planning.collective import Collective
    from aiplan.report.console import Look


def table(answer: Collective, look: Look) -> str:
    """Return a collective as text."""
    return draw(look, *_blocks(answer))


def drawn(answer: Collective, look: Look) -> str:
    """Return a collective as text with a plot below."""
    return with_plot(table(answer, look), graph(answer), look)


def _blocks(answer: Collective) -> Iterator[RenderableType]:
    yield Text(wording.title(answer), BOLD)
    yield ""
    yield columns(wording.HEADINGS, wording.choices(answer), right=(0, *range(2, len(wording.HEADINGS))))
    yield Text(wording.key(answer), DIM)
    if answer.compared:
        header, rows = wording.algorithms(answer)
        yield ""
        yield Text("Time by algorithm, the best protocol of each; * the fastest", DIM)
        yield columns(header, rows, right=range(len(header)))
    changes = wording.crossovers(answer)
    if changes:
        yield ""
        yield lines([("NCCL changes  " if not at else "", text) for at, text in enumerate(changes)])
    remarks = wording.remarks(answer)
    if remarks:
        yield ""
        yield lines([(f"{label}  ", text) for label, text in remarks])
