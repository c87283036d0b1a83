"""Several scenarios side by side, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiplan.planning.compare import Comparison
    from aiplan.report.console import Look


def render(answer: Comparison, form: str, look: Look) -> str:
    """Return a comparison in one of the formats."""
    if form == "json":
        from aiplan.report.compare.document import document

        return document(answer)
    if form == "markdown":
        from aiplan.report.compare.markdown import page

        return page(answer)
    if form == "table":
        from aiplan.report.compare.table import table

        return table(answer, look)
    from aiplan.report.compare.flat import header, rows
    from aiplan.report.records import comma_separated, tabs

    return (tabs if form == "plain" else comma_separated)(header(answer), rows(answer))
