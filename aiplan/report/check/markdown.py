"""A check as Markdown, fit for a comment: the answer first, what is in order folded away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.check import wording
from aiplan.report.comment import fitting
from aiplan.report.records import markdown_table
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.planning.check import Check, Checked, Verdict

MARKER = "<!-- aiplan:check -->\n"
"""Hidden, so that a comment can be found again and updated."""
FRAME = 500
"""Characters of headings and of what is said where something is left out."""
MOST_SKIPPED = 50
HEADER = ("", "rule", "what", "where", "advice")


def page(answer: Check) -> str:
    """Return a check as Markdown; lines that would make it too long for a comment are left out, and counted."""
    found = answer.verdicts
    bad = [(file, one) for state in ("error", "warning") for file, one in found if one.state == state]
    rest = [(file, one) for file, one in found if one.state in {"ok", "exempt", "note"}]
    head = f"{MARKER}**aiplan check {wording.verdict(answer)}**: {markdown(wording.counts(answer))}\n"
    skipped = "".join(f"* {markdown(one.name)}: {one.why}\n" for one in answer.skipped[:MOST_SKIPPED])
    more = len(answer.skipped) - MOST_SKIPPED
    skipped += f"* and {more:,} more\n" if more > 0 else ""
    last = [_folded(f"{len(answer.skipped):,} skipped", skipped)] if skipped else []
    shown, left = fitting(_lines(bad), len(head) + sum(map(len, last)) + FRAME)
    parts = [head, *([_table(shown)] if shown else [])]
    if left:
        parts.append(f"{left:,} more errors and warnings are too long for a comment: see where the check ran.\n")
    shown, left = fitting(_lines(rest), len("\n".join([*parts, *last])) + FRAME)
    if shown:
        title = f"{len(rest):,} in order" + (f", of which {len(shown):,} are shown" if left else "")
        parts.append(_folded(title, _table(shown)))
    return "\n".join([*parts, *last])


def _table(lines: Sequence[str]) -> str:
    return "".join([markdown_table(HEADER, []), *lines])


def _lines(rows: Sequence[tuple[Checked, Verdict]]) -> Iterator[str]:
    """Yield the lines of a table."""
    for file, one in rows:
        rule = f"{one.rule} {one.code}" if one.state != "ok" else one.rule
        cells = (one.state, rule, wording.sentence(one), wording.place(one.mark, file.path), wording.advice(one))
        yield f"| {' | '.join(map(markdown, cells))} |\n"


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n</details>\n"
