"""Declaring the fields of a record, once: kind, dimension, default, bounds and doc.

A record is a class over `Declared` whose fields are made by the functions below::

    class Link(Declared):
        bandwidth: float = quantity("data rate", doc="One way, per port", above=0)
        latency: float = quantity("time", doc="Per message", default=1e-6, default_text="1 us", minimum=0)

From that declaration come validation (`build`), editor schema (`json_schema`) and reference docs (`rows`).
Defaults and bounds are SI numbers and Python values.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Final, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Required:
    """The type of `REQUIRED`."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()
EMPTY: Final = "empty"

# Declarations and records are no dataclasses: those compile several methods for each class, and every command would
# pay for that when it starts. The type checker knows the constructors all the same.


@dataclass_transform(kw_only_default=True)
class _Keywords:
    """Takes what a class below it annotates, by keyword; a default is the value in the class."""

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)

    def __repr__(self) -> str:
        return _shown(self)


class Spec(_Keywords):
    """What every kind of field has: a doc line and a default."""

    doc: str = ""
    default: Any = REQUIRED
    default_text: str | None = None

    @property
    def required(self) -> bool:
        """Whether the key must be given."""
        return self.default is REQUIRED

    @property
    def nullable(self) -> bool:
        """Whether `null` (unknown) may be given."""
        return self.default is None


class Bounded(Spec):
    """A field whose values lie in a range; `above` is the bound that is not itself allowed."""

    minimum: float | None = None
    above: float | None = None
    maximum: float | None = None


class Quantity(Bounded):
    """A number with a unit, kept in SI."""

    dimension: str


class QuantityRange(Bounded):
    """Two quantities, `low .. high unit`, or one that stands for both."""

    dimension: str


class Integer(Bounded):
    """A whole number."""


class Number(Bounded):
    """A finite number without unit."""


class Text(Spec):
    """Text, of the form of a regular expression if one is given."""

    pattern: str | None = None


class Flag(Spec):
    """`true` or `false`."""


class Choice(Spec):
    """One of a closed list of names."""

    options: tuple[str, ...]


class Record(Spec):
    """A nested record."""

    record_class: type


class Records(Spec):
    """A list of records."""

    record_class: type


class Table(Spec):
    """A mapping of names, free or from a closed list, to values of one kind."""

    value: AnySpec
    keys: tuple[str, ...] | None = None


class Listing(Spec):
    """A list of values of one kind."""

    item: AnySpec


class Either(Spec):
    """One of several kinds, told apart by the form of what is written."""

    options: tuple[AnySpec, ...]


AnySpec = (
    Quantity | QuantityRange | Integer | Number | Text | Flag | Choice | Record | Records | Table | Listing | Either
)


def quantity(
    dimension: str,
    *,
    doc: str = "",
    default: Any = REQUIRED,
    default_text: str | None = None,
    minimum: float | None = None,
    above: float | None = None,
    maximum: float | None = None,
) -> Any:
    """Declare a quantity such as `400 Gb/s`; the value is a float in SI."""
    return Quantity(
        dimension=dimension,
        doc=doc,
        default=default,
        default_text=default_text,
        minimum=minimum,
        above=above,
        maximum=maximum,
    )


def quantity_range(
    dimension: str,
    *,
    doc: str = "",
    default: Any = REQUIRED,
    default_text: str | None = None,
    minimum: float | None = None,
    above: float | None = None,
    maximum: float | None = None,
) -> Any:
    """Declare a range of quantities such as `1.19 .. 5.12 USD/h`; the value is (low, high) in SI."""
    return QuantityRange(
        dimension=dimension,
        doc=doc,
        default=default,
        default_text=default_text,
        minimum=minimum,
        above=above,
        maximum=maximum,
    )


def integer(*, doc: str = "", default: Any = REQUIRED, minimum: int | None = None, maximum: int | None = None) -> Any:
    """Declare a whole number; the value is an int."""
    return Integer(doc=doc, default=default, minimum=minimum, maximum=maximum)


def number(
    *,
    doc: str = "",
    default: Any = REQUIRED,
    minimum: float | None = None,
    above: float | None = None,
    maximum: float | None = None,
) -> Any:
    """Declare a number without unit; the value is a float."""
    return Number(doc=doc, default=default, minimum=minimum, above=above, maximum=maximum)


def text(*, doc: str = "", default: Any = REQUIRED, pattern: str | None = None) -> Any:
    """Declare a text; `pattern` must match all of it and be valid in ECMAScript too."""
    return Text(doc=doc, default=default, pattern=pattern)


def flag(*, doc: str = "", default: Any = REQUIRED) -> Any:
    """Declare a truth value."""
    return Flag(doc=doc, default=default)


def choice(options: tuple[str, ...], *, doc: str = "", default: Any = REQUIRED) -> Any:
    """Declare one of a closed list of names; the value is a str."""
    return Choice(options=options, doc=doc, default=default)


def record(record_class: type, *, doc: str = "", default: Any = REQUIRED) -> Any:
    """Declare a nested record; the default `"empty"` is the record with all its own defaults."""
    return Record(record_class=record_class, doc=doc, default=default)


def records(record_class: type, *, doc: str = "", default: Any = ()) -> Any:
    """Declare a list of records; the value is a tuple."""
    return Records(record_class=record_class, doc=doc, default=default)


def mapping(spec: Any, *, doc: str = "", default: Any = REQUIRED, keys: tuple[str, ...] | None = None) -> Any:
    """Declare a mapping of names to values of one kind; the value is a dict, the default `"empty"` is {}."""
    return Table(value=spec_of(spec), keys=keys, doc=doc, default=default)


def listing(spec: Any, *, doc: str = "", default: Any = ()) -> Any:
    """Declare a list of values of one kind; the value is a tuple."""
    return Listing(item=spec_of(spec), doc=doc, default=default)


def either(*options: Any, doc: str = "", default: Any = REQUIRED, default_text: str | None = None) -> Any:
    """Declare a value of one of several kinds; the first kind that takes the form written is used."""
    specs = tuple(spec_of(option) for option in options)
    return Either(options=specs, doc=doc, default=default, default_text=default_text)


def spec_of(declaration: Any) -> AnySpec:
    """Return what the functions above have made, or refuse anything else."""
    if not isinstance(declaration, AnySpec):
        raise TypeError(f"{declaration!r} is not declared with the functions of aiplan.declare")
    return declaration


@functools.cache
def declared(record_class: type) -> Mapping[str, AnySpec]:
    """Return the declarations of a record's fields by key; a field without doc is a programming error."""
    specs = {
        name: spec_of(vars(base).get(name))
        for base in reversed(record_class.__mro__)
        for name in inspect.get_annotations(base)
    }
    undocumented = [name for name, spec in specs.items() if not spec.doc]
    if undocumented:
        raise TypeError(f"{record_class.__name__} has fields without doc: {', '.join(undocumented)}")
    return specs


def default_value(spec: AnySpec) -> Any:
    """Return the value a field has when its key is not given."""
    if spec.default != EMPTY or not isinstance(spec, Record | Table | Either):
        return spec.default
    record = empty_record(spec)
    return {} if record is None else record.record_class()


def empty_record(spec: AnySpec) -> Record | None:
    """Return the record that stands for a key that is not given, if one does."""
    options = spec.options if isinstance(spec, Either) else (spec,)
    found = next((option for option in options if isinstance(option, Record)), None)
    return found if spec.default == EMPTY else None


@dataclass_transform(
    kw_only_default=True,
    frozen_default=True,
    field_specifiers=(
        choice,
        either,
        flag,
        integer,
        listing,
        mapping,
        number,
        quantity,
        quantity_range,
        record,
        records,
        text,
    ),
)
class Declared:
    """A record: its fields are given by keyword, have their declared defaults, and never change."""

    def __init__(self, **values: Any) -> None:
        record_class: type = type(self)
        specs = declared(record_class)
        unknown = ", ".join(sorted(values.keys() - specs))
        missing = ", ".join(name for name, spec in specs.items() if spec.required and name not in values)
        if unknown or missing:
            raise TypeError(
                f"{record_class.__name__}: unknown fields: {unknown or '-'}; missing fields: {missing or '-'}"
            )
        vars(self).update(
            (name, values[name] if name in values else default_value(spec)) for name, spec in specs.items()
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: '{name}' cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: '{name}' cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return _shown(self)


def _shown(thing: _Keywords | Declared) -> str:
    """Return what would make a declaration or record again."""
    return f"{type(thing).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(thing).items())})"
