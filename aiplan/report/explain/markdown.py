"""Explanations as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.explain import Terms
from aiplan.report.explain.wording import amount, below, forms, origin
from aiplan.report.records import markdown_table
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from aiplan.planning.explain import Explanation
    from aiplan.report.explain import Explained


def page(answer: Terms | Explained) -> str:
    """Return an explanation, or the list of terms, as Markdown."""
    title = f"**{markdown(answer.scenario.name)}**\n\n"
    if isinstance(answer, Terms):
        rows = [(f"`{term.name}`", amount(term), markdown(term.text)) for term in answer.terms]
        return title + markdown_table(("term", "value", ""), rows, right=(1,))
    return title + section(answer.explanation)


def section(one: Explanation) -> str:
    """Return one explanation: the value, what went in, and the closed forms behind it."""
    parts = [f"`{one.name}` = {amount(one)}, {markdown(origin(one))}\n"]
    rows = [
        (
            "&emsp;" * depth + f"`{argument.name}`",
            amount(argument),
            markdown(argument.text),
            markdown(origin(argument)),
        )
        for depth, argument in below(one)
    ]
    if rows:
        parts.append(markdown_table(("from", "value", "", "origin"), rows, right=(1,)))
    for call, form in forms(one).items():
        told = [form.sentence, f"Limits: {form.notes}" if form.notes else "", f"Source: {form.source}"]
        text = " ".join(markdown(part) for part in told if part)
        parts.append(f"- `{call}`: `{form.formula}`. {text}\n")
    return "\n".join(parts)
