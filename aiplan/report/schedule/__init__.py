"""A schedule in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.scheduling.question import Answer

render: Report[Answer] = Report(__name__)
