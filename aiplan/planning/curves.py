"""Curves of collective time fitted on measured sizes, in three grades of knowledge, each with its band.

Fits are least squares on the logarithm of fitted over measured time, large residuals damped: one outlier of a noisy
run moves nothing.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import collectives, curves
from aiplan.planning.descent import descend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aiplan.core.arrays import Array

BANDS = {"formulas": 0.60, "hockney": 0.40, "anchors": 0.30, "calibrated": 0.10}
"""Relative error that about nine sizes in ten stay within, by what is known of a healthy system."""
SMALL = 4096.0
"""Sizes up to which the time is latency. [B]"""
DAMPING = 0.2
"""Residual, as a logarithm, from which on a point counts less and less (Cauchy's loss)."""
LEAST_POINTS = 8
"""Sizes below which five constants are not fitted."""
STARTS = 3
ROUNDS = 60
FARTHEST = 0.7
SETTLED = 1e-7
TINY = 1e-12
FREE = 1e-30
NOTHING = 1e-20
"""A constant that the points leave at nothing, as logarithms cannot: where it starts, and below which it is zero."""


class Curve(NamedTuple):
    """A fitted curve: its kind, and constants by name in SI units."""

    kind: str
    constants: dict[str, float]

    def time(self, nbytes: Array) -> Array:
        """Return the time of messages."""
        found: Array = FORMS[self.kind](np.asarray(nbytes, dtype=float), **self.constants)
        return found

    @property
    def band(self) -> float:
        """Relative error that about nine sizes in ten of a healthy system stay within."""
        return BANDS[self.kind]


def _anchored(nbytes: Array, latency: float, bandwidth: float) -> Array:
    found: Array = curves.anchored_time(nbytes, latency, bandwidth, curves.FILL_SHARE)
    return found


FORMS: dict[str, Callable[..., Array]] = {
    "hockney": collectives.send_time,
    "anchors": _anchored,
    "calibrated": curves.two_branch_time,
}


class Errors(NamedTuple):
    """Relative errors of a curve over some points."""

    points: int
    median: float
    p90: float
    worst: float
    within_10: float


class _Fit(NamedTuple):
    values: Array
    residuals: Array
    loss: float


def errors_of(curve: Curve, nbytes: Array, times: Array) -> Errors:
    """Return the errors of a curve at measured points.

    Parameters
    ----------
    curve : Curve
        What predicts.
    nbytes : array
        Sizes. [B]
    times : array
        Measured times. [s]
    """
    return summed_up(np.abs(curve.time(nbytes) / times - 1.0))


def summed_up(errors: Array) -> Errors:
    """Return median, nine tenths, worst, and the share within 10 % of relative errors."""
    median, p90, worst = np.quantile(errors, [0.5, 0.9, 1.0])
    return Errors(len(errors), float(median), float(p90), float(worst), float(np.mean(errors <= 0.1)))


def by_decade(nbytes: Array) -> Iterator[tuple[int, Array]]:
    """Yield powers of ten with the points whose sizes begin at them."""
    decades = np.floor(np.log10(nbytes)).astype(int)
    for decade in np.unique(decades):
        yield int(decade), decades == decade


def hockney(nbytes: Array, times: Array) -> Curve:
    """Fit Hockney's line, alpha + n / B."""
    start = _relative(np.stack([np.ones_like(nbytes), nbytes], axis=1), times)
    best = _best([start], lambda values: _line(nbytes, *values), times)
    return Curve("hockney", {"latency": _amount(best[0]), "bandwidth": _rate(best[1])})


def anchors(nbytes: Array, times: Array) -> Curve | None:
    """Take the two figures usually published from a table: time of small messages, and highest algbw.

    Returns None where the table has no small sizes, or none that are long enough to show a bandwidth.
    """
    small = nbytes <= SMALL
    if not small.any() or small.all():
        return None
    latency = float(np.median(times[small]))
    rates = curves.algorithm_bandwidth(nbytes, times)
    top = int(np.argmax(rates))
    bandwidth = float(curves.anchor_bandwidth(nbytes[top], times[top], latency, curves.FILL_SHARE))
    if not np.isfinite(bandwidth):
        return None
    return Curve("anchors", {"latency": latency, "bandwidth": bandwidth})


def calibrated(nbytes: Array, times: Array) -> Curve | None:
    """Fit the better of a line, and a line with a root; None where there are too few sizes.

    Parameters
    ----------
    nbytes : array
        Sizes, ascending. [B]
    times : array
        Measured times. [s]
    """
    if len(nbytes) < LEAST_POINTS:
        return None
    line = np.stack([np.ones_like(nbytes), nbytes], axis=1)
    rooted = np.stack([np.ones_like(nbytes), nbytes, np.sqrt(nbytes)], axis=1)
    starts = [
        np.concatenate([_relative(line[:split], times[:split]), _relative(rooted[split:], times[split:])])
        for split in range(2, len(nbytes) - 2)
    ]
    whole = _relative(rooted, times)
    starts.append(np.array([whole[0], whole[1], *whole]))
    best = _best(starts, lambda values: _two_branches(nbytes, *values), times)
    names = ("short_latency", "short_bandwidth", "long_latency", "long_bandwidth", "root")
    constants = (_amount(best[0]), _rate(best[1]), _amount(best[2]), _rate(best[3]), _amount(best[4]))
    return Curve("calibrated", dict(zip(names, constants, strict=True)))


def held_out(nbytes: Array, times: Array) -> Array | None:
    """Return the relative errors of every other size, with a curve that was fitted on the rest."""
    curve = calibrated(nbytes[::2], times[::2])
    if curve is None:
        return None
    return np.abs(curve.time(nbytes[1::2]) / times[1::2] - 1.0)


def anchors_without_each(nbytes: Array, times: Array) -> Array:
    """Return the relative error of every point, with anchors taken from all others; NaN where there are none."""
    found = np.full(len(nbytes), np.nan)
    for index in range(len(nbytes)):
        rest = np.arange(len(nbytes)) != index
        curve = anchors(nbytes[rest], times[rest])
        if curve is not None:
            found[index] = abs(float(curve.time(nbytes[index : index + 1])[0]) / times[index] - 1.0)
    return found


def _amount(value: float) -> float:
    return 0.0 if value < NOTHING else float(value)


def _rate(per_byte: float) -> float:
    return float("inf") if per_byte < NOTHING else float(1.0 / per_byte)


def _line(nbytes: Array, latency: float, per_byte: float) -> Array:
    found: Array = collectives.send_time(nbytes, 1.0 / per_byte, latency)
    return found


def _two_branches(nbytes: Array, a1: float, per_byte1: float, a2: float, per_byte2: float, root: float) -> Array:
    found: Array = curves.two_branch_time(nbytes, a1, 1.0 / per_byte1, a2, 1.0 / per_byte2, root)
    return found


def _relative(terms: Array, times: Array) -> Array:
    """Return weights of terms, none negative, with the least squares of relative errors.

    Terms are few, so all choices of those that are not zero are tried.
    """
    scaled = terms / times[:, None]
    size = np.linalg.norm(scaled, axis=0)
    best, least = np.full(terms.shape[1], FREE), np.inf
    for count in range(1, terms.shape[1] + 1):
        for chosen in map(list, combinations(range(terms.shape[1]), count)):
            weights, *_ = np.linalg.lstsq(scaled[:, chosen] / size[chosen], np.ones(len(times)), rcond=None)
            loss = float(np.sum((scaled[:, chosen] / size[chosen] @ weights - 1.0) ** 2))
            if (weights > 0.0).all() and loss < least - TINY:
                best = np.full(terms.shape[1], FREE)
                best[chosen] = weights / size[chosen]
                least = loss
    return best


def _best(starts: list[Array], times_of: Callable[[Array], Array], measured: Array) -> Array:
    """Return the constants with the least damped loss that descents from the best starts lead to."""

    def at(values: Array) -> _Fit:
        residuals = np.log(times_of(np.exp(values)) / measured)
        return _Fit(values, residuals, float(np.sum(np.log1p((residuals / DAMPING) ** 2))))

    def quadratic(best: _Fit) -> tuple[Array, Array]:
        slopes = np.stack([_slope(best, at, index) for index in range(len(best.values))], axis=1)
        weights = 1.0 / (1.0 + (best.residuals / DAMPING) ** 2) / DAMPING**2
        curvature = slopes.T @ (slopes * weights[:, None])
        # A constant that no point depends on must not make the system singular.
        return curvature + TINY * np.eye(len(best.values)), slopes.T @ (weights * best.residuals)

    first = sorted((at(np.log(np.maximum(start, FREE))) for start in starts), key=lambda fit: fit.loss)[:STARTS]
    found = [descend(fit, at, quadratic, ROUNDS, FARTHEST, SETTLED) for fit in first]
    best: Array = np.exp(min(found, key=lambda fit: fit.loss).values)
    return best


def _slope(best: _Fit, at: Callable[[Array], _Fit], index: int) -> Array:
    nudge = 1e-4
    values = best.values.copy()
    values[index] += nudge
    slope: Array = (at(values).residuals - best.residuals) / nudge
    return slope
