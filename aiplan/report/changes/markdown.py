"""A comparison of many scenarios as Markdown for a pull request: one table, details folded away."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from aiplan.report.changes import wording
from aiplan.report.comment import fitting
from aiplan.report.diff import markdown as of_one
from aiplan.report.diff.wording import headline
from aiplan.report.records import markdown_table
from aiplan.report.text import clean, markdown, markdown_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.changes import Changes


def page(answer: Changes) -> str:
    """Return a comparison as Markdown; details that would make it too long for a comment are left out, and counted."""
    parts = [
        f"{of_one.marker(' '.join(answer.paths))}\n**{markdown(wording.headline(answer))}**\n",
        f"{markdown_line(wording.title(answer))}\n",
    ]
    rows = [[f"`{sign}`", *(_cell(cell) for cell in cells)] for sign, *cells in wording.rows(answer, wording.remark)]
    parts += [markdown_table(wording.HEADER, rows, right=(2, 3, 4, 5))] if rows else []
    kept, left = fitting(_details(answer), len("\n".join(parts)))
    if left:
        kept.append(f"\nDetails of {left:,} more are too long for a comment: see `aiplan diff` where it ran.\n")
    return "\n".join(parts) + "".join(kept)


def _details(answer: Changes) -> Iterator[str]:
    for one in answer.all:
        if one.difference is not None:
            told = escape(clean(f"{one.name}: {headline(one.difference)}"), quote=False)
            yield "\n" + of_one.folded(told, "\n".join(of_one.parts(one.difference)))


def _cell(text: str) -> str:
    return "<br>".join(markdown(line) for line in text.split("\n"))
