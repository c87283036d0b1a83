"""A collective as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.collective import wording
from aiplan.report.records import markdown_table
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.collective import Collective


def page(answer: Collective) -> str:
    """Return a collective as Markdown."""
    parts = [f"**{markdown(wording.title(answer))}**\n", _table(wording.HEADINGS, wording.choices(answer))]
    parts.append(f"{markdown(wording.key(answer))}\n")
    if answer.compared:
        header, rows = wording.algorithms(answer)
        parts.append(_table([cell.replace("-\n", "-") for cell in header], rows))
    changes = wording.crossovers(answer)
    parts += [f"NCCL changes {markdown('; '.join(changes))}.\n"] if changes else []
    parts += [f"* {label}: {markdown(text)}" for label, text in wording.remarks(answer)]
    return "\n".join(parts).rstrip("\n") + "\n"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [[markdown(cell) for cell in row] for row in rows]
    return markdown_table(header, cells, right=[0, *range(2 if header is wording.HEADINGS else 1, len(header))])
