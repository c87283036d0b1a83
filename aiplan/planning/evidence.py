"""The residuals of the published runs that came with the program: one small table, read when it is asked for."""

from __future__ import annotations

import csv
from functools import cache
from typing import TYPE_CHECKING

from aiplan.catalog.folders import data_folder
from aiplan.planning.intervals import Interval, Like, Residuals, generation, interval, residuals, scale_of
from aiplan.scenario.files import LIBRARY, PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from aiplan.scenario.load import Scenario
    from aiplan.scenario.runs import MeasuredRun

HEADER = ("id", "source", "accelerator", "family", "gpus", "predicted_over_measured")
STRETCH = "# stretch "


def like(scenario: Scenario) -> Like:
    """Return what makes other runs like a scenario."""
    return Like(generation(scenario.node.accelerator), family(scenario), scale_of(scenario.accelerators))


def family(scenario: Scenario) -> str:
    """Return the family of a scenario's model."""
    return "mixture of experts" if scenario.model.experts else "dense"


def place() -> Path:
    """Return the file of the residuals."""
    return data_folder(LIBRARY) / PUBLISHED / "residuals.csv"


def parse(lines: Iterable[str]) -> Residuals:
    """Return the residuals of a table: a line with the stretch, a heading, one line a run."""
    first, _, *rows = lines
    return residuals(
        (
            (ident, source, Like(generation(accelerator), kind, scale_of(int(gpus))), float(ratio))
            for ident, source, accelerator, kind, gpus, ratio in csv.reader(rows)
        ),
        float(first.removeprefix(STRETCH)),
    )


@cache
def published() -> Residuals:
    """Return the residuals of the published runs."""
    return parse(place().read_text(encoding="utf-8").splitlines())


@cache
def published_interval(wanted: Like, without: frozenset[str] = frozenset()) -> Interval | None:
    """Return the interval that the published runs give, those of some sources left out."""
    table = published()
    for source in without:
        table = table.without(source)
    return interval(table, wanted)


@cache
def _source_by_id() -> dict[str, str]:
    table = published()
    return dict(zip(table.ident, map(str, table.source), strict=True))


def sources(run: MeasuredRun) -> frozenset[str]:
    """Return the published sources that a run may come from: they are no evidence for it."""
    return frozenset({run.source, _source_by_id().get(run.ident, run.source)})
