"""Is my bandwidth normal? A measured collective beside the predicted one, where it falls short, and usual causes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.planning.collective_band import FROM, WELL_RUN, band
from aiplan.planning.measured import points
from aiplan.planning.shortfall_causes import causes_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiplan.adapters.nccl_log import Table
    from aiplan.core.arrays import Array
    from aiplan.declare import Diagnostics
    from aiplan.planning.collective import Collective
    from aiplan.planning.shortfall_causes import Cause

PARTS = ("small", "middle", "large")
"""Sizes where latency counts, those between, and those on the plateau and its shoulder."""
AS_PREDICTED, SLOWER, FASTER = "as predicted", "slower", "faster"
MANY = 0.5
"""Share of the sizes of a part that must be slower than the band: the band itself holds nine sizes in ten."""
NEAR_COUNT = 0.1
"""Share of a port within which a bandwidth is that of a whole number of ports."""


class Shortfall(NamedTuple):
    """A part of the sizes in which times are longer than the band allows."""

    part: str
    sizes: tuple[float, ...]
    worst: float
    """Measured over predicted time, at its worst."""

    @property
    def share(self) -> float:
        """Measured over predicted bandwidth, at its worst."""
        return 1.0 / self.worst


class Verdict(NamedTuple):
    """A table of a log beside the prediction for the same sizes."""

    table: Table
    predicted: Collective
    measured: Array
    """Times of the sizes of the prediction. [s]"""
    shortfalls: tuple[Shortfall, ...]
    remarks: tuple[str, ...]

    @property
    def ratio(self) -> Array:
        """Measured over predicted time."""
        return np.asarray(self.measured / self.predicted.choice.time)

    @property
    def band(self) -> Array:
        """For every size, how far off a well-run system may be, as a share of the shorter time."""
        return band(self.predicted.operation, self.predicted.machine, self.predicted.sizes, WELL_RUN)

    @property
    def words(self) -> list[str]:
        """For every size, how the measured time compares with the band of the prediction."""
        return [_word(float(ratio), float(share)) for ratio, share in zip(self.ratio, self.band, strict=True)]

    @property
    def causes(self) -> tuple[Cause, ...]:
        """Usual causes, those first that show in most of the parts that fall short."""
        return causes_of([one.part for one in self.shortfalls], self.predicted.machine)

    @property
    def normal(self) -> bool:
        """Whether no time is longer than the band allows."""
        return not self.shortfalls


def _word(ratio: float, share: float) -> str:
    if ratio > 1.0 + share:
        return SLOWER
    return FASTER if ratio < 1.0 / (1.0 + share) else AS_PREDICTED


def choose_table(tables: Iterable[Table], operation: str, log: str, diagnostics: Diagnostics) -> Table | None:
    """Return the table of an operation; None, and why noted, if a log has none, or several of different ranks.

    Of several with the same ranks the one with the most sizes is taken.
    """
    every = list(tables)
    found = [table for table in every if named(table) == operation and len(points(table)[0])]
    if not found:
        held = ", ".join(sorted({named(table) for table in every})) or "nothing"
        diagnostics.error("AIP118", f"'{log}' has no table of {operation}", hint=f"it holds {held}")
        return None
    if len({table.ranks for table in found}) > 1:
        ranks = ", ".join(map(str, sorted({table.ranks or 0 for table in found})))
        diagnostics.error("AIP118", f"'{log}' has tables of {ranks} ranks", hint="give the log of one run")
        return None
    return max(found, key=lambda table: len(table.rows))


def named(table: Table) -> str:
    """Return the operation of a table as `aiplan collective` calls it."""
    return table.operation.replace("_", "-")


def sizes_of(table: Table) -> tuple[int, ...]:
    """Return the sizes of a table, in order, each once."""
    return tuple(sorted({int(size) for size in points(table)[0]}))


def judge(table: Table, predicted: Collective) -> Verdict:
    """Hold a table against the prediction for the same sizes.

    Parameters
    ----------
    table : Table
        A table of the log.
    predicted : Collective
        The prediction at `sizes_of(table)`, in that order.
    """
    sizes, times = points(table)
    measured = np.array([times[sizes == size].min() for size in predicted.sizes])
    verdict = Verdict(table, predicted, measured, (), tuple(_remarks(table, predicted)))
    return verdict._replace(shortfalls=tuple(_shortfalls(verdict)))


def _shortfalls(verdict: Verdict) -> Iterable[Shortfall]:
    """Yield the parts of the sizes most of which are slower than the band allows."""
    sizes, ratio = verdict.predicted.sizes, verdict.ratio
    slow = np.array([word == SLOWER for word in verdict.words])
    parts = np.array([part_of(float(size)) for size in sizes])
    for part in PARTS:
        here = parts == part
        if here.any() and np.mean(slow[here]) >= MANY:
            there = here & slow
            yield Shortfall(part, tuple(sizes[there].tolist()), float(ratio[there].max()))


def part_of(nbytes: float) -> str:
    """Return the part of the sizes that a size is in."""
    place = int(np.searchsorted(FROM, nbytes, side="right")) - 1
    return PARTS[min(place, 2)]


def _remarks(table: Table, predicted: Collective) -> Iterable[str]:
    machine = predicted.machine
    if table.ranks is not None and table.ranks != machine.ranks:
        yield f"the log has {table.ranks:,} ranks, the prediction is for {machine.ranks:,}"
    if table.nodes is not None and table.nodes != machine.nodes:
        yield f"the log names {table.nodes:,} nodes, the prediction is for {machine.nodes:,}"
    yield from table.remarks


def as_if_ports(verdict: Verdict) -> int | None:
    """Return how many ports of a node would give the bandwidth of the largest message; None if no whole number."""
    machine, last = verdict.predicted.machine, -1
    if machine.domains == 1 or machine.ports < 2 or part_of(float(verdict.predicted.sizes[last])) != PARTS[-1]:
        return None
    count = machine.ports / float(verdict.ratio[last])
    whole = round(count)
    return whole if 1 <= whole < machine.ports and abs(count - whole) <= NEAR_COUNT else None
