"""Conditions on catalog entries, such as `memory.capacity >= 80 GB`, `vendor = NVIDIA` or `compute.fp8`.

A condition names a field by its dotted name, list indexes left out; of a list it asks whether any item fits. What an
entry does not state fits no condition, not even `!=`.
"""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiplan import units
from aiplan.catalog.leaves import field_names, field_spec, leaves, plain, under
from aiplan.catalog.records import KINDS
from aiplan.declare import Mark
from aiplan.declare.fields import Choice, Flag, Integer, Number, Quantity, QuantityRange, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.catalog.records import Entry
    from aiplan.declare import Diagnostics
    from aiplan.declare.fields import AnySpec

_FORM = re.compile(
    r"\s*(?P<path>[A-Za-z_][\w.]*)\s*(?:(?P<sign>>=|<=|!=|==|=|~|>|<)\s*(?P<value>[^\s=<>!~](?:.*\S)?)\s*)?", re.DOTALL
)
_ORDER: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_HINT = "write e.g. 'memory.capacity >= 80 GB', 'vendor = NVIDIA', 'name ~ SXM', or 'compute.fp8' for 'is given'"
_ID = Text(doc="Name of the file")


class _ConditionError(Exception):
    """Why a condition has no meaning, and what would have one."""

    def __init__(self, problem: str, hint: str, *, knows_field: bool = True) -> None:
        self.problem = problem
        self.hint = hint
        self.knows_field = knows_field
        super().__init__(problem)


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition: a field, and what its value must be; without a sign it must only be given."""

    path: str
    sign: str | None = None
    value: Any = None

    def holds(self, ident: str, entry: Entry) -> bool:
        """Whether an entry fits."""
        if self.path == "id":
            return self._fits(ident)
        if self.sign is None:
            return any(under(leaf.path, self.path) for leaf in leaves(entry))
        return any(self._fits(leaf.value) for leaf in leaves(entry) if plain(leaf.path) == self.path)

    def _fits(self, found: Any) -> bool:
        if isinstance(found, str):
            return self._fits_text(found)
        low, high = found if isinstance(found, tuple) else (found, found)
        equal = low <= self.value <= high or math.isclose(low, self.value) or math.isclose(high, self.value)
        match self.sign:
            case "=":
                return equal
            case "!=":
                return not equal
            case ">=" | "<=" if equal:
                return True
            case ">" | "<" if low == high and equal:
                return False
            case sign:
                end = high if sign in {">", ">="} else low
                return _ORDER[str(sign)](end, self.value)

    def _fits_text(self, found: str) -> bool:
        given, due = found.casefold(), str(self.value).casefold()
        return {"=": given == due, "!=": given != due, "~": due in given}.get(self.sign or "", True)


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry in a list."""

    kind: str
    ident: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Selection:
    """Entries that were asked for: the kind (None for all), the conditions as written, and what fits."""

    kind: str | None
    where: tuple[str, ...]
    entries: tuple[Listed, ...]


def select(catalog: Catalog, kind: str | None, where: Sequence[str], diagnostics: Diagnostics) -> Selection:
    """Return the entries of a kind, or of all kinds, that fit all conditions, by kind and id."""
    if kind is not None and kind not in KINDS:
        hint = f"kinds: {', '.join(KINDS)}; 'aiplan catalog library' lists models, scenarios and presets"
        diagnostics.error("AIP201", f"no kind '{kind}'", hint=hint)
        return Selection(kind, tuple(where), ())
    asked = conditions(where, KINDS if kind is None else (kind,), diagnostics)
    entries = []
    for name, tests in asked.items():
        for ident in catalog.ids(name):
            found = catalog.find(name, ident, diagnostics)
            if found is not None and all(test.holds(ident, found.entry) for test in tests):
                entries.append(Listed(name, ident, found.entry))
    return Selection(kind, tuple(where), tuple(entries))


def conditions(
    texts: Sequence[str], kinds: Iterable[str], diagnostics: Diagnostics
) -> dict[str, tuple[Condition, ...]]:
    """Read conditions for the kinds of entry that can meet all of them.

    Parameters
    ----------
    texts : sequence of str
        Conditions as written on the command line.
    kinds : iterable of str
        Kinds of entry to consider.
    diagnostics : Diagnostics
        Takes what is wrong with a condition that no kind can answer.

    Returns
    -------
    dict
        The conditions by kind. Kinds that lack a field are left out.
    """
    answers: dict[str, list[Condition]] = {kind: [] for kind in kinds}
    for text in texts:
        faults = []
        for kind in list(answers):
            try:
                answers[kind].append(_read(text, KINDS[kind]))
            except _ConditionError as fault:
                faults.append(fault)
                del answers[kind]
        if not answers:
            told = max(faults, key=lambda fault: fault.knows_field)
            source = f"--where {text}"
            diagnostics.sources[source] = source
            mark = Mark(source, 1, len("--where ") + 1, len(source) + 1)
            diagnostics.error("AIP210", told.problem, mark, hint=told.hint)
            break
    return {kind: tuple(asked) for kind, asked in answers.items()}


def _read(text: str, record_class: type) -> Condition:
    match = _FORM.fullmatch(text)
    if match is None:
        raise _ConditionError(f"'{text}' is not a condition", _HINT)
    path, sign = match["path"], {"==": "="}.get(match["sign"], match["sign"])
    spec = _ID if path == "id" else field_spec(record_class, path)
    if spec is None:
        raise _ConditionError(f"no field '{path}'", _similar(path, record_class), knows_field=False)
    return Condition(path) if sign is None else Condition(path, sign, _value(spec, path, sign, match["value"]))


def _value(spec: AnySpec, path: str, sign: str, text: str) -> Any:
    """Return what to compare a field with, in SI."""
    match spec:
        case Quantity() | QuantityRange() | Integer() | Number():
            if sign == "~":
                raise _ConditionError(f"'{path}' is a number, and '~' is for text", "use one of = != < <= > >=")
            dimension = spec.dimension if isinstance(spec, Quantity | QuantityRange) else "count"
            try:
                return units.parse(text, dimension)
            except units.UnitError as fault:
                raise _ConditionError(f"{path}: {fault.problem}", fault.hint or _HINT) from None
        case Text() | Choice() | Flag() if sign in _ORDER:
            raise _ConditionError(f"'{path}' is no number, and '{sign}' is for numbers", "use one of = != ~")
        case Flag() if text not in {"true", "false"} or sign == "~":
            raise _ConditionError(f"'{path}' is true or false", f"write '{path} = true' or '{path} = false'")
        case Flag():
            return text == "true"
        case Choice() if sign != "~" and text.lower() not in spec.options:
            raise _ConditionError(f"'{text}' is no {path}", f"choices: {', '.join(spec.options)}")
        case Text() | Choice():
            return text.strip("'\"")
        case _:
            raise _ConditionError(
                f"'{path}' is a group of values", f"ask for one of them, or '{path}' alone for 'is given'"
            )


def _similar(path: str, record_class: type) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only after a mistake

    known = ["id", *field_names(record_class)]
    ends = {name.rpartition(".")[2]: name for name in reversed(known)}
    close = get_close_matches(path, known, n=3, cutoff=0.75) or [
        ends[end] for end in get_close_matches(path, ends, n=3)
    ]
    top = [name for name in known if "." not in name]
    return f"did you mean {' or '.join(map(repr, close))}?" if close else f"fields: {', '.join(top)}"
