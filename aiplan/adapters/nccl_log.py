"""Output of nccl-tests and rccl-tests to tables of measured collectives.

Figures stay as printed. What a log does not say outright, operation and number of ranks, is deduced from the rows; what
it says wrongly is remarked on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from aiplan.adapters.nccl_evidence import consistency, operation_of, passes_of, ranks_of
from aiplan.adapters.nccl_lines import (
    Heading,
    heading_of,
    is_units,
    looks_like_row,
    named_operation,
    operation_in,
    plain,
    row_of,
    with_units,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.adapters.nccl_lines import Row
    from aiplan.declare import Diagnostics

LOOKED_FOR = "rows of size, count, type, time, algbw and busbw, as nccl-tests and rccl-tests print them"
TROUBLE = re.compile(r"\berror\b|failure|failed|not found|unable to|abort", re.IGNORECASE)


@dataclass(slots=True)
class Stated:
    """What a log says around a table: program, devices, hosts, ranks of the communicator."""

    operation: str | None = None
    devices: set[int] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)
    communicator: int | None = None
    elided: bool = False


class Table(NamedTuple):
    """A table of one operation, data type and reduction: one row a size."""

    file: str
    operation: str
    ranks: int | None
    nodes: int | None
    dtype: str
    reduction: str
    root: int | None
    rows: tuple[Row, ...]
    remarks: tuple[str, ...]

    @property
    def line(self) -> int:
        """Where it begins."""
        return self.rows[0].line

    @property
    def passes(self) -> float | None:
        """Times that the data goes round; None for operations whose two bandwidths are the same."""
        return passes_of(self.operation)


class _Part(NamedTuple):
    """Rows under one heading."""

    heading: Heading
    stated: Stated
    rows: list[Row]
    lost: list[int]


def read_log(text: str, file: str, diagnostics: Diagnostics) -> list[Table]:
    """Return the tables of a log; without one, note what was looked for and what the log holds instead.

    Parameters
    ----------
    text : str
        Output of nccl-tests or rccl-tests, whatever else stands between.
    file : str
        Its name; used where nothing else names the operation.
    diagnostics : Diagnostics
        Takes the error that there is no table.
    """
    tables = [table for part in _parts(text) for table in _tables(part, file)]
    if not tables:
        said = next((line.strip() for line in text.splitlines() if TROUBLE.search(line)), None)
        diagnostics.error(
            "AIP118",
            f"no table of measurements in '{file}'",
            expected=LOOKED_FOR,
            hint=f"the log says: {said}" if said else "give the output of a run that came to its first row",
        )
    return tables


def _parts(text: str) -> Iterator[_Part]:
    """Yield the rows of a log, heading by heading; a program that starts begins a new part."""
    part = _Part(Heading(), Stated(), [], [])
    for number, raw in enumerate(text.splitlines(), 1):
        line = plain(raw)
        row = row_of(line, number, part.heading)
        if row is not None:
            part.rows.append(row)
            continue
        heading = heading_of(line)
        program = named_operation(line) if "concluded" not in line else None
        if part.rows and (heading is not None or program is not None or line.lstrip("# ").startswith("nThread")):
            yield part
            part = _Part(part.heading, part.stated if heading is not None else Stated(), [], [])
        if heading is not None:
            part = part._replace(heading=heading)
        elif is_units(line):
            part = part._replace(heading=with_units(part.heading, line))
        elif looks_like_row(line):
            part.lost.append(number)
        part.stated.operation = program or part.stated.operation
        _note(line, part.stated)
    yield part


def _note(line: str, stated: Stated) -> None:
    device = re.search(r"\bRank\s+(\d+)\s.*?\bon\s+(\S+)\s+device", line)
    if device:
        stated.devices.add(int(device[1]))
        stated.hosts.add(device[2])
    inside = re.search(r"\bnranks[ =](\d+)", line)
    if inside:
        stated.communicator = max(int(inside[1]), stated.communicator or 0)


def _tables(part: _Part, file: str) -> Iterator[Table]:
    """Yield a table for each type, reduction and root under a heading; and for each time that the sizes start again."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    sweeps: dict[tuple[object, ...], int] = {}
    for row in part.rows:
        kind = (row.extra, row.dtype, row.reduction, row.root)
        key = (*kind, sweeps.get(kind, 0))
        if row.size > 0 and any(row.size == other.size for other in groups.get(key, [])):
            sweeps[kind] = sweeps.get(kind, 0) + 1
            key = (*kind, sweeps[kind])
        groups.setdefault(key, []).append(row)
    for rows in groups.values():
        yield _table(part, file, tuple(rows))


def _table(part: _Part, file: str, rows: tuple[Row, ...]) -> Table:
    remarks: list[str] = []
    stated = part.stated
    operation = operation_of(rows, stated.operation, operation_in(file), remarks, has_reduction=part.heading.reduction)
    devices = sorted(stated.devices)
    listed = devices[-1] + 1 if devices and len(rows[0].extra) == 0 else None
    ranks = ranks_of(rows, operation, listed, stated.communicator, remarks)
    whole = bool(devices) and devices == list(range(ranks or 0))
    labelled = _ranks_in(file)
    if ranks and labelled and labelled != ranks:
        remarks.append(f"the name of the file says {labelled:,} ranks, the figures {ranks:,}")
    if ranks is None and passes_of(operation) is not None:
        remarks.append("nothing tells the number of ranks")
    remarks += consistency(rows, operation, ranks)
    if part.lost:
        remarks.append(f"line {part.lost[0]} begins like a row but cannot be read" + _more(len(part.lost)))
    first = rows[0]
    nodes = len(stated.hosts) if whole else None
    return Table(file, operation, ranks, nodes, first.dtype, first.reduction, first.root, rows, tuple(remarks))


def _ranks_in(name: str) -> int | None:
    found = re.search(r"(?<![\w.])(\d+)[-_]?(?:r|ranks?|gpus?)(?![a-z0-9])", name.lower())
    return int(found[1]) if found else None


def _more(count: int) -> str:
    return f", and {count - 1} more" if count > 1 else ""
