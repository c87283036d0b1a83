"""A difference as Markdown for a pull request: the answer first, details folded, a hidden marker to find it by."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiplan.report.diff import wording
from aiplan.report.records import markdown_table
from aiplan.report.text import clean, markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.diff import Difference


def page(answer: Difference) -> str:
    """Return a difference as Markdown."""
    changed = [("", "input", "old", "new", "where"), [wording.field(one) for one in answer.fields]]
    resolved = [("", "input", "old", "new", "change"), [wording.follows(one) for one in answer.follows]]
    results = [("", "result", "old", "new", "change"), [wording.result(one) for one in answer.results]]
    parts = [f"{marker(answer)}\n**{markdown(wording.headline(answer))}**\n", f"{markdown(wording.title(answer))}\n"]
    parts += [_table(*block) for block in (changed, results) if block[1]]  # type: ignore[arg-type]
    if answer.follows:
        title = "What follows from these" if answer.fields else "Changed inputs"
        parts.append(_folded(title, _table(*resolved)))  # type: ignore[arg-type]
    for tree, (title, _) in wording.TREES.items():
        rows = wording.terms(answer, tree)
        if rows:
            parts.append(_folded(title, _table(("", "term", "old", "new", "of the whole"), rows)))
    if answer.hidden:
        parts.append(f"{wording.hidden(answer)}\n")
    return "\n".join(parts)


def marker(answer: Difference) -> str:
    """Return a comment that nobody sees and a program finds: the file's name, whatever revision it comes from."""
    name = answer.sources[1] or answer.names[1]
    return f"<!-- aiplan:diff:{re.sub(r'--+|[<>]', '-', clean(name))} -->"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [[markdown(cell) if cell not in {"+", "-", "~"} else f"`{cell}`" for cell in row] for row in rows]
    return markdown_table(header, cells, right=() if header[-1] == "where" else (2, 3, 4))


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n</details>\n"
