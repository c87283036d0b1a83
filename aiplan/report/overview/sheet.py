"""What a page says of one scenario, section by section."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.engine.tree import BRANCHES
from aiplan.planning.names import unit
from aiplan.planning.overview import Missing
from aiplan.planning.published import spreads
from aiplan.report import html
from aiplan.report.checkpoint import drawing as checkpoint_drawing
from aiplan.report.checkpoint import wording as checkpoint_wording
from aiplan.report.estimate import headline
from aiplan.report.facts import Fact
from aiplan.report.line_chart import line_chart
from aiplan.report.overview import pictures
from aiplan.report.picture import PAGE
from aiplan.report.roofline import wording as roofline_wording
from aiplan.report.roofline.chart import chart
from aiplan.report.scale import drawing as scale_drawing
from aiplan.report.scale import wording as scale_wording
from aiplan.report.text import change, joined, number, percent
from aiplan.report.topology import Answer as Fabrics
from aiplan.report.topology import wording as topology_wording
from aiplan.report.topology.drawing import drawing
from aiplan.units import quantity, scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.planning.estimate import Estimate
    from aiplan.planning.overview import Sheet

FABRIC = PAGE.placed(left=112, right=470, top=6)
TILES = ("time to train", "step time", "throughput", "MFU", "memory", "cost")
TILES_OF_A_RUN = ("wall clock", "goodput", "step time", "MFU", "memory", "cost")
"""Results that stand large at the top, where a scenario speaks of steps alone and where of the run as a whole."""
MOST_CAUSES = 5
USUAL_SAVES = (
    "The scenario says nothing of checkpoints or failures. This is what would hold with checkpoint: {} and "
    "reliability: {}, all of it as usual; the results above know nothing of it."
)
STAGES_ALIKE = "Stages with the same layers are one row, that of the earliest of them, which holds the most."
Section = tuple[str, str, tuple[str, ...]]
"""Id, title and parts."""


def sections(sheet: Sheet, level: int) -> list[Section]:
    """Return the sections of a scenario.

    Parameters
    ----------
    sheet : Sheet
        What is known of it.
    level : int
        Of their headings.
    """
    found = [
        ("result", "Result", tuple(_result(sheet, level + 1))),
        ("step", "Where a step goes", tuple(_step(sheet))),
        *(
            ([("wallclock", "Where the wall clock goes", tuple(_tree(sheet, "wallclock", "Wall clock")))])
            if _runs(sheet.estimate)
            else []
        ),
        ("memory", "Memory by stage", tuple(_memory(sheet))),
        ("scaling", "Scaling", tuple(_scaling(sheet))),
        ("roofline", "Kernels on the roofline", tuple(_roofline(sheet))),
        ("fabric", "Fabric", tuple(_fabric(sheet))),
        ("checkpoints", "Checkpoints and failures", tuple(_saving(sheet))),
        ("evidence", "How sure this is", tuple(_evidence(sheet))),
        ("assumptions", "Assumptions", tuple(_assumptions(sheet.estimate))),
    ]
    return [(f"{ident}-{sheet.mark.lower()}", title, parts) for ident, title, parts in found]


def _runs(estimate: Estimate) -> bool:
    return bool(estimate.scenario.run) and math.isfinite(estimate["wallclock"])


def _figure(sheet: Sheet, name: str) -> str:
    return f"{name}-picture-{sheet.mark.lower()}"


def _result(sheet: Sheet, level: int) -> Iterator[str]:
    one = sheet.estimate
    lines = headline.answer(one)
    yield html.tiles(_tiles(lines, TILES_OF_A_RUN if one.scenario.run else TILES))
    limit, remedy = headline.bottleneck(one)
    yield html.paragraph(f"Bottleneck: {limit}. What helps: {remedy}.")
    if not one.fits:
        yield html.paragraph(f"Does not fit: {headline.shortfall(one)}.", "bad")
        if sheet.ways:
            rows = [
                (
                    way.label,
                    quantity(way.estimate["step"], "s"),
                    change(way.slower),
                    quantity(way.estimate["memory"], "B"),
                )
                for way in sheet.ways
            ]
            yield html.table("What makes it fit", ("change", "step", "change of the step", "memory"), rows)
    asked = html.heading("Asked", level) + html.facts(headline.question(one))
    measured = headline.measured(one)
    if measured:
        asked += html.heading(headline.measured_title(one), level) + html.facts(measured)
    yield html.beside(asked, html.heading("Answered", level) + html.facts(lines))


def _tiles(lines: list[Fact], labels: Sequence[str]) -> Iterator[Fact]:
    by_label = {line.label: line for line in lines}
    for label in labels:
        line = by_label.get(label)
        if line is not None:
            yield line._replace(note=line.note.split("; ")[0].partition(", from ")[0])


def _step(sheet: Sheet) -> Iterator[str]:
    causes = [cause for cause in sheet.estimate.causes()[:MOST_CAUSES] if cause.share > 0]
    rows = [(cause.label, percent(cause.share), cause.remedy) for cause in causes]
    limits = html.table("What limits a step", ("cause", "share", "what helps"), rows, text=(0, 2))
    yield from _tree(sheet, "step", "Time of a step", limits)


def _tree(sheet: Sheet, root: str, title: str, more: str = "") -> Iterator[str]:
    one = sheet.estimate
    rows = list(one.rows(root))
    symbol, cells = scale([row.value for row in rows], rows[0].unit)
    body = [(row.label, cell, percent(row.share)) for row, cell in zip(rows, cells, strict=True)]
    yield html.beside(
        html.figure(pictures.tree(one, root, title), _figure(sheet, root), keyed=False) + more,
        html.table(f"{title}, by part", ("", symbol, "share"), body, looks=pictures.looks(one, root)),
    )


def _memory(sheet: Sheet) -> Iterator[str]:
    one = sheet.estimate
    rows = list(one.rows("memory"))
    symbol, cells = scale([row.value for row in rows], rows[0].unit)
    body = [(row.label, cell, percent(row.share)) for row, cell in zip(rows, cells, strict=True)]
    title = f"Fullest stage, {one.fullest_stage}"
    yield html.beside(
        html.figure(pictures.memory(sheet), _figure(sheet, "memory"), keyed=False),
        html.table(title, ("", symbol, "share"), body, looks=pictures.looks(one, "memory")),
    )
    if len(sheet.stages) > 1:
        yield _by_stage(sheet)
        yield html.paragraph(STAGES_ALIKE, "soft")


def _by_stage(sheet: Sheet) -> str:
    """Return the memory of every stage as a table."""
    kinds = [name for name in pictures.MEMORY if any(stage.memory[name] for stage in sheet.stages)]
    amounts = [[*(stage.memory[name] for name in kinds), stage.total] for stage in sheet.stages]
    symbol, cells = scale([value for row in amounts for value in row], "B")
    width = len(kinds) + 1
    rows = [
        (pictures.stage_name(stage).replace(" ", "\N{NO-BREAK SPACE}"), *cells[at * width : (at + 1) * width])
        for at, stage in enumerate(sheet.stages)
    ]
    header = ("", *(BRANCHES[name].label for name in kinds), "all")
    return html.table(f"Memory per GPU by stage [{symbol}]", header, rows)


def _scaling(sheet: Sheet) -> Iterator[str]:
    answer = sheet.scaling
    if isinstance(answer, Missing):
        yield html.paragraph(f"Not drawn: {answer.reason}.")
        return
    picture = line_chart(scale_drawing.graph(answer), PAGE)
    verdicts = [Fact(curve.kind, scale_wording.verdict(curve), "", "") for curve in answer.curves]
    told = [scale_wording.plans(answer), *scale_wording.definitions(answer)]
    yield html.beside(
        html.figure(picture, _figure(sheet, "scaling")),
        html.facts(verdicts) + html.paragraph(" ".join(told), "soft"),
    )
    for curve in answer.curves:
        header = scale_wording.header(curve)
        text = (0, len(header) - 1) if header[-1] == "" else (0,)
        yield html.table(scale_wording.heading(answer, curve), header, scale_wording.rows(curve), text)
        faults = [(f"{size.accelerators:,}", size.fault) for size in curve.sizes if size.fault]
        if faults:
            yield html.table(f"Not possible, {curve.kind} scaling", ("GPUs", "why"), faults, text=(0, 1))


def _roofline(sheet: Sheet) -> Iterator[str]:
    answer = sheet.roofline
    lines = roofline_wording.roofs(answer)
    yield html.beside(
        html.figure(chart(answer, PAGE), _figure(sheet, "roofline")),
        html.facts(Fact(name, text, "", "") for name, text in lines) + html.paragraph(roofline_wording.KEY, "soft"),
    )
    header = roofline_wording.header(answer)
    yield html.table("Classes of kernels", header, roofline_wording.rows(answer), text=(0, 1, len(header) - 1))


def _fabric(sheet: Sheet) -> Iterator[str]:
    found = sheet.fabric
    if isinstance(found, Missing):
        yield html.paragraph(f"Not drawn: {found.reason}.")
        return
    row = found.survey.rows[0]
    assert row.sized is not None  # noqa: S101  others are missing
    answer = Fabrics(found.survey, sheet.estimate.scenario, found.groups)
    picture = drawing(found.survey.machine, row.kind, row.sized, FABRIC)
    groups = html.table(
        f"Groups of the plan in this fabric, ranks {sheet.estimate.scenario.file.cluster.network.placement}",
        topology_wording.GROUPS,
        topology_wording.groups(answer),
        text=(0, 3, 4),
    )
    yield html.beside(
        html.figure(picture, _figure(sheet, "fabric")),
        html.facts(
            Fact(header[0], _listed(header, rows[0]), "", "") for header, rows in topology_wording.tables(answer)
        ),
    )
    yield groups


def _listed(header: tuple[str, ...], row: tuple[str, ...]) -> str:
    """Return a row of a table as text, each cell behind its heading."""
    return joined([f"{name} {cell}" for name, cell in zip(header[1:], row[1:], strict=True)])


def _saving(sheet: Sheet) -> Iterator[str]:
    found = sheet.saving
    if isinstance(found, Missing):
        yield html.paragraph(f"Not drawn: {found.reason}.")
        return
    answer = found.answer
    if found.usual:
        yield html.paragraph(USUAL_SAVES)
    picture = line_chart(checkpoint_drawing.graph(answer), PAGE)
    yield html.beside(html.figure(picture, _figure(sheet, "checkpoints")), html.facts(checkpoint_wording.facts(answer)))
    for title, header, rows, text in (
        ("What each interval costs", checkpoint_wording.INTERVALS, checkpoint_wording.intervals(answer), {0, 1, 6}),
        ("Ways to save", checkpoint_wording.MODES, checkpoint_wording.modes(answer), {0, 6}),
        ("With the rates of published fleets", checkpoint_wording.FLEETS, checkpoint_wording.fleets(answer), {0}),
    ):
        names, cells = checkpoint_wording.filled(header, rows)
        kept = [index for index, _ in enumerate(header) if any(row[index] for row in rows)]
        yield html.table(title, names, cells, [at for at, index in enumerate(kept) if index in text])


def _evidence(sheet: Sheet) -> Iterator[str]:
    one = sheet.estimate
    step = one.interval("step")
    if step is None or not sheet.runs:
        yield html.paragraph("There is no interval: too few published runs are like this one.")
        return
    yield html.paragraph(
        f"In nine cases of ten a step should take {quantity(step.low, 's')} to {quantity(step.high, 's')}. "
        f"That comes from {step.evidence}: their errors, widened so that runs of a source nobody has looked at are "
        "covered as often."
    )
    rows = [
        (one.source, f"{one.runs:,}", f"{one.least:.2f}", f"{one.median:.2f}", f"{one.largest:.2f}")
        for one in spreads(sheet.runs)
    ]
    yield html.beside(
        html.figure(pictures.evidence(sheet), _figure(sheet, "evidence")),
        html.table("Predicted over measured, by source", ("source", "runs", "least", "median", "most"), rows),
    )
    memory = one.interval("memory")
    if memory is not None:
        ends = f"{quantity(memory.low, 'B')} to {quantity(memory.high, 'B')}"
        yield html.paragraph(f"Memory in nine cases of ten: {ends}, from {memory.evidence}.")


def _assumptions(estimate: Estimate) -> Iterator[str]:
    found = [item for item in estimate.assumptions() if item.matters]
    if not found:
        yield html.paragraph("None that matters: all of it is given or in the catalog.")
        return
    rows = [(item.name, number(item.value, unit(item.name)), item.kind, item.why) for item in found]
    yield html.table("Not given, so taken as follows", ("input", "value", "kind", "why"), rows, text=(0, 2, 3))
