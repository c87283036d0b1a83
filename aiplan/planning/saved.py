"""Results that were saved as JSON: read again, and refused in words where they are something else."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

from aiplan.declare import read_start

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from aiplan.declare import Diagnostics

KIND = "aiplan.estimate/1"
PREFIX = "aiplan."
VALUE_KEYS = {"step": "value_s", "memory": "value_bytes", "wallclock": "value_s"}
"""Trees of a result, and where a term of each has its value."""
NOT_ALWAYS = ("wallclock",)
"""Trees that only some results have: those of scenarios which speak of the run as a whole."""


def results(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results of an estimate by name, those of the run as a whole among them."""
    found: dict[str, Any] = document["result"]
    run: dict[str, Any] = found.get("run", {})
    return found | run


def read_if_there(path: Path) -> bytes | None:
    """Return what a file holds; None where reading it as a scenario will say what is wrong."""
    try:
        return read_start(path)
    except (OSError, ValueError):
        return None


def is_saved(content: bytes) -> bool:
    """Whether a text is a saved result rather than a scenario written as JSON."""
    if not content.lstrip().startswith(b"{"):
        return False
    found = _parsed(content)
    return isinstance(found, dict) and str(found.get("schema", "")).startswith(PREFIX)


def made_from(content: bytes) -> str:
    """Return in words which scenario a saved result was made from, and how; nothing where that is not known."""
    found = _parsed(content)
    inputs = found.get("inputs") if isinstance(found, dict) else None
    source = inputs.get("source") if isinstance(inputs, dict) else None
    if not isinstance(source, str) or not source or source.startswith("<"):
        return ""
    settings = inputs.get("settings") if isinstance(inputs, dict) else None
    changes = [one for one in settings if isinstance(one, str)] if isinstance(settings, list) else []
    return " ".join([f", {source}", *(["with"] if changes else []), *(f"--set {shlex.quote(one)}" for one in changes)])


def read_saved(content: bytes, name: str, diagnostics: Diagnostics) -> dict[str, Any] | None:
    """Return a saved estimate; None, and what is wrong, if it is none."""
    found = _parsed(content)
    kind = found.get("schema") if isinstance(found, dict) else None
    if kind != KIND:
        hint = "save one with 'aiplan estimate … --format json'"
        diagnostics.error("AIP116", f"{name} is '{kind}', and not an estimate ('{KIND}')", hint=hint)
        return None
    wrong = _wrong(found)
    if wrong is not None:
        diagnostics.error("AIP103", f"{name}: {wrong}", hint="save it again: it was changed by hand, or cut off")
        return None
    saved: dict[str, Any] = found
    return saved


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _wrong(document: dict[str, Any]) -> str | None:
    """Return what is missing or of another form in an estimate; None if it can be compared."""
    inputs, result = document.get("inputs"), document.get("result")
    if not isinstance(inputs, dict) or not isinstance(result, dict):
        return "inputs or result is missing"
    if not all(isinstance(inputs.get(key), str) for key in ("scenario", "source")):
        return "inputs.scenario or inputs.source is missing"
    for key, inside in (("values", ("where", "detail")), ("fields", ("text", "where"))):
        table = inputs.get(key, {})
        if not isinstance(table, dict) or not all(_says(one, inside) for one in table.values()):
            return f"inputs.{key} has another form"
    if not all(_is_number(one.get("value", "")) for one in inputs.get("values", {}).values()):
        return "a value of inputs.values is no number"
    return _wrong_trees(document)


def _wrong_trees(document: dict[str, Any]) -> str | None:
    if not isinstance(document["result"].get("run", {}), dict):
        return "result.run has another form"
    found = results(document)
    for name, value in found.items():
        if isinstance(value, int | float) and not isinstance(value, bool) and not _is_number(value):
            return f"result.{name} is no number"
    due = {name: key for name, key in VALUE_KEYS.items() if name in found or name not in NOT_ALWAYS}
    wrong = next((name for name, key in due.items() if not _is_tree(found.get(name), key)), None)
    return None if wrong is None else f"result.{wrong} is no tree of terms"


def _has(one: Any, keys: tuple[str, ...]) -> bool:
    return isinstance(one, dict) and all(key in one for key in keys)


def _says(one: Any, keys: tuple[str, ...]) -> bool:
    return isinstance(one, dict) and all(isinstance(one.get(key), str) for key in keys)


def _is_number(value: Any) -> bool:
    """Whether a value is a number that JSON knows and a float can hold, or unknown."""
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_tree(node: Any, key: str) -> bool:
    found = [node]
    while found:
        one = found.pop()
        if not _has(one, ("name", "label", key, "children")) or not isinstance(one["children"], list):
            return False
        if not _is_number(one[key]) or not all(isinstance(one[name], str) for name in ("name", "label")):
            return False
        found += one["children"]
    return True
