"""`aiplan explain`: why a number is what it is."""

from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.options import (
    ScenarioArgument,
    SetOption,
    with_session,
)

if TYPE_CHECKING:
    from aiplan.cli.session import Session

SHORT = "How a number came about, down to its sources."
HELP = """Explain a number: the formula that made it, what went in, where that comes from, and the source.

Without a term: all terms with their values.

\b
Examples:
  aiplan explain gpt3-175b-a100
  aiplan explain gpt3-175b-a100 step.bubble
  aiplan explain gpt3-175b-a100 run.time_to_train --depth 3
"""


@with_session
def explain(
    session: "Session",
    scenario: ScenarioArgument,
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
