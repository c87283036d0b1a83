"""Fitted constants in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.calibration import Calibration

render: Report[Calibration] = Report(__name__)
