"""Demand against supply of storage as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.records import markdown_table
from aiplan.report.storage import wording
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.storage import StorageAnswer


def page(answer: StorageAnswer) -> str:
    """Return demand against supply as Markdown."""
    lines = [(line.label, line.value, line.note) for line in wording.facts(answer)]
    return "\n".join(
        (
            f"**{markdown(wording.title(answer))}**: {markdown(wording.verdict(answer).value)}\n",
            _table(("", "", ""), lines),
            _table(wording.STAGES, wording.stages(answer)),
            _table(wording.NEEDS, wording.needs(answer)),
            _table(wording.LEVELS, wording.levels(answer)),
            f"{wording.NOTE}\n",
        )
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return markdown_table(header, [[markdown(cell) for cell in row] for row in rows])
