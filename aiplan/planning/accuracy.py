"""Predicted against measured, run by run and in summary."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aiplan.planning.estimate import Estimate, estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from aiplan.scenario.load import Scenario
    from aiplan.scenario.runs import MeasuredRun

SCALES = ((1, 8), (9, 64), (65, 512), (513, 4096), (4097, 10**9))


@dataclass(frozen=True, slots=True)
class Comparison:
    """One run, predicted and measured; `problem` says why a run is left out."""

    run: MeasuredRun
    estimate: Estimate | None
    measured_step_time: float
    problem: str = ""

    @property
    def error(self) -> float:
        """Predicted over measured step time, less one."""
        return math.nan if self.estimate is None else self.estimate["step"] / self.measured_step_time - 1.0

    @property
    def measured_memory(self) -> float:
        """Measured peak memory per accelerator; NaN if not published."""
        measured = self.run.scenario.file.measured if self.run.scenario else None
        return math.nan if measured is None or measured.memory is None else measured.memory


@dataclass(frozen=True, slots=True)
class Group:
    """Errors of a group of runs."""

    kind: str
    name: str
    count: int
    median: float
    p90: float
    worst: float
    bias: float


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

    Runs without a layout, of another grade, incomplete, or without a measured step are kept with the reason why they
    do not count.
    """
    listed = list(runs)
    reasons = [_left_out(run, grades) for run in listed]
    planned = [run.scenario for run, reason in zip(listed, reasons, strict=True) if not reason and run.scenario]
    predictions = iter(estimate(planned) if planned else [])
    return [
        Comparison(run, None, math.nan, reason)
        if reason or run.scenario is None
        else Comparison(run, next(predictions), measured_step_time(run.scenario) or math.nan)
        for run, reason in zip(listed, reasons, strict=True)
    ]


def _left_out(run: MeasuredRun, grades: str) -> str:
    if run.scenario is None:
        return run.problem or "cannot be planned"
    if run.quality not in grades:
        return f"grade {run.quality}"
    if not run.complete:
        return "not complete: part of the layout is not published"
    return "" if measured_step_time(run.scenario) else "no step time or tokens/s published"


def groups(comparisons: Sequence[Comparison]) -> list[Group]:
    """Summarise errors over all runs and by every kind of group, the largest groups first."""
    counted = [item for item in comparisons if item.estimate is not None]
    found = [_group("all", "all runs", counted)] if counted else []
    for kind, key in KEYS.items():
        members: dict[str, list[Comparison]] = {}
        for item in counted:
            if item.run.scenario is not None:
                members.setdefault(key(item.run.scenario), []).append(item)
        if kind == "source":
            members = {}
            for item in counted:
                members.setdefault(item.run.source, []).append(item)
        ordered = sorted(members.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        found += [_group(kind, name, items) for name, items in ordered]
    return found


def _group(kind: str, name: str, items: Sequence[Comparison]) -> Group:
    errors = np.array([item.error for item in items])
    size = np.abs(errors)
    return Group(
        kind=kind,
        name=name,
        count=len(items),
        median=float(np.median(size)),
        p90=float(np.quantile(size, 0.9)),
        worst=float(np.max(size)),
        bias=float(np.median(errors)),
    )


def _scale(scenario: Scenario) -> str:
    low, high = next(pair for pair in SCALES if pair[0] <= scenario.accelerators <= pair[1])
    return f"{low} to {high}" if high < 10**9 else f"{low} and more"


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


KEYS: dict[str, Callable[[Scenario], str]] = {
    "accelerator": lambda scenario: scenario.accelerator.name,
    "precision": lambda scenario: scenario.file.workload.precision,
    "family": lambda scenario: "mixture of experts" if scenario.model.experts else "dense",
    "accelerators": _scale,
    "parallel kind": _kind,
    "software": lambda scenario: scenario.file.software,
    "source": lambda scenario: scenario.source,
}
