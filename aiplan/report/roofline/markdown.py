"""Kernels between the roofs as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.records import markdown_table
from aiplan.report.roofline import wording
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from aiplan.planning.roofline import Roofline


def page(answer: Roofline) -> str:
    """Return the classes of kernels as Markdown."""
    roofs = "".join(f"- {name}: {markdown(text)}\n" for name, text in wording.roofs(answer))
    header = wording.header(answer)[1:]
    rows = [[markdown(cell) for cell in row[1:]] for row in wording.rows(answer)]
    found = markdown_table(header, rows, right=range(1, len(header) - 1))
    return "\n".join([f"**{markdown(wording.title(answer))}**\n", roofs, found, f"{markdown(wording.KEY)}\n"])
