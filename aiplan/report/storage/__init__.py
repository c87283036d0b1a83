"""Demand against supply of storage, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.storage import StorageAnswer

render: Report[StorageAnswer] = Report(__name__)
