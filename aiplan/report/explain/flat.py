"""Explanations as records: one line a term or argument, with its depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.explain import Terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.explain import Explanation
    from aiplan.report.explain import Explained
    from aiplan.report.records import Cell

HEADER = ("depth", "name", "value", "unit", "origin", "closed_form", "formula", "where")


def rows(answer: Terms | Explained) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every term, arguments behind what they went into."""
    for one in answer.terms if isinstance(answer, Terms) else (answer.explanation,):
        yield from _rows(one, 0)


def _rows(one: Explanation, depth: int) -> Iterator[tuple[Cell, ...]]:
    formula = one.form.formula if one.form else ""
    yield depth, one.name, one.value, one.unit, one.kind, one.call, formula, one.where
    for argument in one.arguments:
        yield from _rows(argument, depth + 1)
