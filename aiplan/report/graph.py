"""Curves over an axis, apart from how they are drawn: as SVG or with plain characters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Along(Protocol):
    """An axis of either kind."""

    def at(self, value: float, /) -> float:
        """Return where a value lies."""


class Axis(NamedTuple):
    """A logarithmic axis: the values at its ends, and where those lie."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return where a value lies."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)


class Even(NamedTuple):
    """An axis with equal steps: the values at its ends, and where those lie."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return where a value lies."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


class Series(NamedTuple):
    """A curve: its name, a value for each place of the axis (NaN where there is none), and how it looks.

    `mark` is the character it is drawn with on a terminal. `look` names its style in an SVG file: `choice`, `bound`,
    or nothing for a colour of its own.
    """

    name: str
    mark: str
    values: tuple[float, ...]
    look: str = ""


class Graph(NamedTuple):
    """Curves in the order of the key, what they show, and of what.

    `across` holds the places of the axis in rising order and `places` their texts. `under` holds curves that are drawn
    below the others and come last in the key. `headroom` is the height of an SVG file over that of the curves. `lowest`
    is the value at the bottom: above 0 the axis is logarithmic. `told` writes a value beside the axis, where its unit
    alone does not say how. `spread` is the kind of the axis below. `here` is a place to point out, and its name.
    """

    title: str
    subtitle: str
    heading: str
    unit: str
    across: tuple[float, ...]
    places: tuple[str, ...]
    over: tuple[Series, ...]
    curves: tuple[Series, ...] = ()
    under: tuple[Series, ...] = ()
    headroom: float = 1.05
    lowest: float = 0.0
    told: Callable[[float], str] | None = None
    spread: type[Axis | Even] = Axis
    here: tuple[float, str] | None = None

    @property
    def drawn(self) -> tuple[Series, ...]:
        """All curves, those below first."""
        return (*self.under, *self.curves, *self.over)

    @property
    def key(self) -> tuple[Series, ...]:
        """All curves in the order of the key."""
        return (*self.over, *self.curves, *self.under)

    @property
    def top(self) -> float:
        """The largest value; 0 if there is nothing to draw."""
        values = [value for one in self.drawn for value in one.values if math.isfinite(value)]
        found = max(values, default=0.0) if len(self.across) > 1 else 0.0
        return found if found > self.lowest else 0.0

    def points(self, one: Series, across: Along, up: Along) -> list[tuple[float, float]]:
        """Return where the corners of a curve lie on two axes; where it goes below the lowest value, it is cut off."""
        pairs = zip(self.across, one.values, strict=True)
        known = [(place, value) for place, value in pairs if math.isfinite(value) and (value > 0 or not self.lowest)]
        corners = [(across.at(place), up.at(value), value >= self.lowest) for place, value in known]
        floor = up.at(self.lowest)
        found: list[tuple[float, float]] = []
        for at, (x, y, inside) in enumerate(corners):
            if at and inside != corners[at - 1][2]:
                before, start, _ = corners[at - 1]
                found.append((before + (floor - start) / (y - start) * (x - before), floor))
            if inside:
                found.append((x, y))
        return found

    def below(self, start: float, end: float) -> Along:
        """Return the axis below the curves between two places."""
        return self.spread(self.across[0], self.across[-1], start, end)

    def beside(self, start: float, end: float, headroom: float = 1.0) -> Along:
        """Return the axis beside the curves, from the lowest value to the largest, with room above."""
        kind = Axis if self.lowest else Even
        return kind(self.lowest, headroom * self.top, start, end)

    def shares(self, count: int) -> list[float]:
        """Return values at equal distances beside the curves, the lowest first and the largest last."""
        if not self.lowest:
            return [self.top * step / count for step in range(count + 1)]
        return [self.lowest * (self.top / self.lowest) ** (step / count) for step in range(count + 1)]


def floats(values: Iterable[float]) -> tuple[float, ...]:
    """Return numbers of any kind as those of Python."""
    return tuple(float(value) for value in values)
