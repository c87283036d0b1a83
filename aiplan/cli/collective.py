"""`aiplan collective`: time and bandwidth of a collective, by size and algorithm."""

from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.complete import scenarios
from aiplan.cli.options import with_session

if TYPE_CHECKING:
    from aiplan.adapters.nccl_log import Table
    from aiplan.catalog.load import Catalog
    from aiplan.cli.session import Session
    from aiplan.declare import Diagnostics
    from aiplan.planning.collective import Collective
    from aiplan.planning.collective_request import Request
    from aiplan.planning.machine import Machine, Wanted

SHORT = "Time and bandwidth of a collective by size, and what NCCL chooses."
HELP = """Predict a collective: time, algbw and busbw at every size, what NCCL chooses, where its choice changes.

OPERATION is all-reduce, all-gather, reduce-scatter, broadcast, reduce, all-to-all or send-recv. It runs on nodes of the
catalog (--node with --nodes or --gpus) or on the cluster of a scenario (--cluster). Sizes are those of nccl-tests: the
buffer of a rank for an all-reduce, the whole tensor for an all-gather or a reduce-scatter.

\b
Examples:
  aiplan collective all-reduce --node dgx-h100 --nodes 4
  aiplan collective all-reduce --gpus 1024 --algorithm all --size 1KiB..8GiB --plot
  aiplan collective all-to-all --cluster my.yaml --size 1MiB,64MiB --format json
  aiplan collective all-reduce --node dgx-h100 --measured all_reduce.log

With --measured and a log of nccl-tests the question is whether what was measured is normal: times beside each other,
where they fall short, and what usually causes that. Exit code 1 says that they do.
"""
USUAL_NODE = "dgx-h100"
USUAL_SIZES = "8B..8GiB"
FALLS_SHORT = 1


@with_session
def collective(
    session: "Session",
    operation: Annotated[str, typer.Argument(metavar="OPERATION", help="Which collective.", show_default=False)],
    *,
    size: Annotated[
        str | None,
        typer.Option(
            "--size",
            metavar="SIZES",
            help="A range by powers of two, or a list with commas.",
            show_default=f"{USUAL_SIZES}, or those of the log",
        ),
    ] = None,
    node: Annotated[
        str | None,
        typer.Option("--node", metavar="ID", help=f"Node of the catalog; {USUAL_NODE} if nothing is said."),
    ] = None,
    nodes: Annotated[int | None, typer.Option("--nodes", metavar="N", min=1, help="How many nodes.")] = None,
    gpus: Annotated[int | None, typer.Option("--gpus", metavar="N", min=1, help="How many GPUs.")] = None,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="SCENARIO", help="The cluster of a scenario.", autocompletion=scenarios),
    ] = None,
    algorithm: Annotated[
        str, typer.Option("--algorithm", metavar="NAMES", help="auto (NCCL's), all, or names with commas.")
    ] = "auto",
    protocol: Annotated[str, typer.Option("--protocol", metavar="NAME", help="auto, ll, ll128 or simple.")] = "auto",
    version: Annotated[
        str | None, typer.Option("--nccl", metavar="VERSION", help="Version of NCCL, such as 2.27; the newest known.")
    ] = None,
    sharp: Annotated[bool, typer.Option("--sharp", help="The switches of the fabric add up (SHARP).")] = False,
    measured: Annotated[
        str | None,
        typer.Option("--measured", metavar="LOG", help="Compare with a log of nccl-tests: is my bandwidth normal?"),
    ] = None,
    plot: Annotated[bool, typer.Option("--plot", help="Draw bus bandwidth over size below the table.")] = False,
    svg: Annotated[str | None, typer.Option("--svg", metavar="FILE", help="Write that plot as SVG too.")] = None,
) -> None:
    """Run the command."""
    if cluster and (node or nodes or gpus):
        raise typer.BadParameter("not together with --node, --nodes or --gpus", param_hint="--cluster")
    if nodes and gpus:
        raise typer.BadParameter("not together with --nodes", param_hint="--gpus")
    if measured and (size or plot or svg):
        raise typer.BadParameter("not together with --size, --plot or --svg", param_hint="--measured")
    from aiplan.declare import Diagnostics
    from aiplan.planning.collective import predict
    from aiplan.planning.collective_request import read_request, refuse_if_nothing
    from aiplan.planning.machine import Wanted

    diagnostics, catalog = Diagnostics(), session.catalog()
    request = read_request(operation, size or USUAL_SIZES, algorithm, protocol, version, diagnostics)
    table = _table(measured, request, diagnostics) if measured and request else None
    if table is not None and not nodes:
        gpus = gpus or table.ranks
    machine = _machine(session, cluster, Wanted(node or USUAL_NODE, nodes, gpus, sharp), catalog, diagnostics)
    if request is None or machine is None:
        raise diagnostics.failure()
    if table is not None:
        from aiplan.planning.shortfall import sizes_of

        request = request._replace(sizes=sizes_of(table))
    answer = predict(request.operation, machine, request.sizes, request.algorithms, request.protocol, request.version)
    refuse_if_nothing(answer, request, diagnostics)
    if table is None:
        _show(session, answer, svg, drawn=plot)
    elif not _judged(session, table, answer):
        raise typer.Exit(FALLS_SHORT)


def _table(log: str, request: "Request", diagnostics: "Diagnostics") -> "Table | None":
    from aiplan.cli.session import log_texts
    from aiplan.planning.log_files import read_logs
    from aiplan.planning.shortfall import choose_table

    tables = read_logs(log_texts([log], diagnostics), diagnostics)
    diagnostics.raise_if_errors()
    found = choose_table(tables, request.operation, log, diagnostics)
    diagnostics.raise_if_errors()
    return found


def _machine(
    session: "Session", cluster: str | None, wanted: "Wanted", catalog: "Catalog", diagnostics: "Diagnostics"
) -> "Machine | None":
    from aiplan.cli.session import source_of
    from aiplan.planning.machine import machine_of_node, machine_of_scenario

    if cluster is None:
        return machine_of_node(wanted, catalog, diagnostics)
    scenario = session.load(source_of(cluster), catalog)
    return machine_of_scenario(scenario, catalog, diagnostics, sharp=wanted.sharp)


def _show(session: "Session", answer: "Collective", svg: str | None, *, drawn: bool) -> None:
    from aiplan.report.collective import render, render_drawn
    from aiplan.report.collective.drawing import graph

    session.curves(svg, lambda: graph(answer))
    report = render_drawn if drawn else render
    session.emit(lambda look: report(answer, session.form, look))


def _judged(session: "Session", table: "Table", answer: "Collective") -> bool:
    """Show measured times beside predicted ones; return whether they are normal."""
    from aiplan.planning.shortfall import judge
    from aiplan.report.shortfall import render

    verdict = judge(table, answer)
    session.emit(lambda look: render(verdict, session.form, look))
    return verdict.normal
