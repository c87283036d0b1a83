"""Why a number is what it is, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.explain import Explanation
    from aiplan.scenario.load import Scenario


class Terms(NamedTuple):
    """All that can be explained: the terms, each with its value but without what is below."""

    scenario: Scenario
    terms: Sequence[Explanation]


class Explained(NamedTuple):
    """One term with what is below it."""

    scenario: Scenario
    explanation: Explanation


render: Report[Terms | Explained] = Report(__name__, records="flat")
