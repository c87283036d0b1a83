"""Measured collectives in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.measured import Logs

render: Report[Logs] = Report(__name__)
