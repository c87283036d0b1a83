"""A schedule in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiplan.planning.scheduling.question import Answer
    from aiplan.report.console import Look


def render(answer: Answer, form: str, look: Look) -> str:
    """Return a schedule in one of the formats."""
    if form == "json":
        from aiplan.report.schedule.document import document

        return document(answer)
    if form == "markdown":
        from aiplan.report.schedule.markdown import page

        return page(answer)
    if form == "table":
        from aiplan.report.schedule.table import table

        return table(answer, look)
    from aiplan.report.records import comma_separated, tabs
    from aiplan.report.schedule.document import flat

    return (tabs if form == "plain" else comma_separated)(*flat(answer))
