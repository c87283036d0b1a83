"""Plans that none beats in time, cost and memory at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable


class Point(NamedTuple):
    """A plan by what is to be small, and where it is. Unknown costs are equal."""

    time: float
    cost: float
    memory: float
    place: Any


def front_of(points: Iterable[Point]) -> list[Point]:
    """Return the points that no other one equals or beats in all three, the fastest first; of equals the first."""
    ordered = sorted(points, key=lambda point: (point.time, _known(point.cost), point.memory, point.place))
    kept: list[Point] = []
    best = np.empty((0, 2))
    for point in ordered:
        here = np.array([_known(point.cost), point.memory])
        if not np.any(np.all(best <= here, axis=1)):
            kept.append(point)
            best = np.vstack([best, here])
    return kept


def _known(cost: float) -> float:
    return cost if cost == cost else 0.0  # noqa: PLR0124 - not NaN
