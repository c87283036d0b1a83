"""The words and cells of measured collectives, for table and Markdown alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.core.curves import FILL_SHARE
from aiplan.report.facts import Fact
from aiplan.report.text import joined, number, percent

if TYPE_CHECKING:
    from aiplan.planning.curves import Curve, Errors
    from aiplan.planning.measured import Measured

OPERATIONS = {
    "all_reduce": "all-reduce",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "all_to_all": "all-to-all",
    "send_recv": "send/receive",
}
CURVES = ("curve", "errors", "sizes", "median", "p90", "worst", "in 10 %")
DECADES = ("from", "sizes", "median", "worst")
KINDS = {"calibrated": "calibrated", "anchors": "two anchors", "hockney": "Hockney"}
UNSEEN = {"calibrated": "on every other size, fitted on the rest", "anchors": "each size, anchors from the others"}
NOTE = (
    "Errors are of the time. Where a curve was fitted they say how well its form suits the table; on sizes it has not "
    "seen, what to expect of a size in between. The share beside a curve's name is what nine sizes in ten of a healthy "
    "system stay within."
)


def title(item: Measured) -> str:
    """Return what was measured."""
    table = item.table
    ranks = "unknown number of ranks" if table.ranks is None else f"{table.ranks:,} rank{_s(table.ranks)}"
    nodes = "" if item.nodes is None else f"{item.nodes:,} node{_s(item.nodes)}"
    what = joined([OPERATIONS.get(table.operation, table.operation), ranks, nodes, _type(item)])
    return f"{what}: {table.file}:{table.line}"


def _type(item: Measured) -> str:
    reduction = "" if item.table.reduction == "none" else item.table.reduction
    return " ".join(part for part in (item.table.dtype, reduction) if part)


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def facts(item: Measured) -> list[Fact]:
    """Return the headline of a table."""
    rows, sizes = len(item.table.rows), item.sizes
    ends = f"{number(float(sizes[0]), 'B')} to {number(float(sizes[-1]), 'B')}" if len(sizes) else "no data sent"
    found = [Fact("rows", f"{rows:,}", ends)]
    if item.latency is not None:
        found.append(Fact("latency", number(item.latency, "s"), "median of messages up to 4 KiB"))
    if item.plateau_algbw is not None and item.plateau_size is not None:
        where = f"algbw {number(item.plateau_algbw, 'B/s')}, highest, at {number(item.plateau_size, 'B')}"
        found.append(Fact("busbw", number(item.plateau_busbw, "B/s"), where))
    return found


def formulas(item: Measured) -> list[tuple[str, str]]:
    """Return the fitted curves as formulas, n in bytes."""
    return [(f"{KINDS[fit.curve.kind]}, {percent(fit.curve.band)}", _formula(fit.curve)) for fit in item.fits]


def _formula(curve: Curve) -> str:
    given = curve.constants
    if curve.kind == "calibrated":
        root = f"{number(given['root'], 's')} sqrt(n / 1 B)" if given["root"] else ""
        short = _sum(given["short_latency"], given["short_bandwidth"])
        return f"min({short}, {_sum(given['long_latency'], given['long_bandwidth'], root)})"
    root = f"2 sqrt({FILL_SHARE} x {number(given['latency'], 's')} x n / {number(given['bandwidth'], 'B/s')})"
    return _sum(given["latency"], given["bandwidth"], root if curve.kind == "anchors" else "")


def _sum(latency: float, bandwidth: float, root: str = "") -> str:
    """Return a latency, a stream and what else there is; a fit may leave any of them at nothing."""
    parts = [
        number(latency, "s") if latency else "",
        f"n / {number(bandwidth, 'B/s')}" if math.isfinite(bandwidth) else "",
        root,
    ]
    return " + ".join(part for part in parts if part)


def curves(item: Measured) -> list[tuple[str, ...]]:
    """Return the errors of every curve, where it was fitted and where it was not."""
    found = []
    for fit in item.fits:
        found.append((KINDS[fit.curve.kind], "where fitted", *_cells(fit.errors)))
        if fit.unseen is not None:
            found.append(("", UNSEEN[fit.curve.kind], *_cells(fit.unseen)))
    return found


def _cells(errors: Errors) -> tuple[str, ...]:
    shares = map(percent, (errors.median, errors.p90, errors.worst, errors.within_10))
    return (f"{errors.points:,}", *shares)


def decades(item: Measured) -> list[tuple[str, ...]]:
    """Return the errors of the best curve by size."""
    return [
        (
            number(part.from_bytes, "B si"),
            f"{part.errors.points:,}",
            percent(part.errors.median),
            percent(part.errors.worst),
        )
        for part in item.decades
    ]


def remarks(item: Measured) -> list[tuple[str, str]]:
    """Return what is wrong with a table, and what had to be deduced."""
    return [*((flag.kind, flag.text) for flag in item.flags), *(("remark", text) for text in item.table.remarks)]
