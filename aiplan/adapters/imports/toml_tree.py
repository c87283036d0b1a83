"""TOML text to a tree of nodes that know where they stand: values from the standard library, places from the lines."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

from aiplan.adapters.nodes import tree
from aiplan.declare import Mark
from aiplan.declare.lines import split_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.declare import Diagnostics, Node

MAX_DEPTH = 50
_TABLE = re.compile(r"\s*\[\[?\s*([^]\s]+)\s*\]")
_KEY = re.compile(r"\s*([A-Za-z0-9_.\-]+|\"[^\"]*\")\s*=\s*")
_PLACE = re.compile(r"at line (\d+), column (\d+)")
MOST_DIGITS = 30


def read_toml(text: str, name: str, diagnostics: Diagnostics) -> Node:
    """Read one TOML document."""
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as problem:
        found = _PLACE.search(str(problem))
        line, column = (int(found[1]), int(found[2])) if found else (1, 1)
        told = (
            "values are nested too deep" if isinstance(problem, RecursionError) else str(problem).partition(" (at")[0]
        )
        diagnostics.error("AIP101", f"not valid TOML: {told}", Mark(name, line, column, column + 1))
        raise diagnostics.failure() from None
    if _depth(values) > MAX_DEPTH:
        diagnostics.error("AIP101", f"values are nested more than {MAX_DEPTH} levels deep", Mark(name, 1, 1, 2))
        raise diagnostics.failure()
    return tree(_plain(values), Mark(name, 1, 1, 2), dict(_places(text, name)))


def _places(text: str, name: str) -> Iterator[tuple[str, Mark]]:
    """Yield the place of each value by its dotted path, as far as it stands on the line of its key."""
    table = ""
    for number, line in enumerate(split_lines(text), 1):
        heading, key = _TABLE.match(line), _KEY.match(line)
        if heading:
            table = heading[1].replace('"', "")
            yield table, Mark(name, number, 1, len(line) + 1)
        elif key:
            path = key[1].replace('"', "")
            yield f"{table}.{path}" if table else path, Mark(name, number, key.end() + 1, max(key.end() + 2, len(line)))


def _plain(value: Any) -> Any:
    """Return values as JSON would have them: dates and numbers that are not finite become text."""
    if isinstance(value, dict):
        return {key: _plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_plain(child) for child in value]
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if abs(value) < 10**MOST_DIGITS else "a number too long"
    if isinstance(value, float):
        return value if abs(value) < float("inf") else str(value)
    return str(value)


def _depth(value: Any) -> int:
    """Return how deep values are nested, counted without recursion."""
    deepest, rest = 0, [(value, 1)]
    while rest:
        child, depth = rest.pop()
        deepest = max(deepest, depth)
        if isinstance(child, dict):
            rest += [(item, depth + 1) for item in child.values()]
        elif isinstance(child, list):
            rest += [(item, depth + 1) for item in child]
    return deepest
