"""The answer for one scenario as Markdown, for comments and documents: the verdict first, details folded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.planning.names import unit
from aiplan.report.estimate import headline
from aiplan.report.explain.markdown import section
from aiplan.report.records import markdown_table
from aiplan.report.text import change, markdown, number, percent
from aiplan.units import duration, quantity, scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.estimate import Estimate
    from aiplan.report.estimate import Answer
    from aiplan.report.facts import Fact


def page(answer: Answer) -> str:
    """Return the answer as Markdown."""
    return "\n".join(_parts(answer))


def _parts(answer: Answer) -> Iterator[str]:
    estimate = answer.estimate
    yield f"**{markdown(estimate.scenario.name)}**: {_verdict(estimate)}\n"
    yield _facts(headline.question(estimate), ("asked", ""))
    yield _facts(headline.answer(estimate), ("answer", "", ""))
    if estimate.scenario.file.measured is not None:
        yield _facts(headline.measured(estimate), (headline.measured_title(estimate), "measured", ""))
    if not estimate.fits:
        yield f"Does not fit: {headline.shortfall(estimate)}.\n"
    if answer.ways:
        yield markdown_table(
            ("what makes it fit", "step", "change", "memory"),
            [
                (
                    markdown(way.label),
                    quantity(way.estimate["step"], "s"),
                    change(way.slower),
                    quantity(way.estimate["memory"], "B"),
                )
                for way in answer.ways
            ],
            right=(1, 2, 3),
        )
    limit, remedy = headline.bottleneck(estimate)
    yield f"Bottleneck: {limit}. What helps: {remedy}.\n"
    yield _folded("Where a step goes", _tree(estimate, "step"))
    yield _folded(f"Memory per GPU, stage {estimate.fullest_stage}", _tree(estimate, "memory"))
    if estimate.scenario.run and math.isfinite(estimate["wallclock"]):
        yield _folded("Where the wall clock goes", _tree(estimate, "wallclock"))
    found = [item for item in estimate.assumptions() if item.matters]
    if found:
        rows = [(f"`{item.name}`", number(item.value, unit(item.name)), markdown(item.why)) for item in found]
        yield _folded("Not given, so taken as follows (marked with *)", markdown_table(("input", "value", "why"), rows))
    if answer.explanation is not None:
        yield section(answer.explanation)


def _verdict(estimate: Estimate) -> str:
    fits = "fits" if estimate.fits else "**does not fit**"
    length = duration(estimate["run.time_to_train"])
    if estimate.scenario.run:
        whole = f"wall clock {duration(estimate['wallclock'])}, goodput {percent(estimate['run.goodput'])}"
        return f"{fits}, {whole}, MFU {percent(estimate.mfu)}, cost {quantity(estimate['total.cost'], 'USD')}"
    return f"{fits}, time to train {length}, MFU {percent(estimate.mfu)}, cost {quantity(estimate['run.cost'], 'USD')}"


def _facts(lines: list[Fact], header: tuple[str, ...]) -> str:
    cells = [(line.label, markdown(line.value), markdown(line.note)) for line in lines]
    return markdown_table(header, [row[: len(header)] for row in cells])


def _tree(estimate: Estimate, root: str) -> str:
    rows = list(estimate.rows(root))
    symbol, cells = scale([row.value for row in rows], rows[0].unit)
    return markdown_table(
        ("", symbol, "%"),
        [
            ("&emsp;" * row.depth + row.label, cell, percent(row.share).removesuffix(" %"))
            for row, cell in zip(rows, cells, strict=True)
        ],
        right=(1, 2),
    )


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n</details>\n"
