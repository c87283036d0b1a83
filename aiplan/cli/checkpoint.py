"""`aiplan checkpoint`: size, stall and interval of checkpoints, and what others would cost."""

from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.options import ScenarioArgument, SetOption, with_session

if TYPE_CHECKING:
    from aiplan.cli.session import Session

SHORT = "Checkpoints: size, stall, best interval, bandwidth needed, goodput."
HELP = """Answer for the checkpoints of a scenario: size, stall, time until durable, host memory, interval, loss.

Beside them stand the intervals of the published rules and multiples of the one used, the other ways to save, the same
job with the rates of interruptions of published fleets, and the bandwidth with which the loss stays below a target.

Exit code 1: the host has no room for what is saved in its memory, or --target is not met.

\b
Examples:
  aiplan checkpoint llama-3-70b-h100 --set checkpoint.mode=async --set reliability.fleet=rsc-1
  aiplan checkpoint my.yaml --target 0.02 --svg loss.svg
"""
NO = 1


@with_session
def checkpoint(
    session: "Session",
    scenario: ScenarioArgument,
    target: Annotated[
        float | None,
        typer.Option(
            "--target",
            metavar="SHARE",
            min=1e-6,
            max=1.0,
            help="Most that saves and work lost may take of the time [0.01].",
        ),
    ] = None,
    svg: Annotated[str | None, typer.Option("--svg", metavar="FILE", help="Where a chart of the loss goes.")] = None,
    settings: SetOption = None,
) -> None:
    """Run the command."""
    from aiplan.cli.session import source_of
    from aiplan.planning.checkpoint import TARGET, checkpoint_answer
    from aiplan.planning.variants import assignments
    from aiplan.report.checkpoint import render
    from aiplan.report.checkpoint.drawing import graph

    source, changes, catalog = source_of(*scenario), assignments(settings or ()), session.catalog()
    loaded = session.load(source, catalog, changes)
    answer = checkpoint_answer(loaded, source, catalog, changes, target or TARGET)
    session.curves(svg, lambda: graph(answer))
    session.emit(lambda look: render(answer, session.form, look))
    if not answer.fits or (target is not None and not answer.met):
        raise typer.Exit(NO)
