"""What a change of each parameter does, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.sensitivity import Sensitivity

render: Report[Sensitivity] = Report(__name__)
