"""A measured collective beside the predicted one, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.shortfall import Verdict

render: Report[Verdict] = Report(__name__)
