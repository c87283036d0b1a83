"""Entries seen as single values with dotted names, for queries, checks and display."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from aiplan.declare import Mapping, Scalar, Sequence, declared
from aiplan.declare.fields import Listing, Record, Records, Table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Mapping as Fields

    from aiplan.declare import Mark, Node
    from aiplan.declare.fields import AnySpec

_INDEX = r"\[(\d+)\]"


class Leaf(NamedTuple):
    """A known value: its dotted name such as `prices[0].per_hour`, how it is declared, and the value in SI."""

    path: str
    spec: AnySpec
    value: Any


def specs_of(entry: Any) -> Fields[str, AnySpec]:
    """Return the declarations of a record's fields."""
    record_class: type = type(entry)
    return declared(record_class)


def leaves(entry: Any, prefix: str = "") -> Iterator[Leaf]:
    """Yield every known value of a record in the order of declaration."""
    for name, spec in specs_of(entry).items():
        yield from _below(_join(prefix, name), spec, getattr(entry, name))


def _below(path: str, spec: AnySpec, value: Any) -> Iterator[Leaf]:
    if value is None:
        return
    match spec:
        case Record():
            yield from leaves(value, path)
        case Records():
            for index, item in enumerate(value):
                yield from leaves(item, f"{path}[{index}]")
        case Listing():
            for index, item in enumerate(value):
                yield from _below(f"{path}[{index}]", spec.item, item)
        case Table():
            for key, item in value.items():
                yield from _below(f"{path}.{key}", spec.value, item)
        case _:
            yield Leaf(path, spec, value)


def plain(path: str) -> str:
    """Return a dotted name without list indexes: `prices.per_hour`."""
    return re.sub(_INDEX, "", path)


def under(path: str, name: str) -> bool:
    """Whether a dotted name, indexes apart, is `name` or lies below it."""
    bare = plain(path)
    return bare == name or bare.startswith(f"{name}.")


def field_spec(record_class: type, path: str) -> AnySpec | None:
    """Return the declaration of a field, or of a group of fields, by its dotted name without indexes."""
    name, _, rest = path.partition(".")
    spec = declared(record_class).get(name)
    return _inner(spec, rest) if spec is not None and rest else spec


def _inner(spec: AnySpec, path: str) -> AnySpec | None:
    match spec:
        case Record() | Records():
            return field_spec(spec.record_class, path)
        case Table() if spec.keys is None or path in spec.keys:
            return spec.value
        case _:
            return None


def field_names(record_class: type, prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of all fields of a record, without indexes."""
    for name, spec in declared(record_class).items():
        path = _join(prefix, name)
        yield path
        match spec:
            case Record() | Records():
                yield from field_names(spec.record_class, path)
            case Table():
                yield from (f"{path}.{key}" for key in spec.keys or ())
            case _:
                pass


def locate(tree: Node, path: str) -> Mark:
    """Return where a dotted name stands in a tree; if it does not, where the nearest part of it does."""
    mark = tree.mark
    for step in filter(None, re.sub(_INDEX, r".\1", path).split(".")):
        match tree:
            case Mapping(items):
                entry = next(((key, child) for key, child in items if key.text == step), None)
                if entry is None:
                    break
                key, tree = entry
                mark = tree.mark if isinstance(tree, Scalar) else key.mark
            case Sequence(items) if step.isdecimal() and int(step) < len(items):
                tree = items[int(step)]
                mark = tree.mark
            case _:
                break
    return mark


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name
