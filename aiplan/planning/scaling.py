"""How throughput holds up as accelerators are added: efficiency predicted against efficiency measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from statistics import NormalDist, fmean, median
from typing import TYPE_CHECKING, NamedTuple

from aiplan.planning.alike import REPEATS_DIFFER, conditions, grouped, layout, planned

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aiplan.planning.accuracy import Comparison
    from aiplan.planning.alike import Conditions
    from aiplan.scenario.load import Scenario

WEAK, STRONG = "weak", "strong"
NEAR = 0.05
"""Five points of efficiency."""
WITH_ACCELERATORS = frozenset({"plan.data"})
"""What of a plan grows with the number of accelerators."""

Pair = tuple["Comparison", "Scenario"]


class Size(NamedTuple):
    """A number of accelerators: ids of the runs, and the medians of their tokens per second and accelerator."""

    accelerators: int
    idents: tuple[str, ...]
    predicted: float
    measured: float


@dataclass(frozen=True, slots=True)
class ScalingGroup:
    """Runs of one source in which only accelerators, with data parallelism, were added."""

    kind: str
    conditions: Conditions
    batch: Fraction
    sizes: tuple[Size, ...]

    @property
    def smallest(self) -> Size:
        """The fewest accelerators: what efficiency is relative to."""
        return self.sizes[0]

    @property
    def largest(self) -> Size:
        """The most accelerators."""
        return self.sizes[-1]

    @property
    def runs(self) -> int:
        """Runs, repeats counted."""
        return sum(len(size.idents) for size in self.sizes)

    @property
    def predicted_efficiency(self) -> float:
        """Predicted efficiency at the most accelerators."""
        return efficiency(self.largest.predicted, self.smallest.predicted)

    @property
    def measured_efficiency(self) -> float:
        """Measured efficiency at the most accelerators."""
        return efficiency(self.largest.measured, self.smallest.measured)

    @property
    def difference(self) -> float:
        """Predicted less measured efficiency at the most accelerators; 0.05 is five points."""
        return self.predicted_efficiency - self.measured_efficiency


class ScalingSummary(NamedTuple):
    """Several groups together; differences without their sign, but for the median."""

    name: str
    groups: int
    near_share: float
    median_size: float
    worst_size: float
    bias: float


@dataclass(frozen=True, slots=True)
class Scaling:
    """All groups in which accelerators were added."""

    groups: tuple[ScalingGroup, ...] = ()

    def overall(self) -> ScalingSummary | None:
        """Return the summary over all groups; None if there are none."""
        return summary("all", self.groups) if self.groups else None

    def worst_first(self) -> list[ScalingGroup]:
        """Return the groups, the largest difference first."""
        return sorted(self.groups, key=lambda group: -abs(group.difference))

    def attainable_share(self, deviation: float = REPEATS_DIFFER) -> float:
        """Return the mean share of the groups that a prediction without error would have within five points.

        Parameters
        ----------
        deviation : float
            Standard deviation of the logarithm of a step time that is measured again. [-]
        """
        return fmean(attainable(group.measured_efficiency, deviation) for group in self.groups)

    def by_kind(self) -> list[ScalingSummary]:
        """Return the summaries of weak and strong scaling."""
        parts = [(kind, [group for group in self.groups if group.kind == kind]) for kind in (WEAK, STRONG)]
        return [summary(kind, groups) for kind, groups in parts if groups]


def efficiency(throughput: float, reference: float) -> float:
    """Return scaling efficiency.

    e = (T_N / N) / (T_M / M)

    Parameters
    ----------
    throughput : float
        T_N / N, throughput per accelerator at N accelerators. [tokens/s]
    reference : float
        T_M / M, the same at the fewest accelerators M. [tokens/s]

    Returns
    -------
    float
        1 if throughput grows with the accelerators; may be above 1. [-]
    """
    return throughput / reference


def attainable(measured: float, deviation: float) -> float:
    """Return how often a measured efficiency is within five points of the true one.

    p = Phi(ln(1 + 0.05 / e) / s) - Phi(ln(1 - 0.05 / e) / s), s = sqrt(2) deviation: both step times vary

    Parameters
    ----------
    measured : float
        Efficiency e. [-]
    deviation : float
        Standard deviation of the logarithm of a step time that is measured again. [-]

    Returns
    -------
    float
        From 0 to 1: what is missing, no prediction can make up for. [-]

    Examples
    --------
    >>> round(attainable(1.0, 0.03), 2)
    0.76
    """
    spread = NormalDist(0.0, math.sqrt(2.0) * deviation)
    return spread.cdf(math.log(1.0 + NEAR / measured)) - spread.cdf(math.log(max(1.0 - NEAR / measured, 1e-9)))


def scaled(items: Iterable[Comparison]) -> Scaling:
    """Return the groups of runs of one source in which only the number of accelerators differs.

    Everything else is the same: model, sequence length, precision, optimizer, machine, software, release and the plan
    besides data parallelism. Either the batch per accelerator is the same (weak scaling) or the whole batch (strong
    scaling, in which micro-batches per replica become fewer). Repeats count as one, with their median throughput.

    Parameters
    ----------
    items : iterable of Comparison
        Runs, predicted and measured; those without a prediction do not count.

    Returns
    -------
    Scaling
        Groups with at least two numbers of accelerators, the largest numbers first.
    """
    alike = grouped(planned(items), lambda pair: _same(*pair))
    groups = [
        _group(kind, members)
        for kind in (WEAK, STRONG)
        for like in alike
        for members in grouped(like, partial(_batch, kind))
        if len({scenario.accelerators for _, scenario in members}) > 1
    ]
    return Scaling(tuple(sorted(groups, key=lambda group: -group.largest.accelerators)))


def summary(name: str, groups: Sequence[ScalingGroup]) -> ScalingSummary:
    """Return several groups together."""
    sizes = [abs(group.difference) for group in groups]
    return ScalingSummary(
        name=name,
        groups=len(groups),
        near_share=sum(size <= NEAR for size in sizes) / len(sizes),
        median_size=median(sizes),
        worst_size=max(sizes),
        bias=median(group.difference for group in groups),
    )


def _same(item: Comparison, scenario: Scenario) -> tuple[object, ...]:
    return conditions(item.run, scenario), layout(scenario, WITH_ACCELERATORS)


def _batch(kind: str, pair: Pair) -> Fraction:
    """Return the batch that does not change: per accelerator, or the whole."""
    scenario = pair[1]
    batch = scenario.file.workload.global_batch
    return Fraction(batch, scenario.accelerators if kind == WEAK else 1)


def _group(kind: str, members: Sequence[Pair]) -> ScalingGroup:
    item, scenario = members[0]
    sizes = [_size(part) for part in grouped(members, lambda pair: pair[1].accelerators)]
    ordered = tuple(sorted(sizes, key=lambda size: size.accelerators))
    return ScalingGroup(kind, conditions(item.run, scenario), _batch(kind, members[0]), ordered)


def _size(repeats: Sequence[Pair]) -> Size:
    return Size(
        accelerators=repeats[0][1].accelerators,
        idents=tuple(item.run.ident for item, _ in repeats),
        predicted=median(_throughput(scenario, item.predicted_step_time) for item, scenario in repeats),
        measured=median(_throughput(scenario, item.measured_step_time) for item, scenario in repeats),
    )


def _throughput(scenario: Scenario, step_time: float) -> float:
    """Return tokens per second and accelerator."""
    work = scenario.file.workload
    return work.sequence_length * work.global_batch / (step_time * scenario.accelerators)
