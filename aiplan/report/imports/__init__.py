"""Files of other programs, as read, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.imports import Imported

render: Report[Imported] = Report(__name__)
