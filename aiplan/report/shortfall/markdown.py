"""A measured collective beside the predicted one, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.records import markdown_table
from aiplan.report.shortfall import wording
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from aiplan.planning.shortfall import Verdict


def page(answer: Verdict) -> str:
    """Return a verdict as Markdown."""
    cells = [[markdown(cell) for cell in row] for row in wording.rows(answer)]
    right = [0, *range(2, len(wording.HEADINGS) - 1)]
    parts = [
        f"**{markdown(wording.title(answer))}**\n",
        f"{markdown(wording.source(answer))}\n",
        markdown_table(wording.HEADINGS, cells, right=right),
        f"{markdown(wording.KEY)}\n",
        f"**{markdown(wording.verdict(answer))}**\n",
    ]
    parts += [f"* {label}: {markdown(text)}" for label, text in wording.shortfalls(answer)]
    causes = wording.causes(answer)
    if causes:
        parts.append("\nUsual causes, and where to look:\n")
        parts += [f"* {markdown(what)}: {markdown(look)} ([source]({source}))" for what, look, source in causes]
    remarks = wording.remarks(answer)
    parts += [""] if remarks else []
    parts += [f"* {label}: {markdown(text)}" for label, text in remarks]
    return "\n".join(parts).rstrip("\n") + "\n"
