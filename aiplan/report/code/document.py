"""A page as JSON, and as one record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.report import documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.report.code.pages import Page, Sample
    from aiplan.report.records import Cell

HEADER = ("code", "name", "what", "why")


def document(page: Page) -> str:
    """Return a JSON document `aiplan.code/1`."""
    result: dict[str, Any] = dict(zip(HEADER, next(rows(page)), strict=True))
    result |= {"example": _sample(page.example), "instead": page.instead and _sample(page.instead)}
    return documents.document("code", {"code": page.code.code}, [], result, [])


def rows(page: Page) -> Iterator[tuple[Cell, ...]]:
    """Yield the record of a page."""
    yield page.code.code, page.code.name, page.code.explanation, page.why


def _sample(sample: Sample) -> dict[str, Any]:
    return {"file": sample.file or None, "text": sample.text, "command": sample.command}
