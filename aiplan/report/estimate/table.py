"""The answer for one scenario, for people: headline, where a step goes, memory, bottleneck, assumptions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.text import Text

from aiplan.planning.names import unit
from aiplan.report.console import draw
from aiplan.report.estimate import headline
from aiplan.report.facts import BAD, BOLD, DIM, Fact
from aiplan.report.grid import columns, facts, lines, share_tree
from aiplan.report.text import change, clean, number
from aiplan.units import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from aiplan.planning.estimate import Estimate
    from aiplan.planning.ways_out import WayOut
    from aiplan.report.console import Look
    from aiplan.report.estimate import Answer

BLANK = ""


def table(answer: Answer, look: Look) -> str:
    """Return the answer as text."""
    return draw(look, *_blocks(answer, look))


def _blocks(answer: Answer, look: Look) -> Iterator[RenderableType]:
    estimate = answer.estimate
    yield Text.assemble((clean(estimate.scenario.name), BOLD), "  ", (clean(estimate.scenario.source), DIM))
    yield facts(look, headline.question(estimate))
    yield BLANK
    yield facts(look, headline.answer(estimate))
    published = headline.measured(estimate)
    if published:
        yield BLANK
        yield Text(headline.measured_title(estimate), BOLD)
        yield facts(look, published)
    if not estimate.fits:
        yield from _ways_out(estimate, answer.ways)
    yield BLANK
    yield share_tree(look, "Where a step goes", list(estimate.rows("step")))
    yield BLANK
    yield share_tree(look, f"Memory per GPU, stage {estimate.fullest_stage}", list(estimate.rows("memory")))
    if estimate.scenario.run and math.isfinite(estimate["wallclock"]):
        yield BLANK
        yield share_tree(look, "Where the wall clock goes", list(estimate.rows("wallclock")))
    yield BLANK
    limit, remedy = headline.bottleneck(estimate)
    yield lines([("Bottleneck", limit), ("What helps", remedy)], BOLD)
    yield from _assumptions(estimate, look)
    if answer.explanation is not None:
        yield BLANK
        from aiplan.report.explain.table import blocks as explained

        yield from explained(answer.explanation, look)


def _ways_out(estimate: Estimate, ways: Sequence[WayOut]) -> Iterator[RenderableType]:
    yield BLANK
    yield Text(f"Does not fit: {headline.shortfall(estimate)}", BAD)
    if not ways:
        yield Text("  no small change of the plan makes it fit: take more accelerators, or ones with more memory")
        return
    rows = [
        [
            f"  {way.label}",
            f"{quantity(way.estimate['step'], 's')} ({change(way.slower)})",
            quantity(way.estimate["memory"], "B"),
        ]
        for way in ways
    ]
    yield columns(["  what makes it fit", "step", "memory"], rows, right=(1, 2), fold=(0,))


def _assumptions(estimate: Estimate, look: Look) -> Iterator[RenderableType]:
    found = [item for item in estimate.assumptions() if item.matters]
    if not found:
        return
    yield BLANK
    yield Text("* Not given, so taken as follows", BOLD)
    yield facts(look, [Fact(item.name, number(item.value, unit(item.name)), item.why, "") for item in found])
