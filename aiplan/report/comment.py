"""What fits into a comment of a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 60_000
"""Characters: GitHub refuses a comment of more than 65,536, and where it is put in may add some."""


def fitting(texts: Iterable[str], used: int) -> tuple[list[str], int]:
    """Return the texts that fit into a comment of which some is used, and how many do not."""
    kept, left = [], 0
    for text in texts:
        if used + len(text) > MOST:
            left += 1
        else:
            kept.append(text)
            used += len(text)
    return kept, left
