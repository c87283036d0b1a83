"""Which numbers of accelerators to try: a few far apart, then those between one that misses and one that meets.

Time falls with more accelerators and cost rises, but not strictly: some numbers divide better than others. So the
numbers beside the one that is found are tried too.
"""

from __future__ import annotations

import bisect
import itertools
import math
from typing import TYPE_CHECKING

from aiplan.planning.trial import COST, GPUS, TIME, Limits, Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NEAR, FAR = 2, 4
"""From one rung to the next: where a deadline says how many are needed at least, and where nothing does."""
STALLED = 0.99
"""Share of the least time so far that is no gain worth going on for."""
PATIENCE = 2
"""Rungs without such a gain after which nothing more is expected."""
DEARER = 1.02
BESIDE = 2
"""Possible numbers beside the one that is found that are tried."""
STEPS = 4
"""Possible numbers that are tried one after the other as long as each is better."""


class Ladder:
    """The possible numbers of accelerators of one kind of node, and those of them that were tried.

    Parameters
    ----------
    counts : sequence of int
        Possible numbers, in rising order.
    least : int
        The fewest that could meet the deadline; 0 if there is none.
    floor : int
        The fewest that could hold the model.
    limits : Limits
        What is to be met.
    goal : str
        What is to be least.
    once : callable
        Tries a number.
    """

    def __init__(
        self,
        counts: Sequence[int],
        least: int,
        floor: int,
        limits: Limits,
        goal: str,
        once: Callable[[int], Trial],
    ) -> None:
        self.counts, self.limits, self.goal = counts, limits, goal
        self._once = once
        self._factor = NEAR if least else FAR
        self._start = self._index(max(least, floor))
        self._floor = self._index(floor)
        self.tried: dict[int, Trial] = {}

    def climb(self) -> None:
        """Try what leads to the best number."""
        if self.goal == TIME:
            self._fastest()
        else:
            self._fewest()

    def widen(self) -> None:
        """Try numbers from the fewest to where more do not help: what could be had if limits gave way."""
        self._rungs(self._floor, FAR, lambda _: False)
        self._edge(self._affordable)
        self._beside(self._affordable, 1)
        self._edge(self._in_time)
        self._beside(self._in_time, -1)

    def _index(self, count: int) -> int:
        """Return the first possible number that is not below a count, or the largest."""
        return min(bisect.bisect_left(self.counts, count), len(self.counts) - 1)

    def _at(self, index: int) -> Trial:
        if index not in self.tried:
            self.tried[index] = self._once(self.counts[index])
        return self.tried[index]

    def _in_time(self, trial: Trial) -> bool:
        return not {"plan", "deadline"} & set(trial.misses(self.limits))

    def _affordable(self, trial: Trial) -> bool:
        return not {"budget", "power"} & set(trial.misses(self.limits))

    def _rungs(self, start: int, factor: int, enough: Callable[[Trial], bool]) -> None:
        """Try numbers a factor apart until it is enough, or more do not help."""
        index, least, stalled = start, math.inf, 0
        while stalled < PATIENCE:
            trial = self._at(index)
            none_any_more = trial.estimate is None and math.isfinite(least)
            if enough(trial) or none_any_more or index == len(self.counts) - 1:
                return
            stalled = stalled + 1 if trial.time > STALLED * least else 0
            least = min(least, math.inf if trial.estimate is None else trial.time)
            index = max(index + 1, self._index(factor * self.counts[index]))

    def _edge(self, holds: Callable[[Trial], bool]) -> int | None:
        """Narrow down where the answer to a question first changes among the numbers tried; return the one before."""
        known = sorted(self.tried)
        pairs = itertools.pairwise(known)
        found = next((pair for pair in pairs if holds(self.tried[pair[0]]) != holds(self.tried[pair[1]])), None)
        if found is None:
            return None
        low, high = found
        first = holds(self.tried[low])
        while high - low > 1:
            middle = (low + high) // 2
            if holds(self._at(middle)) == first:
                low = middle
            else:
                high = middle
        return low

    def _fewest(self) -> None:
        """Find the fewest in time, then look beside it, or go on as long as it gets cheaper."""
        self._rungs(self._start, self._factor, self._in_time)
        last = self._edge(self._in_time)
        first = self._start if last is None else last + 1
        if not self._in_time(self._at(first)):
            return
        if self.goal == GPUS:
            self._beside(self._in_time, -1)
        if self.goal == COST or not self._affordable(self._at(first)):
            self._downhill(first, lambda trial: trial.cost)

    def _fastest(self) -> None:
        """Find the most that can be afforded, then look beside it."""
        self._rungs(self._start, self._factor, lambda trial: trial.estimate is not None and not self._affordable(trial))
        self._edge(lambda trial: trial.estimate is not None)
        self._edge(self._affordable)
        self._beside(lambda trial: not trial.misses(self.limits), 1)

    def _beside(self, holds: Callable[[Trial], bool], step: int) -> None:
        """Try the numbers beside the largest or the smallest that holds, and on as long as one of those holds too."""
        for _ in range(STEPS):
            met = [step * index for index, trial in self.tried.items() if holds(trial)]
            if not met:
                return
            edge = step * max(met)
            near = [edge + step * away for away in range(1, BESIDE + 1)]
            known = [self._at(index) for index in near if self._start <= index < len(self.counts)]
            if not any(holds(trial) for trial in known):
                return

    def _downhill(self, index: int, value: Callable[[Trial], float]) -> None:
        """Try the next larger numbers as long as each is better."""
        for _ in range(STEPS):
            if index + 1 >= len(self.counts) or not value(self._at(index + 1)) < DEARER * value(self._at(index)):
                return
            index += 1
