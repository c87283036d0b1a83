"""A page as Markdown; all of them make docs/diagnostics.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.code import wording

if TYPE_CHECKING:
    from aiplan.report.code.pages import Page


def page(one: Page) -> str:
    """Return a page as Markdown."""
    _, (_, why) = wording.blocks(one)
    parts = [f"### {wording.title(one)}\n", f"{one.code.explanation}\n", f"{why}\n"]
    for heading, sample in wording.samples(one):
        body = "\n".join(wording.lines(sample))
        language = "yaml" if sample.text else "console"
        parts.append(f"{heading}:\n\n```{language}\n{body}\n```\n")
    return "\n".join(parts)
