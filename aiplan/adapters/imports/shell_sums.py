"""Arithmetic of a shell on whole numbers: `+ - * / %` and brackets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_LENGTH = 200
MOST = 10**15
_TOKEN = re.compile(r"\s*(?:(\d{1,15})|\$?\{?([A-Za-z_]\w*)\}?|([-+*/%()]))")
_LEVELS = (("+", "-"), ("*", "/", "%"))


class _UnknownError(Exception):
    """The sum has a part that is not known."""


def arithmetic(text: str, known: Mapping[str, str]) -> str | None:
    """Return the value of a sum as text; None if it has anything in it that is not known.

    Examples
    --------
    >>> arithmetic("(NODES + 1) * 8 / 3", {"NODES": "2"})
    '8'
    """
    tokens: list[str] = []
    position = 0
    while position < len(text.rstrip()) and len(text) <= MOST_LENGTH:
        found = _TOKEN.match(text, position)
        if found is None:
            return None
        tokens.append(found[1] or known.get(found[2] or "", found[2]) or found[3])
        position = found.end()
    try:
        value = _value(tokens, 0)
    except _UnknownError:
        return None
    return str(value) if tokens == [] and value is not None else None


def _value(tokens: list[str], level: int) -> int:
    """Take a value off the tokens: operators of this level, from left to right."""
    if level == len(_LEVELS):
        return _single(tokens)
    total = _value(tokens, level + 1)
    while tokens and tokens[0] in _LEVELS[level]:
        sign = tokens.pop(0)
        total = _combined(total, sign, _value(tokens, level + 1))
    return total


def _single(tokens: list[str]) -> int:
    if not tokens:
        raise _UnknownError
    part = tokens.pop(0)
    if part == "(":
        inside = _value(tokens, 0)
        if not tokens or tokens.pop(0) != ")":
            raise _UnknownError
        return inside
    if part == "-":
        return -_single(tokens)
    if not part.isdigit() or len(part) > len(str(MOST)):
        raise _UnknownError
    return int(part)


def _combined(first: int, sign: str, second: int) -> int:
    if sign in "/%" and second == 0:
        raise _UnknownError
    if sign in "/%" and (first < 0 or second < 0):
        raise _UnknownError
    found = {
        "+": lambda: first + second,
        "-": lambda: first - second,
        "*": lambda: first * second,
        "/": lambda: first // second,
        "%": lambda: first % second,
    }[sign]()
    if abs(found) > MOST:
        raise _UnknownError
    return found
