"""What the reports on the catalog have in common: units of fields, keys and cells for programs."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from aiplan import units
from aiplan.declare.fields import Listing, Quantity, QuantityRange, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from aiplan.declare.fields import AnySpec
    from aiplan.report.console import Look
    from aiplan.report.records import Cell

_GAP = 2
_SUFFIXES = {
    "B": "bytes",
    "B/s": "bytes_per_s",
    "FLOP": "flops",
    "FLOP/s": "flops_per_s",
    "s": "s",
    "s/m": "s_per_m",
    "1/s": "per_s",
    "W": "w",
    "J": "j",
    "kg": "kg",
    "kg/J": "kg_per_j",
    "Hz": "hz",
    "m": "m",
    "USD": "usd",
    "USD/s": "usd_per_s",
    "USD/J": "usd_per_j",
    "USD/B": "usd_per_byte",
    "USD/B/s": "usd_per_byte_s",
}


def unit_of(spec: AnySpec | None) -> str:
    """Return the SI unit of a field; empty for text, counts and plain numbers."""
    match spec:
        case Quantity() | QuantityRange():
            return units.DIMENSIONS[spec.dimension].unit
        case Table():
            return unit_of(spec.value)
        case Listing():
            return unit_of(spec.item)
        case _:
            return ""


def machine_key(path: str, unit: str) -> str:
    """Return the key of a value in formats for programs: `memory_capacity_bytes`."""
    suffix = _SUFFIXES.get(unit)
    name = (path.removesuffix(".per_hour") if unit == "USD/s" else path).replace(".", "_")
    return f"{name}_{suffix}" if suffix else name


def machine_cell(value: Any) -> Cell:
    """Return a value as it stands in a record for programs; a range is `low .. high`."""
    if not isinstance(value, tuple):
        return value  # type: ignore[no-any-return]
    low, high = value
    return low if low == high else f"{low!r} .. {high!r}"


def counted(count: int, one: str, many: str) -> str:
    """Return a count with its noun."""
    return f"{count} {one if count == 1 else many}"


def fitting(
    look: Look, headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()
) -> RenderableType:
    """Return a table that fits: folding headings first, then the widest column of text, else a block for each row."""
    from aiplan.report.grid import columns

    cells = [max(len(row[index]) for row in rows) for index in range(len(headings))]
    widths = [max(width, _longest_word([heading])) for width, heading in zip(cells, headings, strict=True)]
    texts = [index for index in range(1, len(headings)) if index not in right]
    widest = max(texts, key=lambda index: widths[index], default=0)
    least = max(_longest_word([headings[widest]]), _longest_word([row[widest] for row in rows]))
    room = math.inf if look.width is None else look.width - _GAP * (len(headings) - 1)
    if sum(map(max, cells, map(len, headings))) <= room:
        return columns(headings, rows, right, fold=(widest,))
    if sum(widths) - widths[widest] + least <= room:
        folded = ["\n".join(textwrap.wrap(name, width)) for name, width in zip(headings, widths, strict=True)]
        return columns(folded, rows, right, fold=(widest,))
    lines: list[tuple[str, str]] = []
    for row in rows:
        lines += [(row[0], ""), *((f"  {name}", cell) for name, cell in zip(headings[1:], row[1:], strict=True))]
    return columns(("", ""), lines, fold=(1,))


def _longest_word(texts: Sequence[str]) -> int:
    return max((len(word) for text in texts for word in text.split()), default=0)
