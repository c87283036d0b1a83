"""The command line: commands, and exit codes that mean something.

0 yes, 1 answered and the answer is no, 2 could not answer, 70 a bug, 130 interrupted, 141 the reader closed the pipe.
"""

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from aiplan import __version__
from aiplan.cli import (
    accuracy,
    calibrate,
    catalog,
    check_manifests,
    collective,
    compare,
    estimate,
    explain,
    export,
    schedule,
    schema,
    topology,
)
from aiplan.report.console import PipeClosed, quiet_exit, write

NAME = "aiplan"
NOT_ANSWERED, BUG, INTERRUPTED, PIPE_CLOSED = 2, 70, 130, 141
HELP = """Plan the capacity of AI training clusters: how long, does it fit, what limits it, what does it cost.

\b
Examples:
  aiplan estimate gpt3-175b-a100
  aiplan compare gpt3-175b-a100 --vary cluster.nodes=64..256:x2
  aiplan explain gpt3-175b-a100 step.bubble
"""

app = typer.Typer(
    name=NAME,
    help=HELP,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("estimate", help=estimate.HELP, short_help=estimate.SHORT)(estimate.estimate)
app.command("compare", help=compare.HELP, short_help=compare.SHORT)(compare.compare)
app.command("explain", help=explain.HELP, short_help=explain.SHORT)(explain.explain)
app.command("collective", help=collective.HELP, short_help=collective.SHORT)(collective.collective)
app.command("topology", help=topology.HELP, short_help=topology.SHORT)(topology.topology)
app.command("schedule", help=schedule.HELP, short_help=schedule.SHORT)(schedule.schedule)
app.command("check-manifests", help=check_manifests.HELP, short_help=check_manifests.SHORT)(
    check_manifests.check_manifests
)
app.command("accuracy", help=accuracy.HELP, short_help=accuracy.SHORT)(accuracy.accuracy)
app.add_typer(calibrate.app)
app.add_typer(catalog.app)
app.add_typer(export.app)
app.command("schema", help=schema.HELP, short_help=schema.SHORT)(schema.schema)


def _version(asked: bool) -> None:
    if asked:
        write(f"{NAME} {__version__}\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def no_command(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001  typer answers it before anything else
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Show the help where nothing was asked; it is no result, so not on standard output."""
    if context.invoked_subcommand is None:
        write(f"{context.get_help()}\n", sys.stderr)
        raise typer.Exit(NOT_ANSWERED)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What stands behind the program's name; the arguments of the process if not given.
    """
    _print_anything()
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(arguments)
        write("")
    except PipeClosed:
        return PIPE_CLOSED
    return code


def _run(arguments: list[str]) -> int:
    try:
        result: Any = app(args=arguments, prog_name=NAME, standalone_mode=False)
        return result if isinstance(result, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except PipeClosed:
        raise
    except SystemExit as leaving:
        # typer leaves with 1 when the reader of a help text has gone; completion leaves for good reasons.
        if isinstance(leaving.__context__, BrokenPipeError):
            quiet_exit(sys.stdout)
            return PIPE_CLOSED
        raise
    except Exception as problem:  # noqa: BLE001  the last line of defence: a code for whatever it is
        return _failed(problem, arguments)


def _failed(problem: Exception, arguments: list[str]) -> int:
    """Tell what went wrong: bad usage, bad input, or a bug."""
    from aiplan.declare import InputError

    if isinstance(problem, InputError):
        write(f"{problem}\n", sys.stderr)
        return NOT_ANSWERED
    if hasattr(problem, "show") and hasattr(problem, "exit_code"):  # typer's usage errors have no public class
        problem.show()
        return NOT_ANSWERED
    if os.environ.get("AIPLAN_VERBOSE") or {"-v", "--verbose"} & set(arguments):
        import traceback

        write("".join(traceback.format_exception(problem)), sys.stderr)
    what = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
    write(
        f"internal error: {what}\n\n"
        f"hint: this is a bug in {NAME} {__version__}; please report it with the command line "
        "and the traceback that --verbose shows\n",
        sys.stderr,
    )
    return BUG


def _print_anything() -> None:
    """Make sure that no character of a user's text can stop the output on an ASCII terminal."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
