"""A comparison as Markdown: one row a variant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.compare.cells import failures, results
from aiplan.report.records import markdown_table
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.compare import Comparison


def page(answer: Comparison) -> str:
    """Return a comparison as Markdown."""
    return "\n".join(_parts(answer))


def _parts(answer: Comparison) -> Iterator[str]:
    if answer.answered:
        found = results(answer)
        labels = [item.label for item in answer.items if item.estimate is not None]
        rows = [
            (markdown(label), *(_cell(line.cells[index], line.changes[index]) for line in found))
            for index, label in enumerate(labels)
        ]
        yield markdown_table(("", *(markdown(line.label) for line in found)), rows, right=range(1, len(found) + 1))
        usable = [index for index, item in enumerate(answer.items) if item.estimate is not None]
        inputs = [(f"`{row.name}`", *(markdown(row.texts[index]) for index in usable)) for row in answer.differences()]
        if inputs:
            body = markdown_table(("input", *(markdown(label) for label in labels)), inputs)
            yield f"<details><summary>What differs going in</summary>\n\n{body}\n</details>\n"
    for label, reason in failures(answer):
        yield f"- not possible: {markdown(label)}: {markdown(reason)}\n"


def _cell(cell: str, change: str) -> str:
    return markdown(f"{cell} ({change})" if change else cell)
