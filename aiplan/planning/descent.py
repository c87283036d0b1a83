"""Descent to the least loss: Gauss-Newton steps with Levenberg's brake, as the fits of this package share them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiplan.core.arrays import Array

TRIES = 7
FIRST_BRAKE = 1e-3


class Point(Protocol):
    """Values with the loss at them."""

    @property
    def values(self) -> Array:
        """The values."""

    @property
    def loss(self) -> float:
        """The loss at them."""


P = TypeVar("P", bound=Point)


def descend(
    best: P,
    at: Callable[[Array], P],
    quadratic: Callable[[P], tuple[Array, Array]],
    rounds: int,
    farthest: float,
    settled: float,
) -> P:
    """Return the point with the least loss that steps downhill lead to.

    Parameters
    ----------
    best : Point
        Where to begin.
    at : callable
        Returns the point at values; it may bound them.
    quadratic : callable
        Returns curvature and gradient of the loss at a point.
    rounds : int
        Most steps.
    farthest : float
        How far a value moves in one step.
    settled : float
        Gain below which the fit is done.
    """
    brake = FIRST_BRAKE
    for _ in range(rounds):
        curvature, gradient = quadratic(best)
        found, brake = _step(best, at, curvature, gradient, brake, farthest)
        if found is None:
            break
        gained, best = best.loss - found.loss, found
        if gained < settled:
            break
    return best


def _step(
    best: P, at: Callable[[Array], P], curvature: Array, gradient: Array, brake: float, farthest: float
) -> tuple[P | None, float]:
    """Return the next point, if there is a better one, and the brake that led there."""
    for _ in range(TRIES):
        braked = curvature + brake * np.diag(np.diag(curvature))
        move = np.clip(-np.linalg.solve(braked, gradient), -farthest, farthest)
        found = at(best.values + move)
        if found.loss < best.loss:
            return found, max(brake / 6.0, 1e-5)
        brake *= 6.0
    return None, brake
