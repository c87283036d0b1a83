"""A scenario on more and more accelerators, as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.records import markdown_table
from aiplan.report.scale import wording
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.scale import Answer


def page(answer: Answer) -> str:
    """Return scaling as Markdown."""
    parts = [f"**{markdown(wording.title(answer))}**\n", f"{wording.plans(answer)}\n"]
    for curve in answer.curves:
        parts.append(f"**{markdown(wording.heading(answer, curve))}**\n")
        parts.append(_table(wording.header(curve), wording.rows(curve)))
        notes = wording.notes(answer, curve)
        parts += [_table(("GPUs", "plan"), notes)] if notes else []
        if curve.estimated:
            parts.append("Parts of a step [%]\n")
            parts.append(_table(wording.parts_header(answer), wording.parts(answer, curve)))
        parts.append(f"- {curve.kind}: {markdown(wording.verdict(curve))}\n")
    parts += [f"{line}\n" for line in wording.definitions(answer)]
    return "\n".join(parts)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    flat = [cell.replace("-\n", "").replace("\n", " ") for cell in header]
    cells = [[markdown(cell) for cell in row] for row in rows]
    return markdown_table(flat, cells, right=[at for at, name in enumerate(flat) if name not in {"", "plan"}])
