"""Kinds of fabrics side by side in every format, with the places of a plan's groups if there is a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.fabrics import Survey
    from aiplan.planning.placement import Group
    from aiplan.scenario.load import Scenario


class Answer(NamedTuple):
    """What `aiplan topology` says: the fabrics, and where the groups of a scenario's plan lie in its own."""

    survey: Survey
    scenario: Scenario | None = None
    groups: tuple[Group, ...] = ()


render: Report[Answer] = Report(__name__)
