"""A difference as JSON, and as records: one line a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.report import documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.diff import Difference, Number
    from aiplan.report.records import Cell

HEADER = ("kind", "name", "old", "new", "change", "old_where", "new_where")


def document(answer: Difference) -> str:
    """Return a JSON document `aiplan.diff/1`."""
    return documents.document("diff", sides(answer) | {"threshold": answer.threshold}, [], content(answer), [])


def sides(answer: Difference) -> dict[str, Any]:
    """Return what was compared."""
    pairs = zip(("old", "new"), answer.names, answer.sources, strict=True)
    return {side: {"scenario": name, "source": source} for side, name, source in pairs}


def content(answer: Difference) -> dict[str, Any]:
    """Return what lies between, as plain data."""
    return {
        "changed": answer.changed,
        "fields": [one._asdict() for one in answer.fields],
        "alone": [one._asdict() for one in answer.alone],
        "remarks": [one._asdict() for one in answer.remarks],
        "values": [number(one) for one in answer.follows],
        "results": [number(one) for one in answer.results],
        "terms": [
            {
                "tree": one.tree,
                "name": one.name,
                "label": one.label,
                "old": one.old,
                "new": one.new,
                "change": one.change,
                "share_of_whole": one.share,
            }
            for one in answer.terms
        ],
        "results_within_threshold": answer.hidden,
    }


def rows(answer: Difference) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every change: causes before effects."""
    for kind, fields in (("field", answer.fields), ("remark", answer.remarks)):
        for field in fields:
            yield kind, field.name, field.old, field.new, None, field.old_where, field.new_where
    for one in answer.alone:
        for name, change in one.changes.items():
            yield "alone", f"{one.name}: {name}", None, None, change, "", ""
    for kind, numbers in (("value", answer.follows), ("result", answer.results)):
        for each in numbers:
            yield kind, each.name, each.old, each.new, each.relative, "", ""
    for term in answer.terms:
        yield "term", term.name, term.old, term.new, term.share, "", ""


def number(one: Number) -> dict[str, Any]:
    """Return a number before and after."""
    return {"name": one.name, "old": one.old, "new": one.new, "change": one.relative}
