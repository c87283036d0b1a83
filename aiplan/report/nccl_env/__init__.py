"""NCCL variables for a cluster in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiplan.planning.nccl_environment import NcclEnvironment

SHELL, KUBERNETES = "shell", "kubernetes"


def render(answer: NcclEnvironment, form: str, syntax: str) -> str:
    """Return the variables in one of the formats; as text in the syntax asked for."""
    if form == "json":
        from aiplan.report.nccl_env.document import document

        return document(answer)
    if form in {"markdown", "csv"}:
        from aiplan.report.nccl_env.document import HEADER, rows
        from aiplan.report.records import comma_separated, markdown_table
        from aiplan.report.text import markdown

        if form == "csv":
            return comma_separated(HEADER, rows(answer))
        return markdown_table(HEADER, [[markdown(str(cell)) for cell in row] for row in rows(answer)])
    from aiplan.report.nccl_env.text import kubernetes, shell

    return (kubernetes if syntax == KUBERNETES else shell)(answer)
