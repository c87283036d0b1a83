"""Lines as a YAML reader counts them, so that a position means the same line everywhere."""

from __future__ import annotations

_BREAKS = str.maketrans(dict.fromkeys("\r\x85\u2028\u2029", "\n"))


def split_lines(text: str) -> list[str]:
    """Lines of a text without their breaks."""
    return text.replace("\r\n", "\n").translate(_BREAKS).split("\n")
