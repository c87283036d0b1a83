"""A check as JSON, and as records: one line a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.report import documents
from aiplan.report.check import wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.check import Check, Checked, Verdict
    from aiplan.report.records import Cell

HEADER = (
    "file",
    "scenario",
    "state",
    "rule",
    "code",
    "line",
    "column",
    "text",
    "found",
    "bound",
    "unit",
    "margin",
    "hint",
    "why",
)
UNITS = {"%": "fraction", "B si": "B"}
"""Units as programs read them, where people read them in another form."""


def document(answer: Check) -> str:
    """Return a JSON document `aiplan.check/1`."""
    inputs = {
        "paths": list(answer.paths),
        "policy": answer.policy.source or None,
        "settings": list(answer.settings),
        "pools": answer.pools or None,
    }
    result = {
        "verdict": wording.verdict(answer),
        "counts": {state: answer.count(state) for state in ("ok", "exempt", "note", "warning", "error")},
        "files": [_file(file) for file in answer.files],
        "skipped": [{"file": one.name, "why": one.why} for one in answer.skipped],
    }
    return documents.document("check", inputs, [], result, [])


def rows(answer: Check) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every verdict."""
    for file, one in answer.verdicts:
        content = {"file": file.path, "scenario": file.name} | _verdict(one)
        yield tuple(content[name] for name in HEADER)


def _file(file: Checked) -> dict[str, Any]:
    return {
        "file": file.path,
        "scenario": None if file.broken else file.name,
        "state": "broken" if file.broken else file.state,
        "verdicts": [_verdict(one) for one in file.verdicts],
    }


def _verdict(one: Verdict) -> dict[str, Any]:
    mark = one.mark
    return {
        "state": one.state,
        "rule": one.rule,
        "code": one.code if one.state != "ok" else None,
        "line": None if mark is None else mark.line,
        "column": None if mark is None else mark.column,
        "place": None if mark is None else mark.file,
        "text": one.text,
        "found": one.found,
        "bound": one.bound,
        "unit": UNITS.get(one.unit, one.unit),
        "margin": one.margin,
        "hint": one.hint,
        "why": one.why,
    }
