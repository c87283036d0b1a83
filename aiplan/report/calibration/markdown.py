"""Fitted constants as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.calibration import wording
from aiplan.report.records import markdown_table
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.calibration import Calibration

NUMBERS = range(1, 6)


def page(answer: Calibration) -> str:
    """Return a calibration as Markdown."""
    tables = (
        (wording.ERRORS, wording.errors(answer)),
        (wording.CONSTANTS, wording.constants(answer)),
        (wording.SOURCES, wording.sources(answer)),
    )
    return "\n".join([f"**{wording.count(answer)}**\n", *(_table(header, rows) for header, rows in tables)])


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return markdown_table(header, [[markdown(cell) for cell in row] for row in rows], right=NUMBERS)
