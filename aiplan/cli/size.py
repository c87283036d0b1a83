"""`aiplan size`: how many GPUs, of which kind, for a deadline, a budget or a supply of power."""

from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.options import Convention, ConventionOption, ScenarioArgument, SetOption, with_session

if TYPE_CHECKING:
    from aiplan.cli.session import Session

SHORT = "GPUs for a deadline, a budget, or both."
HELP = """Find how many GPUs a training needs: the fewest or the cheapest that meet a deadline, or the fastest within a
budget or a supply of power. At every number of GPUs the fastest legal plan that fits is searched.

The batch stays, so only numbers over which it divides are possible. The interval of the time is printed, and whether
the deadline holds at its upper end. Exit code 1 if nothing meets all limits.

\b
Examples:
  aiplan size llama-3-70b-h100 --deadline "150 days"
  aiplan size my.yaml --deadline "30 days" --budget "2M USD" --power "5 MW"
  aiplan size my.yaml --deadline "30 days" --node dgx-h100 --node dgx-b200 --for cost
"""
NO_ANSWER = 1


@with_session
def size(
    session: "Session",
    scenario: ScenarioArgument,
    deadline: Annotated[
        str | None, typer.Option("--deadline", metavar="TIME", help='Longest time to train, e.g. "30 days".')
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="MONEY", help='Highest rental cost, e.g. "2M USD".')
    ] = None,
    power: Annotated[
        str | None, typer.Option("--power", metavar="POWER", help='Largest draw of the facility, e.g. "5 MW".')
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="GOAL",
            help="What is to be least: gpus, cost or time.",
            show_default="gpus with a deadline, cost if there are several nodes to choose from; else time",
        ),
    ] = None,
    node: Annotated[
        list[str] | None,
        typer.Option("--node", metavar="ID", help="Node of the catalog instead of the scenario's, or all. Repeatable."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="CONDITION", help='Bound plans or results: "tensor <= 8". Repeatable.'),
    ] = None,
    sure: Annotated[
        bool, typer.Option("--sure", help="Deadline and budget must hold at the upper end of the 90 % interval.")
    ] = False,
    plot: Annotated[bool, typer.Option("--plot", help="Draw time to train over GPUs below the table.")] = False,
    svg: Annotated[str | None, typer.Option("--svg", metavar="FILE", help="Write that plot as SVG too.")] = None,
    settings: SetOption = None,
    convention: ConventionOption = Convention.MEGATRON,
) -> None:
    """Run the command."""
    from aiplan.planning.trial import GOALS, Limits

    if deadline is None and budget is None and power is None:
        raise typer.BadParameter("give a deadline, a budget or a power", param_hint="--deadline")
    if goal is not None and goal not in GOALS:
        raise typer.BadParameter(f"'{goal}' is not one of {', '.join(GOALS)}", param_hint="--for")
    from aiplan.cli.progress import Progress
    from aiplan.cli.session import amount, source_of
    from aiplan.declare import Diagnostics
    from aiplan.planning.size import Request, usual_goal
    from aiplan.planning.size import size as size_all
    from aiplan.planning.variants import assignments
    from aiplan.report.size import render, render_drawn
    from aiplan.report.size.drawing import graph
    from aiplan.scenario.conditions import read_conditions

    found = Diagnostics()
    conditions = read_conditions(where or (), found)
    asked = (("deadline", deadline, "time"), ("budget", budget, "money"), ("power", power, "power"))
    limits = Limits(**{name: amount(f"--{name}", text, kind, found) for name, text, kind in asked if text is not None})
    found.raise_if_errors()
    nodes = tuple(node or ())
    request = Request(limits, goal or usual_goal(limits, nodes), nodes, conditions, sure, convention)
    source, changes, layers = source_of(*scenario), assignments(settings or ()), session.catalog()
    with Progress("searches", None, quiet=session.quiet) as progress:
        answer = size_all(source, layers, changes, request, progress.upto)
    session.curves(svg, lambda: graph(answer))
    report = render_drawn if plot else render
    session.emit(lambda look: report(answer, session.form, look))
    if answer.best is None:
        from aiplan.report.size.wording import none_meets

        session.say(none_meets(answer))
        raise typer.Exit(NO_ANSWER)
