"""`aiplan compare`: several scenarios, or variants of one, side by side."""

from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.options import (
    Convention,
    ConventionOption,
    ScenariosArgument,
    SetOption,
    VaryOption,
    check_once,
    with_session,
)

if TYPE_CHECKING:
    from aiplan.cli.session import Session

SHORT = "Scenarios, or variants of one, side by side."
HELP = """Compare scenarios, or variants of one: what differs going in, and what comes out.

A variant that is not possible is listed with the reason; exit code 2 if none is possible.

\b
Examples:
  aiplan compare a.yaml b.yaml
  aiplan compare gpt3-175b-a100 --vary plan.tensor=4,8 --vary plan.pipeline=8,16
  aiplan compare gpt3-175b-a100 --vary cluster.nodes=64..256:x2 --format csv
  aiplan compare gpt3-175b-a100 --vary workload.global_batch=512..4096:x2 --plot
"""


@with_session
def compare(
    session: "Session",
    scenario: ScenariosArgument,
    plot: Annotated[
        bool, typer.Option("--plot", help="Draw results over the one field varied below the table.")
    ] = False,
    svg: Annotated[str | None, typer.Option("--svg", metavar="FILE", help="Write that plot as SVG too.")] = None,
    settings: SetOption = None,
    vary: VaryOption = None,
    convention: ConventionOption = Convention.MEGATRON,
) -> None:
    """Run the command."""
    if len(scenario) == 1 and not vary:
        raise typer.BadParameter("one scenario alone; give another one, or vary a field with --vary")
    check_once(scenario)
    from aiplan.cli.session import source_of
    from aiplan.planning.compare import compare as compare_all
    from aiplan.planning.variants import Loaded, assignments
    from aiplan.report.compare import render, render_drawn
    from aiplan.report.compare.drawing import graph

    changes = assignments(settings or ())
    sources = [source_of(text) for text in scenario]
    found = compare_all(sources, session.catalog(), changes, vary or (), convention)
    found.raise_if_unanswered()
    if (plot or svg) and found.varied is None:
        raise typer.BadParameter("a curve needs one scenario and one --vary over numbers", param_hint="--plot or --svg")
    session.warn(Loaded(None, found.warnings()))
    session.curves(svg, lambda: graph(found))
    report = render_drawn if plot else render
    session.emit(lambda look: report(found, session.form, look))
