"""Whether predictions put plans in the order in which they were measured, and what the plan they choose costs."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.planning.alike import REPEATS_DIFFER, conditions, grouped, layout, planned

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aiplan.core.arrays import Array
    from aiplan.planning.accuracy import Comparison
    from aiplan.planning.alike import Conditions
    from aiplan.scenario.load import Scenario

LEAST_PLANS = 5
"""With fewer plans, chance alone orders them often enough."""
GOOD_SPEARMAN = 0.9
SMALL_REGRET = 0.05


class PlanTimes(NamedTuple):
    """A plan: ids of its runs, and the medians of their step times."""

    idents: tuple[str, ...]
    predicted: float
    measured: float


@dataclass(frozen=True, slots=True)
class RankedGroup:
    """Plans that one source measured under the same conditions."""

    conditions: Conditions
    accelerators: int
    global_batch: int
    plans: tuple[PlanTimes, ...]

    @property
    def runs(self) -> int:
        """Runs, repeats counted."""
        return sum(len(plan.idents) for plan in self.plans)

    @property
    def predicted(self) -> list[float]:
        """Predicted step times of the plans, in seconds."""
        return [plan.predicted for plan in self.plans]

    @property
    def measured(self) -> list[float]:
        """Measured step times of the plans, in seconds."""
        return [plan.measured for plan in self.plans]

    @property
    def spearman(self) -> float:
        """Rank correlation of predicted and measured step times, from -1 to 1."""
        return spearman(self.predicted, self.measured)

    @property
    def regret(self) -> float:
        """Measured step time of the plan predicted to be the fastest, over that of the fastest, less one."""
        return regret(self.predicted, self.measured)


class RankingSummary(NamedTuple):
    """Several groups of plans together."""

    name: str
    groups: int
    plans: int
    median_spearman: float
    worst_spearman: float
    good_share: float
    pooled_spearman: float
    median_regret: float
    worst_regret: float
    small_regret_share: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """All groups of plans."""

    groups: tuple[RankedGroup, ...] = ()

    def overall(self) -> RankingSummary | None:
        """Return the summary over all groups; None if there are none."""
        return summary("all", self.groups) if self.groups else None

    def repeatable_share(self, deviation: float = REPEATS_DIFFER) -> float:
        """Return the share of groups that a second measurement would put in order as well as GOOD_SPEARMAN asks.

        Parameters
        ----------
        deviation : float
            Standard deviation of the logarithm of a step time that is measured again. [-]
        """
        return float(np.mean([repeatable(group.measured, deviation) for group in self.groups]))

    def worst_first(self) -> list[RankedGroup]:
        """Return the groups, the lowest correlation first."""
        return sorted(self.groups, key=lambda group: (group.spearman, -group.regret))

    def by_source(self) -> list[RankingSummary]:
        """Return the summary of every source, the most plans first."""
        parts = [summary(part[0].conditions.source, part) for part in grouped(self.groups, _source)]
        return sorted(parts, key=lambda part: (-part.plans, part.name))


def ranked(items: Iterable[Comparison], least: int = LEAST_PLANS) -> Ranking:
    """Return the groups of plans that one source measured under the same conditions.

    The same conditions are the same model, sequence length, global batch, precision, optimizer, machine, number of
    accelerators, software and release. Runs of the same layout are one plan, with the medians of their step times: what
    differs between them is noise.

    Parameters
    ----------
    items : iterable of Comparison
        Runs, predicted and measured; those without a prediction do not count.
    least : int
        Plans that a group has at least.

    Returns
    -------
    Ranking
        The groups, in the order of their first runs.
    """
    together = grouped(planned(items), lambda pair: _same(*pair))
    groups = (_group(members) for members in together)
    return Ranking(tuple(group for group in groups if len(group.plans) >= least))


def ranks(values: Sequence[float]) -> Array:
    """Return the rank of every value, from 1; values that tie share the mean of their ranks.

    Examples
    --------
    >>> ranks([10.0, 30.0, 20.0, 20.0]).tolist()
    [1.0, 4.0, 2.5, 2.5]
    """
    ordered = np.sort(values)
    below = np.searchsorted(ordered, values, side="left")
    up_to = np.searchsorted(ordered, values, side="right")
    found: Array = (below + up_to + 1) / 2.0
    return found


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Return Spearman's rank correlation of two series.

    rho = cov(R(x), R(y)) / (sd(R(x)) sd(R(y))), R the ranks, ties with the mean of their ranks

    Parameters
    ----------
    one, other : sequence of float
        Series x and y of the same length.

    Returns
    -------
    float
        From -1 to 1; 0 if one of them does not vary, for then it puts nothing in order. [-]

    Examples
    --------
    >>> round(spearman([1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 40.0, 30.0]), 3)
    0.8
    """
    x, y = (ranks(values) - (len(values) + 1) / 2.0 for values in (one, other))
    spread = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / spread if spread else 0.0


def regret(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """Return how much longer the plan predicted to be the fastest took than the fastest one.

    r = max(m_i : p_i = min p) / min m - 1

    Parameters
    ----------
    predicted : sequence of float
        Predicted step times p. [s]
    measured : sequence of float
        Measured step times m. [s]

    Returns
    -------
    float
        0 or more; of plans with the same prediction the slowest counts, for nothing speaks against it. [-]

    Examples
    --------
    >>> round(regret([1.0, 2.0, 3.0], [5.0, 4.0, 8.0]), 3)
    0.25
    """
    chosen = max(time for guess, time in zip(predicted, measured, strict=True) if guess == min(predicted))
    return chosen / min(measured) - 1.0


def repeatable(measured: Sequence[float], deviation: float, draws: int = 400) -> float:
    """Return how often a second measurement would have a rank correlation of GOOD_SPEARMAN or more with the first.

    m_i' = m_i exp(deviation z_i), z_i standard normal and independent; counted over many draws with a fixed seed.
    What is below 1 here, no prediction can make up for.

    Parameters
    ----------
    measured : sequence of float
        Step times m. [s]
    deviation : float
        Standard deviation of the logarithm of a step time that is measured again. [-]
    draws : int
        Second measurements that are drawn.

    Returns
    -------
    float
        Share of the draws, from 0 to 1. [-]

    Examples
    --------
    >>> repeatable([1.0, 2.0, 4.0, 8.0, 16.0], 0.05)
    1.0
    """
    noise = np.random.default_rng(len(measured)).standard_normal((draws, len(measured)))
    again = np.asarray(measured) * np.exp(deviation * noise)
    first, second = (values - (len(measured) + 1) / 2.0 for values in (ranks(measured), _places(again)))
    correlation = second @ first / np.sqrt((first @ first) * (second * second).sum(axis=-1))
    return float(np.mean(correlation >= GOOD_SPEARMAN))


def _places(values: Array) -> Array:
    """Return the rank of every value of every row, from 1, where none tie."""
    places: Array = 1.0 + values.argsort(axis=-1).argsort(axis=-1).astype(np.float64)
    return places


def summary(name: str, groups: Sequence[RankedGroup]) -> RankingSummary:
    """Return several groups together.

    The pooled correlation is that of all plans at once, each time divided by the geometric mean of its group: a large
    group weighs as much as its plans.
    """
    correlations, regrets = [group.spearman for group in groups], [group.regret for group in groups]
    return RankingSummary(
        name=name,
        groups=len(groups),
        plans=sum(len(group.plans) for group in groups),
        median_spearman=median(correlations),
        worst_spearman=min(correlations),
        good_share=_share(value >= GOOD_SPEARMAN for value in correlations),
        pooled_spearman=spearman(
            _relative(group.predicted for group in groups), _relative(group.measured for group in groups)
        ),
        median_regret=median(regrets),
        worst_regret=max(regrets),
        small_regret_share=_share(value <= SMALL_REGRET for value in regrets),
    )


def _relative(series: Iterable[Sequence[float]]) -> list[float]:
    """Return times over the geometric mean of their group, all groups in a row."""
    logarithms = (np.log(times) for times in series)
    return [float(value) for group in logarithms for value in group - group.mean()]


def _share(holds: Iterable[bool]) -> float:
    listed = list(holds)
    return sum(listed) / len(listed)


def _source(group: RankedGroup) -> str:
    return group.conditions.source


def _same(item: Comparison, scenario: Scenario) -> tuple[Conditions, int, int]:
    return conditions(item.run, scenario), scenario.accelerators, scenario.file.workload.global_batch


def _group(members: Sequence[tuple[Comparison, Scenario]]) -> RankedGroup:
    common, accelerators, batch = _same(*members[0])
    repeats = grouped(members, lambda pair: layout(pair[1]))
    return RankedGroup(common, accelerators, batch, tuple(_plan([item for item, _ in part]) for part in repeats))


def _plan(repeats: Sequence[Comparison]) -> PlanTimes:
    return PlanTimes(
        idents=tuple(item.run.ident for item in repeats),
        predicted=median(item.predicted_step_time for item in repeats),
        measured=median(item.measured_step_time for item in repeats),
    )
