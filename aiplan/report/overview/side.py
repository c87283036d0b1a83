"""Scenarios side by side: what differs going in, what comes out, and both trees as bars on one scale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.engine.tree import BRANCHES
from aiplan.report import html
from aiplan.report.compare.cells import results
from aiplan.report.compare.drawing import graph
from aiplan.report.line_chart import line_chart
from aiplan.report.overview import pictures
from aiplan.report.picture import PAGE
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
        yield html.wide_table("What differs going in", ("", *marks), inputs, text=every)
    lines = [
        (
            line.label,
            *(f"{cell} ({more})" if more else cell for cell, more in zip(line.cells, line.changes, strict=True)),
        )
        for line in results(answer.comparison)
    ]
    yield html.wide_table("What comes out, and the change against the first", ("", *marks), lines)
    if answer.comparison.varied is not None:
        picture = line_chart(graph(answer.comparison), PAGE)
        yield html.beside(html.figure(picture, "results-compared"), html.paragraph(f"Shown: {picture.text}.", "soft"))
    for root, title in _trees(answer):
        picture = pictures.compared(answer, root, title)
        figure = html.figure(picture, f"{root}-compared", keyed=False)
        yield html.beside(figure + html.paragraph(picture.text, "soft"), _table(answer, root, title))


def _trees(answer: Overview) -> list[tuple[str, str]]:
    """Return the trees that all scenarios have, with their titles."""
    found = [("step", "Time of a step"), ("memory", "Memory per GPU, fullest stage")]
    whole = all(sheet.estimate.scenario.run and math.isfinite(sheet.estimate["wallclock"]) for sheet in answer.sheets)
    return [*found, ("wallclock", "Wall clock")] if whole else found


def _table(answer: Overview, root: str, title: str) -> str:
    """Return the parts of a tree of every scenario, and the ends of its interval."""
    estimates = [sheet.estimate for sheet in answer.sheets]
    names = [root, *(part for part in BRANCHES[root].children if any(one[part] for one in estimates))]
    found = [pictures.interval(one, root) for one in estimates]
    ends = [[None if one is None else one[end] for one in found] for end in (0, 1)]
    every = [[one[name] for one in estimates] for name in names] + (ends if any(found) else [])
    symbol, cells = scale([value for row in every for value in row], BRANCHES[root].unit)
    labels = [*(BRANCHES[name].label for name in names), "90 %: from", "90 %: to"]
    width = len(estimates)
    rows = [(labels[at], *cells[at * width : (at + 1) * width]) for at in range(len(every))]
    looks = ["d0", *(f"d1 {pictures.colour(root, name)}" for name in names[1:]), "", ""]
    return html.table(f"{title} [{symbol}]", ("", *(sheet.mark for sheet in answer.sheets)), rows, looks=looks)
