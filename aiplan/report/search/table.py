"""The best plans for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report.console import draw
from aiplan.report.facts import BOLD, DIM
from aiplan.report.grid import columns, lines
from aiplan.report.line_plot import with_plot
from aiplan.report.search import wording
from aiplan.report.search.drawing import graph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.planning.search import Answer
    from aiplan.report.console import Look
    from aiplan.scenario.records import Plan

RULE = (
    "One plan a layout, and one layout of those that are alike in time and memory: the one with the smaller sizes. Of "
    "plans that are equally good, the leaner comes first."
)


def table(answer: Answer, look: Look) -> str:
    """Return the answer of a search as text."""
    return draw(look, *_blocks(answer))


def drawn(answer: Answer, look: Look) -> str:
    """Return the answer of a search as text with a plot below."""
    return with_plot(table(answer, look), graph(answer), look)


def plan_lines(plan: Plan) -> RenderableType:
    """Return a plan as it stands in a scenario file, further lines indented so that it can be copied as it is."""
    key, _, value = wording.as_file(plan).partition(" ")
    return lines([(f"  {key}", value)], style="")


def _blocks(answer: Answer) -> Iterator[RenderableType]:
    yield Text(wording.title(answer), BOLD)
    yield ""
    if answer.best:
        header = wording.header(answer)
        last = len(header) - 1
        yield columns(header, wording.best(answer), right=range(1, last), fold=(last,))
        yield Text(RULE, DIM)
        yield ""
        yield lines([(f"  {name}", text) for name, text in wording.remarks(answer)])
        yield ""
        yield Text("Trade-offs: no plan is faster, cheaper and smaller than one of these", BOLD)
        yield columns(header, wording.front(answer), right=range(1, last), fold=(last,))
        yield ""
    yield Text("Left out", BOLD)
    yield lines([(f"  {name}", text) for name, text in wording.left_out(answer)])
    if answer.best:
        yield ""
        yield Text("The best plan as it goes into a scenario", BOLD)
        yield plan_lines(answer.best[0].plan)
