"""Nodes to validated records: every fault is reported, none stops the walk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeVar

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
    default_value,
    empty_record,
)
from aiplan.declare.source import Mapping, Node, Scalar, Sequence, resolve
from aiplan.declare.wording import default_text, describe, example, with_unit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from aiplan.declare.diagnostics import Diagnostics, Mark

OriginKind = Literal["given", "default", "catalog", "assumed", "calibrated", "derived"]
R = TypeVar("R")

_FORMS: dict[type, tuple[type, ...]] = {
    Integer: (int, float),
    Number: (int, float),
    Text: (str,),
    Flag: (bool,),
}
MOST_COUNTED, MOST, LEAST = 10**15, 1e30, 1e-30
"""Magnitudes beyond which no field has a meaning, of whole numbers and of others in SI: products stay finite."""
_TRUTH_WORDS = {"y": "true", "yes": "true", "on": "true", "n": "false", "no": "false", "off": "false"}
_LIKE_A_QUANTITY = r"\s*[-+.$0-9]"
_PLAIN_NUMBER = r"[-+]?[0-9.]+"


class Origin(NamedTuple):
    """Where a value comes from: its kind, the place (`file:line`), and the value as written there."""

    kind: OriginKind
    where: str
    detail: str


Origins = dict[str, Origin]


class _Site(NamedTuple):
    """A field within a file: its dotted name, and the declaration to quote in messages."""

    path: str
    spec: AnySpec


class _Bad:
    """Stands for a value that could not be read."""


_BAD: Final = _Bad()


def build(
    record_class: type[R],
    node: Node,
    diagnostics: Diagnostics,
    path: str = "",
    origins: Origins | None = None,
    kind: OriginKind = "given",
) -> R | None:
    """Make a record from the node of a mapping.

    Parameters
    ----------
    record_class : type
        A class over `Declared`, its fields made by the functions of `fields`.
    node : Node
        What was read.
    diagnostics : Diagnostics
        Takes every fault found.
    path : str
        Dotted name of the node within its file; empty for the root.
    origins : dict of str to Origin, optional
        Takes the origin of every single value by its dotted name.
    kind : str
        Origin of the values that are written in the node.

    Returns
    -------
    record or None
        None if anything in it is wrong.
    """
    value = _Builder(diagnostics, {} if origins is None else origins, kind).record(record_class, node, node.mark, path)
    return None if value is _BAD else value


class _Builder:
    """One walk; `at` is where to point when a whole value is meant, which is its key if it has one."""

    def __init__(self, diagnostics: Diagnostics, origins: Origins, kind: OriginKind) -> None:
        self.diagnostics = diagnostics
        self.origins = origins
        self.kind = kind

    def record(self, record_class: type, node: Node, at: Mark, path: str) -> Any:
        if not isinstance(node, Mapping):
            self._wrong_shape(node, path or "the file", "a mapping of keys to values")
            return _BAD
        specs = declared(record_class)
        values: dict[str, Any] = {}
        misspelled: set[str | None] = set()
        for key, child in node.items:
            if key.text in specs:
                site = _Site(_join(path, key.text), specs[key.text])
                values[key.text] = self.value(site.spec, child, key.mark, site)
            else:
                values[key.text] = self._unknown_key(key, specs)
                misspelled.add(_nearest(key.text, specs))
        for name, spec in specs.items():
            if name not in values and name not in misspelled:
                values[name] = self._default(name, at, _Site(_join(path, name), spec))
        return _BAD if _any_bad(values.values()) else record_class(**values)

    def value(self, spec: AnySpec, node: Node, at: Mark, site: _Site) -> Any:
        if isinstance(node, Scalar) and node.value is None:
            return self._null(node, site)
        match spec:
            case Record():
                if isinstance(node, Mapping) and not node.items:
                    self.origins[site.path] = Origin(self.kind, at.where, "{}")
                return self.record(spec.record_class, node, at, site.path)
            case Records() | Listing():
                return self._items(spec, node, site)
            case Table():
                return self._table(spec, node, site)
            case Either():
                return self._either(spec, node, at, site)
            case _:
                return self._scalar(spec, node, site)

    def _scalar(self, spec: AnySpec, node: Node, site: _Site) -> Any:
        if not isinstance(node, Scalar):
            self._wrong_shape(node, site.path, "a single value", site)
            return _BAD
        match spec:
            case Quantity() | QuantityRange():
                value = self._quantity(spec, node, site)
            case Integer() | Number():
                value = self._number(spec, node, site)
            case Text():
                value = self._text(spec, node, site)
            case Flag():
                value = self._flag(node, site)
            case Choice():
                value = self._choice(spec, node, site)
            case _:
                raise TypeError(f"{spec!r} is not a single value")
        if value is not _BAD:
            self._given(site.path, node)
        return value

    # Values of one kind each

    def _quantity(self, spec: Quantity | QuantityRange, node: Scalar, site: _Site) -> Any:
        try:
            if isinstance(spec, Quantity):
                low = high = units.parse(node.text, spec.dimension)
            else:
                low, high = units.parse_range(node.text, spec.dimension)
        except units.UnitError as fault:
            self._error("AIP102", fault.problem, node.mark, site, fault.hint)
            return _BAD
        if not (self._within(spec, low, node, site) and self._within(spec, high, node, site)):
            return _BAD
        return low if isinstance(spec, Quantity) else (low, high)

    def _number(self, spec: Integer | Number, node: Scalar, site: _Site) -> Any:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._not_a_number(node, site)
            return _BAD
        if isinstance(spec, Integer) and isinstance(value, float) and not value.is_integer():
            self._error("AIP103", f"{node.text} is not a whole number", node.mark, site, f"write {round(value)}")
            return _BAD
        value = int(value) if isinstance(spec, Integer) else float(value)
        return value if self._within(spec, value, node, site) else _BAD

    def _text(self, spec: Text, node: Scalar, site: _Site) -> Any:
        if not isinstance(node.value, str):
            kind = "a truth value" if isinstance(node.value, bool) else "a number"
            hint = f'put it in quotes: "{node.text}"'
            self._error("AIP103", f"{node.text} is {kind}, but text is due", node.mark, site, hint)
            return _BAD
        if spec.pattern is not None and not re.fullmatch(spec.pattern, node.text):
            self._error("AIP103", f"'{node.text}' does not have the form due", node.mark, site, None)
            return _BAD
        return node.text

    def _flag(self, node: Scalar, site: _Site) -> Any:
        if isinstance(node.value, bool):
            return node.value
        word = node.text.lower()
        meant = _TRUTH_WORDS.get(word)
        if meant is not None:
            problem = f"'{node.text}' is text, but true or false is due"
            self._error("AIP109", problem, node.mark, site, f"write true or false, here {meant}")
        else:
            hint = f"remove the quotes: {word}" if word in ("true", "false") else "write true or false"
            self._error("AIP103", f"'{node.text}' is not a truth value", node.mark, site, hint)
        return _BAD

    def _choice(self, spec: Choice, node: Scalar, site: _Site) -> Any:
        if node.text in spec.options:
            return node.text
        hint = _did_you_mean(node.text, spec.options, "Choices")
        self._error("AIP108", f"'{node.text}' is not one of the choices", node.mark, site, hint)
        return _BAD

    # Values made of others

    def _items(self, spec: Records | Listing, node: Node, site: _Site) -> Any:
        if not isinstance(node, Sequence):
            self._wrong_shape(node, site.path, "a list", site, "begin each item with '- ', or write [first, second]")
            return _BAD
        if not node.items:
            self.origins[site.path] = Origin(self.kind, node.mark.where, "[]")
        values = []
        for index, item in enumerate(node.items):
            name = f"{site.path}[{index}]"
            if isinstance(spec, Records):
                values.append(self.record(spec.record_class, item, item.mark, name))
            else:
                values.append(self.value(spec.item, item, item.mark, _Site(name, spec.item)))
        return _BAD if _any_bad(values) else tuple(values)

    def _table(self, spec: Table, node: Node, site: _Site) -> Any:
        if not isinstance(node, Mapping):
            self._wrong_shape(node, site.path, "a mapping of names to values", site)
            return _BAD
        if not node.items:
            self.origins[site.path] = Origin(self.kind, node.mark.where, "{}")
        values: dict[str, Any] = {}
        for key, child in node.items:
            if spec.keys is not None and key.text not in spec.keys:
                values[key.text] = self._unknown_key(key, spec.keys)
            else:
                site_of_key = _Site(_join(site.path, key.text), spec.value)
                values[key.text] = self.value(spec.value, child, key.mark, site_of_key)
        return _BAD if _any_bad(values.values()) else values

    def _either(self, spec: Either, node: Node, at: Mark, site: _Site) -> Any:
        chosen = _pick(spec, node)
        if chosen is None:
            self._wrong_shape(node, site.path, describe(spec), site)
            return _BAD
        return self.value(chosen, node, at, site)

    # What is not given

    def _default(self, name: str, at: Mark, site: _Site) -> Any:
        spec = site.spec
        if spec.required:
            self._error("AIP106", f"missing key '{name}'", at, site, f"add '{name}: {example(spec)}'")
            return _BAD
        record = empty_record(spec)
        if record is not None:
            return self.record(record.record_class, Mapping([], at), at, site.path)
        self.origins[site.path] = Origin("default", "", default_text(spec) or "")
        return default_value(spec)

    def _null(self, node: Scalar, site: _Site) -> Any:
        spec = site.spec
        if spec.nullable:
            self._given(site.path, node)
            return None
        hint = "give a value" if spec.required else f"give a value, or leave the key out for {default_text(spec)}"
        self._error("AIP103", "the value is empty, but one is due", node.mark, site, hint)
        return _BAD

    # Faults

    def _not_a_number(self, node: Scalar, site: _Site) -> None:
        code, hint = "AIP103", None
        bare = node.text.replace(",", "")
        digits = bare.lstrip("+-0")
        if node.quoted and isinstance(resolve(node.text), int | float):
            hint = f"remove the quotes: {node.text}"
        elif bare != node.text and isinstance(resolve(bare), int | float):
            hint = f"write {bare}"
        elif (
            re.fullmatch(_PLAIN_NUMBER, node.text) and digits != node.text and isinstance(resolve(digits), int | float)
        ):
            code, hint = "AIP109", f"write {digits}"
        self._error(code, f"'{node.text}' is not a number", node.mark, site, hint)

    def _within(self, spec: Bounded, value: float, node: Scalar, site: _Site) -> bool:
        if spec.minimum is not None and value < spec.minimum:
            problem, bound = "is below the minimum", spec.minimum
        elif spec.above is not None and value <= spec.above:
            problem, bound = "is not above", spec.above
        elif spec.maximum is not None and value > spec.maximum:
            problem, bound = "is above the maximum", spec.maximum
        elif abs(value) > (most := MOST_COUNTED if isinstance(spec, Integer) else MOST):
            problem, bound = "is beyond", most
        elif 0 < abs(value) < LEAST:
            problem, bound = "is not 0, and closer to it than", LEAST
        else:
            return True
        shown = with_unit(bound, spec.dimension) if isinstance(spec, Quantity | QuantityRange) else f"{bound:g}"
        self._error("AIP107", f"'{node.text}' {problem} {shown}", node.mark, site, None)
        return False

    def _unknown_key(self, key: Scalar, known: Collection[str]) -> _Bad:
        hint = _did_you_mean(key.text, known, "Known keys here")
        self.diagnostics.error("AIP104", f"unknown key '{key.text}'", key.mark, hint=hint)
        return _BAD

    def _wrong_shape(self, node: Node, path: str, due: str, site: _Site | None = None, hint: str | None = None) -> None:
        found = {Mapping: "a mapping", Sequence: "a list"}.get(type(node)) or f"'{node.text}'"  # type: ignore[union-attr]
        problem = f"{path} is {found}, but {due} is due"
        if site is None:
            self.diagnostics.error("AIP103", problem, node.mark, hint=hint)
        else:
            self._error("AIP103", problem, node.mark, site, hint)

    def _error(self, code: str, problem: str, mark: Mark, site: _Site, hint: str | None) -> None:
        doc = f", {site.spec.doc}" if site.spec.doc else ""
        expected = f"field: {site.path} [{describe(site.spec)}]{doc}"
        self.diagnostics.error(code, problem, mark, expected=expected, hint=hint)

    def _given(self, path: str, node: Scalar) -> None:
        self.origins[path] = Origin(self.kind, node.mark.where, node.text)


def _pick(spec: Either, node: Node) -> AnySpec | None:
    """Return the first kind that takes what is written, else one of that shape, to complain about."""
    same_shape = [option for option in spec.options if _shape(option) is type(node)]
    choices = [option for option in same_shape if isinstance(option, Choice)]
    fitting = [option for option in spec.options if _takes(option, node)]
    return next(iter(fitting or choices or same_shape), None)


def _takes(spec: AnySpec, node: Node) -> bool:
    """Whether the form of the node is that of the field; its value may still be wrong."""
    if isinstance(spec, Either):
        return any(_takes(option, node) for option in spec.options)
    if not isinstance(node, Scalar) or _shape(spec) is not Scalar:
        return _shape(spec) is type(node)
    if isinstance(spec, Choice):
        return node.text in spec.options
    if isinstance(spec, Quantity | QuantityRange):
        return re.match(_LIKE_A_QUANTITY, node.text) is not None
    return type(node.value) in _FORMS[type(spec)]


def _shape(spec: AnySpec) -> type[Node]:
    match spec:
        case Record() | Table():
            return Mapping
        case Records() | Listing():
            return Sequence
        case _:
            return Scalar


def _did_you_mean(given: str, known: Collection[str], title: str) -> str:
    """Return the hint for a name that is not known: the nearest one, and all of them."""
    listed = f"{title}: {', '.join(known)}"
    near = _nearest(given, known)
    return listed if near is None else f"did you mean '{near}'? {listed}"


def _nearest(given: str, known: Collection[str]) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415 - only after a mistake

    plain = {name.lower().replace("-", "_"): name for name in known}
    close = get_close_matches(given.lower().replace("-", "_"), plain, n=1)
    return plain[close[0]] if close else None


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _any_bad(values: Iterable[Any]) -> bool:
    return any(value is _BAD for value in values)
