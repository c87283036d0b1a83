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
    each = _alone(answer)
    parts += [_table(*changed)] if changed[1] else []  # type: ignore[arg-type]
    parts += [f"Each alone:\n\n{each}"] if each else []
    parts += [_table(*results)] if results[1] else []  # type: ignore[arg-type]
    if answer.remarks:
        remarks = _table(("", "input", "old", "new", "where"), [wording.field(one) for one in answer.remarks])
        parts.append(_folded(wording.REMARKS, remarks))
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


def _alone(answer: Difference) -> str:
    header, rows = wording.alone(answer)
    return _table(("", "input", *header[2:]), rows) if rows else ""


def marker(answer: Difference) -> str:
    """Return a comment that nobody sees and a program finds: the file's name, whatever revision it comes from."""
    name = answer.sources[1] or answer.names[1]
    return f"<!-- aiplan:diff:{re.sub(r'--+|[<>]', '-', clean(name))} -->"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [[markdown(cell) if cell not in {"+", "-", "~"} else f"`{cell}`" for cell in row] for row in rows]
    right = () if header[-1] == "where" else tuple(range(2, len(header) - (not header[-1])))
    return markdown_table(header, cells, right=right)


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n</details>\n"
