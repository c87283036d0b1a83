"""Lists of catalog entries: one row per entry, the columns that matter for the kind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from aiplan import units
from aiplan.catalog.derived import derive
from aiplan.catalog.leaves import leaves
from aiplan.declare import Diagnostics
from aiplan.report.catalog import counted, fitting, machine_cell, machine_key
from aiplan.report.console import Look, draw
from aiplan.report.documents import document
from aiplan.report.records import comma_separated, markdown_table, tabs
from aiplan.report.text import markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.catalog.query import Listed, Selection

_DERIVED = "derived."

COLUMNS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "accelerators": (
        ("id", "id", ""),
        ("memory", "memory.capacity", "GiB"),
        ("bandwidth", "memory.bandwidth", "GB/s"),
        ("fp16 dense", "compute.fp16", "TFLOP/s"),
        ("bf16 dense", "compute.bf16", "TFLOP/s"),
        ("fp8 dense", "compute.fp8", "TFLOP/s"),
        ("scale-up one way", "derived.scale_up.bandwidth_one_way", "GB/s"),
        ("power", "power", "W"),
        ("price", "price_range.per_hour", "USD/h"),
        ("verified", "verified", ""),
    ),
    "links": (
        ("id", "id", ""),
        ("kind", "kind", ""),
        ("one way", "bandwidth_one_way", "GB/s"),
        ("achieved", "achieved.bandwidth_one_way", "GB/s"),
        ("links per device", "links_per_device", ""),
        ("latency", "latency", "us"),
        ("verified", "verified", ""),
    ),
    "networks": (
        ("id", "id", ""),
        ("kind", "kind", ""),
        ("port one way", "bandwidth_one_way", "Gb/s"),
        ("ports per node", "ports_per_node", ""),
        ("latency", "latency", "us"),
        ("step of a collective", "collective_latency", "us"),
        ("verified", "verified", ""),
    ),
    "nodes": (
        ("id", "id", ""),
        ("accelerators", "accelerators", ""),
        ("of", "accelerator", ""),
        ("network one way", "derived.network_one_way", "Gb/s"),
        ("host memory", "memory", "GiB"),
        ("power", "power", "kW"),
        ("verified", "verified", ""),
    ),
    "switches": (
        ("id", "id", ""),
        ("kind", "kind", ""),
        ("ports", "ports", ""),
        ("port one way", "port_bandwidth_one_way", "Gb/s"),
        ("all one way", "capacity_one_way", "Tb/s"),
        ("hop", "hop_latency", "ns"),
        ("power", "power.max", "W"),
        ("verified", "verified", ""),
    ),
    "storage": (
        ("id", "id", ""),
        ("kind", "kind", ""),
        ("rates of", "scope", ""),
        ("read", "read", "GB/s"),
        ("write", "write", "GB/s"),
        ("latency", "latency", "us"),
        ("price", "price_per_capacity", "USD/GB/month"),
        ("verified", "verified", ""),
    ),
    "regions": (
        ("id", "id", ""),
        ("name", "name", ""),
        ("carbon", "carbon", "g/kWh"),
        ("electricity", "electricity", "USD/kWh"),
        ("PUE", "pue", ""),
        ("as of", "as_of", ""),
        ("verified", "verified", ""),
    ),
}
"""For every kind: heading, field, and the unit that people read it in."""

ANY_KIND = (
    ("kind", "entry kind", ""),
    ("id", "id", ""),
    ("name", "name", ""),
    ("released", "released", ""),
    ("verified", "verified", ""),
)
"""Columns of a list of several kinds."""


class _Column(NamedTuple):
    heading: str
    key: str
    unit: str
    values: list[Any]

    def texts(self) -> tuple[str, list[str]]:
        """Return the heading with its unit, and the cells in that unit."""
        if not self.unit:
            return self.heading, [_word(value) for value in self.values]
        factor = units.parse(f"1 {self.unit}", units.dimension_of(self.unit) or "")
        return f"{self.heading} [{self.unit}]", [_scaled(value, factor) for value in self.values]


def render_list(selection: Selection, catalog: Catalog, form: str, look: Look) -> str:
    """Return a list of entries as `table`, `plain`, `json`, `csv` or `markdown`."""
    kind, listed = selection.kind, selection.entries
    columns = _columns(kind, listed, catalog)
    keys = [column.key for column in columns]
    rows = list(zip(*(column.values for column in columns), strict=True))
    if form == "json":
        entries = [dict(zip(keys, row, strict=True)) for row in rows]
        return document("catalog-list", {"kind": kind, "where": list(selection.where)}, [], {"entries": entries}, [])
    if form in {"plain", "csv"}:
        write = tabs if form == "plain" else comma_separated
        return write(keys, ([machine_cell(value) for value in row] for row in rows))
    headings, cells = zip(*(column.texts() for column in columns), strict=True)
    numbers = [index for index, column in enumerate(columns) if any(map(_is_number, column.values))]
    lines = list(zip(*cells, strict=True))
    count = counted(len(listed), "entry", "entries")
    if form == "markdown":
        safe = [[markdown(cell) for cell in line] for line in lines]
        return f"{count} of the catalog\n\n{markdown_table(headings, safe, numbers)}"
    from rich.text import Text

    table = [fitting(look, headings, lines, numbers)] if lines else []
    return draw(look, *table, Text(f"{count}; - is unknown" if lines else count))


def _columns(kind: str | None, listed: Sequence[Listed], catalog: Catalog) -> list[_Column]:
    chosen = ANY_KIND if kind is None else COLUMNS[kind]
    derives = any(path.startswith(_DERIVED) for _, path, _ in chosen)
    known = []
    unresolved = Diagnostics()  # a dangling reference leaves a cell unknown; lint is there to tell
    for row in listed:
        values: dict[str, Any] = {leaf.path: leaf.value for leaf in leaves(row.entry)}
        values |= {"id": row.ident, "entry kind": row.kind}
        if derives:
            values |= {_DERIVED + one.name: one.value for one in derive(row.entry, catalog, unresolved)}
        known.append(values)
    return [
        _Column(heading, _key(path, unit), unit, [values.get(path) for values in known])
        for heading, path, unit in chosen
    ]


def _key(path: str, unit: str) -> str:
    """Return the key for programs; its values are in the SI unit of the same dimension."""
    dimension = units.dimension_of(unit)
    name = path.removeprefix(_DERIVED).removeprefix("entry ")
    return machine_key(name, units.DIMENSIONS[dimension].unit if dimension else "")


def _scaled(value: Any, factor: float) -> str:
    if value is None:
        return "-"
    low, high = value if isinstance(value, tuple) else (value, value)
    ends = [_figure(end / factor) for end in (low, high)]
    return ends[0] if low == high else " .. ".join(ends)


def _figure(number: float) -> str:
    """Return a number as data sheets print it: four digits, no trailing zeros."""
    decimals = max(0, 3 - math.floor(math.log10(number))) if number > 0 else 0
    text = f"{number:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | tuple) and not isinstance(value, bool)
