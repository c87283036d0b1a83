"""The answer for one scenario, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.estimate import Estimate
    from aiplan.planning.explain import Explanation
    from aiplan.planning.ways_out import WayOut
    from aiplan.report.console import Look


class Answer(NamedTuple):
    """What is shown: the estimate, ways out if it does not fit, and a term explained if asked for."""

    estimate: Estimate
    ways: Sequence[WayOut] = ()
    explanation: Explanation | None = None


def render(answer: Answer, form: str, look: Look) -> str:
    """Return the answer in one of the formats `table`, `plain`, `json`, `csv` and `markdown`."""
    if form == "json":
        from aiplan.report.estimate.document import document

        return document(answer)
    if form == "markdown":
        from aiplan.report.estimate.markdown import page

        return page(answer)
    if form == "table":
        from aiplan.report.estimate.table import table

        return table(answer, look)
    from aiplan.report.estimate.flat import HEADER, rows
    from aiplan.report.records import comma_separated, tabs

    return (tabs if form == "plain" else comma_separated)(HEADER, rows(answer.estimate))
