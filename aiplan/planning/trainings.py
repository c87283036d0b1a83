"""Whole trainings: the time that is predicted beside the time that was published, by what that counts."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from aiplan.planning import evidence
from aiplan.planning.estimate import Estimate, estimate
from aiplan.planning.layouts import fastest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.planning.intervals import Interval
    from aiplan.planning.variants import Setting
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.runs import MeasuredRun

MOST_EXCESS = 0.1
"""Share by which the ideal time may exceed the published one: the error of a good prediction of a step."""
NEAR = 0.15
"""Error that needs no explanation."""
STEPS, WALL_CLOCK, ACCELERATOR_HOURS = COUNTS = ("steps", "wall clock", "accelerator-hours")
"""What a published duration counts: steps and evaluations by the clock of a benchmark, the wall clock, or the bill."""
NO_LAYOUT = "no layout that was tried fits into memory"


@dataclass(frozen=True, slots=True)
class Training:
    """A whole training, predicted and measured; `problem` says why one is left out."""

    run: MeasuredRun
    estimate: Estimate | None
    problem: str = ""

    @property
    def predicted_time(self) -> float:
        """Time of all steps, or the wall clock where failures are modelled; NaN without a prediction."""
        return math.nan if self.estimate is None else self.estimate.whole_time

    @property
    def measured_time(self) -> float:
        """Published wall time; NaN if there is none."""
        return math.nan if self.run.scenario is None else wall_time(self.run.scenario)

    @property
    def ratio(self) -> float:
        """Published over predicted time: above 1 by evaluation, failures, restarts and ramp-up, and by our error."""
        return self.measured_time / self.predicted_time

    @property
    def error(self) -> float:
        """Predicted over published time, less one."""
        return self.predicted_time / self.measured_time - 1.0

    @property
    def interval(self) -> Interval | None:
        """The 90 % interval of the predicted time, from runs of other sources."""
        return None if self.estimate is None else self.estimate.whole_interval(evidence.sources(self.run))

    @property
    def covered(self) -> bool | None:
        """Whether the interval holds what was published; None without an interval."""
        found = self.interval
        return None if found is None else found.low <= self.measured_time <= found.high

    @property
    def counts(self) -> str:
        """What was published and is predicted: one of `COUNTS`."""
        measured = None if self.run.scenario is None else self.run.scenario.file.measured
        if measured is None or measured.time_to_train is None:
            return ACCELERATOR_HOURS
        return measured.time_counts

    @property
    def exceeds(self) -> bool:
        """Whether the predicted time is longer than what was published by more than a tenth."""
        return self.predicted_time > (1.0 + MOST_EXCESS) * self.measured_time

    @property
    def own_plan(self) -> bool:
        """Whether the layout is one of ours, for want of a published one."""
        return not self.run.complete


class TrainingSummary(NamedTuple):
    """Ratios of published over predicted time; the median of the error without its sign, and the share near enough."""

    number: int
    own_plans: int
    exceeding: int
    median: float
    lowest: float
    highest: float
    error: float
    near: float


class Class(NamedTuple):
    """Trainings of which the same was published."""

    counts: str
    own_plans: bool
    summary: TrainingSummary


@dataclass(frozen=True, slots=True)
class Trainings:
    """All whole trainings that were asked for."""

    items: tuple[Training, ...] = ()

    @property
    def counted(self) -> list[Training]:
        """Those with a prediction, the lowest ratio first."""
        return sorted((item for item in self.items if item.estimate is not None), key=lambda item: item.ratio)

    def summary(self) -> TrainingSummary | None:
        """Return the ratios together; None if there are none."""
        return _summary(self.counted) if self.counted else None

    def stated(self) -> TrainingSummary | None:
        """Return those that publish their layout; None if none does."""
        found = [item for item in self.counted if not item.own_plan]
        return _summary(found) if found else None

    def classes(self) -> list[Class]:
        """Return the trainings by what was published of them, those that state most first."""
        kinds = [(counts, own) for own in (False, True) for counts in COUNTS]
        members = [(kind, [item for item in self.counted if (item.counts, item.own_plan) == kind]) for kind in kinds]
        return [Class(*kind, _summary(items)) for kind, items in members if items]

    def skipped(self) -> list[tuple[str, int]]:
        """Return why trainings do not count, and how many there are of each kind, the most first."""
        found = Counter(item.problem for item in self.items if item.estimate is None)
        return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))


NO_TRAININGS = Trainings()


def _summary(counted: Sequence[Training]) -> TrainingSummary:
    """Return some trainings together, in the order of their ratios."""
    ratios, errors = [item.ratio for item in counted], [abs(item.error) for item in counted]
    return TrainingSummary(
        number=len(counted),
        own_plans=sum(item.own_plan for item in counted),
        exceeding=sum(item.exceeds for item in counted),
        median=median(ratios),
        lowest=ratios[0],
        highest=ratios[-1],
        error=median(errors),
        near=sum(error <= NEAR for error in errors) / len(errors),
    )


def wall_time(scenario: Scenario) -> float:
    """Return the published time of a whole training; NaN if there is none.

    t = T, or A / n where only accelerator time A is published

    Parameters
    ----------
    scenario : Scenario
        Says in `measured` what was published, and how many accelerators n there were. [s]
    """
    measured = scenario.file.measured
    if measured is not None and measured.time_to_train is not None:
        return measured.time_to_train
    if measured is not None and measured.accelerator_time is not None:
        return measured.accelerator_time / scenario.accelerators
    return math.nan


def step_by_step(runs: Iterable[MeasuredRun]) -> list[MeasuredRun]:
    """Return the runs whose steps were measured: all but those that were measured as a whole only."""
    return [run for run in runs if not run.whole or (run.scenario and _steps_measured(run.scenario))]


def _steps_measured(scenario: Scenario) -> bool:
    measured = scenario.file.measured
    return measured is not None and (measured.step_time or measured.tokens_per_s_per_gpu) is not None


def compare_trainings(
    runs: Iterable[MeasuredRun], catalog: Catalog, grades: str = "AB", settings: Sequence[Setting] = ()
) -> Trainings:
    """Predict whole trainings as one batch and put the predictions beside what was published.

    Where the layout is not published (`complete: no`), the fastest of a small grid of legal layouts that fits into
    memory stands in. Trainings without a scenario, of another grade, or without tokens are kept with the reason why
    they do not count.

    Parameters
    ----------
    runs : iterable of MeasuredRun
        Runs measured from beginning to end.
    catalog : Catalog
        Where ids are looked up.
    grades : str
        Grades that count.
    settings : sequence of tuple
        Changes to every run: path, value text, option name.
    """
    listed = [(run, _left_out(run, grades)) for run in runs]
    chosen = [None if reason else _planned(run, catalog, settings) for run, reason in listed]
    scenarios = [scenario for scenario in chosen if scenario is not None]
    answers = iter(estimate(scenarios) if scenarios else [])
    return Trainings(
        tuple(
            Training(run, None, reason or NO_LAYOUT) if scenario is None else _training(run, next(answers))
            for (run, reason), scenario in zip(listed, chosen, strict=True)
        )
    )


def _left_out(run: MeasuredRun, grades: str) -> str:
    if run.scenario is None:
        return run.problem or "cannot be planned"
    if run.quality not in grades:
        return f"grade {run.quality}"
    return "" if run.scenario.file.workload.tokens else "tokens are not published"


def _planned(run: MeasuredRun, catalog: Catalog, settings: Sequence[Setting]) -> Scenario | None:
    """Return the scenario of a run; with a layout of ours if none is published and none is set."""
    given = any(path == "plan" or path.startswith("plan.") for path, _, _ in settings)
    if run.scenario is None or run.tree is None or run.place is None or run.complete or given:
        return run.scenario
    return fastest(run.tree, run.place, catalog, run.scenario, settings)


def _training(run: MeasuredRun, answer: Estimate) -> Training:
    if math.isfinite(answer.whole_time):
        return Training(run, answer)
    unknown = "; ".join(item.problem for item in answer.unknowns()) or "an input is out of all proportion"
    return Training(run, None, f"no time predicted: {unknown}")
