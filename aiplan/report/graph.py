"""Curves over a logarithmic axis, apart from how they are drawn: as SVG or with plain characters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#6b4c9a",
    "#8c510a",
    "#b2182b",
    "#4d4d4d",
    "#5ab4ac",
    "#a6761d",
)
"""Told apart by people who see colours differently; in this order."""


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
    below the others and come last in the key. `headroom` is the height of an SVG file over that of the curves.
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
        return max(values, default=0.0) if len(self.across) > 1 else 0.0


def floats(values: Iterable[float]) -> tuple[float, ...]:
    """Return numbers of any kind as those of Python."""
    return tuple(float(value) for value in values)
