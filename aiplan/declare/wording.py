"""Declarations in words: what a field takes, its default, an example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan import units
from aiplan.declare.fields import (
    AnySpec,
    Bounded,
    Choice,
    Either,
    Flag,
    Integer,
    Listing,
    Number,
    Quantity,
    QuantityRange,
    Record,
    Records,
    Table,
    Text,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def default_text(spec: AnySpec) -> str | None:
    """Return the default as one would write it in a file; None if the key is required."""
    if spec.required or spec.default_text is not None:
        return spec.default_text
    return value_text(spec, spec.default)


def value_text(spec: AnySpec, value: Any) -> str:
    """Return a value of a field as one would write it in a file."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(spec, Quantity):
        return with_unit(value, spec.dimension)
    if isinstance(spec, QuantityRange):
        return f"{value[0]!r} .. {with_unit(value[1], spec.dimension)}"
    if isinstance(value, tuple):
        return f"[{', '.join(str(item) for item in value)}]"
    return "{}" if isinstance(spec, Record | Table) else str(value)


def with_unit(value: float, dimension: str) -> str:
    """Return an SI number with its SI unit, at full precision."""
    kind = units.DIMENSIONS[dimension]
    number_text = str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    return number_text if kind.bare else f"{number_text} {kind.unit}"


def describe(spec: AnySpec) -> str:  # noqa: C901, PLR0911 - one line per kind
    """Return what a field takes, in a few words: `data rate, above 0 B/s`."""
    match spec:
        case Quantity() | QuantityRange():
            kind = spec.dimension + (" range" if isinstance(spec, QuantityRange) else "")
            return kind + _bounds(spec, lambda bound: with_unit(bound, spec.dimension))
        case Integer() | Number():
            kind = "whole number" if isinstance(spec, Integer) else "number"
            return kind + _bounds(spec, lambda bound: f"{bound:g}")
        case Text():
            return "text" if spec.pattern is None else f"text like {spec.pattern}"
        case Flag():
            return "true or false"
        case Choice():
            return "one of " + ", ".join(spec.options)
        case Record():
            return "mapping"
        case Records():
            return "list of mappings"
        case Table():
            names = "names" if spec.keys is None else ", ".join(spec.keys)
            return f"mapping of {names} to {describe(spec.value)}"
        case Listing():
            return f"list of {describe(spec.item)}"
        case Either():
            return " | ".join(describe(option) for option in spec.options)


def example(spec: AnySpec) -> str:  # noqa: PLR0911 - one line per kind
    """Return a value that the field takes, as one would write it."""
    match spec:
        case Quantity() | QuantityRange():
            return units.example(spec.dimension)
        case Integer() | Number():
            return f"{max(1, spec.minimum or 1):g}"
        case Choice():
            return spec.options[0]
        case Flag():
            return "true"
        case Record() | Table():
            return "{...}"
        case Records() | Listing():
            return "[...]"
        case Either():
            return example(spec.options[0])
        case Text():
            return "..."


def _bounds(spec: Bounded, show: Callable[[float], str]) -> str:
    words = (("at least", spec.minimum), ("above", spec.above), ("at most", spec.maximum))
    return "".join(f", {word} {show(bound)}" for word, bound in words if bound is not None)
