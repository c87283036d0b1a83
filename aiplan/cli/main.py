"""The command line: commands, and exit codes that mean something.

0 yes, 1 answered and the answer is no, 2 could not answer, 70 a bug, 130 interrupted, 141 the reader closed the pipe.
"""

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from aiplan import __version__
from aiplan.report.console import PipeClosed, columns_of, quiet_exit, write

NAME = "aiplan"
NOT_ANSWERED, BUG, INTERRUPTED, PIPE_CLOSED = 2, 70, 130, 141
HELP = """Plan the capacity of AI training clusters: how long, does it fit, what limits it, what does it cost.

\b
Examples:
  aiplan estimate gpt3-175b-a100
  aiplan compare gpt3-175b-a100 --vary cluster.nodes=64..256:x2
  aiplan explain gpt3-175b-a100 step.bubble
"""

COMMANDS = (
    "init",
    "estimate",
    "compare",
    "explain",
    "search",
    "scale",
    "size",
    "check",
    "diff",
    "report",
    "collective",
    "topology",
    "storage",
    "checkpoint",
    "schedule",
    "accuracy",
    "calibrate",
    "catalog",
    "import",
    "export",
    "schema",
)
"""Each is a file beside this one: a function of that name, with `HELP` and `SHORT`, or an `app` of several commands."""

FILES = {"import": "import_files"}
"""Files whose names are not those of their commands: these are no names in Python."""
OBJECTS = 50_000
"""How many new objects make Python look for garbage: the imports of a command make many that all stay."""


def _version(asked: bool) -> None:
    if asked:
        write(f"{NAME} {__version__}\n")
        raise typer.Exit


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


def app_of(arguments: Sequence[str]) -> typer.Typer:
    """Return the command line with the command that is called, or with all where help or completion may list them."""
    app = typer.Typer(
        name=NAME,
        help=HELP,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(no_command)
    for name in arguments[:1] if set(arguments[:1]) & set(COMMANDS) else COMMANDS:
        file = FILES.get(name, name)
        module = import_module(f"aiplan.cli.{file}")
        if hasattr(module, "app"):
            app.add_typer(module.app)
        else:
            app.command(name, help=module.HELP, short_help=module.SHORT)(getattr(module, file))
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What stands behind the program's name; the arguments of the process if not given.
    """
    gc.set_threshold(OBJECTS)
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
        result: Any = app_of(arguments)(args=arguments, prog_name=NAME, standalone_mode=False)
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
    from aiplan.declare import InputError, render

    if isinstance(problem, InputError):
        write(f"{render(problem.diagnostics, problem.sources, columns_of(sys.stderr))}\n", sys.stderr)
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
