"""`aiplan schedule`: what runs, what waits and why, on pools of nodes with quotas, priorities and a mix of jobs."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.complete import jobs_files
from aiplan.cli.options import SetOption, with_session

if TYPE_CHECKING:
    from aiplan.cli.session import Session

SHORT = "Jobs on a cluster: what runs, what waits and why, and which strategy is best."
HELP = """Schedule a mix of jobs, or a trace, on pools of nodes.

Placement follows the scores of kube-scheduler, Volcano or FGD; quotas follow Kueue, Volcano or ResourceQuota; gangs
start whole or not at all; jobs of higher priority stop others; elastic jobs shrink and grow. What fits, what is
stranded and who may borrow is computed in closed form; what happens over time is simulated event by event.

Shown are the use of GPUs, waits by class and size, what was lost, and the cluster at its busiest moment: a map of
nodes and GPUs, and every job that waits with what is in its way.

Exit code 1: some job can never start.

\b
Examples:
  aiplan schedule research-cluster
  aiplan schedule my-jobs.yaml --compare-strategies
  aiplan schedule gang-deadlock --compare gang
  aiplan schedule my-jobs.yaml --set "rules.starvation_guard=2 days"
  aiplan schedule my-jobs.yaml --at "30 h" --html timeline.html
  aiplan schedule pods.csv --nodes nodes.csv --strategy fgd --set "trace.arrivals=130 %"
"""
NO = 1


class StrategyName(StrEnum):
    """How nodes are chosen."""

    BINPACK = "binpack"
    SPREAD = "spread"
    BESTFIT = "bestfit"
    GPU_PACKING = "gpu-packing"
    VOLCANO = "volcano-binpack"
    TOPOLOGY = "topology"
    FGD = "fgd"
    RANDOM = "random"


class Ties(StrEnum):
    """Which of equal nodes."""

    FIRST = "first"
    SHUFFLED = "shuffled"
    RANDOM = "random"


class Against(StrEnum):
    """What differs between runs."""

    TIES = "ties"
    GANG = "gang"
    FAIR = "fair"
    ELASTIC = "elastic"


@with_session
def schedule(
    session: "Session",
    jobs: Annotated[
        str,
        typer.Argument(
            metavar="JOBS",
            help="Jobs file, a name of scenarios/jobs, or a table of a trace (.csv, .csv.gz).",
            autocompletion=jobs_files,
            show_default=False,
        ),
    ],
    strategy: Annotated[
        StrategyName | None, typer.Option("--strategy", help="How nodes are chosen; else as the file says.")
    ] = None,
    ties: Annotated[
        Ties | None, typer.Option("--ties", help="Equal scores: the first by name, of a drawn order, or any.")
    ] = None,
    compare: Annotated[Against | None, typer.Option("--compare", help="Runs side by side that differ in this.")] = None,
    compare_strategies: Annotated[
        bool, typer.Option("--compare-strategies", help="All strategies side by side.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of whatever is drawn at random.")] = 0,
    seeds: Annotated[
        int,
        typer.Option("--seeds", metavar="N", min=1, max=1000, help="Seeds to average over, for a trace of arrivals."),
    ] = 1,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help='When to look at the cluster, e.g. "30 h"; else its busiest moment.'),
    ] = None,
    html: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="Write a timeline of GPUs and jobs, for a browser.")
    ] = None,
    nodes: Annotated[
        str | None, typer.Option("--nodes", metavar="TABLE", help="With a table of pods: the table of nodes (openb).")
    ] = None,
    pools: Annotated[
        str | None,
        typer.Option(
            "--pools",
            metavar="JOBS",
            help="With a table of jobs: jobs file whose pools, queues and rules hold.",
            autocompletion=jobs_files,
        ),
    ] = None,
    settings: SetOption = None,
) -> None:
    """Run the command."""
    if compare_strategies and compare is not None:
        raise typer.BadParameter("--compare already says what differs", param_hint="--compare-strategies")
    from aiplan.declare import Diagnostics
    from aiplan.planning.scheduling.question import ask, variants
    from aiplan.planning.scheduling.workload import workload
    from aiplan.planning.variants import assignments
    from aiplan.report.schedule import render
    from aiplan.scenario.load_jobs import TABLES, load_jobs, load_table

    time = None if at is None else _time(at)
    catalog, diagnostics = session.catalog(), Diagnostics()
    changes = assignments(settings or ())
    if jobs.endswith(TABLES):
        plan = load_table(jobs, nodes, pools, catalog, diagnostics, changes)
    elif nodes is not None or pools is not None:
        raise typer.BadParameter("only with a table of jobs", param_hint="--pools" if nodes is None else "--nodes")
    else:
        plan = load_jobs(jobs, catalog, diagnostics, changes)
    if plan is None:
        raise diagnostics.failure()
    work = workload(plan, catalog, diagnostics)
    asked = "strategies" if compare_strategies else compare
    answer = ask(work, variants(work, strategy, ties, asked), seed, seeds, time)
    if html is not None:
        from aiplan.report.schedule.page import page

        session._replace(output=html).emit(lambda _: page(answer))
    session.emit(lambda look: render(answer, session.form, look))
    if not answer.all_start:
        session.say("some jobs can never start")
        raise typer.Exit(NO)


def _time(text: str) -> float:
    from aiplan import units

    try:
        return units.parse(text, "time")
    except units.UnitError as fault:
        raise typer.BadParameter(f"{fault.problem}; {fault.hint}", param_hint="--at") from None
