"""Demand against supply of storage, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiplan.planning.storage import StorageAnswer
    from aiplan.report.console import Look


def render(answer: StorageAnswer, form: str, look: Look) -> str:
    """Return the answer in one of the formats."""
    if form == "json":
        from aiplan.report.storage.document import document

        return document(answer)
    if form == "markdown":
        from aiplan.report.storage.markdown import page

        return page(answer)
    if form == "table":
        from aiplan.report.storage.table import table

        return table(answer, look)
    from aiplan.report.records import comma_separated, tabs
    from aiplan.report.storage.document import HEADER, rows

    return (tabs if form == "plain" else comma_separated)(HEADER, rows(answer))
