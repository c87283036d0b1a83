"""A check as Markdown, fit for a comment: the answer first, what is in order folded away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.check import wording
from aiplan.report.records import markdown_table
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.check import Check, Checked, Verdict

MARKER = "<!-- aiplan:check -->\n"
"""Hidden, so that a comment can be found again and updated."""
HEADER = ("", "rule", "what", "where", "advice")


def page(answer: Check) -> str:
    """Return a check as Markdown."""
    found = answer.verdicts
    bad = [(file, one) for state in ("error", "warning") for file, one in found if one.state == state]
    rest = [(file, one) for file, one in found if one.state in {"ok", "exempt", "note"}]
    parts = [f"{MARKER}**aiplan check {wording.verdict(answer)}**: {markdown(wording.counts(answer))}\n"]
    parts += [_table(bad)] if bad else []
    parts += [_folded(f"{len(rest):,} in order", _table(rest))] if rest else []
    skipped = "".join(f"* {markdown(one.name)}: {one.why}\n" for one in answer.skipped)
    parts += [_folded(f"{len(answer.skipped):,} skipped", skipped)] if skipped else []
    return "\n".join(parts)


def _table(rows: Sequence[tuple[Checked, Verdict]]) -> str:
    cells = [
        (one.state, f"{one.rule} {one.code}" if one.state != "ok" else one.rule, wording.sentence(one), where, advice)
        for file, one in rows
        for where, advice in [(wording.place(one.mark, file.path), wording.advice(one))]
    ]
    return markdown_table(HEADER, [[markdown(cell) for cell in line] for line in cells])


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n</details>\n"
