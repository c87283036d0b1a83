"""NCCL variables as a Markdown table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.nccl_env.document import HEADER, rows
from aiplan.report.records import markdown_table
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from aiplan.planning.nccl_environment import NcclEnvironment


def page(answer: NcclEnvironment) -> str:
    """Return the variables as Markdown."""
    return markdown_table(HEADER, [[markdown(str(cell)) for cell in row] for row in rows(answer)])
