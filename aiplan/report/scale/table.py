"""A scenario on more and more accelerators, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report.console import draw
from aiplan.report.facts import BOLD, DIM
from aiplan.report.grid import columns, lines
from aiplan.report.line_plot import with_plot
from aiplan.report.scale import wording
from aiplan.report.scale.drawing import graph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.planning.scale import Answer
    from aiplan.report.console import Look


def table(answer: Answer, look: Look) -> str:
    """Return scaling as text."""
    return draw(look, *_blocks(answer))


def drawn(answer: Answer, look: Look) -> str:
    """Return scaling as text with a plot below."""
    return with_plot(table(answer, look), graph(answer), look)


def _blocks(answer: Answer) -> Iterator[RenderableType]:
    yield Text(wording.title(answer), BOLD)
    yield Text(wording.plans(answer), DIM)
    for curve in answer.curves:
        header, notes = wording.header(curve), wording.notes(answer, curve)
        yield ""
        yield Text(wording.heading(answer, curve), BOLD)
        yield columns(header, wording.rows(curve), right=range(len(header) - (header[-1] == "")))
        if notes:
            yield ""
            yield columns(("GPUs", "plan"), notes, right=(0,), fold=(1,))
        if curve.estimated:
            names = wording.parts_header(answer)
            yield ""
            yield Text("Parts of a step [%]", DIM)
            yield columns(names, wording.parts(answer, curve), right=range(len(names)))
        yield ""
        yield lines([(f"  {curve.kind}", wording.verdict(curve))])
    yield ""
    yield Text(" ".join(wording.definitions(answer)), DIM)
