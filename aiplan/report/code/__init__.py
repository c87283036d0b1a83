"""The page of a code: what it is, why it matters, an example, and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.report.code.pages import Page

render: Report[Page] = Report(__name__)
