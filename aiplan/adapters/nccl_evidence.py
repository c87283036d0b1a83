"""Operation and number of ranks of a table from its own figures, and whether the figures agree with each other.

Three things tell them: which columns are filled, size over count times the width of the type, and busbw over algbw. A
name in the log only decides between operations that the rows allow.
"""

from __future__ import annotations

import math
from statistics import median
from typing import TYPE_CHECKING

from aiplan.adapters.nccl_lines import WIDTHS
from aiplan.core import busbw, curves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.adapters.nccl_lines import Half, Row

PRINTED = 0.005e9
"""Half of the last digit of a bandwidth."""
TELLING = 1e9
"""Bandwidth from which on two decimals tell something."""
AGREES = 0.02
MOST = 2.0**24
"""More ranks than there are."""
GIBI = 2.0**30 / 1e9


def spoken(operation: str) -> str:
    """Return the name that the rest of aiplan has for an operation of a log."""
    return operation.replace("_", "-")


def passes_of(operation: str) -> float | None:
    """Return how often the data of an operation goes round; None where busbw is algbw."""
    return busbw.PASSES.get(spoken(operation))


def operation_of(
    rows: Sequence[Row], named: str | None, in_name: str | None, remarks: list[str], *, has_reduction: bool
) -> str:
    """Return the operation of a table: what the log names if the rows allow it, else the likeliest of those they allow.

    Parameters
    ----------
    rows : sequence of Row
        The table.
    named : str or None
        Operation of the program that the log names.
    in_name : str or None
        Operation that the name of the file speaks of.
    remarks : list of str
        Takes what does not fit.
    has_reduction : bool
        Whether the heading has a column for the reduction.
    """
    allowed = _allowed(rows, has_reduction=has_reduction)
    if named is not None and named not in allowed:
        names = " or ".join(_words(name) for name in allowed)
        remarks.append(f"called {_words(named)}, but the rows are those of {names}")
    for name in (named, in_name):
        if name in allowed:
            return str(name)
    if len(allowed) > 1 and named is None:
        others = " or ".join(_words(name) for name in allowed[1:])
        remarks.append(f"no operation is named: taken for {_words(allowed[0])}, could be {others}")
    return allowed[0]


def _allowed(rows: Sequence[Row], *, has_reduction: bool) -> tuple[str, ...]:
    """Return the operations whose rows look like these, the likeliest first."""
    first = rows[0]
    rooted = first.root is not None and first.root >= 0
    apart = _shares(rows) is not None
    ratio = _ratio(rows)
    if ratio is not None and ratio[0] > 1.0:
        return ("all_reduce",)
    reduces = first.reduction not in {"", "none"}
    if apart and reduces:
        return ("reduce_scatter",)
    if not reduces and (apart or not rooted):
        return _unreduced(rows, rooted=rooted, blank=has_reduction and not first.reduction)
    if rooted:
        return ("reduce",) if reduces else ("broadcast",)
    # What is sent is not checked in place either.
    return ("send_recv", "all_reduce") if _unchecked_in_place(rows) else ("all_reduce", "send_recv")


def _unreduced(rows: Sequence[Row], *, rooted: bool, blank: bool) -> tuple[str, ...]:
    """Return operations that add nothing up.

    An all-to-all is not checked in place, and old versions left its reduction blank under a heading.
    """
    if rooted:
        return ("gather", "scatter")
    if blank or _unchecked_in_place(rows):
        return ("all_to_all", "all_gather")
    return ("all_gather", "all_to_all")


def _unchecked_in_place(rows: Sequence[Row]) -> bool:
    """Return whether results were checked out of place only."""
    both = [row.halves for row in rows if len(row.halves) > 1]
    return bool(both) and all(
        out is not None and out.wrong is not None and (into is None or into.wrong is None) for out, into, *_ in both
    )


def _shares(rows: Sequence[Row]) -> int | None:
    """Return how many counts make a size, if more than one does: then that is the number of ranks."""
    known = [
        row.size // (row.elements * WIDTHS[row.dtype])
        for row in rows
        if row.elements and row.dtype in WIDTHS and row.size >= row.elements * WIDTHS[row.dtype]
    ]
    return max(known) if known and max(known) > 1 else None


def _ratio(rows: Sequence[Row], least: float = TELLING) -> tuple[float, float] | None:
    """Return the range in which busbw over algbw lies by all figures that tell; None if none does."""
    halves = [half for row in rows for half in row.known if min(half.algbw, half.busbw) >= least]
    if not halves:
        return None
    ranges = [_printed(half) for half in halves]
    low, high = _common(ranges)
    if low > high:
        # A figure is wrong: those count that agree with the middle one.
        middle = median(half.busbw / half.algbw for half in halves)
        low, high = _common([(first, last) for first, last in ranges if first <= middle <= last])
    return (low, high) if low <= high else None


def _printed(half: Half) -> tuple[float, float]:
    """Return the range of busbw over algbw that two decimals leave."""
    return (half.busbw - PRINTED) / (half.algbw + PRINTED), (half.busbw + PRINTED) / (half.algbw - PRINTED)


def _common(ranges: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the part that ranges share; upside down if there is none."""
    return max((low for low, _ in ranges), default=1.0), min((high for _, high in ranges), default=0.0)


def ranks_of(
    rows: Sequence[Row], operation: str, listed: int | None, communicator: int | None, remarks: list[str]
) -> int | None:
    """Return the number of ranks that the figures agree with; None if nothing tells it.

    Parameters
    ----------
    rows : sequence of Row
        The table.
    operation : str
        Its operation.
    listed : int or None
        Ranks by the list of devices, which may be cut.
    communicator : int or None
        Ranks by the library's own remarks.
    remarks : list of str
        Takes what does not fit, and how sure the answer is.
    """
    stated = [count for count in (communicator, listed) if count is not None]
    if spoken(operation) in busbw.SHARED:
        counted = _shares(rows)
        if counted is not None:
            if stated and counted not in stated:
                remarks.append(f"lists {stated[0]:,} ranks, but size over count gives {counted:,}")
            return counted
    passes = passes_of(operation)
    if passes is None:
        return stated[0] if stated else None
    if any(half.algbw >= TELLING for row in rows for half in row.known) and _silent(rows):
        return 1
    ratio = _ratio(rows)
    if ratio is None:
        return stated[0] if stated else None
    return _within(_span(ratio, passes), stated, remarks)


def _silent(rows: Sequence[Row]) -> bool:
    return all(half.busbw == 0.0 for row in rows for half in row.known)


def _span(ratio: tuple[float, float], passes: float) -> tuple[int, int]:
    """Return the fewest and the most ranks that a ratio allows."""
    low, high = (min(float(curves.ranks_of_bus_factor(value, passes)), MOST) for value in ratio)
    return math.ceil(low - 1e-9), math.floor(high + 1e-9)


def _within(span: tuple[int, int], stated: list[int], remarks: list[str]) -> int | None:
    low, high = span
    fits = [count for count in stated if low <= count <= high]
    if fits:
        return fits[0]
    found = _roundest(low, high)
    if found is None:
        remarks.append("busbw over algbw fits no number of ranks")
        return stated[0] if stated else None
    between = f"{found:,}" if low == high else f"{low:,} to {high:,}, taken for {found:,}"
    if stated:
        remarks.append(f"lists {stated[0]:,} ranks, but busbw over algbw gives {between}")
    elif low != high:
        remarks.append(f"ranks by busbw over algbw: {between}")
    return found


def _roundest(low: int, high: int) -> int | None:
    """Return the number in a range that the highest power of two divides, the smallest of them."""
    if low > high or low < 1 or low >= MOST:
        return None
    step = 1
    while -(-low // (2 * step)) * 2 * step <= high:
        step *= 2
    return -(-low // step) * step


def consistency(rows: Sequence[Row], operation: str, ranks: int | None) -> list[str]:
    """Return where the figures of a table do not agree: algbw = size / time, and busbw = factor x algbw.

    Parameters
    ----------
    rows : sequence of Row
        The table.
    operation : str
        Its operation.
    ranks : int or None
        Its number of ranks.
    """
    found = [*_rates(rows, ranks), *_factors(rows, operation, ranks)]
    bad = [row for row in rows for half in row.known if half.wrong is not None and _is_wrong(half)]
    if bad:
        found.append(f"{len(bad)} results are marked wrong, the first at {bad[0].size:,} B (line {bad[0].line})")
    return found


def _is_wrong(half: Half) -> bool:
    """Return whether a check failed: older versions print the largest error, newer ones count wrong elements."""
    return half.wrong is not None and half.wrong >= 1.0


def _rates(rows: Sequence[Row], ranks: int | None) -> list[str]:
    """Compare algbw with size over time, as far as the printed digits tell."""
    told = [(row, half) for row in rows for half in row.known if half.algbw >= TELLING and row.size > 0]
    ratios = [(row, float(curves.algorithm_bandwidth(row.size, half.time)) / half.algbw) for row, half in told]
    off = [(row, ratio) for row, ratio in ratios if abs(ratio - 1.0) > AGREES]
    if not off:
        return []
    share = float(curves.bus_factor(ranks, 1.0)) if ranks and ranks > 1 else math.nan
    if all(abs(ratio * share - 1.0) <= AGREES for _, ratio in ratios):
        return [OLD.format(ranks=ranks)]
    if all(abs(ratio / GIBI - 1.0) <= AGREES for _, ratio in ratios):
        return ["algbw is given in GiB/s under the heading GB/s: only the times are used"]
    row, ratio = off[0]
    return [f"size over time is {ratio:.2f} times algbw at {row.size:,} B (line {row.line}), in {len(off)} figures"]


OLD = (
    "algbw counts ({ranks} - 1) / {ranks} of the size and busbw is the same: the definition of nccl-tests before "
    "June 2020; only the times are used"
)


def _factors(rows: Sequence[Row], operation: str, ranks: int | None) -> list[str]:
    """Compare busbw over algbw with the factor of the operation."""
    passes = passes_of(operation)
    if passes is not None and ranks is None:
        return []
    factor = 1.0 if ranks is None else busbw.bus_factor_of(spoken(operation), ranks)
    for row in rows:
        for half in row.known:
            loose = PRINTED * (1.0 + factor) + 1e-6 * half.busbw
            if half.algbw >= TELLING and abs(half.busbw - factor * half.algbw) > loose:
                return _mismatch(row, half, factor, rows, ranks)
    return []


def _mismatch(row: Row, half: Half, factor: float, rows: Sequence[Row], ranks: int | None) -> list[str]:
    if any(text.startswith("algbw counts") for text in _rates(rows, ranks)):
        return []
    return [f"busbw is {half.busbw / half.algbw:.3f} times algbw at {row.size:,} B (line {row.line}), not {factor:.3f}"]


def _words(operation: str) -> str:
    return operation.replace("_", "-").replace("send-recv", "send/receive")
