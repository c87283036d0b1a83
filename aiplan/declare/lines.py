"""Lines as a YAML reader counts them, so that a position means the same line everywhere."""

from __future__ import annotations

import re

_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


def split_lines(text: str) -> list[str]:
    """Lines of a text without their breaks."""
    return _LINE_BREAK.split(text)
