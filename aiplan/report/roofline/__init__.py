"""Kernels between the roofs of an accelerator, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.roofline import Roofline

render: Report[Roofline] = Report(__name__)
