"""Fenced blocks of a Markdown page: where they stand, what they hold, and the comment before them that says more.

The comment stands on the line before the fence:

`<!-- file: NAME -->`       the block is a file of that name
`<!-- add to: NAME -->`      the block goes into that file of the program, in a guide for contributors
`<!-- output: COMMAND -->`  the block is what that command prints
`<!-- not run: REASON -->`  the block cannot be run where the pages are checked
`<!-- command: NAME -->`    the block is run in a clean checkout by `.ci/run`
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCE = re.compile(r"```(\w*)$")
_MARK = re.compile(r"<!-- (file|add to|output|not run|command): (.*) -->$")


class Fence(NamedTuple):
    """A fenced block: its language, its lines, the index of the first one, and the comment before it."""

    language: str
    lines: tuple[str, ...]
    start: int
    mark: str = ""
    said: str = ""

    @property
    def text(self) -> str:
        """What the block holds."""
        return "".join(f"{line}\n" for line in self.lines)

    @property
    def end(self) -> int:
        """Index of the line that closes the block."""
        return self.start + len(self.lines)


def fences(text: str) -> Iterator[Fence]:
    """Yield the fenced blocks of a page in their order."""
    lines = text.splitlines()
    opened: int | None = None
    language = mark = said = ""
    for index, line in enumerate(lines):
        if opened is not None:
            if line.rstrip() == "```":
                yield Fence(language, tuple(lines[opened:index]), opened, mark, said)
                opened = None
        elif found := _FENCE.match(line.strip()):
            opened, language = index + 1, found[1]
            marked = _MARK.match(lines[index - 1]) if index else None
            mark, said = (marked[1], marked[2]) if marked else ("", "")
