"""The answer for one scenario, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.estimate import Estimate
    from aiplan.planning.explain import Explanation
    from aiplan.planning.ways_out import WayOut


class Answer(NamedTuple):
    """What is shown: the estimate, ways out if it does not fit, and a term explained if asked for."""

    estimate: Estimate
    ways: Sequence[WayOut] = ()
    explanation: Explanation | None = None


render: Report[Answer] = Report(__name__, records="flat")
