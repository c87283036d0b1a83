"""Bars of stacked pieces on one scale, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.report.graph import Even
from aiplan.report.picture import AREA, Entry, Picture, at, note, shown, uprights
from aiplan.units import quantity, round_steps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.report.picture import Frame

ROW, GAP = 40, 14
STEPS = 5
SAME = 0.01
"""How near a limit is to that of the bar above to need no name of its own."""
LETTER = 6.6
"""Width of a character of a small label."""


class Piece(NamedTuple):
    """A piece of a bar: what it is, where it begins, how long it is, and the class of its colour."""

    name: str
    start: float
    value: float
    look: str


class Bar(NamedTuple):
    """A row: what it is called, what stands in it, what it may not cross, and between what its end may lie."""

    name: str
    pieces: tuple[Piece, ...]
    limit: float | None = None
    span: tuple[float, float] | None = None


class Stack(NamedTuple):
    """Bars, what they show, and of what; `limit` is what the line says that a bar may not cross."""

    title: str
    text: str
    unit: str
    bars: tuple[Bar, ...]
    limit: str = ""


def in_a_row(parts: list[tuple[str, float, str]], start: float = 0.0) -> tuple[Piece, ...]:
    """Return pieces one after the other, made of names, values and classes."""
    found: list[Piece] = []
    for name, value, look in parts:
        found.append(Piece(name, start, value, look))
        start += value
    return tuple(found)


def stacked(stack: Stack, frame: Frame, row: int = ROW) -> Picture:
    """Return bars as a picture as high as they need.

    Parameters
    ----------
    stack : Stack
        What is drawn.
    frame : Frame
        How wide, and how much room there is above and for the names of the bars; its height follows from these.
    row : int
        Height of a bar with the space around it.
    """
    bottom = frame.top + row * len(stack.bars)
    frame = frame.placed(bottom=bottom, height=bottom + 28)
    return Picture(stack.title, stack.text, frame, tuple(_drawing(stack, frame, row)), _key(stack))


def _key(stack: Stack) -> tuple[Entry, ...]:
    """Return the colours, each once, with the first name it has."""
    names: dict[str, str] = {}
    for bar in stack.bars:
        for piece in bar.pieces:
            names.setdefault(piece.look, piece.name)
    return tuple(Entry(name, look, AREA) for look, name in names.items())


def _longest(stack: Stack) -> float:
    ends = (piece.start + piece.value for bar in stack.bars for piece in bar.pieces)
    limits = (bar.limit for bar in stack.bars if bar.limit is not None)
    spans = (bar.span[1] for bar in stack.bars if bar.span is not None)
    return max([*ends, *limits, *spans], default=0.0)


def _drawing(stack: Stack, frame: Frame, row: int) -> Iterator[str]:
    longest = _longest(stack)
    if not longest > 0:
        return
    across = Even(0.0, longest, frame.left, frame.right)
    steps = round_steps(longest, stack.unit, STEPS)
    yield from uprights(frame, ((across.at(value), quantity(value, stack.unit)) for value in steps))
    limit = 0.0
    for place, bar in enumerate(stack.bars):
        y = frame.top + row * place + GAP / 2
        if bar.name:
            yield note(2, y + (row - GAP) / 2 + 4, bar.name)
        for piece in bar.pieces:
            yield from _piece(piece, stack.unit, across, y, row - GAP)
        if bar.span is not None:
            yield _span(across.at(bar.span[0]), across.at(bar.span[1]), y + (row - GAP) / 2)
        if bar.limit is not None:
            told = (
                ""
                if place and abs(bar.limit / limit - 1.0) < SAME
                else f"{quantity(bar.limit, stack.unit)} {stack.limit}"
            )
            yield from _limit(across.at(bar.limit), y, row - GAP, told)
            limit = bar.limit


def _piece(piece: Piece, unit: str, across: Even, y: float, high: float) -> Iterator[str]:
    x, end = across.at(piece.start), across.at(piece.start + piece.value)
    amount = quantity(piece.value, unit)
    size = f'width="{at(max(end - x, 0.5))}" height="{at(high)}"'
    told = f"<title>{shown(piece.name)}: {amount}</title>"
    yield f'<rect class="area {piece.look}" x="{at(x)}" y="{at(y)}" {size}>{told}</rect>'
    label = next((text for text in (piece.name, amount) if end - x > LETTER * len(text) + 8), "")
    if label:
        yield note((x + end) / 2, y + high / 2 + 4, label, "label m")


def _span(x: float, end: float, y: float) -> str:
    ends = "".join(f"M{at(place)} {at(y - 5)}v10" for place in (x, end))
    return f'<path class="even" d="M{at(x)} {at(y)}H{at(end)}{ends}"/>'


def _limit(x: float, y: float, high: float, told: str) -> Iterator[str]:
    yield f'<path class="choice" d="M{at(x)} {at(y)}v{at(high)}"/>'
    yield note(x, y - 3, told, "small e")
