"""Predicted against measured, run by run and in summary."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from aiplan.planning import evidence, memory_accuracy
from aiplan.planning.estimate import UNSEEN, Estimate, estimate
from aiplan.planning.intervals import scale_of
from aiplan.planning.ranking import Ranking, ranked
from aiplan.planning.scaling import Scaling, scaled
from aiplan.planning.trainings import NO_TRAININGS, Trainings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from aiplan.planning.intervals import Interval
    from aiplan.planning.memory_accuracy import Fits, Footprint
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.runs import MeasuredRun


class HasError(Protocol):
    """Something that was predicted and measured."""

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""

    @property
    def covered(self) -> bool | None:
        """Whether the interval holds what was measured; None without an interval."""


NO_STEP = "no step time or tokens/s published"


@dataclass(frozen=True, slots=True)
class Comparison:
    """One run, predicted and measured; `problem` says why its step time is left out.

    A run without a step time may still count for memory: it has a `footprint`.
    """

    run: MeasuredRun
    estimate: Estimate | None
    measured_step_time: float
    problem: str = ""
    footprint: Footprint | None = None

    @property
    def predicted_step_time(self) -> float:
        """Predicted step time; NaN without a prediction."""
        return math.nan if self.estimate is None else self.estimate["step"]

    @property
    def ratio(self) -> float:
        """Predicted over measured step time."""
        return self.predicted_step_time / self.measured_step_time

    @property
    def error(self) -> float:
        """Predicted over measured step time, less one."""
        return self.ratio - 1.0

    @property
    def interval(self) -> Interval | None:
        """The 90 % interval of the step time from published runs of other sources."""
        return None if self.estimate is None else self.estimate.interval("step", without=evidence.sources(self.run))

    @property
    def covered(self) -> bool | None:
        """Whether the interval holds what was measured; None without an interval."""
        found = self.interval
        return None if found is None else found.low <= self.measured_step_time <= found.high


@dataclass(frozen=True, slots=True)
class Group:
    """Errors of a group of runs, and the share of them inside the 90 % interval that other sources give."""

    kind: str
    name: str
    count: int
    median: float
    p90: float
    worst: float
    bias: float
    covered: float = math.nan


@dataclass(frozen=True, slots=True)
class Accuracy:
    """All runs that were asked for, compared, and how they were chosen."""

    comparisons: Sequence[Comparison]
    files: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    grades: str = "AB"
    trainings: Trainings = NO_TRAININGS

    def ranking(self) -> Ranking:
        """Return how well plans that one source measured under the same conditions are put in order."""
        return ranked(self.comparisons)

    def scaling(self) -> Scaling:
        """Return how well efficiency is predicted as accelerators are added."""
        return scaled(self.comparisons)

    @property
    def counted(self) -> list[Comparison]:
        """The runs that have a prediction."""
        return [item for item in self.comparisons if item.estimate is not None]

    def overall(self) -> Group | None:
        """Return the errors over all runs, if there are any."""
        counted = self.counted
        return group_of("all", "all runs", counted) if counted else None

    @property
    def footprints(self) -> list[Footprint]:
        """The runs that count for memory, with or without a step time."""
        return [item.footprint for item in self.comparisons if item.footprint is not None]

    @property
    def for_memory_only(self) -> int:
        """How many runs count for memory but not for the step time."""
        return sum(item.footprint is not None and item.estimate is None for item in self.comparisons)

    def memory(self) -> Group | None:
        """Return the errors of memory over the runs that published it."""
        listed = self._with_memory()
        return group_of("memory", "memory, where published", listed) if listed else None

    def memory_kinds(self) -> list[Group]:
        """Return the errors of memory by what the measured one counts."""
        listed = self._with_memory()
        groups = [(kind, [item for item in listed if item.kind == kind]) for kind in UNSEEN]
        return [group_of("memory", kind, items) for kind, items in groups if items]

    def fits(self) -> Fits | None:
        """Return how well it was predicted which plans fit."""
        return memory_accuracy.fits(self.footprints)

    def memory_coverage(self) -> float:
        """Return the share of measured memories that lie in the interval; NaN if none has one."""
        return covered_share(self.footprints)

    def _with_memory(self) -> list[Footprint]:
        return [item for item in self.footprints if math.isfinite(item.error)]

    def groups(self) -> dict[str, list[Group]]:
        """Return the errors by every kind of group, the largest groups first."""
        return {kind: self._by(kind, key) for kind, key in KEYS.items()}

    def _by(self, kind: str, key: Callable[[MeasuredRun, Scenario], str]) -> list[Group]:
        members: dict[str, list[Comparison]] = {}
        for item in self.counted:
            if item.run.scenario is not None:
                members.setdefault(key(item.run, item.run.scenario), []).append(item)
        ordered = sorted(members.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        return [group_of(kind, name, items) for name, items in ordered]

    def worst(self, count: int) -> list[Comparison]:
        """Return the runs with the largest errors."""
        return sorted(self.counted, key=lambda item: (-abs(item.error), item.run.ident))[:count]

    def skipped(self) -> list[tuple[str, int]]:
        """Return why runs do not count at all, and how many there are of each kind, the most first."""
        found = Counter(item.problem for item in self.comparisons if item.estimate is None and item.footprint is None)
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))

    def assumed(self) -> list[tuple[str, int]]:
        """Return what was taken for granted about runs that count, and for how many, the most first."""
        counted = (item for item in self.comparisons if item.estimate is not None or item.footprint is not None)
        found = Counter(text for item in counted for text in item.run.assumed)
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))

    def coverage(self) -> float:
        """Return the share of runs whose measured step lies in the interval; NaN if none has one."""
        return covered_share(self.counted)


def measured_step_time(scenario: Scenario) -> float | None:
    """Return the step time that was measured, directly or as tokens per second."""
    measured = scenario.file.measured
    if measured is None:
        return None
    if measured.step_time is not None:
        return measured.step_time
    if measured.tokens_per_s_per_gpu is None:
        return None
    work = scenario.file.workload
    return work.sequence_length * work.global_batch / (scenario.accelerators * measured.tokens_per_s_per_gpu)


def compare_runs(runs: Iterable[MeasuredRun], grades: str = "AB") -> list[Comparison]:
    """Predict runs as one batch and put the predictions beside what was measured.

    Runs without a layout, of another grade, incomplete, or without a measured step or memory are kept with the reason
    why they do not count.
    """
    listed = list(runs)
    reasons = [_left_out(run, grades) for run in listed]
    planned = [run.scenario for run, reason in zip(listed, reasons, strict=True) if not reason and run.scenario]
    predictions = iter(estimate(planned) if planned else [])
    return [
        Comparison(run, None, math.nan, reason)
        if reason or run.scenario is None
        else _compared(run, next(predictions), measured_step_time(run.scenario))
        for run, reason in zip(listed, reasons, strict=True)
    ]


def _compared(run: MeasuredRun, found: Estimate, measured: float | None) -> Comparison:
    with_memory = memory_accuracy.has_memory(found.scenario) and math.isfinite(found["memory"])
    footprint = memory_accuracy.footprint(run, found) if with_memory else None
    if measured is None:
        return Comparison(run, None, math.nan, NO_STEP, footprint)
    if math.isfinite(found["step"]):
        return Comparison(run, found, measured, footprint=footprint)
    unknown = "; ".join(item.problem for item in found.unknowns()) or "an input is out of all proportion"
    return Comparison(run, None, math.nan, f"no step time predicted: {unknown}", footprint)


def _left_out(run: MeasuredRun, grades: str) -> str:
    if run.scenario is None:
        return run.problem or "cannot be planned"
    if run.quality not in grades:
        return f"grade {run.quality}"
    if not run.complete:
        return "not complete: part of the layout is not published"
    return "" if measured_step_time(run.scenario) or memory_accuracy.has_memory(run.scenario) else NO_STEP


def group_of(kind: str, name: str, items: Sequence[HasError]) -> Group:
    """Return median, p90, worst and bias of the errors of some items; the sign of an error counts for bias only."""
    errors = [item.error for item in items]
    size = np.abs(errors)
    return Group(
        kind=kind,
        name=name,
        count=len(errors),
        median=float(np.median(size)),
        p90=float(np.quantile(size, 0.9)),
        worst=float(np.max(size)),
        bias=float(np.median(errors)),
        covered=covered_share(items),
    )


def covered_share(items: Iterable[HasError]) -> float:
    """Return the share of items that lie in their interval; NaN if none has one."""
    known = [item.covered for item in items if item.covered is not None]
    return sum(known) / len(known) if known else math.nan


def _kind(scenario: Scenario) -> str:
    plan = scenario.file.plan
    parts = [
        name
        for name, used in (
            ("TP", plan.tensor > 1),
            ("PP", plan.pipeline > 1),
            ("CP", plan.context > 1),
            ("EP", plan.expert > 1),
            ("FSDP", scenario.values["plan.zero"].number >= 3),
        )
        if used
    ]
    return "+".join(parts) or "data parallel only"


KEYS: dict[str, Callable[[MeasuredRun, Scenario], str]] = {
    "accelerator": lambda _, scenario: scenario.accelerator.name,
    "precision": lambda _, scenario: scenario.file.workload.precision,
    "family": lambda _, scenario: evidence.family(scenario),
    "accelerators": lambda _, scenario: scale_of(scenario.accelerators),
    "parallel kind": lambda _, scenario: _kind(scenario),
    "software": lambda _, scenario: scenario.file.software,
    "source": lambda run, _: run.source,
}
