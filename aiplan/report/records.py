"""Rows of values as text for programs: tab-separated, CSV, and Markdown tables."""

from __future__ import annotations

import csv
import math
from io import StringIO
from typing import TYPE_CHECKING

from aiplan.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Cell = str | float | bool | None


def tabs(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Return tab-separated lines: one header, one record a line, unknown is empty."""
    lines = [header, *([_cell(cell) for cell in row] for row in rows)]
    return "".join("\t".join(clean(cell) for cell in line) + "\n" for line in lines)


def comma_separated(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Return CSV as spreadsheets read it."""
    target = StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([clean(_cell(cell)) for cell in row] for row in rows)
    return target.getvalue()


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Return a Markdown table; cells are Markdown already.

    Parameters
    ----------
    header : sequence of str
        Headings.
    rows : iterable of sequence of str
        Cells.
    right : iterable of int
        Columns that are aligned to the right.
    """
    aligned = set(right)
    rule = ["---:" if index in aligned else "---" for index in range(len(header))]
    return "".join(f"| {' | '.join(line)} |\n" for line in (header, rule, *rows))


def _cell(value: Cell) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)
