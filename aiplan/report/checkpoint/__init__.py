"""Checkpoints of a scenario, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.checkpoint import CheckpointAnswer

render: Report[CheckpointAnswer] = Report(__name__)
