"""Measured collectives as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.measured import wording
from aiplan.report.records import markdown_table
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.measured import Logs, Measured


def page(answer: Logs) -> str:
    """Return measured collectives as Markdown."""
    return "\n".join([*(_section(item) for item in answer.tables), f"{wording.NOTE}\n"])


def _section(item: Measured) -> str:
    facts = [(line.label, line.value, line.note) for line in wording.facts(item)]
    parts = [f"**{markdown(wording.title(item))}**\n", _table(("", "", ""), facts)]
    notes = wording.remarks(item)
    if notes:
        parts.append("".join(f"- {kind}: {markdown(text)}\n" for kind, text in notes))
    if item.fits:
        parts += [
            _table(("curve", "time"), wording.formulas(item)),
            _table(wording.CURVES, wording.curves(item), range(2, 7)),
            _table(wording.DECADES, wording.decades(item), range(1, 4)),
        ]
    return "\n".join(parts)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    return markdown_table(header, [[markdown(cell) for cell in row] for row in rows], right=right)
