"""`aiplan topology`: kinds of fabrics side by side, and where the groups of a plan lie in one."""

from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.complete import scenarios
from aiplan.cli.options import SetOption, with_session

if TYPE_CHECKING:
    from aiplan.cli.session import Session
    from aiplan.planning.fabrics import Survey

SHORT = "Fabrics side by side: switches, cables, hops, contention, cost, limits."
HELP = """Compare kinds of fabrics for a number of accelerators, or for the cluster of a scenario.

Shown are switches, cables, switches on a path, latency, bisection, contention factors of each kind of traffic, cost and
power of the switches, the largest fabric of these switches, and what does not fit and why. With a SCENARIO also which
parallel group of its plan crosses which tier of its own topology, and what bandwidth that leaves.

Exit code 1: none of the kinds fits.

\b
Examples:
  aiplan topology --gpus 16384
  aiplan topology --gpus 2048 --nodes-of dgx-b200 --kinds fat-tree,rail-optimized,dragonfly --oversubscription 2
  aiplan topology --gpus 1024 --draw fat-tree --svg fabric.svg
  aiplan topology llama-3-70b-h100 --set cluster.network.topology=three-tier
"""
NODE = "dgx-h100"
NO = 1


@with_session
def topology(
    session: "Session",
    scenario: Annotated[
        str | None,
        typer.Argument(
            metavar="[SCENARIO]",
            help="Scenario file, name of a scenario of the library, or - for standard input.",
            autocompletion=scenarios,
            show_default=False,
        ),
    ] = None,
    gpus: Annotated[int | None, typer.Option("--gpus", metavar="N", min=1, help="Accelerators to join.")] = None,
    nodes_of: Annotated[
        str | None, typer.Option("--nodes-of", metavar="NODE", help=f"Id of the node that holds them [{NODE}].")
    ] = None,
    kinds: Annotated[
        str | None, typer.Option("--kinds", metavar="NAMES", help="Kinds of fabrics, with commas between; else all.")
    ] = None,
    switch: Annotated[
        str | None,
        typer.Option(
            "--switch", metavar="ID", help="Switches of the catalog; else those of the network's kind and rate."
        ),
    ] = None,
    oversubscription: Annotated[
        float | None,
        typer.Option(
            "--oversubscription",
            metavar="RATIO",
            min=1,
            help="Edge over core bandwidth; else what is usual for a kind.",
        ),
    ] = None,
    draw: Annotated[
        str | None, typer.Option("--draw", metavar="KIND", help="Kind to draw; needs --svg.", show_default=False)
    ] = None,
    svg: Annotated[
        str | None, typer.Option("--svg", metavar="FILE", help="Where the drawing goes; needs --draw.")
    ] = None,
    settings: SetOption = None,
) -> None:
    """Run the command."""
    _check(scenario, gpus, nodes_of, settings, draw, svg)
    from aiplan.planning import fabrics
    from aiplan.report.topology import Answer, render

    catalog = session.catalog()
    chosen = fabrics.kinds_named(kinds)
    drawn = fabrics.kinds_named(draw) if draw is not None else ()
    over = oversubscription
    if scenario is None:
        machine = fabrics.machine(gpus or 0, nodes_of or NODE, switch, catalog)
        answer = Answer(fabrics.survey(machine, chosen, over))
    else:
        from aiplan.cli.session import source_of
        from aiplan.planning.placement import placement
        from aiplan.planning.variants import assignments

        loaded = session.load(source_of(scenario), catalog, assignments(settings or ()))
        machine = fabrics.machine_of(loaded, switch, catalog)
        over = over or loaded.file.cluster.network.oversubscription
        answer = Answer(fabrics.survey(machine, chosen, over), loaded, placement(loaded))
    for kind in drawn:
        _draw(session, fabrics.survey(machine, (kind,), over), svg or "")
    session.emit(lambda look: render(answer, session.form, look))
    if not answer.survey.fits:
        raise typer.Exit(NO)


def _check(
    scenario: str | None,
    gpus: int | None,
    nodes_of: str | None,
    settings: list[str] | None,
    draw: str | None,
    svg: str | None,
) -> None:
    if (scenario is None) == (gpus is None):
        raise typer.BadParameter("give --gpus or a scenario, one of the two", param_hint="--gpus")
    if scenario is not None and nodes_of is not None:
        raise typer.BadParameter("a scenario has its own node: --set cluster.node=...", param_hint="--nodes-of")
    if scenario is None and settings:
        raise typer.BadParameter("there is no scenario to change", param_hint="--set")
    if (draw is None) != (svg is None):
        raise typer.BadParameter("--draw KIND and --svg FILE go together", param_hint="--draw")


def _draw(session: "Session", survey: "Survey", path: str) -> None:
    from aiplan.declare import Diagnostics
    from aiplan.report.topology.drawing import drawing

    row = survey.rows[0]
    if row.sized is None:
        diagnostics = Diagnostics()
        diagnostics.error("AIP107", f"{row.kind.name} does not fit: {row.reason}", hint="draw another kind")
        raise diagnostics.failure()
    sized = row.sized
    session.picture(path, lambda: drawing(survey.machine, row.kind, sized))
