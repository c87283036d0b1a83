"""Blocks of a report for people, drawn by rich: facts, trees of shares, plain columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from aiplan.report.facts import BAR, BOLD, DIM
from aiplan.report.text import clean, percent
from aiplan.units import scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import JustifyMethod, RenderableType

    from aiplan.planning.estimate import Row
    from aiplan.report.console import Look
    from aiplan.report.facts import Fact

BAR_CELLS = 24
LABEL_WIDTH = 36
_EIGHTHS = " \u258f\u258e\u258d\u258c\u258b\u258a\u2589\u2588"


def facts(look: Look, lines: Sequence[Fact]) -> Table:
    """Return labelled values with remarks; remarks go below where there is no room beside."""
    beside = any(line.note and line.value for line in lines) and not look.narrow
    table = plain_grid()
    table.add_column(no_wrap=True, style=DIM)
    table.add_column(overflow="fold", no_wrap=beside)
    if beside:
        table.add_column(overflow="fold")
    for line in lines:
        value, note = Text(clean(line.value), line.style), Text(clean(line.note))
        if beside:
            table.add_row(Text(f"  {line.label}"), value, note)
        else:
            together = [part for part in (value, note) if part]
            table.add_row(Text(f"  {line.label}"), Text("\n").join(together))
    return table


def lines(rows: Sequence[tuple[str, str]], style: str = DIM) -> Table:
    """Return labelled sentences."""
    table = plain_grid()
    table.add_column(no_wrap=True, style=style)
    table.add_column(overflow="fold")
    for label, text in rows:
        table.add_row(Text(label), Text(clean(text)))
    return table


def share_tree(look: Look, title: str, rows: Sequence[Row]) -> Table:
    """Return a tree of terms with value, share of the root, and a bar."""
    unit, cells = scale([row.value for row in rows], rows[0].unit)
    table = plain_grid()
    table.add_column(overflow="fold", min_width=None if look.narrow else LABEL_WIDTH)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    if not look.narrow:
        table.add_column(no_wrap=True)
    heading = [Text(title, BOLD), Text(unit, DIM), Text("%", DIM)]
    table.add_row(*heading, *([] if look.narrow else [""]))
    for row, cell in zip(rows, cells, strict=True):
        style = BOLD if row.depth == 0 else ""
        name = Padding(Text(row.label, style), (0, 0, 0, 2 * (row.depth + 1)))
        parts: list[RenderableType] = [name, Text(cell, style), Text(percent(row.share).removesuffix(" %"), style)]
        table.add_row(*parts, *([] if look.narrow else [Text(bar(row.share, blocks=look.blocks), BAR)]))
    return table


def bar(share: float, *, blocks: bool) -> str:
    """Return a bar for a share of one."""
    if not 0 <= share <= 1:
        return ""
    if not blocks:
        return "#" * round(share * BAR_CELLS)
    whole, eighths = divmod(round(share * BAR_CELLS * 8), 8)
    return _EIGHTHS[8] * whole + (_EIGHTHS[eighths] if eighths else "")


def columns(
    header: Sequence[str], rows: Sequence[Sequence[str | Text]], right: Sequence[int] = (), fold: Sequence[int] = ()
) -> Table:
    """Return rows of text under headings.

    Parameters
    ----------
    header : sequence of str
        Headings.
    rows : sequence of sequence of str or Text
        Cells; those of several lines are Text.
    right : sequence of int
        Columns aligned to the right.
    fold : sequence of int
        Columns that give way where there is no room; all if none is named.
    """
    table = plain_grid()
    for index, _ in enumerate(header):
        justify: JustifyMethod = "right" if index in right else "left"
        table.add_column(justify=justify, overflow="fold", no_wrap=bool(fold) and index not in fold)
    if any(header):
        table.add_row(*(Text("\n".join(map(clean, cell.split("\n"))), DIM) for cell in header))
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(clean(cell)) for cell in row))
    return table


def plain_grid() -> Table:
    """Return a table without lines, two spaces between columns."""
    return Table(box=None, show_header=False, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
