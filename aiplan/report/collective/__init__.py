"""A collective in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiplan.planning.collective import Collective
    from aiplan.report.console import Look


def render(answer: Collective, form: str, look: Look, *, drawn: bool = False) -> str:
    """Return a collective in one of the formats; `drawn` adds a plot to a table."""
    if form == "json":
        from aiplan.report.collective.document import document

        return document(answer)
    if form == "markdown":
        from aiplan.report.collective.markdown import page

        return page(answer)
    if form == "table":
        from aiplan.report.collective.table import table

        return table(answer, look, drawn=drawn)
    from aiplan.report.collective.document import HEADER, rows
    from aiplan.report.records import comma_separated, tabs

    return (tabs if form == "plain" else comma_separated)(HEADER, rows(answer))
