"""The account an importer keeps: what it took, what it defaulted and why, what it ignored, what stays open."""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING, Any, NamedTuple

from aiplan.adapters.imports.document import Document, at, scalars
from aiplan.declare import Mapping, Mark, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiplan.adapters.imports.machine import Machine
    from aiplan.declare import Diagnostics, Node

UNKNOWN = "not known to aiplan"
MOST_COUNT = 10**15
"""No count that these files state is larger: tokens of a training are the largest."""

MOST = {
    "model.layers": 10**5,
    "plan.pipeline": 10**5,
    "plan.interleave": 10**5,
    "model.experts.count": 10**6,
    "model.mtp_layers": 100,
}
"""Bounds of what is listed one by one."""

Value = int | float | str | bool | list[int]


class Got(NamedTuple):
    """A value that a file states: the key as written there, and where."""

    value: Any
    key: str
    mark: Mark
    text: str


class Fact(NamedTuple):
    """A field of a scenario that a file gives, or leaves to a default for which there is a reason."""

    path: str
    value: Value
    key: str
    mark: Mark
    why: str = ""
    taken: bool = True


class Skipped(NamedTuple):
    """A key that was not used: why, and whether the answer could depend on it."""

    key: str
    mark: Mark
    why: str
    matters: bool


class Open(NamedTuple):
    """A field that the file leaves open, and that somebody has to give."""

    path: str
    key: str
    mark: Mark
    why: str


class Caution(NamedTuple):
    """What a reader of the result should know, and where it stands."""

    problem: str
    mark: Mark
    hint: str | None = None


class Ledger:
    """Takes values out of a file and keeps account of each.

    Parameters
    ----------
    document : Document
        The file.
    diagnostics : Diagnostics
        Takes what is wrong.
    below : str
        Dotted path of the mapping that keys are looked up in first.
    """

    def __init__(self, document: Document, diagnostics: Diagnostics, below: str = "") -> None:
        self.document = document
        self.diagnostics = diagnostics
        self.below = below
        self.facts: dict[str, Fact] = {}
        self.skipped: list[Skipped] = []
        self.open: list[Open] = []
        self.cautions: list[Caution] = []
        self.used: set[str] = set()
        self.machine: Machine | None = None

    # Looking up

    def node(self, key: str) -> tuple[str, Node] | None:
        """Return the full path of a key and what stands there; null counts as not given."""
        path = f"{self.below}.{key}" if self.below else key
        found = at(self.document.root, path)
        if found is None:
            return None
        self.used.add(path)
        return None if isinstance(found, Scalar) and found.value is None else (path, found)

    def got(self, *keys: str) -> Got | None:
        """Return the value of the first key that is given."""
        for key in keys:
            found = self.node(key)
            if found is not None and isinstance(found[1], Scalar):
                return Got(found[1].value, found[0], found[1].mark, found[1].text)
            if found is not None:
                self.wrong(Got(None, found[0], found[1].mark, ""), "a single value is due, not a list or mapping")
        return None

    def count(self, *keys: str, minimum: int = 1, path: str = "") -> Got | None:
        """Return the first key that is given, as a whole number in bounds; `path` may have its own."""
        return self.as_count(self.got(*keys), minimum, path)

    def as_count(self, got: Got | None, minimum: int = 1, path: str = "") -> Got | None:
        """Return what was found as a whole number in bounds; note what it is if it is none."""
        if got is None:
            return None
        number, most = _whole(got.value), MOST.get(path, MOST_COUNT)
        if number is None or not minimum <= number <= most:
            due = f"a whole number from {minimum} to {most:.0e}"
            self.wrong(got, f"'{got.text[:40]}' is not {due}")
            return None
        return got._replace(value=number)

    def flag(self, *keys: str) -> Got | None:
        """Return the first key that is given, as a truth value."""
        got = self.got(*keys)
        if got is None or isinstance(got.value, bool):
            return got
        word = got.text.lower()
        if word in {"true", "false", "yes", "no"}:
            return got._replace(value=word in {"true", "yes"})
        self.wrong(got, f"'{got.text[:40]}' is not true or false")
        return None

    def word(self, *keys: str) -> Got | None:
        """Return the first key that is given, as text in lower case."""
        got = self.got(*keys)
        lower = got.text.strip().lower() if got is not None else ""
        return got and got._replace(value=lower, text=lower)

    def items(self, key: str) -> tuple[list[Node], Mark] | None:
        """Return the items of a list."""
        found = self.node(key)
        if found is None or not isinstance(found[1], Sequence):
            return None
        return found[1].items, found[1].mark

    # Keeping account

    def put(self, path: str, got: Got | None, value: Value | None = None, why: str = "") -> bool:
        """Take a value for a field of the scenario; say whether there was one."""
        if got is None:
            return False
        self.facts[path] = Fact(path, got.value if value is None else value, got.key, got.mark, why)
        return True

    def default(self, path: str, value: Value, why: str, mark: Mark | None = None) -> None:
        """Give a field a value that the file does not state, unless it has one."""
        place = mark or self.document.start
        self.facts.setdefault(path, Fact(path, value, "", place, why, taken=False))

    def take(self, path: str, *keys: str, default: int | None = None, why: str = "") -> int | None:
        """Take a count for a field, or give it a default; return it."""
        got = self.count(*keys, path=path)
        if not self.put(path, got) and default is not None:
            self.default(path, default, why)
        value = self.facts[path].value if path in self.facts else None
        return value if isinstance(value, int) else None

    def need(self, path: str, *keys: str) -> int | None:
        """Take a count for a field; that it is missing is an error."""
        errors = len(self.diagnostics.items)
        self._agree(keys)
        value = self.take(path, *keys)
        if value is None and len(self.diagnostics.items) == errors:
            self.missing(*keys)
        return value

    def _agree(self, keys: tuple[str, ...]) -> None:
        """Note keys that mean the same and say different things."""
        found = [got for got in (self.got(key) for key in keys) if got is not None]
        for other in found[1:]:
            if other.value != found[0].value:
                self.diagnostics.error(
                    "AIP342",
                    f"{other.key} is {other.text[:40]}, and {found[0].key} is {found[0].text[:40]}",
                    other.mark,
                    expected=f"{found[0].key} is set at {found[0].mark.file}:{found[0].mark.line}",
                    hint="both mean the same: keep one",
                )

    def missing(self, *keys: str) -> None:
        """Note that none of some keys is given."""
        node = at(self.document.root, self.below) if self.below else self.document.root
        names = " or ".join(f"'{key}'" for key in keys[:4])
        self.diagnostics.error("AIP106", f"missing key {names}", node.mark if node else self.document.start)

    def wrong(self, got: Got, problem: str, hint: str | None = None) -> None:
        """Note a value that cannot be used, once."""
        if any(item.mark == got.mark and item.code == "AIP103" for item in self.diagnostics.items):
            return
        self.diagnostics.error("AIP103", f"{got.key}: {problem}", got.mark, hint=hint)

    def refuse(self, what: str, mark: Mark | None = None, hint: str | None = None) -> None:
        """Note that the file describes something aiplan has no model of."""
        self.diagnostics.error("AIP340", what, mark or self.document.start, hint=hint)

    def warn(self, problem: str, mark: Mark | None = None, hint: str | None = None) -> None:
        """Note what a reader should know."""
        self.cautions.append(Caution(problem, mark or self.document.start, hint))

    def skip(self, key: str, mark: Mark, why: str, *, matters: bool = True) -> None:
        """Note a key that is understood, but not used."""
        self.used.add(key)
        self.skipped.append(Skipped(key, mark, why, matters))

    def ask(self, path: str, got: Got, why: str) -> None:
        """Note a field that somebody has to give."""
        self.open.append(Open(path, got.key, got.mark, why))

    def value(self, path: str) -> Value | None:
        """Return what a field was given; None if it was not."""
        return self.facts[path].value if path in self.facts else None

    def copy(self, path: str, target: str, why: str) -> None:
        """Give a field the value of another, if that has one."""
        fact = self.facts.get(path)
        if fact is not None:
            self.facts[target] = fact._replace(path=target, why=why)

    def number(self, path: str) -> int:
        """Return a count that was taken; 0 if it is not known."""
        value = self.facts[path].value if path in self.facts else 0
        return value if isinstance(value, int) else 0

    def finish(self, harmless: Iterable[tuple[str, str]]) -> None:
        """Note every key that nobody asked for.

        Parameters
        ----------
        harmless : iterable of tuple
            Patterns of keys without effect on time and memory, with the reason.
        """
        if not isinstance(self.document.root, Mapping):
            return
        table = list(harmless)
        for path, node, mark in scalars(self.document.root):
            if path in self.used or any(path.startswith(f"{name}.") for name in self.used):
                continue
            why = next((why for pattern, why in table if _matches(path, pattern)), None)
            if why is None and isinstance(node, Scalar) and (node.value is None or node.value in {0, ""}):
                why = "off"
            self.skipped.append(Skipped(path, mark, why or UNKNOWN, matters=why is None))


def _matches(path: str, pattern: str) -> bool:
    """Whether a path, or the last key of it, has the form of a pattern."""
    return fnmatch.fnmatchcase(path, pattern) or fnmatch.fnmatchcase(path.rpartition(".")[2], pattern)


def _whole(value: Any) -> int | None:
    """Return a number that is whole; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None
