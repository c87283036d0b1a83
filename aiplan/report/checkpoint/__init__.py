"""Checkpoints of a scenario, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiplan.planning.checkpoint import CheckpointAnswer
    from aiplan.report.console import Look


def render(answer: CheckpointAnswer, form: str, look: Look) -> str:
    """Return the answer in one of the formats."""
    if form == "json":
        from aiplan.report.checkpoint.document import document

        return document(answer)
    if form == "markdown":
        from aiplan.report.checkpoint.markdown import page

        return page(answer)
    if form == "table":
        from aiplan.report.checkpoint.table import table

        return table(answer, look)
    from aiplan.report.checkpoint.document import HEADER, rows
    from aiplan.report.records import comma_separated, tabs

    return (tabs if form == "plain" else comma_separated)(HEADER, rows(answer))
