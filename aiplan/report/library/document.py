"""What the library holds as JSON, as records, and as cells."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from aiplan.report import documents
from aiplan.report.schema_parts import COUNT, TEXT, closed, items, or_none
from aiplan.units import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.planning.library import Item, Library
    from aiplan.report.records import Cell

HEADER = ("kind", "id", "name", "parameters")


def document(answer: Library) -> str:
    """Return a JSON document `aiplan.library/1`."""
    entries = [dict(zip(HEADER, row, strict=True)) for row in rows(answer)]
    return documents.document("library", {"kind": answer.kind}, [], {"entries": entries}, [])


def rows(answer: Library) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every entry."""
    yield from answer.items


def by_kind(answer: Library) -> Iterator[tuple[str, list[Item]]]:
    """Yield the kinds with their entries."""
    for kind, found in groupby(answer.items, lambda item: item.kind):
        yield kind, list(found)


def heading(kind: str, found: Sequence[Item]) -> str:
    """Return how many entries of a kind there are."""
    return f"{len(found)} {'software presets' if kind == 'software' else 'files of jobs' if kind == 'jobs' else kind}"


def cells(found: Sequence[Item]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return headings and rows of entries of one kind; parameters where there are any."""
    counted = any(item.parameters for item in found)
    header = ("name", "what it is", *(("parameters",) if counted else ()))
    return header, [(item.ident, item.name, *((quantity(item.parameters, "1"),) if counted else ())) for item in found]


def inputs() -> dict[str, Any]:
    """Return the schema of what was asked."""
    return closed({"kind": or_none(TEXT)})


def result() -> dict[str, Any]:
    """Return the schema of what was found."""
    return closed({"entries": items(closed({"kind": TEXT, "id": TEXT, "name": TEXT, "parameters": or_none(COUNT)}))})
