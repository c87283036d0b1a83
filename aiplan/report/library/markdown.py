"""What the library holds, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.planning.library import USES
from aiplan.report.library.document import by_kind, cells, heading
from aiplan.report.records import markdown_table
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from aiplan.planning.library import Library


def page(answer: Library) -> str:
    """Return what the library holds as Markdown."""
    parts = []
    for kind, items in by_kind(answer):
        header, rows = cells(items)
        safe = [[markdown(cell) for cell in row] for row in rows]
        parts += [
            f"**{heading(kind, items)}**: `{USES[kind]}`\n",
            markdown_table(header, safe, right=[2][: len(header) - 2]),
        ]
    return "\n".join(parts)
