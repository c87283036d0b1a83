"""Files of other programs, as read, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiplan.planning.imports import Imported
    from aiplan.report.console import Look


def render(answer: Imported, form: str, look: Look) -> str:
    """Return what was read in one of the formats."""
    if form == "json":
        from aiplan.report.imports.document import document

        return document(answer)
    if form == "markdown":
        from aiplan.report.imports.markdown import page

        return page(answer)
    if form == "table":
        from aiplan.report.imports.table import table

        return table(answer, look)
    from aiplan.report.imports.document import HEADER, rows
    from aiplan.report.records import comma_separated, tabs

    return (tabs if form == "plain" else comma_separated)(HEADER, rows(answer))
