"""Declaring the fields of a record, once: kind, dimension, default, bounds and doc.

A record is a frozen dataclass whose fields are made by the functions below::

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Link:
        bandwidth: float = quantity("data rate", doc="One way, per port", above=0)
        latency: float = quantity("time", doc="Per message", default=1e-6, default_text="1 us", minimum=0)

From that declaration come validation (`build`), editor schema (`json_schema`) and reference docs (`rows`).
Defaults and bounds are SI numbers and Python values.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

METADATA_KEY = "aiplan"


class _Required:
    """The type of `REQUIRED`."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()
EMPTY: Final = "empty"

# Declarations are not frozen and have no equality because every command pays for making these classes:
# that halves it. Nothing changes or compares them.


@dataclasses.dataclass(slots=True, kw_only=True, eq=False)
class Spec:
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


@dataclasses.dataclass(slots=True, kw_only=True, eq=False)
class Bounded(Spec):
    """A field whose values lie in a range; `above` is the bound that is not itself allowed."""

    minimum: float | None = None
    above: float | None = None
    maximum: float | None = None


@dataclasses.dataclass(slots=True, kw_only=True, eq=False)
class Quantity(Bounded):
    """A number with a unit, kept in SI."""

    dimension: str


@dataclasses.dataclass(slots=True, kw_only=True, eq=False)
class QuantityRange(Bounded):
    """Two quantities, `low .. high unit`, or one that stands for both."""

    dimension: str


@dataclasses.dataclass(slots=True, kw_only=True, eq=False)
class Integer(Bounded):
    """A whole number."""


@dataclasses.dataclass(slots=True, kw_only=True, eq=False)
class Number(Bounded):
    """A finite number without unit."""


@dataclasses.dataclass(slots=True, kw_only=True, eq=False)
class Text(Spec):
    """Text, of the form of a regular expression if one is given."""

    pattern: str | None = None


@dataclasses.dataclass(slots=True, kw_only=True, eq=False)
class Flag(Spec):
    """`true` or `false`."""


@dataclasses.dataclass(slots=True, kw_only=True, eq=False)
class Choice(Spec):
    """One of a closed list of names."""

    options: tuple[str, ...]


@dataclasses.dataclass(slots=True, kw_only=True, eq=False)
class Record(Spec):
    """A nested record."""

    record_class: type


@dataclasses.dataclass(slots=True, kw_only=True, eq=False)
class Records(Spec):
    """A list of records."""

    record_class: type


@dataclasses.dataclass(slots=True, kw_only=True, eq=False)
class Table(Spec):
    """A mapping of names, free or from a closed list, to values of one kind."""

    value: AnySpec
    keys: tuple[str, ...] | None = None


@dataclasses.dataclass(slots=True, kw_only=True, eq=False)
class Listing(Spec):
    """A list of values of one kind."""

    item: AnySpec


@dataclasses.dataclass(slots=True, kw_only=True, eq=False)
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
    return _field(
        Quantity(
            dimension=dimension,
            doc=doc,
            default=default,
            default_text=default_text,
            minimum=minimum,
            above=above,
            maximum=maximum,
        )
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
    return _field(
        QuantityRange(
            dimension=dimension,
            doc=doc,
            default=default,
            default_text=default_text,
            minimum=minimum,
            above=above,
            maximum=maximum,
        )
    )


def integer(*, doc: str = "", default: Any = REQUIRED, minimum: int | None = None, maximum: int | None = None) -> Any:
    """Declare a whole number; the value is an int."""
    return _field(Integer(doc=doc, default=default, minimum=minimum, maximum=maximum))


def number(
    *,
    doc: str = "",
    default: Any = REQUIRED,
    minimum: float | None = None,
    above: float | None = None,
    maximum: float | None = None,
) -> Any:
    """Declare a number without unit; the value is a float."""
    return _field(Number(doc=doc, default=default, minimum=minimum, above=above, maximum=maximum))


def text(*, doc: str = "", default: Any = REQUIRED, pattern: str | None = None) -> Any:
    """Declare a text; `pattern` must match all of it and be valid in ECMAScript too."""
    return _field(Text(doc=doc, default=default, pattern=pattern))


def flag(*, doc: str = "", default: Any = REQUIRED) -> Any:
    """Declare a truth value."""
    return _field(Flag(doc=doc, default=default))


def choice(options: tuple[str, ...], *, doc: str = "", default: Any = REQUIRED) -> Any:
    """Declare one of a closed list of names; the value is a str."""
    return _field(Choice(options=options, doc=doc, default=default))


def record(record_class: type, *, doc: str = "", default: Any = REQUIRED) -> Any:
    """Declare a nested record; the default `"empty"` is the record with all its own defaults."""
    return _field(Record(record_class=record_class, doc=doc, default=default), record_class)


def records(record_class: type, *, doc: str = "", default: Any = ()) -> Any:
    """Declare a list of records; the value is a tuple."""
    return _field(Records(record_class=record_class, doc=doc, default=default))


def mapping(spec: Any, *, doc: str = "", default: Any = REQUIRED, keys: tuple[str, ...] | None = None) -> Any:
    """Declare a mapping of names to values of one kind; the value is a dict, the default `"empty"` is {}."""
    return _field(Table(value=spec_of(spec), keys=keys, doc=doc, default=default), dict)


def listing(spec: Any, *, doc: str = "", default: Any = ()) -> Any:
    """Declare a list of values of one kind; the value is a tuple."""
    return _field(Listing(item=spec_of(spec), doc=doc, default=default))


def either(*options: Any, doc: str = "", default: Any = REQUIRED, default_text: str | None = None) -> Any:
    """Declare a value of one of several kinds; the first kind that takes the form written is used."""
    specs = tuple(spec_of(option) for option in options)
    return _field(Either(options=specs, doc=doc, default=default, default_text=default_text))


def spec_of(declared_field: Any) -> AnySpec:
    """Return the declaration inside a dataclass field."""
    try:
        spec: AnySpec = declared_field.metadata[METADATA_KEY]
    except (AttributeError, KeyError):
        raise TypeError(f"{declared_field!r} is not declared with the functions of aiplan.declare") from None
    return spec


@functools.cache
def declared(record_class: type) -> Mapping[str, AnySpec]:
    """Return the declarations of a record's fields by key; a field without doc is a programming error."""
    specs = {field.name: spec_of(field) for field in dataclasses.fields(record_class)}
    undocumented = [name for name, spec in specs.items() if not spec.doc]
    if undocumented:
        raise TypeError(f"{record_class.__name__} has fields without doc: {', '.join(undocumented)}")
    return specs


def default_value(spec: AnySpec) -> Any:
    """Return the value a field has when its key is not given."""
    if spec.default != EMPTY or not isinstance(spec, Record | Table):
        return spec.default
    return spec.record_class() if isinstance(spec, Record) else {}


def _field(spec: AnySpec, empty: Callable[[], Any] | None = None) -> Any:
    metadata = {METADATA_KEY: spec}
    if spec.required:
        return dataclasses.field(metadata=metadata)
    if spec.default == EMPTY and empty is not None:
        return dataclasses.field(default_factory=empty, metadata=metadata)
    return dataclasses.field(default=spec.default, metadata=metadata)
