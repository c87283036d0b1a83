"""The cells of a comparison as people read them, for table and Markdown alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.planning.compare import OF_THE_RUN, compared, result
from aiplan.report.text import change, percent
from aiplan.units import duration, quantity, scale

if TYPE_CHECKING:
    from aiplan.planning.compare import Comparison


class Line(NamedTuple):
    """One result of every variant: its name with the unit, the cells, and the change of each against the first."""

    label: str
    cells: list[str]
    changes: list[str]


def results(answer: Comparison) -> list[Line]:
    """Return the results of the variants that could be estimated."""
    ideal = [
        _line(answer, "run.time_to_train", "time to train"),
        _line(answer, "step", "step time", "s"),
        _line(answer, "run.tokens_per_s_per_gpu", "tokens/s per GPU", "1"),
        _line(answer, "utilisation", "MFU", "%"),
        _memory(answer),
        _line(answer, "run.cost", "cost", "USD"),
    ]
    if "wallclock" not in compared(answer):
        return ideal
    whole = [
        _line(answer, "wallclock", "wall clock"),
        _line(answer, "run.goodput", "goodput", "%"),
        _line(answer, "total.cost", "cost of the run", "USD"),
    ]
    return [*ideal, *whole]


def failures(answer: Comparison) -> list[tuple[str, str]]:
    """Return the variants that are not possible, with the reason."""
    return [
        (item.label, f"{item.fault.problem} [{item.fault.code}]" + (f"; {item.fault.hint}" if item.fault.hint else ""))
        for item in answer.items
        if item.estimate is None
    ]


def _line(answer: Comparison, name: str, label: str, unit: str = "") -> Line:
    values = [result(item.estimate, name) for item in answer.items if item.estimate is not None]
    changes = [
        change(found)
        for found, item in zip(answer.changes(name), answer.items, strict=True)
        if item.estimate is not None
    ]
    symbol = ""
    if unit == "":
        cells = [duration(value) for value in values]
    elif unit == "USD":
        cells = [quantity(value, unit) for value in values]
    elif unit == "%":
        cells = [percent(value) for value in values]
    else:
        symbol, cells = scale(values, unit)
    runs = [item.estimate.scenario.run for item in answer.items if item.estimate is not None]
    shown = [cell if name not in OF_THE_RUN or run else "" for cell, run in zip(cells, runs, strict=True)]
    return Line(f"{label} [{symbol}]" if symbol else label, shown, changes)


def _memory(answer: Comparison) -> Line:
    estimates = [item.estimate for item in answer.items if item.estimate is not None]
    needed = [estimate["memory"] for estimate in estimates]
    there = [estimate["memory.capacity"] for estimate in estimates]
    symbol, cells = scale([*needed, *there], "B")
    pairs = zip(cells[: len(needed)], cells[len(needed) :], strict=True)
    verdicts = ["fits" if estimate.fits else "does not fit" for estimate in estimates]
    return Line(f"memory [{symbol}]", [f"{a} / {b}" for a, b in pairs], verdicts)
