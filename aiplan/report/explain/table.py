"""Explanations for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report.console import draw
from aiplan.report.explain import Terms
from aiplan.report.explain.wording import amount, below, forms, origin
from aiplan.report.facts import BOLD
from aiplan.report.grid import columns, lines
from aiplan.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.planning.explain import Explanation
    from aiplan.report.console import Look
    from aiplan.report.explain import Explained


def table(answer: Terms | Explained, look: Look) -> str:
    """Return an explanation, or the list of terms, as text."""
    if isinstance(answer, Terms):
        rows = [[term.name, amount(term), term.text if term.text != term.name else ""] for term in answer.terms]
        return draw(look, columns(["term", "value", ""], rows, right=(1,), fold=(0, 2)))
    return draw(look, *blocks(answer.explanation, look))


def blocks(one: Explanation, look: Look) -> Iterator[RenderableType]:
    """Yield the parts of an explanation: the value, what went in, and the closed forms behind it."""
    named = "" if one.text in {"", one.name} else f"  {one.text}"
    yield Text.assemble((one.name, BOLD), f" = {amount(one)}{clean(named)}")
    yield Text(f"  {clean(origin(one))}")
    rows = [
        ["  " * (depth + 1) + argument.name, amount(argument), argument.text, origin(argument)]
        for depth, argument in below(one)
    ]
    if rows:
        yield ""
        yield _arguments(rows, look)
    for call, form in forms(one).items():
        yield ""
        yield Text.assemble((call, BOLD), f"  {form.formula}")
        told = [("  what", form.sentence), ("  limits", form.notes), ("  source", form.source)]
        yield lines([(label, text) for label, text in told if text])


def _arguments(rows: list[list[str]], look: Look) -> RenderableType:
    if look.narrow:
        return columns(["", ""], [[row[0], f"{row[1]}: {row[2]}, {row[3]}"] for row in rows], fold=(0, 1))
    return columns(["  from", "value", "", "origin"], rows, right=(1,), fold=(2, 3))
