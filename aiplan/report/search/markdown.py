"""The best plans as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.records import markdown_table
from aiplan.report.search import wording
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.search import Answer


def page(answer: Answer) -> str:
    """Return the answer of a search as Markdown."""
    parts = [f"**{markdown(wording.title(answer))}**\n"]
    if answer.best:
        header = wording.header(answer)
        parts += [
            _table(header, wording.best(answer)),
            *(f"- {name}: {markdown(text)}" for name, text in wording.remarks(answer)),
            "\n**Trade-offs**\n",
            _table(header, wording.front(answer)),
        ]
    parts.append(_table(("left out", "how many"), wording.left_out(answer)))
    if answer.best:
        parts.append(f"```yaml\n{wording.as_file(answer.best[0].plan)}\n```\n")
    return "\n".join(parts)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    flat = [cell.replace("\n", " ") for cell in header]
    return markdown_table(flat, [[markdown(cell) for cell in row] for row in rows], right=range(1, len(flat) - 1))
