"""Facts from other people's files as the tree of a scenario whose values know where they stand in those files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.declare import Mapping, Mark, Scalar, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aiplan.adapters.imports.ledger import Fact
    from aiplan.declare import Node

ORDER = ("schema_version", "name", "model", "workload", "cluster", "plan", "communication", "environment", "software")


def tree_of(facts: Iterable[Fact], start: Mark) -> Mapping:
    """Return facts as a tree.

    Parameters
    ----------
    facts : iterable of Fact
        Values by dotted path; no path may lie below another.
    start : Mark
        Place of what has no place of its own.
    """
    return _mapping(_nested(facts), start)


def plain(facts: Iterable[Fact]) -> dict[str, Any]:
    """Return facts as nested dictionaries, in the order of a scenario file."""

    def values(nested: dict[str, Any]) -> dict[str, Any]:
        return {name: values(child) if isinstance(child, dict) else child.value for name, child in nested.items()}

    found = values(_nested(facts))
    return {name: found[name] for name in sorted(found, key=_rank)}


def _rank(name: str) -> int:
    return ORDER.index(name) if name in ORDER else len(ORDER)


def _nested(facts: Iterable[Fact]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for fact in facts:
        *above, last = fact.path.split(".")
        inner = nested
        for name in above:
            inner = inner.setdefault(name, {})
        inner[last] = fact
    return nested


def _mapping(nested: dict[str, Any], start: Mark) -> Mapping:
    items: list[tuple[Scalar, Node]] = []
    for name, child in nested.items():
        value = _mapping(child, _first(child, start)) if isinstance(child, dict) else _value(child)
        items.append((Scalar(name, name, quoted=False, mark=value.mark), value))
    return Mapping(items, start)


def _first(nested: dict[str, Any], start: Mark) -> Mark:
    """Return the place of the first fact below."""
    for child in nested.values():
        return _first(child, start) if isinstance(child, dict) else child.mark
    return start


def _value(fact: Fact) -> Node:
    if isinstance(fact.value, list):
        return Sequence([_scalar(item, fact.mark) for item in fact.value], fact.mark)
    return _scalar(fact.value, fact.mark)


def _scalar(value: Any, mark: Mark) -> Scalar:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return Scalar(value, text, quoted=isinstance(value, str), mark=mark)
