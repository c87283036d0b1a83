"""The words and cells of an accuracy report, for table, Markdown and page alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.report.facts import Fact
from aiplan.report.text import change, joined, percent, span
from aiplan.units import quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.accuracy import Accuracy, Comparison, Group

MEMORY_KINDS = {
    "device": "all of the device",
    "reserved": "what the allocator holds",
    "allocated": "what tensors take",
}
"""What a measured memory counts."""
HEADINGS = ("runs", "median", "p90", "worst", "bias", "in 90 %")
KEY = (
    "median, p90 and worst of the absolute error of the step time; bias is the median of the error with its sign; the "
    "last column is the share of runs inside the 90 % interval that other sources give"
)
FITS_HEADINGS = ("plans that", "predicted to fit", "predicted not to fit")
MISS_HEADINGS = ("run", "measured", "needs", "there", "off the limit")
WORST_HEADINGS = ("run", "measured", "predicted", "error", "90 % interval")


def cells(group: Group) -> tuple[str, ...]:
    """Return count and errors of a group."""
    covered = "" if math.isnan(group.covered) else percent(group.covered)
    return (f"{group.count:,}", *map(percent, (group.median, group.p90, group.worst)), change(group.bias), covered)


def memory(answer: Accuracy) -> list[tuple[str, ...]]:
    """Return names and cells of the errors of memory: over all runs that published it, and by what it counts."""
    whole = answer.memory()
    if whole is None:
        return []
    parts = [(f"  {MEMORY_KINDS[group.name]}", *cells(group)) for group in answer.memory_kinds()]
    return [(whole.name, *cells(whole)), *parts]


def count(answer: Accuracy) -> str:
    """Return how many runs are compared; whole trainings, if there is nothing else."""
    if answer.trainings.items and not answer.comparisons:
        return f"{len(answer.trainings.counted):,} of {len(answer.trainings.items):,} whole trainings compared"
    more = f", {answer.for_memory_only:,} more for memory only" if answer.for_memory_only else ""
    return f"{len(answer.counted):,} of {len(answer.comparisons):,} runs compared{more}"


def summary(answer: Accuracy) -> list[str]:
    """Return the overall errors, and how often the interval from other sources holds what was measured."""
    found, share = answer.overall(), answer.coverage()
    lines = [] if found is None else [f"error of the step time: {errors(found)}"]
    if not math.isnan(share):
        lines.append(f"{percent(share)} of the runs lie in the 90 % interval that other sources give")
    within = answer.memory_coverage()
    if not math.isnan(within):
        lines.append(f"{percent(within)} of the measured memories lie in the 90 % interval that other sources give")
    return lines


def tiles(answer: Accuracy) -> list[Fact]:
    """Return the overall errors one by one."""
    found, share, within = answer.overall(), answer.coverage(), answer.memory_coverage()
    memory_only = f"{answer.for_memory_only:,} more for memory only" if answer.for_memory_only else ""
    lines = [
        Fact("runs compared", f"{len(answer.counted):,}", joined([f"of {len(answer.comparisons):,}", memory_only]))
    ]
    if found is not None:
        lines += [
            Fact("median error", percent(found.median), "of the step time, whatever its sign"),
            Fact("nine in ten within", percent(found.p90), f"the worst run {percent(found.worst)}"),
            Fact("bias", change(found.bias), "median of the error with its sign"),
        ]
    if not math.isnan(share):
        lines.append(Fact("in the 90 % interval", percent(share), "of the runs, by what other sources give"))
    if not math.isnan(within):
        lines.append(Fact("memory in its interval", percent(within), "of the measured memories, likewise"))
    return lines


def fits(answer: Accuracy) -> list[tuple[str, str, str]]:
    """Return how many plans fitted and how many ran out of memory, by what was predicted.

    That plans which fitted were predicted to fit is nothing to show where none ran out.
    """
    found = answer.fits()
    if found is None or not (found.misses or found.ran_out_as_predicted):
        return []
    return [
        ("fitted", f"{found.fitted_as_predicted:,}", f"{found.fitted_against:,}"),
        ("ran out of memory", f"{found.ran_out_against:,}", f"{found.ran_out_as_predicted:,}"),
    ]


def fits_summary(answer: Accuracy) -> str:
    """Return how often it was predicted right what fits, and how many misses are close calls."""
    found = answer.fits()
    if found is None:
        return ""
    balanced = found.balanced_accuracy
    right = "" if math.isnan(balanced) else f"balanced accuracy {percent(balanced)}; "
    return f"{right}{len(found.misses):,} misses, {len(found.far()):,} of them more than 10 % off the limit"


def misses(answer: Accuracy) -> list[tuple[str, ...]]:
    """Return the cells of the misses that are no close calls."""
    found = answer.fits()
    return [
        (
            item.run.ident,
            "fitted" if item.fits_measured else "ran out of memory",
            quantity(item.needed, "B"),
            quantity(item.capacity, "B"),
            change(item.over_limit),
        )
        for item in (found.far() if found else [])
    ]


def errors(group: Group) -> str:
    """Return the errors of a group as part of a sentence."""
    parts = zip(HEADINGS[1:-1], cells(group)[1:-1], strict=True)
    return ", ".join(f"{name} {cell}" for name, cell in parts)


def worst(items: Sequence[Comparison]) -> list[tuple[str, ...]]:
    """Return the cells of the runs with the largest errors."""
    return [
        (
            item.run.ident if item.run.ident.startswith(item.run.source) else f"{item.run.ident} ({item.run.source})",
            quantity(item.measured_step_time, "s"),
            quantity(item.estimate["step"], "s"),
            change(item.error),
            _interval(item),
        )
        for item in items
        if item.estimate is not None
    ]


def skipped(answer: Accuracy) -> list[tuple[str, str]]:
    """Return how many runs are left out, and why."""
    return [(f"{count:,}", reason) for reason, count in answer.skipped()]


def assumed(answer: Accuracy) -> list[tuple[str, str]]:
    """Return what was taken for granted, and for how many runs."""
    return [(f"{count:,}", text) for text, count in answer.assumed()]


def _interval(item: Comparison) -> str:
    found = item.interval
    return "" if found is None else span(found.low, found.high, "s")
