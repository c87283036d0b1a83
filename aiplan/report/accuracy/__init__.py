"""Predicted against measured, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiplan.planning.accuracy import Accuracy
    from aiplan.report.console import Look


def render(answer: Accuracy, worst: int, form: str, look: Look) -> str:
    """Return predictions beside measurements in one of the formats; people see the `worst` runs only."""
    if form == "json":
        from aiplan.report.accuracy.document import document

        return document(answer)
    if form == "markdown":
        from aiplan.report.accuracy.markdown import page

        return page(answer, worst)
    if form == "table":
        from aiplan.report.accuracy.table import table

        return table(answer, worst, look)
    from aiplan.report.accuracy.flat import HEADER, rows
    from aiplan.report.records import comma_separated, tabs

    return (tabs if form == "plain" else comma_separated)(HEADER, rows(answer))
