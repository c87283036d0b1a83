"""`aiplan collective`: time and bandwidth of a collective, by size and algorithm."""

from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.complete import scenarios
from aiplan.cli.options import with_session

if TYPE_CHECKING:
    from aiplan.cli.session import Session

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
"""
USUAL_NODE = "dgx-h100"


@with_session
def collective(
    session: "Session",
    operation: Annotated[str, typer.Argument(metavar="OPERATION", help="Which collective.", show_default=False)],
    *,
    size: Annotated[
        str, typer.Option("--size", metavar="SIZES", help="A range by powers of two, or a list with commas.")
    ] = "8B..8GiB",
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
    plot: Annotated[bool, typer.Option("--plot", help="Draw bus bandwidth over size below the table.")] = False,
    svg: Annotated[str | None, typer.Option("--svg", metavar="FILE", help="Write that plot as SVG too.")] = None,
) -> None:
    """Run the command."""
    if cluster and (node or nodes or gpus):
        raise typer.BadParameter("not together with --node, --nodes or --gpus", param_hint="--cluster")
    if nodes and gpus:
        raise typer.BadParameter("not together with --nodes", param_hint="--gpus")
    from aiplan.cli.session import source_of
    from aiplan.declare import Diagnostics
    from aiplan.planning.collective import predict
    from aiplan.planning.collective_request import read_request, refuse_if_nothing
    from aiplan.planning.machine import Wanted, machine_of_node, machine_of_scenario
    from aiplan.report.collective import render

    diagnostics, catalog = Diagnostics(), session.catalog()
    request = read_request(operation, size, algorithm, protocol, version, diagnostics)
    if cluster:
        scenario = session.load(source_of(cluster), catalog)
        machine = machine_of_scenario(scenario, catalog, diagnostics, sharp=sharp)
    else:
        machine = machine_of_node(Wanted(node or USUAL_NODE, nodes, gpus, sharp), catalog, diagnostics)
    if request is None or machine is None:
        raise diagnostics.failure()
    answer = predict(request.operation, machine, request.sizes, request.algorithms, request.protocol, request.version)
    refuse_if_nothing(answer, request, diagnostics)
    if svg:
        from aiplan.report.collective.chart import chart

        session._replace(output=svg).emit(lambda _: chart(answer))
    session.emit(lambda look: render(answer, session.form, look, drawn=plot))
