"""How many accelerators a training needs, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.records import markdown_table
from aiplan.report.search.wording import as_file
from aiplan.report.size import wording
from aiplan.report.text import joined, markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.size import Answer


def page(answer: Answer) -> str:
    """Return the answer as Markdown."""
    header, several = wording.header(answer), len(answer.machines) > 1
    told = [
        (fact.label, joined([fact.value, fact.note])) for fact in (*wording.question(answer), *wording.results(answer))
    ]
    parts = [f"**{markdown(wording.title(answer))}**\n", _table(("", ""), told)]
    parts.append(_table(header, wording.rows(answer), right=range(len(header) - 1 - several)))
    parts += [f"- {count} GPUs: {markdown(fault)}" for count, fault in wording.faults(answer)]
    parts.append(f"{wording.KEY}\n")
    left_out = wording.left_out(answer)
    if left_out:
        parts.append(_table(("left out", "nodes"), left_out))
    best = answer.best
    if best is not None and best.estimate is not None:
        parts.append(f"```yaml\n{as_file(best.estimate.scenario.file.plan)}\n```\n")
    return "\n".join(parts)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    flat = [cell.replace("\n", " ") for cell in header]
    return markdown_table(flat, [[markdown(cell) for cell in row] for row in rows], right=right)
