"""Kinds of fabrics side by side in every format, with the places of a plan's groups if there is a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from aiplan.planning.fabrics import Survey
    from aiplan.planning.placement import Group
    from aiplan.report.console import Look
    from aiplan.scenario.load import Scenario


class Answer(NamedTuple):
    """What `aiplan topology` says: the fabrics, and where the groups of a scenario's plan lie in its own."""

    survey: Survey
    scenario: Scenario | None = None
    groups: tuple[Group, ...] = ()


def render(answer: Answer, form: str, look: Look) -> str:
    """Return fabrics in one of the formats."""
    if form == "json":
        from aiplan.report.topology.document import document

        return document(answer)
    if form == "markdown":
        from aiplan.report.topology.markdown import page

        return page(answer)
    if form == "table":
        from aiplan.report.topology.table import table

        return table(answer, look)
    from aiplan.report.records import comma_separated, tabs
    from aiplan.report.topology.document import HEADER, rows

    return (tabs if form == "plain" else comma_separated)(HEADER, rows(answer))
