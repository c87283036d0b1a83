"""A page for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from aiplan.report.code import wording
from aiplan.report.console import draw
from aiplan.report.facts import BOLD, DIM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.report.code.pages import Page
    from aiplan.report.console import Look


def table(page: Page, look: Look) -> str:
    """Return a page as text."""
    return draw(look, *_blocks(page))


def _blocks(page: Page) -> Iterator[RenderableType]:
    yield Text(wording.title(page), BOLD)
    for heading, text in wording.blocks(page):
        yield ""
        yield Text(heading, DIM)
        yield Padding(Text(text), (0, 0, 0, 2))
    for heading, sample in wording.samples(page):
        yield ""
        yield Text(heading, DIM)
        for line in wording.lines(sample):
            yield Text(f"  {line}", no_wrap=True, overflow="ignore")
