"""The residuals of the published runs that came with the program: one small table, read when it is asked for."""

from __future__ import annotations

import csv
import math
from functools import cache
from typing import TYPE_CHECKING

from aiplan.catalog.folders import data_folder
from aiplan.planning.intervals import (
    UNFITTED,
    UNSEEN,
    Interval,
    Like,
    Residuals,
    columns,
    from_columns,
    generation,
    interval,
    scale_of,
)
from aiplan.scenario.files import LIBRARY, PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from aiplan.scenario.load import Scenario
    from aiplan.scenario.runs import MeasuredRun

HEADER = ("id", "source", "accelerator", "family", "gpus", "software", "predicted_over_measured")
STRETCH = "# stretch "
MEMORY_HEADER = ("id", "source", "software", "kind", "predicted_over_measured")
FAMILIES = ("nanotron", "torchtitan", "megatron")
"""Software whose presets are versions or relatives of each other, by how their names begin."""
DESCENT = {"nemo": "megatron", "nemo-megatron": "megatron"}
"""Families of software that run the layers and schedules of another one."""


def like(scenario: Scenario) -> Like:
    """Return what makes other runs like a scenario."""
    software = lineage(scenario.file.software)
    return Like(generation(scenario.node.accelerator), family(scenario), scale_of(scenario.accelerators), software)


def family(scenario: Scenario) -> str:
    """Return the family of a scenario's model."""
    return "mixture of experts" if scenario.model.experts else "dense"


def place() -> Path:
    """Return the file of the residuals."""
    return data_folder(LIBRARY) / PUBLISHED / "residuals.csv"


def parse(lines: Iterable[str]) -> Residuals:
    """Return the residuals of a table: a line with the stretch, a heading, one line a run."""
    first, _, *rows = lines
    ident, source, accelerator, kind, gpus, software, ratio = columns(csv.reader(rows), len(HEADER))
    like = ([*map(generation, accelerator)], kind, [*map(scale_of, map(int, gpus))], software)
    return from_columns(ident, source, like, [*map(float, ratio)], _stretch(first))


@cache
def published() -> Residuals:
    """Return the residuals of the published runs."""
    return parse(place().read_text(encoding="utf-8").splitlines())


def step_interval(scenario: Scenario, without: frozenset[str] = frozenset()) -> Interval | None:
    """Return the interval of the step of a scenario.

    It is wider where what the accelerator sustains, or what the kernels of the software reach of it, is an assumption.
    """
    wanted = like(scenario)
    guessed = scenario.values["cluster.matmul_fraction"].origin.kind in {"default", "assumed"}
    unseen = wanted.software not in published().software
    return published_interval(wanted, without, math.hypot(UNFITTED * guessed, UNSEEN * unseen))


@cache
def published_interval(wanted: Like, without: frozenset[str] = frozenset(), unknown: float = 0.0) -> Interval | None:
    """Return the interval that the published runs give, those of some sources left out.

    Where something is unknown as well, it says if none of the runs was on the generation of the accelerator, or with
    the software.
    """
    table = published()
    for source in without:
        table = table.without(source)
    found = interval(table, wanted, unknown)
    if found is None or not unknown:
        return found
    known = (("on", wanted.accelerator, table.accelerator), ("with", wanted.software, table.software))
    missing = [f"none {word} {name}" for word, name, column in known if name not in column and found.level != "all"]
    return found._replace(evidence="; ".join([found.evidence, *missing]))


def software_family(preset: str) -> str:
    """Return the family that a software preset belongs to."""
    return next((name for name in FAMILIES if preset.startswith(name)), preset)


def lineage(preset: str) -> str:
    """Return the software whose kernels and schedules a preset has: NeMo runs those of Megatron."""
    family = software_family(preset)
    return DESCENT.get(family, family)


def memory_place() -> Path:
    """Return the file of the residuals of memory."""
    return data_folder(LIBRARY) / PUBLISHED / "memory.csv"


def parse_memory(lines: Iterable[str]) -> Residuals:
    """Return the residuals of a table of memory: a line with the stretch, a heading, one line a run.

    What makes runs alike is the family of software and, more so, what the figure counts.
    """
    first, _, *rows = lines
    ident, source, software, kind, ratio = columns(csv.reader(rows), len(MEMORY_HEADER))
    like = (software, kind, [""] * len(ident), [""] * len(ident))
    return from_columns(ident, source, like, [*map(float, ratio)], _stretch(first))


def _stretch(line: str) -> float:
    return float(line.removeprefix(STRETCH))


@cache
def published_memory() -> Residuals:
    """Return the residuals of the memory of published runs."""
    return parse_memory(memory_place().read_text(encoding="utf-8").splitlines())


def memory_interval(scenario: Scenario, kind: str, without: frozenset[str] = frozenset()) -> Interval | None:
    """Return the factors between which measured over predicted memory lies in nine of ten cases.

    Parameters
    ----------
    scenario : Scenario
        What is planned.
    kind : str
        What the figure counts: `device`, `reserved` or `allocated`.
    without : frozenset of str
        Sources whose runs are no evidence.
    """
    return _memory_interval(Like(software_family(scenario.file.software), kind, ""), without)


@cache
def _memory_interval(wanted: Like, without: frozenset[str]) -> Interval | None:
    table = published_memory()
    for source in without:
        table = table.without(source)
    found = interval(table, wanted)
    if found is None:
        return None
    runs = f"{found.runs:,} runs"
    match found.level:
        case "scale" | "family":
            return found._replace(evidence=f"{runs} with {wanted.accelerator}, {wanted.family} memory")
        case "accelerator":
            return found._replace(evidence=f"{runs} with {wanted.accelerator}")
        case _:
            return found._replace(evidence=f"all {runs}; no like run published")


@cache
def _source_by_id() -> dict[str, str]:
    table = published()
    return dict(zip(table.ident, map(str, table.source), strict=True))


@cache
def _memory_source_by_id() -> dict[str, str]:
    table = published_memory()
    return dict(zip(table.ident, map(str, table.source), strict=True))


def memory_sources(run: MeasuredRun) -> frozenset[str]:
    """Return the published sources that the memory of a run may come from: they are no evidence for it."""
    return sources(run) | {_memory_source_by_id().get(run.ident, run.source)}


def sources(run: MeasuredRun) -> frozenset[str]:
    """Return the published sources that a run may come from: they are no evidence for it."""
    return frozenset({run.source, _source_by_id().get(run.ident, run.source)})
