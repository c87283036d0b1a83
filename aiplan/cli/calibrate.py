"""`aiplan calibrate`: fit the constants of the models on what was measured, training runs or collectives."""

from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from aiplan.cli.options import GradesOption, RunsArgument, SetOption, check_runs, with_session

if TYPE_CHECKING:
    from aiplan.cli.session import Session

HELP = """Fit the constants of the models on what was measured: on logs of collectives, or on training runs.

\b
  aiplan calibrate LOG...        output of nccl-tests or rccl-tests: curves of time over size
  aiplan calibrate runs [PATH]   training runs: constants of accelerators and software

What is not a command is a log, so 'aiplan calibrate my.log' is short for 'aiplan calibrate log my.log'.
"""
SHORT = "Fit the constants of the models on what was measured."
LOG_SHORT = "Fit curves on logs of nccl-tests or rccl-tests; the word 'log' may be left out."
LOG_HELP = """Fit curves of time over size on logs of nccl-tests or rccl-tests, and say whether the logs can be true.

A LOG is the output as it is, launcher's tags and remarks of the library included, or - for standard input. Operation
and number of ranks are read from the figures where the log does not say them. Shown for each table: latency of small
messages, highest busbw, the curves with their errors where fitted and on sizes left out, and what is impossible or
unhealthy.

With --network and a file of YAML for -o, a catalog entry is written that has what was measured in place of what our
catalog says; without it nothing is written. Use it with --catalog.

\b
Examples:
  aiplan calibrate all_reduce.log
  aiplan calibrate all_reduce.log --link nvlink4
  aiplan calibrate *.log --network ib-ndr --ports 8 -o my_catalog/networks/ib-ndr.yaml
  aiplan calibrate all_reduce.log --format json -o fit.json
"""
RUNS_SHORT = "Fit the constants of accelerators and software on training runs."
RUNS_HELP = """Fit the constants of accelerators and software presets on measured training runs.

Without a PATH: the published runs that came with the program, on which the constants were fitted that it uses. A PATH
is a YAML file of runs, a folder of such files, a CSV table with a run in each row, or - for standard input.

Shown are each constant now and fitted, and the error of the step time with the constants as they are, with the fitted
ones, and with those that are fitted without the source of the run in question. Nothing is written: what to change
stands in the file that is named.

\b
Examples:
  aiplan calibrate runs
  aiplan calibrate runs my-runs.csv --format json -o constants.json
"""
YAML = (".yaml", ".yml")


class RunsOrLogs(typer.core.TyperGroup):
    """Commands, or logs where the first word is none of them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command's name before what is not a command."""
        known = {*self.commands, *ctx.help_option_names, "--show-completion", "--install-completion"}
        found: list[str] = super().parse_args(ctx, ["log", *args] if args and args[0] not in known else args)
        return found


app = typer.Typer(
    name="calibrate", cls=RunsOrLogs, help=HELP, short_help=SHORT, rich_markup_mode=None, no_args_is_help=False
)
LogsArgument = Annotated[
    list[str], typer.Argument(metavar="LOG...", help="Logs; - for standard input.", show_default=False)
]
NetworkOption = Annotated[
    str | None, typer.Option("--network", metavar="ID", help="Network of the catalog that the log was measured on.")
]
LinkOption = Annotated[
    str | None, typer.Option("--link", metavar="ID", help="Link of the catalog inside the nodes, such as nvlink4.")
]
PortsOption = Annotated[
    int | None, typer.Option("--ports", metavar="N", min=1, help="Ports of the network in a node; else the catalog's.")
]
NodesOption = Annotated[
    int | None, typer.Option("--nodes", metavar="N", min=1, help="Nodes of the run; else counted in the log.")
]
ShareOption = Annotated[
    float, typer.Option("--share", metavar="X", min=0.0, max=1.0, help="Share of the usual bandwidth that is well.")
]


@app.command("log", help=LOG_HELP, short_help=LOG_SHORT)
@with_session
def log(
    session: "Session",
    logs: LogsArgument,
    network: NetworkOption = None,
    link: LinkOption = None,
    ports: PortsOption = None,
    nodes: NodesOption = None,
    share: ShareOption = 0.8,
) -> None:
    """Fit on logs of collectives."""
    from aiplan.cli.session import log_texts
    from aiplan.declare import Diagnostics
    from aiplan.planning.log_files import check_nodes, limits_of, read_logs
    from aiplan.planning.measured import measure_all
    from aiplan.planning.network_overlay import overlay_file
    from aiplan.report.measured import render

    diagnostics = Diagnostics()
    overlay = session.output is not None and session.output.endswith(YAML)
    if overlay and network is None:
        raise typer.BadParameter("a catalog entry is written for a network: name it", param_hint="--network")
    catalog = session.catalog()
    limits = limits_of(link, network, ports, nodes, share, catalog, diagnostics)
    tables = read_logs(log_texts(logs, diagnostics), diagnostics)
    check_nodes(tables, nodes, diagnostics)
    diagnostics.raise_if_errors()
    answer = measure_all(tables, tuple(logs), limits)
    if not overlay:
        session.emit(lambda look: render(answer, session.form, look))
        return
    session._replace(output=None).emit(lambda look: render(answer, session.form, look))
    text = overlay_file(answer, catalog, diagnostics)
    diagnostics.raise_if_errors()
    session.emit(lambda _: text)


@app.command("runs", help=RUNS_HELP, short_help=RUNS_SHORT)
@with_session
def runs(
    session: "Session",
    path: RunsArgument = None,
    grades: GradesOption = "AB",
    settings: SetOption = None,
) -> None:
    """Fit on training runs."""
    check_runs(path, grades)
    from aiplan.cli.session import nothing_counts
    from aiplan.planning.calibration import calibrate, counted
    from aiplan.planning.variants import assignments
    from aiplan.report.calibration import render

    found = counted(session.runs(path or (), session.catalog(), assignments(settings or ())), grades)
    if not found:
        raise nothing_counts("'aiplan accuracy' on the same files says why each run is left out")
    answer = calibrate(found, tuple(path or ()), grades)
    session.emit(lambda look: render(answer, session.form, look))
