"""The words and cells of a roofline, for table, plot and Markdown alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.text import percent
from aiplan.units import quantity, scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.roofline import Class, Roofline

MARKS = "ABCDEFGHIJ"
UNCOUNTED = "-"
SHORT_STARTS = 0.5
KEY = (
    "Operations, bytes and time are those of the calls that timed the kernels of the busiest pipeline stage. "
    "Arithmetic of kernels that only move bytes is taken as free, so these have no intensity. of roof: what is reached "
    "of the sustained roof at that intensity."
)


def title(answer: Roofline) -> str:
    """Return whose kernels they are, and on what."""
    return f"Roofline: {answer.scenario.name}, {answer.scenario.accelerator.name}"


def roofs(answer: Roofline) -> list[tuple[str, str]]:
    """Return the roofs."""
    one = answer.roofs
    matmul = f"{quantity(one.matmul_peak, 'FLOP/s')} dense peak, {quantity(one.matmul_sustained, 'FLOP/s')} sustained"
    memory = f"{quantity(one.bandwidth, 'B/s')} printed, {quantity(one.bandwidth_sustained, 'B/s')} sustained"
    found = [("matmul", matmul), ("memory", memory), ("ridge", f"{one.ridge:.0f} FLOP/B between the printed roofs")]
    if one.attention_peak != one.matmul_peak:
        found.insert(1, ("attention", f"{quantity(one.attention_peak, 'FLOP/s')} dense peak"))
    return found


def lines(answer: Roofline) -> list[tuple[str, float, float]]:
    """Return the roofs as they are drawn: what each is, its rate and its bandwidth."""
    one = answer.roofs
    found = [
        ("printed", one.matmul_peak, one.bandwidth),
        ("sustained", one.matmul_sustained, one.bandwidth_sustained),
    ]
    apart = [("attention", one.attention_peak, one.bandwidth)] if one.attention_peak != one.matmul_peak else []
    return found + apart


def marked(answer: Roofline) -> Iterator[tuple[str, Class]]:
    """Yield every class with the letter that stands for it in a plot; none where it has no intensity."""
    marks = iter(MARKS)
    for one in answer.classes:
        yield (UNCOUNTED if one.intensity is None else next(marks)), one


def header(answer: Roofline) -> tuple[str, ...]:
    """Return the headings of the table."""
    times = scale([one.time for one in answer.classes], "s")[0]
    return ("", "kernels", f"time [{times}]", "of step", "FLOP/B", "TFLOP/s", "of peak", "of roof", "GB/s", "limit")


def rows(answer: Roofline) -> list[tuple[str, ...]]:
    """Return a row for every class."""
    _, times = scale([one.time for one in answer.classes], "s")
    return [_row(answer, mark, one, time) for (mark, one), time in zip(marked(answer), times, strict=True)]


def _row(answer: Roofline, mark: str, one: Class, time: str) -> tuple[str, ...]:
    at, rate, peak = one.intensity, one.rate, one.peak
    reached = ("", "", "", "")
    if at is not None and rate is not None and peak is not None:
        roof = percent(answer.reached(one))
        reached = (f"{at:,.0f}" if at >= 10 else f"{at:.1f}", f"{rate / 1e12:,.1f}", percent(rate / peak), roof)
    bandwidth = f"{one.bandwidth / 1e9:,.0f}"
    return (mark, one.label, time, percent(answer.share(one)), *reached, bandwidth, limit(one))


def limit(one: Class) -> str:
    """Return what limits most of a class's time."""
    if one.launching > SHORT_STARTS:
        return "starting kernels"
    if one.memory_bound in (0.0, 1.0):
        return "memory" if one.memory_bound else "arithmetic"
    share = percent(max(one.memory_bound, 1.0 - one.memory_bound))
    return f"{'memory' if one.memory_bound > 1.0 / 2.0 else 'arithmetic'} in {share}"
