"""`aiplan explain`: why a number is what it is."""

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

SHORT = "How a number came about, or what a code means."
HELP = """Explain a number: the formula that made it, what went in, where that comes from, and the source.

Without a term: all terms with their values. A code such as AIP102: what it means, and what to write instead.

\b
Examples:
  aiplan explain gpt3-175b-a100
  aiplan explain gpt3-175b-a100 step.bubble
  aiplan explain gpt3-175b-a100 run.time_to_train --depth 3
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
    depth: Annotated[
        int, typer.Option("--depth", metavar="N", min=1, max=20, help="Closed forms to descend into.")
    ] = 1,
    settings: SetOption = None,
) -> None:
    """Run the command."""
    if term is None and re.fullmatch(CODE, scenario, re.IGNORECASE):
        _page(session, scenario.upper())
        return
    from aiplan.cli.session import source_of
    from aiplan.planning import explain as planning
    from aiplan.planning.variants import assignments
    from aiplan.report.explain import Explained, Terms, render

    loaded = session.load(source_of(scenario), session.catalog(), assignments(settings or ()))
    answer = (
        Terms(loaded, planning.explain_all(loaded))
        if term is None
        else Explained(loaded, planning.explain_known(loaded, term, depth))
    )
    session.emit(lambda look: render(answer, session.form, look))


def _page(session: "Session", code: str) -> None:
    """Show the page of a code."""
    from aiplan.declare import CODES
    from aiplan.report.code import render
    from aiplan.report.code.pages import pages

    if code not in CODES:
        raise typer.BadParameter(f"no code '{code}'; docs/diagnostics.md lists all", param_hint="SCENARIO")
    session.emit(lambda look: render(pages()[code], session.form, look))
