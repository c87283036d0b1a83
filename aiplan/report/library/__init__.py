"""What the library holds in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.library import Library

render: Report[Library] = Report(__name__)
