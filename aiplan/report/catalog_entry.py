"""One catalog entry in full: as its files write it, what follows from it, and how far to trust it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from aiplan import units
from aiplan.catalog.derived import derive
from aiplan.catalog.leaves import leaves, specs_of, under
from aiplan.report.catalog import fitting, machine_cell, machine_key, unit_of
from aiplan.report.console import Look, draw
from aiplan.report.documents import document
from aiplan.report.records import comma_separated, markdown_table, tabs
from aiplan.report.text import clean, markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from aiplan.catalog.derived import Derived
    from aiplan.catalog.load import Catalog, Found
    from aiplan.declare import Diagnostics
    from aiplan.report.records import Cell

_ABOUT = frozenset({"name", "verified", "unverified", "notes", "sources"})
_UNVERIFIED = "unverified"


class Line(NamedTuple):
    """A value that the entry states: dotted name, value in SI, its unit, as written, whether it was read, and where."""

    path: str
    value: Any
    unit: str
    written: str
    verified: bool
    where: str


@dataclass(frozen=True, slots=True)
class Shown:
    """An entry ready to be shown."""

    kind: str
    ident: str
    found: Found
    lines: tuple[Line, ...]
    derived: tuple[Derived, ...]


def shown(kind: str, ident: str, found: Found, catalog: Catalog, diagnostics: Diagnostics) -> Shown:
    """Collect what is known about an entry."""
    derived = tuple(derive(found.entry, catalog, diagnostics))
    return Shown(kind, ident, found, tuple(_lines(found)), derived)


def render_entry(one: Shown, form: str, look: Look) -> str:
    """Return an entry as `table`, `plain`, `json`, `csv` or `markdown`."""
    match form:
        case "json":
            return _json(one)
        case "plain":
            return tabs(_HEADINGS, _records(one))
        case "csv":
            return comma_separated(_HEADINGS, _records(one))
        case "markdown":
            return _markdown(one)
        case _:
            return draw(look, *_parts(one, look))


def _lines(found: Found) -> Iterator[Line]:
    entry = found.entry
    for path, spec, value in leaves(entry):
        origin = found.origins.get(path)
        if origin is None or origin.kind == "default" or under(path, "unverified"):
            continue
        doubtful = not entry.verified or any(under(path, name) for name in entry.unverified)
        yield Line(path, value, unit_of(spec), " ".join(origin.detail.split()), not doubtful, origin.where)


# For programs

_HEADINGS = ("field", "value", "unit", "written", "verified", "where")


def _records(one: Shown) -> Iterator[tuple[Cell, ...]]:
    for line in one.lines:
        yield (line.path, machine_cell(line.value), line.unit, line.written, line.verified, line.where)
    for item in one.derived:
        yield (f"derived.{item.name}", item.value, item.unit, item.how, None, "derived")


def _json(one: Shown) -> str:
    entry = one.found.entry
    result = {
        "kind": one.kind,
        "id": one.ident,
        "verified": entry.verified,
        "unverified": list(entry.unverified),
        "sources": list(entry.sources),
        "fields": [
            {
                "path": line.path,
                machine_key("value", line.unit): line.value,
                "written": line.written,
                "verified": line.verified,
                "where": line.where,
            }
            for line in one.lines
            if line.path.partition("[")[0] not in {"sources", "verified"}
        ],
        "derived": {machine_key(item.name, item.unit): item.value for item in one.derived},
    }
    return document("catalog-entry", {"id": one.ident, "files": list(one.found.files)}, [], result, [])


# For people


def _parts(one: Shown, look: Look) -> Iterator[RenderableType]:
    """Yield the blocks of the table from top to bottom."""
    from rich.text import Text

    from aiplan.report.facts import BOLD
    from aiplan.report.grid import columns

    entry = one.found.entry
    yield Text(f"{one.kind}/{one.ident}: {clean(entry.name)}", BOLD)
    yield Text(f"verified: {_trust(one)}\n")
    yield columns(("", ""), list(_single_values(one)), fold=(1,))
    for name, spec in specs_of(entry).items():
        rows = [line for line in one.lines if line.path.startswith(f"{name}[")]
        if rows and name not in _ABOUT:
            yield Text(f"\n{name}: {spec.doc}")
            yield fitting(look, *_grid(rows))
    if one.derived:
        yield Text("\nfollows from these")
        cells = [(f"  {item.label}", units.quantity(item.value, item.unit, 4), item.how) for item in one.derived]
        yield columns(("", "", ""), cells, fold=(1, 2))
    if entry.notes:
        yield Text(f"\nnotes: {clean(entry.notes)}")
    yield Text("\n".join(["\nsources:", *(f"  {clean(source)}" for source in entry.sources)]))
    yield Text("\n".join(["files:", *(f"  {clean(name)}" for name in one.found.files)]))


def _trust(one: Shown) -> str:
    if not one.found.entry.verified:
        return "no, these numbers were not read in a source"
    doubtful = any(not line.verified for line in one.lines)
    return "yes, but for the fields marked unverified" if doubtful else "yes"


def _single_values(one: Shown) -> Iterator[tuple[str, str]]:
    """Yield label and value, with remarks, of the fields outside lists; a group has a line of its own above."""
    specs = specs_of(one.found.entry)
    group = ""
    for line in one.lines:
        name, _, rest = line.path.partition(".")
        if "[" in line.path or name in _ABOUT or rest == "verified":
            continue
        if rest and name != group:
            yield (name, specs[name].doc)
        group = name
        yield (f"  {rest}" if rest else name, line.written + _remark(line, one))


def _remark(line: Line, one: Shown) -> str:
    marks = [_UNVERIFIED] if one.found.entry.verified and not line.verified else []
    if len(one.found.files) > 1 and not line.where.startswith(f"{one.found.files[0]}:"):
        marks.append(f"from {line.where}")
    return f"   ({', '.join(marks)})" if marks else ""


def _grid(lines: list[Line]) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows of a list of records; a column of addresses is left to the other formats."""
    records: dict[str, dict[str, str]] = {}
    for line in lines:
        item, _, field = line.path.partition("].")
        records.setdefault(item, {})[field] = {"true": "yes", "false": "no"}.get(line.written, line.written)
    fields = dict.fromkeys(field for record in records.values() for field in record)
    shown_fields = [field for field in fields if field != "source"]
    rows = [[record.get(field, "-") for field in shown_fields] for record in records.values()]
    return shown_fields, rows


def _markdown(one: Shown) -> str:
    entry = one.found.entry
    rows = [
        (line.path, line.written, "" if line.verified else _UNVERIFIED)
        for line in one.lines
        if line.path.partition("[")[0] not in _ABOUT
    ]
    rows += [(item.label, units.quantity(item.value, item.unit, 4), item.how) for item in one.derived]
    table = markdown_table(("field", "value", ""), ([markdown(cell) for cell in row] for row in rows))
    notes = f"\n{markdown(entry.notes)}\n" if entry.notes else ""
    sources = "".join(f"- <{clean(source)}>\n" for source in entry.sources)
    title = f"**{markdown(entry.name)}** (`{one.kind}/{one.ident}`), verified: {_trust(one)}"
    return f"{title}\n\n{table}{notes}\nSources:\n\n{sources}"
