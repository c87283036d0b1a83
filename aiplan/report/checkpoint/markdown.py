"""Checkpoints as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.checkpoint import wording
from aiplan.report.records import markdown_table
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.checkpoint import CheckpointAnswer


def page(answer: CheckpointAnswer) -> str:
    """Return the answer as Markdown."""
    lines = [(line.label, line.value, line.note) for line in wording.facts(answer)]
    tables = (
        (wording.INTERVALS, wording.intervals(answer)),
        (wording.MODES, wording.modes(answer)),
        (wording.FLEETS, wording.fleets(answer)),
    )
    return "\n".join(
        (
            f"**{markdown(wording.title(answer))}**\n",
            _table(("", "", ""), lines),
            *(_table(*wording.filled(header, rows)) for header, rows in tables),
        )
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return markdown_table(header, [[markdown(cell) for cell in row] for row in rows])
