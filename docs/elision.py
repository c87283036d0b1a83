"""What a page shows of an output: whole, or in parts between lines that hold `…` alone.

A part is compared line by line, but for spaces at the ends of lines. Where the output has changed, the parts that were
shown are found again by how their first and last lines read apart from numbers.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

GAPS = ("…", "...")
ALIKE = 0.6
"""How alike two lines have to be, of 1, to stand for each other."""
SHORT = 5
"""Up to how many characters a line is too short to stand for the beginning of another."""
_NUMBER = re.compile(r"\d[\d,.]*")
_BLANKS = re.compile(r"[ \-]{2,}")


class NotFoundError(ValueError):
    """No line of the output stands for one that a page shows."""


def shows(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Return whether lines of a page are what was printed, with parts left out where they say so."""
    parts, printed = _parts(shown), [line.rstrip() for line in printed]
    if len(parts) == 1:
        return parts[0] == printed
    first, *middle, last = parts
    if printed[: len(first)] != first or (last and printed[-len(last) :] != last):
        return False
    at, end = len(first), len(printed) - len(last)
    for part in middle:
        found = next((i for i in range(at, end - len(part) + 1) if printed[i : i + len(part)] == part), None)
        if found is None:
            return False
        at = found + len(part)
    return at <= end


def refreshed(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    """Return what a page should show of an output: the parts that it showed before.

    Raises
    ------
    NotFoundError
        If a part cannot be found again.
    """
    if shows(shown, printed):
        return list(shown)
    parts, printed = _parts(shown), [line.rstrip() for line in printed]
    if len(parts) == 1:
        return printed
    gap = next(line for line in shown if line.strip() in GAPS)
    found: list[str] = []
    at = 0
    for number, part in enumerate(parts):
        if number:
            found.append(gap)
        if part:
            whole = number == len(parts) - 1
            start = 0 if number == 0 else _nearest(part[0], printed, at, at)
            at = len(printed) if whole else 1 + _nearest(part[-1], printed, start, start + len(part) - 1)
            found += printed[start:at]
    return found


def _parts(shown: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for line in shown:
        if line.strip() in GAPS:
            parts.append([])
        else:
            parts[-1].append(line.rstrip())
    return parts


def _nearest(line: str, printed: Sequence[str], least: int, usual: int) -> int:
    """Return the index, at least the given one, of the line most alike; of several that nearest to the usual place."""
    wanted = _reading(line)
    scores = ((_alike(wanted, _reading(printed[i])), -abs(i - usual), i) for i in range(least, len(printed)))
    best = max(scores, default=(0.0, 0, 0))
    if best[0] < ALIKE:
        raise NotFoundError(f"nothing printed stands for the line: {line}")
    return best[2]


def _alike(wanted: str, found: str) -> float:
    """Return how alike two lines are, whole or as far as the shorter one goes: tables differ most at their ends."""
    length = min(len(wanted), len(found))
    ends = ((len(wanted), len(found)), (length, length)) if length > SHORT else ((len(wanted), len(found)),)
    return max(SequenceMatcher(None, wanted[:left], found[:right], autojunk=False).ratio() for left, right in ends)


def _reading(line: str) -> str:
    return _BLANKS.sub(" ", _NUMBER.sub("#", line)).strip()
