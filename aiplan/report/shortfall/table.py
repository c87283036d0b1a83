"""A measured collective beside the predicted one, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report.console import draw
from aiplan.report.facts import BOLD, DIM
from aiplan.report.grid import columns, lines
from aiplan.report.shortfall import wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.planning.shortfall import Verdict
    from aiplan.report.console import Look


def table(answer: Verdict, look: Look) -> str:
    """Return a verdict as text."""
    return draw(look, *_blocks(answer))


def _blocks(answer: Verdict) -> Iterator[RenderableType]:
    yield Text(wording.title(answer), BOLD)
    yield Text(wording.source(answer))
    yield ""
    headings = [heading.replace(" ", "\n") if "busbw" in heading else heading for heading in wording.HEADINGS]
    yield columns(headings, wording.rows(answer), right=(0, *range(2, len(headings) - 1)))
    yield Text(wording.KEY, DIM)
    yield ""
    yield Text(wording.verdict(answer), BOLD)
    found = wording.shortfalls(answer)
    if found:
        yield lines([(f"{label}  ", text) for label, text in found])
    causes = wording.causes(answer)
    if causes:
        yield ""
        yield Text("Usual causes, and where to look", BOLD)
        yield lines([("- ", f"{what}: {look}") for what, look, _ in causes])
        yield lines([("more  ", source) for source in dict.fromkeys(source for *_, source in causes)])
    remarks = wording.remarks(answer)
    if remarks:
        yield ""
        yield lines([(f"{label}  ", text) for label, text in remarks])
