"""Names that may be meant by one that is not known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LIKE = 0.5
"""How alike two names must be, from 0 to 1, to be taken for one another."""

SHORTEST = 3
"""Letters and digits from which a name that holds them may be meant."""


def nearest(name: str, known: Sequence[str], most: int = 3) -> list[str]:
    """Return known names that may be meant, the likeliest first.

    One that differs in case and punctuation only is meant, and no other. Else those that begin like it come first, then
    those that hold it, then those that are spelled alike.

    Examples
    --------
    >>> nearest("Llama3-70B", ["llama-3-70b", "llama-7b"]), nearest("H100", ["h100-pcie", "h100-sxm", "h200"])
    (['llama-3-70b'], ['h100-pcie', 'h100-sxm', 'h200'])
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only after a mistake

    plain = _plain(name)
    same = [one for one in known if _plain(one) == plain]
    if same or not plain:
        return same[:most] if plain else []
    begin = [one for one in known if _plain(one).startswith(plain)]
    alike = get_close_matches(name.lower(), known, n=most, cutoff=LIKE)
    hold = [one for one in known if plain in _plain(one)] if len(plain) >= SHORTEST else []
    return list(dict.fromkeys([*begin, *hold, *alike]))[:most]


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return the question whether one of the nearest names was meant; empty if none is near."""
    found = nearest(name, known)
    return f"did you mean {' or '.join(repr(one) for one in found)}?" if found else ""


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
