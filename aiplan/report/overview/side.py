"""Scenarios side by side: what differs going in, what comes out, and both trees as bars on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.engine.tree import BRANCHES
from aiplan.report import html
from aiplan.report.compare.cells import results
from aiplan.report.overview import pictures
from aiplan.units import scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.overview import Overview

IDENT, TITLE = "side-by-side", "Side by side"


def parts(answer: Overview) -> Iterator[str]:
    """Yield differences, results, and the pictures."""
    marks = [f"{sheet.mark} {sheet.label}" for sheet in answer.sheets]
    every = range(len(marks) + 1)
    inputs = [(row.name, *row.texts) for row in answer.comparison.differences()]
    if inputs:
        yield html.table("What differs going in", ("", *marks), inputs, text=every)
    lines = [
        (
            line.label,
            *(f"{cell} ({more})" if more else cell for cell, more in zip(line.cells, line.changes, strict=True)),
        )
        for line in results(answer.comparison)
    ]
    yield html.table("What comes out, and the change against the first", ("", *marks), lines)
    for root, title in (("step", "Time of a step"), ("memory", "Memory per GPU, fullest stage")):
        picture = pictures.compared(answer, root, title)
        yield html.beside(html.figure(picture, f"{root}-compared", keyed=False), _table(answer, root, title))


def _table(answer: Overview, root: str, title: str) -> str:
    """Return the parts of a tree of every scenario."""
    estimates = [sheet.estimate for sheet in answer.sheets]
    names = [root, *(part for part in BRANCHES[root].children if any(one[part] for one in estimates))]
    symbol, cells = scale([one[name] for name in names for one in estimates], BRANCHES[root].unit)
    width = len(estimates)
    rows = [(BRANCHES[name].label, *cells[at * width : (at + 1) * width]) for at, name in enumerate(names)]
    looks = ["d0", *(f"d1 {pictures.colour(root, name)}" for name in names[1:])]
    return html.table(f"{title} [{symbol}]", ("", *(sheet.mark for sheet in answer.sheets)), rows, looks=looks)
