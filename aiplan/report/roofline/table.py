"""Kernels between the roofs for people: a table, and the plot below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report.console import draw
from aiplan.report.facts import BOLD, DIM
from aiplan.report.grid import columns, lines
from aiplan.report.roofline import wording
from aiplan.report.roofline.plot import plot
from aiplan.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.planning.roofline import Roofline
    from aiplan.report.console import Look

ROOMY = 100
"""Width from which there is room for all columns."""
SPARED = ("of step", "of peak", "GB/s")
NARROW = (*SPARED, "FLOP/B", "of roof", "limit")
"""What is left out below that width, and where there is no room at all."""


def table(answer: Roofline, look: Look) -> str:
    """Return the classes of kernels as text, with the plot."""
    drawn = plot(answer, look)
    return draw(look, *_blocks(answer, look)) + (f"\n{drawn}" if drawn else "")


def _blocks(answer: Roofline, look: Look) -> Iterator[RenderableType]:
    yield Text(clean(wording.title(answer)), BOLD)
    yield lines([(f"  {name}", text) for name, text in wording.roofs(answer)])
    yield ""
    header = wording.header(answer)
    roomy = look.width is None or look.width >= ROOMY
    spared = () if roomy else NARROW if look.narrow else SPARED
    shown = [index for index, name in enumerate(header) if name not in spared]
    rows = [[row[index] for index in shown] for row in wording.rows(answer)]
    fold = [at for at, index in enumerate(shown) if index in (1, len(header) - 1)]
    right = [at for at, index in enumerate(shown) if 1 < index < len(header) - 1]
    yield columns([header[index] for index in shown], rows, right=right, fold=fold)
    yield ""
    yield Text(wording.KEY, DIM)
