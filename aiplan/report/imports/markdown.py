"""Files of other programs as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.imports import wording
from aiplan.report.records import markdown_table
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from aiplan.planning.imports import Imported


def page(answer: Imported) -> str:
    """Return what was read as Markdown."""
    heads = [f"**{markdown(name)}**, {markdown(kind)}\n" for name, kind in wording.headings(answer)]
    tables = (
        (("", ""), wording.summary(answer), ()),
        (wording.TAKEN, wording.taken(answer), (1,)),
        (wording.DEFAULTED, wording.defaulted(answer), (1,)),
        (wording.OPEN, wording.left_open(answer), ()),
        (wording.UNUSED, wording.unused(answer), ()),
        (wording.QUIET, wording.quiet(answer), ()),
    )
    parts = [
        markdown_table(header, [[markdown(cell) for cell in row] for row in rows], right)
        for header, rows, right in tables
        if rows
    ]
    return "\n".join([*heads, *parts])
