"""Several scenarios side by side, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.compare import Comparison

render: Report[Comparison] = Report(__name__, records="flat")
render_drawn: Report[Comparison] = Report(__name__, table="table.drawn", records="flat")
