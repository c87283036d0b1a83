"""Fabrics as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.records import markdown_table
from aiplan.report.text import markdown
from aiplan.report.topology import wording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.report.topology import Answer


def page(answer: Answer) -> str:
    """Return a comparison of fabrics as Markdown."""
    parts = [f"**{markdown(wording.title(answer))}**\n"]
    if answer.survey.fits:
        parts += [_table(header, rows) for header, rows in wording.tables(answer)]
        parts.append(f"{wording.NOTE}\n")
    if wording.misfits(answer):
        parts.append(_table(("does not fit", "why"), wording.misfits(answer)))
    if answer.groups:
        parts += [f"**{markdown(wording.places(answer))}**\n", _table(wording.GROUPS, wording.groups(answer))]
    return "\n".join(parts)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return markdown_table(header, [[markdown(cell) for cell in row] for row in rows])
