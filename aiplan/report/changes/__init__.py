"""What lies between many scenarios before and after, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.changes import Changes

render: Report[Changes] = Report(__name__)
