"""One number of accelerators tried out: its fastest plan, and which limits that misses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from aiplan.planning.estimate import Estimate

LIMITS = ("deadline", "budget", "power")
GPUS, COST, TIME = "gpus", "cost", "time"
GOALS = (GPUS, COST, TIME)
"""What can be least: accelerators, cost, or the time to train."""


class Limits(NamedTuple):
    """The longest time [s], the highest cost [USD] and the largest draw [W]; infinite if not given."""

    deadline: float = math.inf
    budget: float = math.inf
    power: float = math.inf

    @property
    def given(self) -> list[str]:
        """The names of those that are given."""
        return [name for name in LIMITS if math.isfinite(getattr(self, name))]


class Trial(NamedTuple):
    """So many accelerators in nodes of a kind, with the estimate of the fastest plan; None, and why, if there is none.

    With `sure`, time and cost are held against their limits at the upper end of the interval.
    """

    node: str
    accelerators: int
    nodes: int
    estimate: Estimate | None
    fault: str = ""
    sure: bool = False

    @property
    def time(self) -> float:
        """Wall clock, or time of the steps where nothing is said of the run as a whole; NaN without a plan, in s."""
        return self._of("wallclock")

    @property
    def cost(self) -> float:
        """Cost of the whole run; NaN if it is unknown, in USD."""
        return self._of("total.cost")

    @property
    def power(self) -> float:
        """Power that the facility must provide for the job, spare nodes included, in W."""
        return self._of("total.power")

    def _of(self, term: str) -> float:
        return math.nan if self.estimate is None else self.estimate.of_run(term)

    @property
    def upper_time(self) -> float:
        """Upper end of the interval of the time; NaN if there is none, in s."""
        found = None if self.estimate is None else self.estimate.whole_interval()
        return math.nan if found is None else found.high

    @property
    def upper_cost(self) -> float:
        """Cost at the upper end of the time, with which it grows; NaN if there is none, in USD."""
        return self.cost * self.upper_time / self.time

    @property
    def needed_time(self) -> float:
        """The shortest deadline that this meets, in s."""
        return self.upper_time if self.sure else self.time

    @property
    def needed_cost(self) -> float:
        """The smallest budget that this meets, in USD."""
        return self.upper_cost if self.sure else self.cost

    def misses(self, limits: Limits) -> tuple[str, ...]:
        """Return the limits that are not met; a value that is unknown does not meet one."""
        if self.estimate is None:
            return ("plan",)
        return tuple(name for name in limits.given if not self._over(name, limits) <= 1.0)

    def excess(self, limits: Limits) -> float:
        """Return the largest factor by which a limit is exceeded."""
        return max(self._over(name, limits) for name in limits.given)

    def _over(self, name: str, limits: Limits) -> float:
        held = {"deadline": self.needed_time, "budget": self.needed_cost, "power": self.power}[name]
        return held / float(getattr(limits, name))

    def holds_surely(self, limits: Limits) -> bool:
        """Whether the deadline is met at the upper end of the interval too."""
        return self.upper_time <= limits.deadline

    def order(self, goal: str) -> tuple[float, float]:
        """Return what orders trials by a goal; less is better."""
        first = {GPUS: float(self.accelerators), COST: self.cost, TIME: self.time}[goal]
        return first, self.time if goal == GPUS else float(self.accelerators)
