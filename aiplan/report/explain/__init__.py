"""Why a number is what it is, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.explain import Explanation
    from aiplan.report.console import Look
    from aiplan.scenario.load import Scenario


class Terms(NamedTuple):
    """All that can be explained: the terms, each with its value but without what is below."""

    scenario: Scenario
    terms: Sequence[Explanation]


class Explained(NamedTuple):
    """One term with what is below it."""

    scenario: Scenario
    explanation: Explanation


def render(answer: Terms | Explained, form: str, look: Look) -> str:
    """Return an explanation, or the list of terms, in one of the formats."""
    if form == "json":
        from aiplan.report.explain.document import document

        return document(answer)
    if form == "markdown":
        from aiplan.report.explain.markdown import page

        return page(answer)
    if form == "table":
        from aiplan.report.explain.table import table

        return table(answer, look)
    from aiplan.report.explain.flat import HEADER, rows
    from aiplan.report.records import comma_separated, tabs

    return (tabs if form == "plain" else comma_separated)(HEADER, rows(answer))
