"""A line of a headline block, apart from how it is drawn."""

from __future__ import annotations

from typing import NamedTuple

BOLD, DIM, BAR, GOOD, BAD = "bold", "dim", "cyan", "bold green", "bold red"


class Fact(NamedTuple):
    """A line of a headline block: what, how much, and a remark."""

    label: str
    value: str
    note: str = ""
    style: str = BOLD
