"""Rows of a reference table of a record's fields, made from the declarations."""

from __future__ import annotations

from typing import NamedTuple

from aiplan.declare.fields import (
    AnySpec,
    Either,
    Listing,
    Quantity,
    QuantityRange,
    Record,
    Records,
    Table,
    declared,
)
from aiplan.declare.wording import default_text, describe


class DocRow(NamedTuple):
    """One field: dotted path, what it takes, dimension (empty if none), default (None if required), doc."""

    path: str
    kind: str
    dimension: str
    default: str | None
    doc: str


def rows(record_class: type, prefix: str = "") -> list[DocRow]:
    """Return a row for every field of a record and, below it, of the records inside.

    Items of a list are written `path[]`, entries under free names `path.<name>`.
    """
    found: list[DocRow] = []
    for name, spec in declared(record_class).items():
        path = f"{prefix}.{name}" if prefix else name
        found.append(DocRow(path, describe(spec), _dimension(spec), default_text(spec), spec.doc))
        found += _inside(spec, path)
    return found


def _inside(spec: AnySpec, path: str) -> list[DocRow]:
    match spec:
        case Record():
            return rows(spec.record_class, path)
        case Records():
            return rows(spec.record_class, f"{path}[]")
        case Table():
            return _inside(spec.value, f"{path}.<name>")
        case Listing():
            return _inside(spec.item, f"{path}[]")
        case Either():
            return [row for option in spec.options for row in _inside(option, path)]
        case _:
            return []


def _dimension(spec: AnySpec) -> str:
    match spec:
        case Quantity() | QuantityRange():
            return spec.dimension
        case Table():
            return _dimension(spec.value)
        case Listing():
            return _dimension(spec.item)
        case Either():
            return next(filter(None, map(_dimension, spec.options)), "")
        case _:
            return ""
