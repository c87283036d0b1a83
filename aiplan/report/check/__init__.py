"""A check in every format: those of all commands, and those of continuous integration."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.check import Check
    from aiplan.report.console import Look

OF_CI = ("github", "gitlab", "junit", "sarif")
_usual: Report[Check] = Report(__name__)


def render(answer: Check, form: str, look: Look) -> str:
    """Return a check in one of the usual formats, or in one of `OF_CI`."""
    if form not in OF_CI:
        return _usual(answer, form, look)
    text: str = import_module(f"{__name__}.{form}").text(answer)
    return text
