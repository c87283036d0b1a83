"""What the library holds, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.planning.library import USES
from aiplan.report.console import draw
from aiplan.report.facts import BOLD, DIM
from aiplan.report.grid import columns
from aiplan.report.library.document import by_kind, cells, heading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.planning.library import Library
    from aiplan.report.console import Look


def table(answer: Library, look: Look) -> str:
    """Return what the library holds as text."""
    return draw(look, *_blocks(answer))


def _blocks(answer: Library) -> Iterator[RenderableType]:
    for kind, items in by_kind(answer):
        yield Text(heading(kind, items), BOLD)
        yield Text(USES[kind], DIM)
        header, rows = cells(items)
        yield columns(header, rows, right=(2,) if len(header) > 2 else (), fold=(1,))
        if answer.kind is None:
            yield ""
