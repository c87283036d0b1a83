"""What `catalog lint` found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.declare import render
from aiplan.report.catalog import counted
from aiplan.report.documents import document
from aiplan.report.records import comma_separated, markdown_table, tabs
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.declare import Diagnostic, Diagnostics

_HEADINGS = ("file", "line", "column", "level", "code", "problem", "hint")


def render_lint(count: int, overlays: Sequence[str], diagnostics: Diagnostics, form: str) -> str:
    """Return the findings as `table`, `plain`, `json`, `csv` or `markdown`."""
    findings = sorted(map(_record, diagnostics.items), key=lambda row: row[:3])
    entries = counted(count, "entry", "entries")
    match form:
        case "json":
            rows = [dict(zip(_HEADINGS, row, strict=True)) for row in findings]
            return document("catalog-lint", {"overlays": list(overlays)}, [], {"entries": count, "findings": rows}, [])
        case "plain":
            return tabs(_HEADINGS, findings)
        case "csv":
            return comma_separated(_HEADINGS, findings)
        case "markdown":
            cells = [[markdown(text) for text in (f"{f[0]}:{f[1]}", f[4], f[5], f[6] or "")] for f in findings]
            table = "\n" + markdown_table(("where", "code", "problem", "hint"), cells) if cells else ""
            return f"{entries}, {counted(len(findings), 'finding', 'findings')}\n{table}"
        case _:
            found = render(diagnostics.items, diagnostics.sources)
            return f"{found}, of {entries}\n" if found else f"{entries}, nothing found\n"


def _record(item: Diagnostic) -> tuple[Any, ...]:
    mark = item.mark
    place = ("", 0, 0) if mark is None else (mark.file, mark.line, mark.column)
    return (*place, item.level, item.code, item.problem, item.hint)
