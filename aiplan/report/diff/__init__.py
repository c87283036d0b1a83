"""What lies between two estimates, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.diff import Difference

render: Report[Difference] = Report(__name__)
