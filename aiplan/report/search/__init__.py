"""The best plans of a scenario in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.search import Answer

render: Report[Answer] = Report(__name__)
render_drawn: Report[Answer] = Report(__name__, table="table.drawn")
