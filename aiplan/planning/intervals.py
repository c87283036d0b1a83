"""How far measured steps lie from predicted ones: empirical intervals from the published runs that are most alike."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

NOMINAL = 0.9
SCALES = ((1, 8), (9, 64), (65, 512), (513, 4096), (4097, 10**9))
LEVELS = (
    ("software and scale", 20),
    ("software and family", 20),
    ("software", 20),
    ("scale", 20),
    ("family", 20),
    ("accelerator", 8),
    ("all", 8),
)
"""What runs share, the most alike first, and how many there must be."""

UNFITTED = 0.21
"""Standard deviation of the logarithm of what matmuls sustain on fitted accelerators over what is assumed for others.

It stands for the speed of an accelerator on which no published run was measured.
"""
UNSEEN = 0.1
"""Standard deviation of the logarithm of the share of an accelerator that the kernels of fitted software reach.

It stands for the speed of software of which no published run was measured.
"""
ENDS = 1.645
"""Standard deviations from the middle of a normal distribution to the ends of nine cases in ten."""

_NOTHING = 1e-12
TWO_PART_NAMES = ("tpu", "ascend", "rtx")


class Like(NamedTuple):
    """What makes runs alike: generation of the accelerator, family of the model, count of accelerators, software.

    An empty software is none: it makes no runs alike.
    """

    accelerator: str
    family: str
    scale: str
    software: str = ""


class Interval(NamedTuple):
    """A 90 % interval, the runs it comes from, and what they share."""

    low: float
    high: float
    evidence: str
    level: str
    runs: int = 0


class Residuals(NamedTuple):
    """Measured over predicted step times of published runs, one element a run.

    `stretch` is what the spread of like runs is multiplied with, so that a run of a source that nobody has looked at
    is covered as often as the interval says.
    """

    ident: tuple[str, ...]
    source: NDArray[np.str_]
    accelerator: NDArray[np.str_]
    family: NDArray[np.str_]
    scale: NDArray[np.str_]
    software: NDArray[np.str_]
    ratio: NDArray[np.float64]
    stretch: float = 1.0

    def without(self, source: str) -> Residuals:
        """Return the runs of all other sources."""
        keep = self.source != source
        return Residuals(
            tuple(np.array(self.ident)[keep]),
            self.source[keep],
            self.accelerator[keep],
            self.family[keep],
            self.scale[keep],
            self.software[keep],
            self.ratio[keep],
            self.stretch,
        )

    def like(self, index: int) -> Like:
        """Return what a run of the table has in common with others."""
        known = (self.accelerator, self.family, self.scale, self.software)
        return Like(*(str(column[index]) for column in known))


def residuals(rows: Iterable[tuple[str, str, Like, float]], stretch: float = 1.0) -> Residuals:
    """Return a table from rows of id, source, what makes runs alike, and predicted over measured step time."""
    ident, source, like, ratio = columns(rows, 4)
    return from_columns(ident, source, columns(like, 4), ratio, stretch)


def columns(rows: Iterable[Sequence[Any]], count: int) -> list[tuple[Any, ...]]:
    """Return the columns of a table, empty ones if it has no row."""
    return list(zip(*rows, strict=True)) or [()] * count


def from_columns(
    ident: tuple[str, ...], source: Sequence[str], like: Sequence[Sequence[str]], ratio: Sequence[float], stretch: float
) -> Residuals:
    """Return a table from columns; the four of `like` hold what makes the runs alike."""
    known = [np.array(column, np.str_) for column in (source, *like)]
    by_source, accelerator, family, scale, software = known
    measured_over = 1.0 / np.array(ratio, np.float64)
    return Residuals(ident, by_source, accelerator, family, scale, software, measured_over, stretch)


@cache
def generation(accelerator: str) -> str:
    """Return the generation that the id of an accelerator belongs to: `a100-sxm-40gb` and `a100-pcie-80gb` are A100."""
    first, *more = accelerator.split("-")
    return " ".join([first.upper(), *more[:1]]) if first in TWO_PART_NAMES else first.upper()


@cache
def scale_of(accelerators: int) -> str:
    """Return the range that a count of accelerators falls into."""
    low, high = next((pair for pair in SCALES if accelerators <= pair[1]), SCALES[-1])
    return f"{low:,} to {high:,}" if (low, high) != SCALES[-1] else f"{low:,} and more"


def interval(table: Residuals, like: Like, unknown: float = 0.0) -> Interval | None:
    """Return the factors between which measured over predicted lies in nine of ten cases.

    The runs taken are those of the same software with the same generation of accelerator, family and scale if they are
    enough, else those of the software with the same generation and family, else with the same family; then the same
    without regard to the software; then those with the same generation, and then all. Quantiles are those of `n + 1`
    equally likely gaps; their distance from the median, in logarithms, is multiplied with the stretch of the table.
    What is unknown besides adds to it as what is independent does.

    Parameters
    ----------
    table : Residuals
        Published runs.
    like : Like
        What is asked for.
    unknown : float
        Spread that no run of the table shows: a standard deviation of logarithms.

    Returns
    -------
    Interval or None
        None if there are too few runs at all.
    """
    found = select(table, like)
    if found is None:
        return None
    level, same = found
    low, middle, high = _quantiles(table.ratio[same])
    below, above = np.hypot(table.stretch * np.array((middle - low, high - middle)), ENDS * unknown)
    return Interval(
        low=float(np.exp(middle - below)),
        high=float(np.exp(middle + above)),
        evidence=_evidence(level, int(np.count_nonzero(same)), like),
        level=level,
        runs=int(np.count_nonzero(same)),
    )


def select(table: Residuals, like: Like) -> tuple[str, NDArray[np.bool_]] | None:
    """Return the most alike level that has enough runs, and which runs those are; None if there are too few at all."""
    accelerator = table.accelerator == like.accelerator
    family = accelerator & (table.family == like.family)
    software = (table.software == like.software) & (like.software != "")
    scale = family & (table.scale == like.scale)
    masks = {
        "software and scale": software & scale,
        "software and family": software & family,
        "software": software & (table.family == like.family),
        "scale": scale,
        "family": family,
        "accelerator": accelerator,
        "all": np.ones(len(table.ratio), bool),
    }
    return next(((level, masks[level]) for level, least in LEVELS if np.count_nonzero(masks[level]) >= least), None)


def _quantiles(ratios: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return both ends and the median of ratios, in logarithms."""
    tail, count = (1.0 - NOMINAL) / 2.0, len(ratios)
    places = np.array((tail, 0.5, 1.0 - tail)) * (count + 1)
    low, middle, high = np.interp(places, np.arange(1, count + 1), np.sort(np.log(ratios)))
    return float(low), float(middle), float(high)


EVIDENCE = {
    "software and scale": "{runs} with {software} on {accelerator}, {family}, {scale} accelerators",
    "software and family": "{runs} with {software} on {accelerator}, {family}",
    "software": "{runs} with {software}, {family}",
    "scale": "{runs} on {accelerator}, {family}, {scale} accelerators",
    "family": "{runs} on {accelerator}, {family}",
    "accelerator": "{runs} on {accelerator}",
    "all": "all {runs}; no like run published",
}


def _evidence(level: str, count: int, like: Like) -> str:
    return EVIDENCE[level].format(runs=f"{count:,} runs", **like._asdict())


def fitted_stretch(table: Residuals) -> float:
    """Return the stretch with which the runs of each source are covered as often as nominal by those of the others.

    Every run says how much wider the interval from the other sources would have to be just to cover it; the stretch is
    the quantile of these factors at the nominal coverage, and never narrows.
    """
    needed: list[float] = []
    for source in np.unique(table.source):
        rest = table.without(source)
        for logs, (low, middle, high) in _left_out(table, rest, source):
            ends = np.where(logs < middle, middle - low, high - middle)
            needed += list(np.abs(logs - middle) / np.maximum(ends, _NOTHING))
    return max(1.0, float(np.quantile(needed, NOMINAL))) if needed else 1.0


def coverage(table: Residuals) -> tuple[float, int]:
    """Return the share of runs inside the interval that the other sources alone give, and of how many runs.

    Neither the quantiles nor the stretch have seen the source of the run.
    """
    inside = count = 0
    for source in np.unique(table.source):
        rest = table.without(source)
        stretch = fitted_stretch(rest)
        for logs, (low, middle, high) in _left_out(table, rest, source):
            below, above = middle + stretch * (low - middle), middle + stretch * (high - middle)
            inside += int(np.count_nonzero((below <= logs) & (logs <= above)))
            count += len(logs)
    return inside / max(count, 1), count


def _left_out(
    table: Residuals, rest: Residuals, source: str
) -> Iterator[tuple[NDArray[np.float64], tuple[float, float, float]]]:
    """Yield the runs of a source, as logarithms, with the quantiles that the runs of the others give them."""
    own = np.flatnonzero(table.source == source)
    alike: dict[Like, list[int]] = {}
    for index in own:
        alike.setdefault(table.like(int(index)), []).append(int(index))
    for like, indices in alike.items():
        found = select(rest, like)
        if found is not None:
            yield np.log(table.ratio[indices]), _quantiles(rest.ratio[found[1]])
