"""Demand against supply of storage for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report import grid
from aiplan.report.console import draw
from aiplan.report.facts import BOLD, DIM
from aiplan.report.storage import wording
from aiplan.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.planning.storage import StorageAnswer
    from aiplan.report.console import Look


def table(answer: StorageAnswer, look: Look) -> str:
    """Return demand against supply as text."""
    return draw(look, *_blocks(answer, look))


def _blocks(answer: StorageAnswer, look: Look) -> Iterator[RenderableType]:
    yield Text(clean(wording.title(answer)), BOLD)
    yield grid.facts(look, wording.facts(answer))
    yield ""
    yield grid.columns(wording.STAGES, wording.stages(answer), right=(1, 2), fold=(0,))
    yield ""
    yield grid.columns(wording.NEEDS, wording.needs(answer), right=(1, 2, 3, 4), fold=() if look.narrow else (6,))
    yield ""
    yield grid.columns(wording.LEVELS, wording.levels(answer), right=(1, 2), fold=(0,))
    yield Text(wording.NOTE, DIM)
    yield ""
    told = wording.verdict(answer)
    yield grid.lines([(told.label, told.value)], told.style)
