"""Fitted constants for people: the errors, the constants, and every source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report.calibration import wording
from aiplan.report.console import draw
from aiplan.report.facts import BOLD, DIM
from aiplan.report.grid import columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.planning.calibration import Calibration
    from aiplan.report.console import Look

NUMBERS = range(1, 6)
NOTE = (
    "median, p90 and worst of the absolute error of the step time; bias is the median of the error with its sign. The "
    "last line is the one to trust: a constant that only the source in question tells about is then a usual value."
)


def table(answer: Calibration, look: Look) -> str:
    """Return a calibration as text."""
    return draw(look, *_blocks(answer))


def _blocks(answer: Calibration) -> Iterator[RenderableType]:
    yield Text(wording.count(answer), BOLD)
    yield ""
    yield columns(wording.ERRORS, wording.errors(answer), right=NUMBERS, fold=(0,))
    yield Text(NOTE, DIM)
    yield ""
    yield columns(wording.CONSTANTS, wording.constants(answer), right=NUMBERS, fold=(0,))
    yield ""
    yield columns(wording.SOURCES, wording.sources(answer), right=NUMBERS, fold=(0,))
