"""`aiplan estimate`: one scenario, one answer."""

from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.options import (
    Convention,
    ConventionOption,
    Format,
    ScenarioArgument,
    SetOption,
    VaryOption,
    with_session,
)

if TYPE_CHECKING:
    from aiplan.cli.session import Session

SHORT = "Time, memory, cost and bottleneck of one scenario."
HELP = """Answer for one scenario: time to train, step time, memory, utilisation, cost, energy, and what limits it.

Exit code 1 if the plan does not fit into memory.

\b
Examples:
  aiplan estimate gpt3-175b-a100
  aiplan estimate my.yaml --set plan.tensor=4 --format json -o my.json
  aiplan estimate my.yaml --explain step.tensor
"""


@with_session
def estimate(
    session: "Session",
    scenario: ScenarioArgument,
    explain: Annotated[
        str | None,
        typer.Option("--explain", metavar="TERM", help="Show also how a term came about."),
    ] = None,
    settings: SetOption = None,
    vary: VaryOption = None,
    convention: ConventionOption = Convention.MEGATRON,
) -> None:
    """Run the command."""
    if vary:
        raise typer.BadParameter("one scenario, one answer; use 'aiplan compare' for several", param_hint="--vary")
    if explain and session.form in {Format.PLAIN, Format.CSV}:
        raise typer.BadParameter(f"not with --format {session.form}; use 'aiplan explain'", param_hint="--explain")
    from aiplan.cli.session import source_of
    from aiplan.planning.estimate import estimate as estimate_all
    from aiplan.planning.variants import assignments
    from aiplan.report.estimate import Answer, render

    source, changes, layers = source_of(scenario), assignments(settings or ()), session.catalog()
    loaded = session.load(source, layers, changes)
    explained = None
    if explain:
        from aiplan.planning.explain import explain_known

        explained = explain_known(loaded, explain)
    answer = estimate_all([loaded], convention)[0]
    ways = []
    if not answer.fits:
        from aiplan.planning.ways_out import ways_out

        ways = ways_out(source, layers, changes, answer)
    session.doubt(answer)
    session.emit(lambda look: render(Answer(answer, ways, explained), session.form, look))
    raise typer.Exit(session.verdict(answer))
