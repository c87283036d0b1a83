"""How many accelerators a training needs, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report.console import draw
from aiplan.report.facts import BOLD, DIM
from aiplan.report.grid import columns, facts
from aiplan.report.line_plot import with_plot
from aiplan.report.search.table import plan_lines
from aiplan.report.size import wording
from aiplan.report.size.drawing import graph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.planning.size import Answer
    from aiplan.report.console import Look


def table(answer: Answer, look: Look) -> str:
    """Return the answer as text."""
    return draw(look, *_blocks(answer, look))


def drawn(answer: Answer, look: Look) -> str:
    """Return the answer as text with a plot below."""
    return with_plot(table(answer, look), graph(answer), look)


def _blocks(answer: Answer, look: Look) -> Iterator[RenderableType]:
    yield Text(wording.title(answer), BOLD)
    yield ""
    asked = wording.question(answer)
    if asked:
        yield facts(look, asked)
        yield ""
    yield facts(look, wording.results(answer))
    header = wording.header(answer)
    several = len(answer.machines) > 1
    yield ""
    yield Text("Best of each kind of node" if several else "Tried", BOLD)
    yield columns(header, wording.rows(answer), right=range(len(header) - 1 - several), fold=(len(header) - 1,))
    faults, left_out = wording.faults(answer), wording.left_out(answer)
    if faults:
        yield ""
        yield columns(("GPUs", "no plan"), faults, right=(0,), fold=(1,))
    yield Text(wording.KEY, DIM)
    if left_out:
        yield ""
        yield Text("Left out", BOLD)
        yield columns(("", ""), left_out, fold=(0, 1))
    best = answer.best
    if best is not None and best.estimate is not None:
        yield ""
        yield Text("The plan as it goes into a scenario", BOLD)
        yield plan_lines(best.estimate.scenario.file.plan)
