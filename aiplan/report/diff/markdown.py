"""A difference as Markdown for a pull request: the answer first, details folded, a hidden marker to find it by."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiplan.report.diff import wording
from aiplan.report.records import markdown_table
from aiplan.report.text import clean, markdown, markdown_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.diff import Difference


def page(answer: Difference) -> str:
    """Return a difference as Markdown."""
    head = [
        f"{marker(named(answer))}\n**{markdown(wording.headline(answer))}**\n",
        f"{markdown_line(wording.title(answer))}\n",
    ]
    return "\n".join([*head, *parts(answer)])


def parts(answer: Difference) -> list[str]:
    """Return a difference part by part, causes first."""
    changed = [("", "input", "old", "new", "where"), [wording.field(one) for one in answer.fields]]
    resolved = [("", "input", "old", "new", "change"), [wording.follows(one) for one in answer.follows]]
    results = [("", "result", "old", "new", "change"), [wording.result(one) for one in answer.results]]
    each = _alone(answer)
    told = [_table(*changed)] if changed[1] else []  # type: ignore[arg-type]
    told += [f"Each alone:\n\n{each}"] if each else []
    told += [_table(*results)] if results[1] else []  # type: ignore[arg-type]
    if answer.remarks:
        remarks = _table(("", "input", "old", "new", "where"), [wording.field(one) for one in answer.remarks])
        told.append(folded(wording.REMARKS, remarks))
    if answer.follows:
        title = "What follows from these" if answer.fields else "Changed inputs"
        told.append(folded(title, _table(*resolved)))  # type: ignore[arg-type]
    for tree, (title, _) in wording.TREES.items():
        rows = wording.terms(answer, tree)
        if rows:
            told.append(folded(title, _table(("", "term", "old", "new", "of the whole"), rows)))
    if answer.hidden:
        told.append(f"{wording.hidden(answer)}\n")
    return told


def _alone(answer: Difference) -> str:
    header, rows = wording.alone(answer)
    return _table(("", "input", *header[2:]), rows) if rows else ""


def named(answer: Difference) -> str:
    """Return the name of the new side, whatever revision it comes from."""
    return answer.sources[1] or answer.names[1]


def marker(name: str) -> str:
    """Return a comment that nobody sees and a program finds."""
    return f"<!-- aiplan:diff:{re.sub(r'--+|[<>]', '-', clean(name))} -->"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [[markdown(cell) if cell not in {"+", "-", "~"} else f"`{cell}`" for cell in row] for row in rows]
    right = () if header[-1] == "where" else tuple(range(2, len(header) - (not header[-1])))
    return markdown_table(header, cells, right=right)


def folded(title: str, text: str) -> str:
    """Return text that opens on a click; the title is HTML, for Markdown is not read there."""
    return f"<details><summary>{title}</summary>\n\n{text}\n</details>\n"
