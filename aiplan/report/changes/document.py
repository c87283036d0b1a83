"""A comparison of many scenarios as JSON, and as records: one line a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.report import documents
from aiplan.report.changes import wording
from aiplan.report.diff import document as of_one

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.changes import Change, Changes
    from aiplan.report.records import Cell

HEADER = ("file", "state", *of_one.HEADER)


def document(answer: Changes) -> str:
    """Return a JSON document `aiplan.changes/1`."""
    inputs = {"paths": list(answer.paths), "revision": answer.revision or None, "threshold": answer.threshold}
    result = {
        "changed": answer.changed,
        "counts": answer.counts(),
        "scenarios": [_scenario(one) for one in answer.all],
    }
    return documents.document("changes", inputs, [], result, [])


def rows(answer: Changes) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every change; of what came or went its main results, of what cannot be read why."""
    for one in answer.all:
        if one.difference is not None:
            yield from ((one.name, one.state, *cells) for cells in of_one.rows(one.difference))
        elif one.figures:
            for figure in one.figures:
                yield one.name, one.state, "result", figure.name, figure.old, figure.new, figure.relative, "", ""
        else:
            yield one.name, one.state, "", wording.remark(one), None, None, None, "", ""


def _scenario(one: Change) -> dict[str, Any]:
    found = one.difference
    return {
        "file": one.name,
        "state": one.state,
        "remark": wording.remark(one),
        "figures": [of_one.number(figure) for figure in one.figures],
        "difference": None if found is None else of_one.sides(found) | of_one.content(found),
    }
