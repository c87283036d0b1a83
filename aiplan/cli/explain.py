"""`aiplan explain`: why a number is what it is, and what would change it."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.complete import scenarios
from aiplan.cli.options import (
    SetOption,
    with_session,
)

if TYPE_CHECKING:
    from aiplan.cli.session import Session
    from aiplan.scenario.load import Scenario

SHORT = "How a number came about, or what a code means."
HELP = """Explain a number: the formula that made it, what went in, where that comes from, and the source.

Without a term: all terms with their values. A code such as AIP102: what it means, and what to write instead.
With --sensitivity: what a change of each parameter does to time, cost, energy and memory. With --roofline: where each
class of kernels stands between the roofs of the accelerator.

\b
Examples:
  aiplan explain gpt3-175b-a100
  aiplan explain gpt3-175b-a100 step.bubble
  aiplan explain gpt3-175b-a100 run.time_to_train --depth 3
  aiplan explain gpt3-175b-a100 --sensitivity
  aiplan explain gpt3-175b-a100 --roofline --svg roofline.svg
  aiplan explain AIP102
"""

CODE = r"AIP\d+"


@with_session
def explain(
    session: "Session",
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO",
            help="Scenario file, name of a scenario of the library, - for standard input; or a code.",
            autocompletion=scenarios,
            show_default=False,
        ),
    ],
    term: Annotated[
        str | None,
        typer.Argument(metavar="[TERM]", help="Dotted name, e.g. step.tensor."),
    ] = None,
    *,
    depth: Annotated[
        int, typer.Option("--depth", metavar="N", min=1, max=40, help="Closed forms to descend into.")
    ] = 1,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="What a change of each parameter does, largest effect first.")
    ] = False,
    roofline: Annotated[
        bool, typer.Option("--roofline", help="Arithmetic intensity and speed of each class of kernels.")
    ] = False,
    svg: Annotated[str | None, typer.Option("--svg", metavar="FILE", help="Write the roofline as SVG too.")] = None,
    settings: SetOption = None,
) -> None:
    """Run the command."""
    if re.fullmatch(CODE, scenario, re.IGNORECASE) and not (term or sensitivity or roofline):
        _page(session, scenario.upper())
        return
    _check(term, svg, sensitivity=sensitivity, roofline=roofline)
    from aiplan.cli.session import source_of
    from aiplan.planning.variants import assignments

    loaded = session.load(source_of(scenario), session.catalog(), assignments(settings or ()))
    if sensitivity:
        _sensitivity(session, loaded)
    elif roofline:
        _roofline(session, loaded, svg)
    else:
        _terms(session, loaded, term, depth)


def _check(term: str | None, svg: str | None, *, sensitivity: bool, roofline: bool) -> None:
    if sensitivity and roofline:
        raise typer.BadParameter("not together with --roofline", param_hint="--sensitivity")
    if term is not None and (sensitivity or roofline):
        option = "--sensitivity" if sensitivity else "--roofline"
        raise typer.BadParameter("not together with a term", param_hint=option)
    if svg is not None and not roofline:
        raise typer.BadParameter("only together with --roofline", param_hint="--svg")


def _terms(session: "Session", loaded: "Scenario", term: str | None, depth: int) -> None:
    from aiplan.planning import explain as planning
    from aiplan.report.explain import Explained, Terms, render

    answer = (
        Terms(loaded, planning.explain_all(loaded))
        if term is None
        else Explained(loaded, planning.explain_known(loaded, term, depth))
    )
    session.emit(lambda look: render(answer, session.form, look))


def _sensitivity(session: "Session", loaded: "Scenario") -> None:
    from aiplan.planning import sensitivity as planning
    from aiplan.report.sensitivity import render

    answer = planning.sensitivity(loaded)
    session.doubt(answer.estimate)
    session.emit(lambda look: render(answer, session.form, look))


def _roofline(session: "Session", loaded: "Scenario", svg: str | None) -> None:
    from aiplan.planning import roofline as planning
    from aiplan.report.roofline import render

    answer = planning.roofline(loaded)
    if svg is not None:
        from aiplan.report.roofline.chart import chart

        session.picture(svg, lambda: chart(answer))
    session.emit(lambda look: render(answer, session.form, look))


def _page(session: "Session", code: str) -> None:
    """Show the page of a code."""
    from aiplan.declare import CODES
    from aiplan.report.code import render
    from aiplan.report.code.pages import pages

    if code not in CODES:
        raise typer.BadParameter(f"no code '{code}'; docs/diagnostics.md lists all", param_hint="SCENARIO")
    session.emit(lambda look: render(pages()[code], session.form, look))
