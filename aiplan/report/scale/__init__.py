"""A scenario on more and more accelerators in every format, its table with or without a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.scale import Answer

render: Report[Answer] = Report(__name__)
render_drawn: Report[Answer] = Report(__name__, table="table.drawn")
