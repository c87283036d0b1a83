"""The pictures of a page that are no answer of another command: trees and memory as bars, runs as dots."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from aiplan.engine.tree import BRANCHES, TREE
from aiplan.report.accuracy.scatter import band, ratio_axis, ratio_grid
from aiplan.report.graph import Axis
from aiplan.report.picture import DOT, PAGE, Entry, Picture, note, pointer, series, uprights
from aiplan.report.stack import Bar, Piece, Stack, in_a_row, stacked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.estimate import Estimate
    from aiplan.planning.overview import Overview, Sheet, Stage
    from aiplan.report.picture import Frame

MEMORY = TREE["memory"].children
ALL = PAGE.placed(left=8, right=464)
"""The frame of bars without names."""
SEEN = 0.02
"""Share from which a part is divided in a picture."""
SHORT = {
    "step.compute": "Computation",
    "step.tensor": "Tensor",
    "step.context": "Context",
    "step.expert": "Expert",
    "step.pipeline": "Sends",
    "step.bubble": "Bubble",
    "step.data": "Data parallel",
    "step.host": "Host",
    "step.overhead": "Overhead",
    "step.loading": "Data",
    "step.compute.projections": "Projections",
    "step.compute.attention": "Attention",
    "step.compute.elementwise": "Norms",
    "step.compute.ends": "Ends",
    "step.compute.accumulation": "Accumulation",
    "memory.optimizer": "Optimizer",
}
"""Names that fit into a piece of a bar, where the term has a longer one."""


def colour(root: str, term: str) -> str:
    """Return the class of the colour that a part of a tree has, the same in every picture and table."""
    parts = BRANCHES[root].children
    return series(parts.index(term)) if term in parts else ""


def looks(estimate: Estimate, root: str) -> list[str]:
    """Return depth and colour for every row of a tree."""
    return [f"d{row.depth} {colour(root, row.name)}".strip() for row in estimate.rows(root)]


def tree(estimate: Estimate, root: str, title: str, frame: Frame = ALL) -> Picture:
    """Return a tree as bars: its parts one after the other, and below each what it consists of, if that can be seen."""
    parts = [part for part in BRANCHES[root].children if estimate[part]]
    first = in_a_row([(_short(part), estimate[part], colour(root, part)) for part in parts])
    second: list[Piece] = []
    for part, piece in zip(parts, first, strict=True):
        children = [child for child in BRANCHES[part].children if estimate[child]]
        if estimate.share(part, root) > SEEN:
            second += in_a_row([(_short(one), estimate[one], piece.look) for one in children], piece.start)
    bars = tuple(Bar("", pieces) for pieces in (first, tuple(second)) if pieces)
    text = "Each part as long as its share; below it what it consists of."
    return stacked(Stack(title, text, BRANCHES[root].unit, bars), frame, row=64)


def _short(term: str) -> str:
    return SHORT.get(term, BRANCHES[term].label)


def memory(sheet: Sheet) -> Picture:
    """Return the memory of every pipeline stage as bars, with what an accelerator has."""
    estimate = sheet.estimate
    bars = tuple(Bar(stage_name(stage), _pieces(stage.memory), estimate["memory.capacity"]) for stage in sheet.stages)
    text = "What each pipeline stage holds, by kind; the upright line is the memory of an accelerator."
    return stacked(
        Stack("Memory per GPU by pipeline stage", text, "B", bars, "available"), PAGE.placed(left=74, right=458)
    )


def stage_name(stage: Stage) -> str:
    """Return which stages a row is about; stages that hold the same are one row."""
    return f"stage {stage.first}" if stage.copies == 1 else f"{stage.copies} like {stage.first}"


def _pieces(amounts: dict[str, float]) -> tuple[Piece, ...]:
    parts = [(_short(name), amounts[name], colour("memory", name)) for name in MEMORY if amounts[name]]
    return in_a_row(parts)


def compared(answer: Overview, root: str, title: str) -> Picture:
    """Return a tree of every scenario as bars on one scale."""
    bars = []
    for sheet in answer.sheets:
        one = sheet.estimate
        parts = [(_short(part), one[part], colour(root, part)) for part in BRANCHES[root].children if one[part]]
        limit = one["memory.capacity"] if root == "memory" else None
        bars.append(Bar(sheet.mark, in_a_row(parts), limit, interval(one, root)))
    text = "One bar for each scenario, all on the same scale; the thin line is the 90 % interval of its end."
    named = "available" if root == "memory" else ""
    return stacked(Stack(title, text, BRANCHES[root].unit, tuple(bars), named), PAGE.placed(left=26, right=458))


def interval(estimate: Estimate, root: str) -> tuple[float, float] | None:
    """Return both ends of the 90 % interval of a tree; None if there is none."""
    found = estimate.wallclock_interval() if root == "wallclock" else estimate.interval(root)
    return None if found is None else (found.low, found.high)


def evidence(sheet: Sheet) -> Picture:
    """Return the runs behind the interval of a step: how far predictions were off, over accelerators."""
    text = "Predicted over measured step time of published runs, over GPUs; the band is the 90 % interval."
    key = (Entry(f"{len(sheet.runs):,} published runs", series(0), DOT), Entry("this scenario", "bound"))
    frame = PAGE.placed(height=PAGE.height + 16)
    return Picture("Predictions of runs like this one", text, frame, tuple(_dots(sheet, frame)), key)


def _dots(sheet: Sheet, frame: Frame) -> Iterator[str]:
    counts = [run.accelerators for run in sheet.runs]
    own = sheet.estimate.scenario.accelerators
    low, high = min(*counts, own), max(*counts, own)
    across = Axis(low / 1.3, high * 1.3, frame.left, frame.right)
    up = ratio_axis([*(run.ratio for run in sheet.runs), *(sheet.band or ())], frame.bottom, frame.top)
    if sheet.band is not None:
        yield band(frame, up, *sheet.band)
    yield from ratio_grid(frame, up)
    yield from uprights(frame, ((across.at(size), f"{size:,}") for size in _sizes(low, high)))
    yield note((frame.left + frame.right) / 2, frame.bottom + 40, "GPUs", "small m")
    yield pointer(frame, across.at(own))
    places = dict.fromkeys((round(across.at(run.accelerators)), round(up.at(run.ratio))) for run in sheet.runs)
    dots = "".join(f"M{x} {y}h0" for x, y in places)
    yield f'<path class="dots series {series(0)}" d="{dots}"/>'


def _sizes(low: int, high: int) -> list[int]:
    """Return powers of two, four or eight between two counts, few enough to be read."""
    for step in count(1):
        found = [2**power for power in range(0, 31, step) if low <= 2**power <= high]
        if len(found) <= 7:
            return found
    return []
