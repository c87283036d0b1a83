"""Fitted constants in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiplan.planning.calibration import Calibration
    from aiplan.report.console import Look


def render(answer: Calibration, form: str, look: Look) -> str:
    """Return fitted constants and the errors with them in one of the formats."""
    if form == "json":
        from aiplan.report.calibration.document import document

        return document(answer)
    if form == "markdown":
        from aiplan.report.calibration.markdown import page

        return page(answer)
    if form == "table":
        from aiplan.report.calibration.table import table

        return table(answer, look)
    from aiplan.report.calibration.document import HEADER, rows
    from aiplan.report.records import comma_separated, tabs

    return (tabs if form == "plain" else comma_separated)(HEADER, rows(answer))
