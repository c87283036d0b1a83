"""What a comparison of many scenarios says, apart from how it is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.diff import wording
from aiplan.report.text import change, clean, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aiplan.planning.changes import Change, Changes
    from aiplan.planning.diff import Number

SIGNS = {"changed": "~", "added": "+", "removed": "-", "mended": "+", "broken": "!"}
KEY = "+ added, - removed, ~ changed, ! cannot be read"
COLUMNS = (("time_to_train_s", "wallclock_s"), ("step_time_s",), ("memory_bytes_per_gpu",), ("cost_usd",))
HEADER = ("", "scenario", "time", "step", "memory", "cost", "")
WORDS = {
    "changed": "changed",
    "added": "added",
    "removed": "removed",
    "mended": "could not be read before",
    "broken": "cannot be read",
    "same": "the same",
}


def headline(answer: Changes) -> str:
    """Return the answer in one line."""
    told = [f"{number:,} {WORDS[state]}" for state, number in answer.counts().items() if number]
    return joined([f"{len(answer.all):,} {'scenario' if len(answer.all) == 1 else 'scenarios'}", *told])


def title(answer: Changes) -> str:
    """Return what is compared."""
    if answer.revision:
        return f"{', '.join(answer.paths)} since {answer.revision}"
    return " -> ".join(answer.paths)


def rows(answer: Changes, told: Callable[[Change], str]) -> list[tuple[str, ...]]:
    """Return a row for everything that is not the same; a cell of two lines has a change below a value.

    Parameters
    ----------
    answer : Changes
        The comparison.
    told : callable
        Says what figures do not: `remark`, or `short` where faults are shown in full beside.
    """
    return [(*_row(one), clean(told(one))) for one in answer.all if one.state != "same"]


def _row(one: Change) -> tuple[str, ...]:
    found = {figure.name: figure for figure in one.figures}
    cells = [next((_cell(one, found[name]) for name in names if name in found), "") for names in COLUMNS]
    return SIGNS[one.state], clean(one.name), *cells


def _cell(one: Change, figure: Number) -> str:
    """Return what a result is now, or was before the scenario went, and its change."""
    number = figure if one.state != "removed" else figure._replace(new=figure.old, old=None)
    if number.new is None:
        return ""
    *_, text, _ = wording.result(number)
    changed = change(number.relative) if number.relative else ""
    return f"{text}\n{changed}" if changed else text


def remark(one: Change) -> str:
    """Return what figures do not tell."""
    if one.state == "mended":
        return _because(WORDS["mended"], one.problem)
    if one.state == "broken" and one.loaded is not None:
        return _because(WORDS["broken"], _first(one))
    if one.difference is not None:
        return fits(one) if one.difference.changed else "no result changed"
    fitting = next((figure for figure in one.figures if figure.name == "fits"), None)
    return "does not fit" if one.state == "added" and fitting is not None and fitting.new is False else ""


def short(one: Change) -> str:
    """Return what figures do not tell, without what is wrong with a file."""
    return WORDS[one.state] if one.state in {"mended", "broken"} else remark(one)


def fits(one: Change) -> str:
    """Return whether that a plan fits has changed."""
    found = None if one.difference is None else one.difference.result("fits")
    return "" if found is None else "fits now" if found.new else "does not fit any more"


def _because(what: str, why: str) -> str:
    return f"{what}: {why}" if why else what


def _first(one: Change) -> str:
    faults: Sequence[str] = [
        item.problem for item in (one.loaded.diagnostics.items if one.loaded else ()) if item.level == "error"
    ]
    return faults[0] if faults else ""
