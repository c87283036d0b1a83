"""A measured collective beside the predicted one, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiplan.planning.shortfall import Verdict
    from aiplan.report.console import Look


def render(answer: Verdict, form: str, look: Look) -> str:
    """Return a verdict in one of the formats."""
    if form == "json":
        from aiplan.report.shortfall.document import document

        return document(answer)
    if form == "markdown":
        from aiplan.report.shortfall.markdown import page

        return page(answer)
    if form == "table":
        from aiplan.report.shortfall.table import table

        return table(answer, look)
    from aiplan.report.records import comma_separated, tabs
    from aiplan.report.shortfall.document import HEADER, rows

    return (tabs if form == "plain" else comma_separated)(HEADER, rows(answer))
