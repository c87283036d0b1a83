"""Predicted against measured, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.report.formats import Report

if TYPE_CHECKING:
    from aiplan.planning.accuracy import Accuracy


class Answer(NamedTuple):
    """What is shown: predictions beside measurements, of which people see the `worst` runs only."""

    accuracy: Accuracy
    worst: int


render: Report[Answer] = Report(__name__, records="flat")
render_drawn: Report[Answer] = Report(__name__, table="table.drawn", records="flat")
