"""Measured collectives in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiplan.planning.measured import Logs
    from aiplan.report.console import Look


def render(answer: Logs, form: str, look: Look) -> str:
    """Return the tables of logs with their curves in one of the formats."""
    if form == "json":
        from aiplan.report.measured.document import document

        return document(answer)
    if form == "markdown":
        from aiplan.report.measured.markdown import page

        return page(answer)
    if form == "table":
        from aiplan.report.measured.table import table

        return table(answer, look)
    from aiplan.report.measured.document import HEADER, rows
    from aiplan.report.records import comma_separated, tabs

    return (tabs if form == "plain" else comma_separated)(HEADER, rows(answer))
