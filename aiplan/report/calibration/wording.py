"""The words and cells of a calibration, for table and Markdown alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report.text import change, percent

if TYPE_CHECKING:
    from aiplan.planning.accuracy import Group
    from aiplan.planning.calibration import Calibration

CONSTANTS = ("constant", "now", "fitted", "change", "runs")
ERRORS = ("", "runs", "median", "p90", "worst", "bias")
SOURCES = ("median error by source", "runs", "as they are", "fitted", "without it")


def count(answer: Calibration) -> str:
    """Return how many constants were fitted on how much."""
    runs, sources = len(answer.sources), len(answer.source_names())
    plural = "" if sources == 1 else "s"
    return f"{len(answer.constants)} constants fitted on {runs:,} runs of {sources} source{plural}"


def constants(answer: Calibration) -> list[tuple[str, ...]]:
    """Return every constant: where it stands, its value now, the fitted one, and the runs it applies to."""
    return [
        (f"{item.owner}: {item.key}", f"{now:.3g}", f"{then:.3g}", change(float(then / now - 1.0)), f"{item.runs:,}")
        for item, now, then in zip(answer.constants, answer.before, answer.after, strict=True)
    ]


def errors(answer: Calibration) -> list[tuple[str, ...]]:
    """Return the errors with the constants as they are, fitted, and fitted without the source of each run."""
    named = (
        ("constants as they are", answer.ratio_before),
        ("fitted", answer.ratio_after),
        ("fitted without the source of a run", answer.ratio_without),
    )
    return [(name, *_cells(answer.errors(ratio))) for name, ratio in named]


def sources(answer: Calibration) -> list[tuple[str, ...]]:
    """Return the median error of each source."""
    ratios = (answer.ratio_before, answer.ratio_after, answer.ratio_without)
    found = [(name, [answer.errors(ratio, name) for ratio in ratios]) for name in answer.source_names()]
    return [(name, f"{groups[0].count:,}", *map(_median, groups)) for name, groups in found if groups[0] is not None]


def _cells(group: Group | None) -> tuple[str, ...]:
    if group is None:
        return ("0", "", "", "", "")
    return (f"{group.count:,}", *map(percent, (group.median, group.p90, group.worst)), change(group.bias))


def _median(group: Group | None) -> str:
    return "" if group is None else percent(group.median)
