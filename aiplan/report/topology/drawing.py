"""A fabric as a schematic drawing in SVG: tiers as rows of boxes with their counts, a sample of each tier drawn."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from aiplan.report.text import clean
from aiplan.report.topology import wording

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.planning.fabrics import Row, Sized
    from aiplan.report.topology import Answer

WIDTH, MARGIN, TOP, STEP = 960.0, 150.0, 110.0, 110.0
BOX, HIGH, MOST = 66.0, 34.0, 8
SIDE = 4
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #222 }
.small { font-size: 12px; fill: #555 }
.title { font-size: 16px; font-weight: 600 }
line { stroke: #9aa5b1 }
.wide { stroke: #d55e00 }
rect { fill: #f2f4f7; stroke: #44546a }
.host { fill: #e3f1ea; stroke: #009e73 }
"""


class Line(NamedTuple):
    """A row of boxes: what they are, how many there are and are drawn, whether they are nodes or whole groups."""

    name: str
    total: float
    drawn: int
    host: bool = False
    group: bool = False


def drawing(answer: Answer, row: Row, one: Sized) -> str:
    """Return a fabric that fits as SVG.

    Parameters
    ----------
    answer : Answer
        The comparison it is part of.
    row : Row
        The kind.
    one : Sized
        What is known of it.
    """
    tiers = _tiers(row, one)
    height = TOP + STEP * len(tiers) + 20.0
    body = [*_mesh(one)] if not row.kind.switched else [*_wires(row, tiers), *_boxes(tiers)]
    if not row.kind.switched:
        height = TOP + SIDE * 80.0 + 60.0
    facts = (
        f"switches {one.total:,.0f}, cables {sum(one.cables):,.0f}, {one.hops[1]:.2f} switches on the mean path, "
        f"oversubscription {one.oversubscription:.3g}"
    )
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {height:.0f}" role="img">',
        f"<title>{_text(row.kind.name)}</title>",
        f"<style>{STYLE}</style>",
        f'<text class="title" x="20" y="30">{_text(row.kind.title)}</text>',
        f'<text class="small" x="20" y="52">{_text(wording.title(answer))}</text>',
        f'<text class="small" x="20" y="70">{_text(facts)}</text>',
    ]
    return "\n".join([*head, *body, "</svg>"]) + "\n"


def _tiers(row: Row, one: Sized) -> list[Line]:
    """Return the rows of boxes, the highest first."""
    lower = row.kind.tiers[0]
    names = {
        "three-tier": ("edge", "aggregation", "core"),
        "dragonfly": ("router", "", ""),
    }.get(row.kind.name, (lower, "spine", "core"))
    found = [
        Line(name, count, _sample(count)) for name, count in zip(names, one.switches, strict=True) if count and name
    ]
    nodes = Line("nodes", one.nodes, _sample(one.nodes), host=True)
    groups = [Line("group", one.parts, _sample(one.parts), group=True)] if row.kind.tiers[1] == "group" else []
    return [*groups, *reversed(found), nodes]


def _sample(count: float) -> int:
    return int(min(count, MOST))


def _place(tiers: Sequence[Line], level: int, index: int) -> tuple[float, float]:
    drawn = tiers[level].drawn
    room = WIDTH - MARGIN - 40.0
    x = MARGIN + room * (index + 0.5) / drawn
    return x, TOP + 50.0 + STEP * level


def _boxes(tiers: Sequence[Line]) -> Iterator[str]:
    for level, line in enumerate(tiers):
        _, y = _place(tiers, level, 0)
        yield f'<text x="20" y="{y - 4:.0f}">{_text(line.name)}</text>'
        shown = f"{line.total:,.0f}" if line.total <= line.drawn else f"{line.total:,.0f}, {line.drawn} drawn"
        yield f'<text class="small" x="20" y="{y + 14:.0f}">{shown}</text>'
        for index in range(line.drawn):
            x, y = _place(tiers, level, index)
            style = ' class="host"' if line.host else ""
            yield (
                f'<rect{style} x="{x - BOX / 2:.1f}" y="{y - HIGH / 2:.1f}" width="{BOX:.0f}" height="{HIGH:.0f}" '
                'rx="4"/>'
            )


def _wires(row: Row, tiers: Sequence[Line]) -> Iterator[str]:
    """Yield lines from every box to those above; nodes hang on one switch, or on every rail leaf."""
    rails = row.kind.tiers[0].startswith("rail")
    for level in range(len(tiers) - 1):
        above, below = tiers[level], tiers[level + 1]
        for low in range(below.drawn):
            for high in range(above.drawn):
                one_only = above.group or (below.host and not rails)
                if one_only and high != low * above.drawn // below.drawn:
                    continue
                yield _line(_place(tiers, level, high), _place(tiers, level + 1, low))
    if row.kind.tiers[1] == "group":
        yield from _between_groups(tiers)


def _between_groups(tiers: Sequence[Line]) -> Iterator[str]:
    """Yield arcs over the top row: every group to every other."""
    drawn = tiers[0].drawn
    for first in range(drawn):
        for second in range(first + 1, drawn):
            (x, y), (x2, _) = _place(tiers, 0, first), _place(tiers, 0, second)
            lift = y - HIGH / 2 - 16.0 * (second - first)
            yield (
                f'<path class="wide" fill="none" d="M {x:.1f} {y - HIGH / 2:.1f} Q {(x + x2) / 2:.1f} {lift:.1f} '
                f'{x2:.1f} {y - HIGH / 2:.1f}"/>'
            )


def _mesh(one: Sized) -> Iterator[str]:
    """Yield one layer of a torus, its neighbours beside and the ways round."""
    for row in range(SIDE):
        for column in range(SIDE):
            x, y = MARGIN + 60.0 + 150.0 * column, TOP + 40.0 + 80.0 * row
            yield _line((x, y), (x + 150.0, y))
            yield _line((x, y), (x, y + 80.0))
            yield _line((x, y), (x + 48.0, y - 34.0))
            yield (
                f'<rect class="host" x="{x - BOX / 2:.1f}" y="{y - HIGH / 2:.1f}" width="{BOX:.0f}" '
                f'height="{HIGH:.0f}" rx="4"/>'
            )
    yield f'<text class="small" x="20" y="{TOP + 40:.0f}">nodes {one.nodes:,.0f}</text>'
    yield f'<text class="small" x="20" y="{TOP + 58:.0f}">{SIDE * SIDE} drawn</text>'


def _line(start: tuple[float, float], end: tuple[float, float]) -> str:
    return f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"/>'


def _text(text: str) -> str:
    return escape(clean(text))
