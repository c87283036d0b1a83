"""What a change of each parameter does as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.records import markdown_table
from aiplan.report.sensitivity import wording
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from aiplan.planning.sensitivity import Sensitivity


def page(answer: Sensitivity) -> str:
    """Return the effects of all parameters as Markdown."""
    parts = [f"**{markdown(wording.title(answer))}**\n", f"{markdown(wording.now(answer))}\n"]
    told = "".join(f"- {markdown(sentence)}\n" for sentence in wording.sentences(answer))
    parts += [told] if told else []
    for title, header, rows in wording.groups(answer):
        cells = [[markdown(cell) for cell in row] for row in rows]
        parts.append(f"**{title}**\n\n{markdown_table(header, cells, right=range(1, len(header)))}")
    remarks = "".join(f"- {name}: {markdown(text)}\n" for name, text in wording.remarks(answer))
    parts += [remarks] if remarks else []
    return "\n".join([*parts, f"{markdown(wording.KEY)}\n"])
