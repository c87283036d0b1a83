"""Memory predicted against measured, and plans that fit or ran out of memory: errors, a table of both, the misses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from aiplan.planning import evidence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiplan.planning.estimate import Estimate
    from aiplan.planning.intervals import Interval
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.runs import MeasuredRun

NEAR = 0.1
"""A miss within this share of the limit is a close call: no figure is known better than that."""


class Footprint(NamedTuple):
    """Memory of a run: predicted and measured, of what was measured; NaN and None where it is not known.

    `needed` is all of the device at the fullest stage without what an allocator gives back when it must.
    """

    run: MeasuredRun
    predicted: float
    measured: float
    kind: str
    needed: float
    capacity: float
    fits_predicted: bool
    fits_measured: bool | None
    estimate: Estimate

    @property
    def interval(self) -> Interval | None:
        """The 90 % interval of the memory from published runs of other sources."""
        return self.estimate.measured_memory_interval(evidence.memory_sources(self.run))

    @property
    def error(self) -> float:
        """Predicted over measured memory, less one."""
        return self.predicted / self.measured - 1.0

    @property
    def over_limit(self) -> float:
        """How far what is needed lies above the memory of the device, as a share of it; negative below."""
        return self.needed / self.capacity - 1.0

    @property
    def missed(self) -> bool:
        """Whether it was predicted to fit and ran out of memory, or the other way round."""
        return self.fits_measured is not None and self.fits_measured != self.fits_predicted

    @property
    def covered(self) -> bool | None:
        """Whether the 90 % interval from other sources holds what was measured; None without one."""
        found = self.interval if math.isfinite(self.measured) else None
        return None if found is None else found.low <= self.measured <= found.high


class Fits(NamedTuple):
    """How many plans fitted or ran out of memory, by what was predicted, and which predictions missed."""

    fitted_as_predicted: int
    fitted_against: int
    ran_out_against: int
    ran_out_as_predicted: int
    misses: tuple[Footprint, ...]

    @property
    def balanced_accuracy(self) -> float:
        """Mean of the shares predicted right among those that fitted and those that ran out; NaN without both."""
        fitted = self.fitted_as_predicted + self.fitted_against
        ran_out = self.ran_out_as_predicted + self.ran_out_against
        if not fitted or not ran_out:
            return math.nan
        return (self.fitted_as_predicted / fitted + self.ran_out_as_predicted / ran_out) / 2.0

    def far(self) -> list[Footprint]:
        """Return the misses that are no close calls, the farthest first."""
        return [item for item in self.misses if abs(item.over_limit) > NEAR]


def footprint(run: MeasuredRun, found: Estimate) -> Footprint | None:
    """Return the memory of a run beside what was measured; None if neither memory nor a fit is known.

    Parameters
    ----------
    run : MeasuredRun
        The run.
    found : Estimate
        What is predicted for it.
    """
    measured = found.scenario.file.measured
    if measured is None or not has_memory(found.scenario):
        return None
    return Footprint(
        run=run,
        predicted=found.measured_memory(),
        measured=math.nan if measured.memory is None else measured.memory,
        kind=measured.memory_kind,
        needed=found.needed_memory,
        capacity=found["memory.capacity"],
        fits_predicted=found.fits,
        fits_measured=fitted(found.scenario),
        estimate=found,
    )


def has_memory(scenario: Scenario) -> bool:
    """Whether a run measured memory, or says that it fitted or ran out of memory."""
    measured = scenario.file.measured
    return measured is not None and (measured.memory is not None or measured.fits is not None)


def fitted(scenario: Scenario) -> bool | None:
    """Return whether a run fitted: as it says, else it did if its memory was measured."""
    measured = scenario.file.measured
    if measured is None or (measured.fits is None and measured.memory is None):
        return None
    return measured.fits if measured.fits is not None else True


def fits(items: Iterable[Footprint]) -> Fits | None:
    """Return how well fitting was predicted; None if no run says whether it fitted."""
    known = [item for item in items if item.fits_measured is not None]
    if not known:
        return None

    def count(*, measured: bool, predicted: bool) -> int:
        return sum(item.fits_measured is measured and item.fits_predicted is predicted for item in known)

    misses = sorted((item for item in known if item.missed), key=lambda item: (-abs(item.over_limit), item.run.ident))
    return Fits(
        fitted_as_predicted=count(measured=True, predicted=True),
        fitted_against=count(measured=True, predicted=False),
        ran_out_against=count(measured=False, predicted=True),
        ran_out_as_predicted=count(measured=False, predicted=False),
        misses=tuple(misses),
    )
