"""JSON Schema (draft 7) of a record, for editors.

It checks shapes, names and the bounds of plain numbers; the unit of a quantity only by its spelling, and the
bounds of a quantity not at all. What it accepts, `build` may still refuse.
"""

from __future__ import annotations

from typing import Any

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
    declared,
)
from aiplan.declare.source import resolve
from aiplan.declare.wording import default_text

_DRAFT = "http://json-schema.org/draft-07/schema#"


def json_schema(record_class: type, title: str, schema_id: str) -> dict[str, Any]:
    """Return the draft 7 schema of a file that holds one record.

    Parameters
    ----------
    record_class : type
        A declared record.
    title : str
        What the file is called.
    schema_id : str
        Address of the schema.

    Returns
    -------
    dict
        Plain data, ready for `json.dumps`.
    """
    return {"$schema": _DRAFT, "$id": schema_id, "title": title, **_object(record_class)}


def _object(record_class: type) -> dict[str, Any]:
    specs = declared(record_class)
    schema: dict[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: _property(spec) for name, spec in specs.items()},
    }
    required = [name for name, spec in specs.items() if spec.required]
    return schema | {"required": required} if required else schema


def _property(spec: AnySpec) -> dict[str, Any]:
    """Return the schema of a value with doc and default; `null` is one more kind where unknown is allowed."""
    schema = _value(spec)
    if spec.nullable:
        schema = {"anyOf": [schema, {"type": "null"}]}
    if spec.doc:
        schema["description"] = spec.doc
    default = default_text(spec)
    if default is not None:
        schema["default"] = _plain_default(spec, default)
    return schema


def _value(spec: AnySpec) -> dict[str, Any]:  # noqa: C901, PLR0911 - one line per kind
    match spec:
        case Quantity() | QuantityRange():
            return _quantity(spec)
        case Integer():
            return {"type": "integer", **_bounds(spec)}
        case Number():
            return {"type": "number", **_bounds(spec)}
        case Text():
            return {"type": "string"} | ({} if spec.pattern is None else {"pattern": f"^(?:{spec.pattern})$"})
        case Flag():
            return {"type": "boolean"}
        case Choice():
            return {"enum": _as_editors_read(spec.options)}
        case Record():
            return _object(spec.record_class)
        case Records():
            return {"type": "array", "items": _object(spec.record_class)}
        case Table():
            return _table(spec)
        case Listing():
            return {"type": "array", "items": _property(spec.item)}
        case Either():
            return {"anyOf": [_property(option) for option in spec.options]}


def _quantity(spec: Quantity | QuantityRange) -> dict[str, Any]:
    pattern = units.pattern(spec.dimension)
    if isinstance(spec, QuantityRange):
        pattern = r"\S"  # two numbers may share one unit: the spelling is left to the program
    text = {"type": "string", "pattern": pattern, "examples": [units.example(spec.dimension)]}
    if not units.DIMENSIONS[spec.dimension].bare:
        return text
    return {"anyOf": [text, {"type": "number", **_bounds(spec)}]}


def _table(spec: Table) -> dict[str, Any]:
    value = _property(spec.value)
    if spec.keys is None:
        return {"type": "object", "additionalProperties": value}
    return {"type": "object", "additionalProperties": False, "properties": dict.fromkeys(spec.keys, value)}


def _bounds(spec: Bounded) -> dict[str, float]:
    words = {"minimum": spec.minimum, "exclusiveMinimum": spec.above, "maximum": spec.maximum}
    return {word: bound for word, bound in words.items() if bound is not None}


def _as_editors_read(options: tuple[str, ...]) -> list[Any]:
    """Names, and beside each one that looks like a number or truth value what an editor makes of it."""
    values: list[Any] = list(options)
    return values + [value for value in map(resolve, options) if not isinstance(value, str)]


def _plain_default(spec: AnySpec, text: str) -> Any:
    """Return the default as JSON data: values with a unit stay text."""
    if isinstance(spec.default, tuple):
        return list(spec.default)
    if isinstance(spec, Record | Table) and spec.default is not None:
        return {}
    if isinstance(spec.default, str) and not isinstance(spec, Quantity | QuantityRange):
        return spec.default
    return resolve(text)
