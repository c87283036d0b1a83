"""A check for people: one line a rule, what fails last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.report.check import wording
from aiplan.report.console import draw
from aiplan.report.facts import BAD, BOLD, DIM, GOOD
from aiplan.report.grid import plain_grid
from aiplan.report.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.table import Table

    from aiplan.planning.check import Check, Checked, Verdict
    from aiplan.report.console import Look

ROOM = 80
"""Columns from which on a sentence stands beside the name of its rule."""
STYLES = {"ok": GOOD, "exempt": DIM, "note": DIM, "warning": BOLD, "error": BAD}


def table(answer: Check, look: Look) -> str:
    """Return a check as text."""
    return draw(look, *_blocks(answer, beside=look.width is None or look.width >= ROOM))


def _blocks(answer: Check, *, beside: bool) -> Iterator[RenderableType]:
    for skipped in answer.skipped:
        yield Text(clean(f"skipped {skipped.name}: {skipped.why}"), DIM)
    if answer.skipped:
        yield ""
    for file in answer.files:
        yield Text(clean(wording.heading(file)), BOLD)
        yield _lines(file, beside=beside)
        yield ""
    style = GOOD if answer.code == 0 else BAD
    yield Text(f"{wording.verdict(answer)}: {wording.counts(answer)}", style)


def _lines(file: Checked, *, beside: bool) -> Table:
    """Return a row for every rule, its sentence beside its name, or below it."""
    found = plain_grid()
    found.add_column(no_wrap=True)
    found.add_column(no_wrap=beside, overflow="fold")
    if beside:
        found.add_column(overflow="fold")
    for one in file.verdicts:
        name = Text(clean(one.rule if one.state == "ok" else f"{one.rule} {one.code}"))
        cells = (name, _text(one, file)) if beside else (Text("\n").join([name, _text(one, file)]),)
        found.add_row(Text(f"  {one.state}", STYLES[one.state]), *cells)
    return found


def _text(one: Verdict, file: Checked) -> Text:
    lines = [wording.sentence(one)]
    if one.state != "ok":
        told = wording.advice(one)
        lines += ([told] if told else []) + [f"at {wording.place(one.mark, file.path)}"]
    return Text("\n").join(Text(clean(line), "" if at == 0 else DIM) for at, line in enumerate(lines))
