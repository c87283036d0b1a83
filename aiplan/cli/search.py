"""`aiplan search`: the best plans of a scenario."""

from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.options import Convention, ConventionOption, ScenarioArgument, SetOption, VaryOption, with_session

if TYPE_CHECKING:
    from aiplan.cli.session import Session

SHORT = "Best plans of one scenario, among all legal ones."
HELP = """Go through every legal plan: tensor, context, pipeline, interleave, expert and data parallel sizes,
micro-batch, ZeRO stage, recomputation, sequence parallelism and overlap. Shows the best layouts beside the own plan.

Where the scenario speaks of storage, checkpoints or failures, time is the wall clock, and cost, energy and carbon are
those of the whole run.

--vary adds hardware, accelerators, batch or precision to what is searched; --where bounds sizes and results.
Exit code 1 if no plan fits.

\b
Examples:
  aiplan search gpt3-175b-a100
  aiplan search my.yaml --where "tensor <= 8" --where "memory <= 90 %" --objective cost
  aiplan search my.yaml --vary cluster.nodes=64..256:x2 --objective cost --where "time_to_train <= 30 days"
"""


@with_session
def search(
    session: "Session",
    scenario: ScenarioArgument,
    objective: Annotated[
        str,
        typer.Option(
            "--objective",
            metavar="NAME",
            help="time, cost, energy, carbon, goodput, tokens_per_s_per_gpu or memory.",
        ),
    ] = "time",
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="CONDITION", help='Bound a size or result: "memory <= 90 %". Repeatable.'),
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, max=1000, metavar="N", help="Layouts that are shown.")] = 10,
    plot: Annotated[bool, typer.Option("--plot", help="Draw step time over memory of the trade-offs.")] = False,
    svg: Annotated[str | None, typer.Option("--svg", metavar="FILE", help="Write that plot as SVG too.")] = None,
    settings: SetOption = None,
    vary: VaryOption = None,
    workers: Annotated[
        int, typer.Option("--workers", min=1, metavar="N", help="Processes of this machine that share the work.")
    ] = 1,
    dask: Annotated[
        str | None,
        typer.Option("--dask", metavar="ADDRESS", help="Scheduler of a Dask cluster that shares the work."),
    ] = None,
    convention: ConventionOption = Convention.MEGATRON,
) -> None:
    """Run the command."""
    from aiplan.planning.objectives import OBJECTIVES, OF_THE_RUN

    if objective not in OBJECTIVES:
        raise typer.BadParameter(f"'{objective}' is not one of {', '.join(OBJECTIVES)}", param_hint="--objective")
    if dask is not None and workers > 1:
        raise typer.BadParameter("either this machine or a cluster", param_hint="--workers")
    from aiplan.cli.main import INTERRUPTED
    from aiplan.cli.progress import Progress
    from aiplan.cli.session import source_of
    from aiplan.declare import Diagnostics
    from aiplan.planning.search import ask, none_fits, question_of, run
    from aiplan.planning.variants import assignments, variants
    from aiplan.planning.workers import engine
    from aiplan.report.search import render, render_drawn
    from aiplan.report.search.drawing import graph
    from aiplan.scenario.conditions import read_conditions

    found = Diagnostics()
    conditions = read_conditions(where or (), found)
    found.raise_if_errors()
    source, changes, layers = source_of(*scenario), assignments(settings or ()), session.catalog()
    varied = variants(vary or ())
    scenarios = [session.unsized(source, layers, (*changes, *variant.settings)) for variant in varied]
    if objective in OF_THE_RUN and not all(one.run for one in scenarios):
        needed = f"'{objective}' needs storage:, checkpoint: or reliability: in the scenario"
        raise typer.BadParameter(needed, param_hint="--objective")
    own = session.own(source, layers, changes, convention)
    question = question_of(scenarios[0], objective, conditions, top, convention, own)
    asked = ask(scenarios, question, own, [variant.label for variant in varied])
    with Progress("plans", asked.plans, quiet=session.quiet) as progress:
        answer = run(asked, engine(workers, dask), lambda part: progress.upto(part.plans))
    session.curves(svg, lambda: graph(answer))
    report = render_drawn if plot else render
    session.emit(lambda look: report(answer, session.form, look))
    if not answer.finished:
        raise typer.Exit(INTERRUPTED)
    if not answer.best:
        session.say(none_fits(answer)[0])
        raise typer.Exit(1)
