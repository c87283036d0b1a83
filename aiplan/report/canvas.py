"""A plane of characters with axes around it."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiplan.report.console import Look

USUAL_WIDTH, WIDEST = 80, 200


class Canvas(NamedTuple):
    """Rows of characters, the highest first, and the width of what stands to their left."""

    rows: list[list[str]]
    margin: int

    @classmethod
    def of(cls, look: Look, height: int, margin: int, widest: int = WIDEST) -> Canvas:
        """Return an empty canvas as wide as there is room."""
        width = min(look.width or USUAL_WIDTH, widest) - margin - 2
        return cls([[" "] * width for _ in range(height)], margin)

    @property
    def width(self) -> int:
        """Characters in a row."""
        return len(self.rows[0])

    def put(self, across: float, down: float, mark: str) -> None:
        """Draw a mark at a place, counted from the left and from the top; nothing outside."""
        row, column = round(down), round(across)
        if 0 <= row < len(self.rows) and 0 <= column < self.width:
            self.rows[row][column] = mark

    def at(self, across: float, down: float) -> str:
        """Return what stands at a place; nothing outside."""
        row, column = round(down), round(across)
        inside = 0 <= row < len(self.rows) and 0 <= column < self.width
        return self.rows[row][column] if inside else ""

    def framed(self, heading: str, beside: Mapping[int, str], below: str, key: str) -> str:
        """Return the canvas with its axes as text.

        Parameters
        ----------
        heading : str
            What is drawn over what.
        beside : mapping
            Texts to the left, by row.
        below : str
            Texts below the lower axis, from its left end.
        key : str
            What each mark stands for.
        """
        lines = wrap(heading, width=self.margin + 1 + self.width)
        for row, cells in enumerate(self.rows):
            lines.append(f"{beside.get(row, ''):>{self.margin - 1}} |{''.join(cells)}".rstrip())
        lines.append(" " * self.margin + "+" + "-" * self.width)
        lines.append((" " * (self.margin + 1) + below).rstrip())
        lines += wrap(key, width=self.margin + 1 + self.width)
        return "".join(f"{line}\n" for line in lines)
