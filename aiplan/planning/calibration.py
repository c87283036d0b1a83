"""Fit the constants of accelerators and software presets on measured runs, and see how well they carry over.

All constants are fitted together: least squares on the logarithm of predicted over measured step time, large residuals
damped, each constant drawn weakly towards what one would take without runs. Without a source, the same is done with the
runs of all others; a constant that only this source tells about is then what one would take without runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.engine.evaluate import evaluate
from aiplan.planning.accuracy import compare_runs, group_of
from aiplan.planning.constants import constants
from aiplan.planning.descent import descend
from aiplan.planning.estimate import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from aiplan.core.arrays import Array
    from aiplan.engine.inputs import Inputs
    from aiplan.planning.accuracy import Group
    from aiplan.planning.constants import Constant
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.runs import MeasuredRun

DAMPING = 0.12
"""Residual, as a logarithm, from which on a run counts less and less (Cauchy's loss)."""
NUDGE = 0.02
FARTHEST = 0.5
"""How far a constant moves in one round, as a logarithm."""
ROUNDS, ROUNDS_WITHOUT = 25, 3
SETTLED = 0.02


class Error(NamedTuple):
    """Predicted over measured, less one, of a run; intervals are no part of a calibration."""

    error: float
    covered: bool | None = None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Constants before and after the fit, and predicted over measured step times."""

    constants: Sequence[Constant]
    before: Array
    after: Array
    ratio_before: Array
    ratio_after: Array
    ratio_without: Array
    """Each run with constants fitted on the runs of the other sources; NaN where there is no other."""
    sources: NDArray[np.str_]
    files: tuple[str, ...] = ()
    grades: str = "AB"

    def errors(self, ratio: Array, source: str | None = None) -> Group | None:
        """Return the errors of one of the ratios, over all runs or over those of a source."""
        chosen = ratio if source is None else ratio[self.sources == source]
        known = [Error(float(found) - 1.0) for found in chosen[np.isfinite(chosen)]]
        return group_of("calibration", source or "all runs", known) if known else None

    def source_names(self) -> list[str]:
        """Return the sources, those with the most runs first."""
        names, counts = np.unique(self.sources, return_counts=True)
        return [str(name) for _, name in sorted(zip(-counts, names, strict=True))]


class _State(NamedTuple):
    values: Array
    residuals: Array
    loss: float


@dataclass(frozen=True, slots=True)
class _Problem:
    inputs: Inputs
    measured: Array
    constants: Sequence[Constant]

    def residuals(self, values: Array) -> Array:
        """Return the logarithm of predicted over measured, with values of the constants as logarithms."""
        self._write(values)
        predicted: Array = evaluate(self.inputs)["step"][0]
        return np.log(predicted / self.measured)

    def _write(self, values: Array) -> None:
        for constant, value in zip(self.constants, values, strict=True):
            constant.write(self.inputs, float(np.exp(value)))

    def bounded(self, values: Array) -> Array:
        """Return values inside their bounds."""
        kinds = [constant.kind for constant in self.constants]
        return np.clip(values, np.log([kind.low for kind in kinds]), np.log([kind.high for kind in kinds]))

    def state(self, values: Array, counted: NDArray[np.bool_]) -> _State:
        """Return values with their residuals and the loss over the runs that count."""
        residuals = self.residuals(values)
        drawn = (values - self.usual()) / self.spread()
        loss = float(np.sum(np.log1p((residuals[counted] / DAMPING) ** 2)) + np.sum(drawn**2))
        return _State(values, residuals, loss)

    def usual(self) -> Array:
        """Return the logarithm of what the constants are taken to be without runs."""
        return np.log([constant.kind.usual for constant in self.constants])

    def spread(self) -> Array:
        """Return how far from that they usually are, as a logarithm."""
        return np.array([constant.kind.spread for constant in self.constants])

    def slopes(self, at: _State) -> Array:
        """Return d residual / d constant; constants that share no run are nudged together."""
        found = np.zeros((len(self.measured), len(self.constants)))
        for group in _apart(self.constants):
            nudged = at.values.copy()
            nudged[group] += NUDGE
            change = (self.residuals(nudged) - at.residuals) / NUDGE
            for index in group:
                rows = self.constants[index].rows
                found[rows, index] = change[rows]
        return found


def counted(runs: Iterable[MeasuredRun], grades: str = "AB") -> list[tuple[Scenario, float, str]]:
    """Return the runs that count for step time, by the rules of `aiplan accuracy`: scenario, seconds, source."""
    return [
        (item.run.scenario, item.measured_step_time, item.run.source)
        for item in compare_runs(runs, grades)
        if item.estimate is not None and item.run.scenario is not None
    ]


def calibrate(
    runs: Sequence[tuple[Scenario, float, str]], files: tuple[str, ...] = (), grades: str = "AB"
) -> Calibration:
    """Fit the constants on runs, once on all of them and once without each source.

    Parameters
    ----------
    runs : sequence of tuple
        Scenario, measured step time in seconds, name of the source.
    files : tuple of str
        Where they come from.
    grades : str
        Grades that they were chosen by.
    """
    scenarios = [scenario for scenario, _, _ in runs]
    inputs = columns(scenarios)
    found = constants(scenarios, inputs)
    task = _Problem(inputs, np.array([measured for _, measured, _ in runs]), found)
    sources = np.array([source for _, _, source in runs])
    start = np.log([constant.read(inputs) for constant in found])
    before = task.residuals(start)
    everyone = np.ones(len(runs), dtype=bool)
    best = _fitted(task, start, everyone, ROUNDS)
    without = np.full(len(runs), np.nan)
    for source in np.unique(sources):
        others = sources != source
        if others.any():
            without[~others] = _fitted(task, _unaided(task, best.values, others), others, ROUNDS_WITHOUT).residuals[
                ~others
            ]
    return Calibration(
        found,
        np.exp(start),
        np.exp(best.values),
        np.exp(before),
        np.exp(best.residuals),
        np.exp(without),
        sources,
        files,
        grades,
    )


def _unaided(task: _Problem, values: Array, counted: NDArray[np.bool_]) -> Array:
    """Return values in which a constant that no counted run tells about is what one would take without runs."""
    known = np.array([bool((constant.rows & counted).any()) for constant in task.constants])
    return np.where(known, values, task.usual())


def _fitted(task: _Problem, start: Array, counted: NDArray[np.bool_], rounds: int) -> _State:
    """Return the constants that fit best: least squares on damped residuals."""
    pull = 1.0 / task.spread() ** 2

    def quadratic(best: _State) -> tuple[Array, Array]:
        slopes = task.slopes(best)
        weights = counted / (1.0 + (best.residuals / DAMPING) ** 2) / DAMPING**2
        curvature = slopes.T @ (slopes * weights[:, None]) + np.diag(pull)
        return curvature, slopes.T @ (weights * best.residuals) + pull * (best.values - task.usual())

    def at(values: Array) -> _State:
        return task.state(task.bounded(values), counted)

    return descend(at(start), at, quadratic, rounds, FARTHEST, SETTLED)


def _apart(found: Sequence[Constant]) -> list[list[int]]:
    """Return groups of constants of which no two apply to the same run."""
    groups: list[tuple[list[int], NDArray[np.bool_]]] = []
    for index, constant in enumerate(found):
        for position, (members, taken) in enumerate(groups):
            if not (taken & constant.rows).any():
                groups[position] = ([*members, index], taken | constant.rows)
                break
        else:
            groups.append(([index], constant.rows))
    return [members for members, _ in groups]
