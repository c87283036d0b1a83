"""Measured collectives: curves fitted on the tables of logs, how good they are, and whether a table can be true.

The faster of out of place and in place counts, and times only: bandwidths are computed from them again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import curves
from aiplan.planning.curves import (
    SMALL,
    anchors,
    anchors_without_each,
    by_decade,
    calibrated,
    errors_of,
    held_out,
    hockney,
    summed_up,
)
from aiplan.planning.health import Flag, flags_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.adapters.nccl_log import Table
    from aiplan.core.arrays import Array
    from aiplan.planning.curves import Curve, Errors
    from aiplan.planning.health import Limits

LEAST_SIZES = 3
"""Sizes below which not even a line is fitted."""


class Fitted(NamedTuple):
    """A curve, its errors at the points it was fitted on, and at those it was fitted without."""

    curve: Curve
    errors: Errors
    unseen: Errors | None


class Decade(NamedTuple):
    """Errors of the best curve over the sizes from a power of ten to the next."""

    from_bytes: float
    errors: Errors


@dataclass(frozen=True, slots=True)
class Measured:
    """A table with what follows from it."""

    table: Table
    nodes: int | None
    sizes: Array
    times: Array
    fits: tuple[Fitted, ...]
    """The best known first."""
    decades: tuple[Decade, ...]
    latency: float | None
    plateau_algbw: float | None
    plateau_busbw: float | None
    plateau_size: float | None
    flags: tuple[Flag, ...]

    @property
    def impossible(self) -> bool:
        """Whether no network can have given these figures."""
        return any(flag.kind == "impossible" for flag in self.flags)


class Logs(NamedTuple):
    """The answer of `aiplan calibrate LOG`: every table of every log, and what they were held against."""

    files: tuple[str, ...]
    tables: tuple[Measured, ...]
    limits: Limits


def measure(table: Table, limits: Limits) -> Measured:
    """Fit curves on a table and look whether it can be true.

    Parameters
    ----------
    table : Table
        A table of a log.
    limits : Limits
        What the catalog says of link and network, if they are named.
    """
    sizes, times = points(table)
    nodes = limits.nodes or table.nodes
    fits = fitted(sizes, times)
    best = fits[0].curve if fits else None
    decades = (
        ()
        if best is None
        else tuple(Decade(10.0**power, errors_of(best, sizes[rows], times[rows])) for power, rows in by_decade(sizes))
    )
    algbw = busbw = size = None
    if len(sizes):
        rates = curves.algorithm_bandwidth(sizes, times)
        top = int(np.argmax(rates))
        algbw, size, factor = float(rates[top]), float(sizes[top]), bus_factor_of(table)
        busbw = None if factor is None else algbw * factor
    small = times[sizes <= SMALL]
    latency = float(np.median(small)) if len(small) else None
    flags = flags_of(table, nodes, sizes, times, algbw, limits)
    return Measured(table, nodes, sizes, times, fits, decades, latency, algbw, busbw, size, flags)


def points(table: Table) -> tuple[Array, Array]:
    """Return sizes and times that can be fitted, in order of size; empty messages tell of no transfer."""
    rows = sorted((row.size, row.best.time) for row in table.rows if row.size > 0 and row.best.time > 0.0)
    return np.array([size for size, _ in rows], dtype=float), np.array([time for _, time in rows], dtype=float)


def bus_factor_of(table: Table) -> float | None:
    """Return busbw over algbw by today's definition; None if the number of ranks is not known."""
    if table.passes is None:
        return 1.0
    return None if table.ranks is None else float(curves.bus_factor(table.ranks, table.passes))


def fitted(sizes: Array, times: Array) -> tuple[Fitted, ...]:
    """Return the curves that a table has enough sizes for, the best known first."""
    if len(sizes) < LEAST_SIZES:
        return ()
    found = []
    best = calibrated(sizes, times)
    if best is not None:
        unseen = held_out(sizes, times)
        found.append(Fitted(best, errors_of(best, sizes, times), None if unseen is None else summed_up(unseen)))
    two = anchors(sizes, times)
    if two is not None:
        without = anchors_without_each(sizes, times)
        known = without[np.isfinite(without)]
        found.append(Fitted(two, errors_of(two, sizes, times), summed_up(known) if len(known) else None))
    line = hockney(sizes, times)
    found.append(Fitted(line, errors_of(line, sizes, times), None))
    return tuple(found)


def measure_all(tables: Sequence[Table], files: tuple[str, ...], limits: Limits) -> Logs:
    """Return what follows from the tables of all logs."""
    return Logs(files, tuple(measure(table, limits) for table in tables), limits)
