"""`aiplan scale`: efficiency of a scenario on more and more GPUs, where it breaks and why."""

from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.options import Convention, ConventionOption, ScenarioArgument, SetOption, with_session

if TYPE_CHECKING:
    from aiplan.cli.session import Session

SHORT = "Weak and strong scaling efficiency of one scenario."
HELP = """Put one scenario on several numbers of GPUs: efficiency, parts of a step, where scaling breaks and why.

Weak scaling keeps the batch per GPU, strong scaling the whole batch. Data parallelism grows with the GPUs and the rest
of the plan stays; what is not legal then is said. With --replan (or plan: auto) the fastest plan is searched at every
size. Exit code 1 if no size fits into memory.

\b
Examples:
  aiplan scale gpt3-175b-a100 --gpus 64..16384
  aiplan scale my.yaml --gpus 256,512,768 --scaling strong --plot
  aiplan scale my.yaml --gpus 64..4096:x4 --replan --where "tensor <= 8" --svg scaling.svg
"""
KINDS = {"weak": ("weak",), "strong": ("strong",), "both": ("weak", "strong")}
DOES_NOT_FIT = 1


@with_session
def scale(
    session: "Session",
    scenario: ScenarioArgument,
    gpus: Annotated[
        str,
        typer.Option(
            "--gpus", metavar="SIZES", help="Numbers of GPUs: 64..16384 doubles, 64..512:+64 adds, 64,96 lists."
        ),
    ],
    scaling: Annotated[str, typer.Option("--scaling", metavar="KIND", help="weak, strong or both.")] = "both",
    replan: Annotated[bool, typer.Option("--replan", help="Search the fastest plan at every size.")] = False,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="CONDITION", help='Bound the plans of --replan: "tensor <= 8". Repeatable.'),
    ] = None,
    holds: Annotated[
        str, typer.Option("--holds", metavar="SHARE", help="Efficiency below which scaling is said to break.")
    ] = "80 %",
    plot: Annotated[bool, typer.Option("--plot", help="Draw efficiency over GPUs below the table.")] = False,
    svg: Annotated[str | None, typer.Option("--svg", metavar="FILE", help="Write that plot as SVG too.")] = None,
    settings: SetOption = None,
    convention: ConventionOption = Convention.MEGATRON,
) -> None:
    """Run the command."""
    if scaling not in KINDS:
        raise typer.BadParameter(f"'{scaling}' is not one of {', '.join(KINDS)}", param_hint="--scaling")
    from aiplan.cli.progress import Progress
    from aiplan.cli.session import amount, source_of
    from aiplan.declare import Diagnostics, parse_counts
    from aiplan.planning.scale import Request
    from aiplan.planning.scale import scale as scale_all
    from aiplan.planning.variants import assignments
    from aiplan.report.scale import render, render_drawn
    from aiplan.report.scale.drawing import graph
    from aiplan.scenario.conditions import read_conditions

    found = Diagnostics()
    conditions = read_conditions(where or (), found)
    bound = amount("--holds", holds, "fraction", found)
    found.raise_if_errors()
    request = Request(tuple(parse_counts(gpus, "--gpus")), KINDS[scaling], replan, conditions, bound, convention)
    source, changes, layers = source_of(*scenario), assignments(settings or ()), session.catalog()
    with Progress("sizes", len(request.accelerators) * len(request.kinds), quiet=session.quiet) as progress:
        answer = scale_all(source, layers, changes, request, progress.upto)
    answer.raise_if_unanswered()
    session.curves(svg, lambda: graph(answer))
    report = render_drawn if plot else render
    session.emit(lambda look: report(answer, session.form, look))
    if not answer.fits:
        session.say("no size fits into memory")
        raise typer.Exit(DOES_NOT_FIT)
