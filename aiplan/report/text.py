"""Numbers and names as people read them, and user text made safe to print."""

from __future__ import annotations

import re
from typing import Any

from aiplan.units import quantity, scale

_NOT_DRAWABLE = r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]"
_MARKDOWN = r"[\\`*_~\[\]<>|]|&(?=#?\w+;)|:(?=[\w+-]+:)"
_BLOCK = r"^(\s*\d*)(?=[#+=.)-])"
"""Before what makes a line a heading, a rule or an item of a list."""
_PLAIN_YAML = r"[A-Za-z][A-Za-z0-9_./+ -]*[A-Za-z0-9+]|[A-Za-z]"
_YAML_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
_SHOWN_AS = {"-": "1", "": "1", "0": "1"}


def clean(text: str) -> str:
    """Return text in which no character can steer a terminal or break a line."""
    if text.isprintable():  # nearly always, and known without the expression, slow to compile
        return text
    return re.sub(_NOT_DRAWABLE, lambda match: " " if match[0] in "\t\n" else "\N{REPLACEMENT CHARACTER}", text)


def markdown(text: str) -> str:
    """Return user text so that Markdown shows it as it is."""
    return re.sub(_MARKDOWN, lambda match: "\\" + match[0], clean(text))


def markdown_line(text: str) -> str:
    """Return user text as a line of its own in Markdown."""
    return re.sub(_BLOCK, r"\1\\", markdown(text).strip())


def number(value: float | None, unit: str) -> str:
    """Return a value with its unit; closed forms write `-` for a plain number."""
    return quantity(value, _SHOWN_AS.get(unit, unit))


def percent(share: float | None) -> str:
    """Return a share of a whole."""
    return quantity(share, "%")


def change(relative: float | None) -> str:
    """Return a change with its sign; empty where there is none to tell."""
    if relative is None:
        return ""
    text = quantity(relative, "%")
    return text if text.startswith("-") else f"+{text}"


def span(low: float, high: float, unit: str) -> str:
    """Return two ends of a range in one unit: "28.4 to 33.9 s", "$2.64M to $3.15M"."""
    if unit == "USD":
        return f"{quantity(low, unit)} to {quantity(high, unit)}"
    symbol, (first, last) = scale([low, high], unit)
    return f"{first} to {last} {symbol}"


def joined(parts: list[str]) -> str:
    """Return the parts that are not empty, with commas."""
    return ", ".join(part for part in parts if part)


def yaml_scalar(value: Any) -> str:
    """Return a value as it stands in a YAML file, text in quotes where it could be read as something else."""
    import json

    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return json.dumps(value)
    if isinstance(value, str):
        plain = re.fullmatch(_PLAIN_YAML, value) and value.lower() not in _YAML_WORDS
        return value if plain else json.dumps(value)
    return str(value)
