"""A comparison for people: one column a variant while there is room, else one row a variant."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report.compare.cells import failures, results
from aiplan.report.compare.drawing import graph
from aiplan.report.console import Look, console_of, draw
from aiplan.report.facts import BOLD
from aiplan.report.grid import columns, lines
from aiplan.report.line_plot import with_plot
from aiplan.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.table import Table

    from aiplan.planning.compare import Comparison

COMFORTABLE = 120
MOST_LISTED = 6
LEAST_LABEL = 24


def table(answer: Comparison, look: Look) -> str:
    """Return a comparison as text."""
    return draw(look, *_blocks(answer, look))


def drawn(answer: Comparison, look: Look) -> str:
    """Return a comparison along one field as text, with a plot below."""
    return with_plot(table(answer, look), graph(answer), look)


def _blocks(answer: Comparison, look: Look) -> Iterator[RenderableType]:
    if answer.answered:
        beside = _beside(answer)
        if _needs(beside) <= (look.width or COMFORTABLE):
            yield beside
        else:
            header, rows = _below(answer)
            numbers = columns(header[1:], [row[1:] for row in rows])
            label = min(LEAST_LABEL, max(map(len, _labels(answer))) + 2)
            room = look.width is None or _needs(numbers) + label <= look.width
            table = columns(header, rows, right=range(1, len(header) - 1), fold=(0,))
            yield from [table] if room else _cards(answer)
            yield from _differences(answer)
    failed = failures(answer)
    if failed:
        yield ""
        yield Text("Not possible", BOLD)
        yield lines([(f"  {label}", reason) for label, reason in failed], "")


def _needs(block: Table) -> int:
    return console_of(Look(), StringIO()).measure(block).maximum


def _beside(answer: Comparison) -> Table:
    """Return one column a variant: what differs on top, results below, changes against the first in brackets."""
    usable = [index for index, item in enumerate(answer.items) if item.estimate is not None]
    rows = [[f"  {row.name}", *(row.texts[index] for index in usable)] for row in answer.differences()]
    if rows:
        rows.append([""] * (len(usable) + 1))
    rows.extend([f"  {line.label}", *map(_changed, line.cells, line.changes)] for line in results(answer))
    return columns(["", *_labels(answer)], rows)


def _below(answer: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return headings, and one row a variant, with the change of the step against the first."""
    found = {line.label.partition(" [")[0]: line for line in results(answer)}
    verdicts = ["yes" if item.estimate.fits else "no" for item in answer.items if item.estimate is not None]
    header = ["", *(line.label.replace(" ", "\n", 1) for line in found.values()), "step\nvs first", "fits"]
    rows = [
        [label, *(line.cells[index] for line in found.values()), found["step time"].changes[index], verdicts[index]]
        for index, label in enumerate(_labels(answer))
    ]
    return header, rows


def _cards(answer: Comparison) -> Iterator[RenderableType]:
    """Yield a few lines a variant, where there is no room for a table."""
    found = results(answer)
    for index, label in enumerate(_labels(answer)):
        yield Text(clean(label), BOLD)
        yield lines([(f"  {line.label}", _changed(line.cells[index], line.changes[index])) for line in found])


def _differences(answer: Comparison) -> Iterator[RenderableType]:
    """Yield what differs, the values in the order of the variants, as long as that can be read."""
    usable = [index for index, item in enumerate(answer.items) if item.estimate is not None]
    found = answer.differences() if len(usable) <= MOST_LISTED else []
    if found:
        yield ""
        yield Text("What differs going in, in the same order", BOLD)
        yield lines([(f"  {row.name}", "; ".join(row.texts[index] or "-" for index in usable)) for row in found])


def _labels(answer: Comparison) -> list[str]:
    return [item.label for item in answer.items if item.estimate is not None]


def _changed(cell: str, change: str) -> str:
    return f"{cell} ({change})" if change else cell
