"""A fabric as a schematic drawing: tiers as rows of boxes with their counts, a sample of each tier drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.report.picture import FILE, Picture, at, note
from aiplan.report.topology import wording

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.core.topologies.registry import Kind
    from aiplan.planning.fabrics import Machine, Sized
    from aiplan.report.picture import Frame

STEP, HIGH, MOST = 110.0, 34.0, 8
SIDE = 4
WALL = FILE.placed(left=150, right=920, top=90)
"""The frame of a file of its own."""


class Line(NamedTuple):
    """A row of boxes: what they are, how many there are and are drawn, whether they are nodes or whole groups."""

    name: str
    total: float
    drawn: int
    host: bool = False
    group: bool = False


def drawing(machine: Machine, kind: Kind, one: Sized, frame: Frame = WALL) -> Picture:
    """Return a fabric that fits as a picture.

    Parameters
    ----------
    machine : Machine
        What it joins.
    kind : Kind
        What kind it is of.
    one : Sized
        What is known of it.
    frame : Frame
        How large, and where in it; its height follows from the tiers.
    """
    tiers = _tiers(kind, one)
    rows = len(tiers) if kind.switched else SIDE
    lift = _lift(frame) if kind.tiers[1] == "group" else 0.0
    frame = frame.placed(top=round(frame.top + lift), height=round(frame.top + lift + STEP * (rows - 1) + 2 * HIGH))
    body = [*_wires(kind, tiers, frame), *_boxes(tiers, frame)] if kind.switched else [*_mesh(one, frame)]
    return Picture(kind.title, f"{wording.machine(machine)}; {wording.facts(one)}", frame, tuple(body))


def _tiers(kind: Kind, one: Sized) -> list[Line]:
    """Return the rows of boxes, the highest first."""
    lower = kind.tiers[0]
    names = {
        "three-tier": ("edge", "aggregation", "core"),
        "dragonfly": ("router", "", ""),
    }.get(kind.name, (lower, "spine", "core"))
    found = [
        Line(name, count, _sample(count)) for name, count in zip(names, one.switches, strict=True) if count and name
    ]
    nodes = Line("nodes", one.nodes, _sample(one.nodes), host=True)
    groups = [Line("group", one.parts, _sample(one.parts), group=True)] if kind.tiers[1] == "group" else []
    return [*groups, *reversed(found), nodes]


def _sample(count: float) -> int:
    return int(min(count, MOST))


def _box(frame: Frame) -> float:
    """Return the width of a box: two thirds of its place."""
    return (frame.right - frame.left) / MOST * 2.0 / 3.0


def _lift(frame: Frame) -> float:
    """Return how far the arcs between groups rise above their row, half of what they aim at."""
    return 0.5 * _rise(frame) * (MOST - 1)


def _rise(frame: Frame) -> float:
    return (frame.right - frame.left) / 48.0


def _place(frame: Frame, tiers: Sequence[Line], row: int, index: int) -> tuple[float, float]:
    room = frame.right - frame.left
    return frame.left + room * (index + 0.5) / tiers[row].drawn, frame.top + HIGH / 2 + 2 + STEP * row


def _boxes(tiers: Sequence[Line], frame: Frame) -> Iterator[str]:
    for row, line in enumerate(tiers):
        _, y = _place(frame, tiers, row, 0)
        yield note(2, y - 4, line.name, "text")
        yield note(2, y + 14, _count(line))
        for index in range(line.drawn):
            x, y = _place(frame, tiers, row, index)
            yield _rectangle(x, y, _box(frame), "host c2" if line.host else "box")


def _count(line: Line) -> str:
    return f"{line.total:,.0f}" if line.total <= line.drawn else f"{line.total:,.0f}, {line.drawn} drawn"


def _rectangle(x: float, y: float, wide: float, look: str) -> str:
    size = f'width="{wide:.0f}" height="{HIGH:.0f}"'
    return f'<rect class="{look}" x="{at(x - wide / 2)}" y="{at(y - HIGH / 2)}" {size} rx="4"/>'


def _wires(kind: Kind, tiers: Sequence[Line], frame: Frame) -> Iterator[str]:
    """Yield lines from every box to those above; nodes hang on one switch, or on every rail leaf."""
    rails = kind.tiers[0].startswith("rail")
    for row in range(len(tiers) - 1):
        above, below = tiers[row], tiers[row + 1]
        one_only = above.group or (below.host and not rails)
        pairs = [
            (_place(frame, tiers, row, high), _place(frame, tiers, row + 1, low))
            for low in range(below.drawn)
            for high in range(above.drawn)
            if not one_only or high == low * above.drawn // below.drawn
        ]
        yield _lines(pairs)
    if kind.tiers[1] == "group":
        yield from _between_groups(tiers, frame)


def _between_groups(tiers: Sequence[Line], frame: Frame) -> Iterator[str]:
    """Yield arcs over the top row: every group to every other."""
    for first in range(tiers[0].drawn):
        for second in range(first + 1, tiers[0].drawn):
            (x, y), (x2, _) = _place(frame, tiers, 0, first), _place(frame, tiers, 0, second)
            edge = y - HIGH / 2
            peak = edge - _rise(frame) * (second - first)
            path = f"M {x:.1f} {edge:.1f} Q {(x + x2) / 2:.1f} {peak:.1f} {x2:.1f} {edge:.1f}"
            yield f'<path class="wide" d="{path}"/>'


def _mesh(one: Sized, frame: Frame) -> Iterator[str]:
    """Yield one layer of a torus, its neighbours beside and the ways round."""
    apart = (frame.right - frame.left) / SIDE
    places = [
        (frame.left + apart * (column + 0.3), frame.top + HIGH + STEP * row)
        for row in range(SIDE)
        for column in range(SIDE)
    ]
    for x, y in places:
        neighbours = (x + apart * 0.7, y), (x, min(y + STEP, frame.height)), (x + apart / 3, y - HIGH)
        yield _lines([((x, y), other) for other in neighbours])
    for x, y in places:
        yield _rectangle(x, y, _box(frame), "host c2")
    yield note(2, frame.top + HIGH - 4, "nodes", "text")
    yield note(2, frame.top + HIGH + 14, f"{one.nodes:,.0f}, {SIDE * SIDE} drawn")


def _lines(pairs: Sequence[tuple[tuple[float, float], tuple[float, float]]]) -> str:
    path = "".join(f"M{x:.0f} {y:.0f}L{x2:.0f} {y2:.0f}" for (x, y), (x2, y2) in pairs)
    return f'<path class="wire" d="{path}"/>'
