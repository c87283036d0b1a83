"""The options that several commands share: one name and one meaning everywhere.

The files of the commands do without `from __future__ import annotations`: typer reads the annotations of every command
whenever the program starts, and as text each one would have to be compiled for that.
"""

from __future__ import annotations

import inspect
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aiplan.cli.complete import run_files, scenarios

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Format(StrEnum):
    """How the result is written."""

    TABLE = "table"
    PLAIN = "plain"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


class Convention(StrEnum):
    """How operations are counted for TFLOP/s and MFU."""

    MEGATRON = "megatron"
    FULL = "full"
    SIX_ND = "6nd"
    HARDWARE = "hardware"


SCENARIO_HELP = (
    "Scenario file, name of a scenario of the library, or - for standard input; or files of other programs that make "
    "one scenario together."
)
ScenarioArgument = Annotated[
    list[str],
    typer.Argument(metavar="SCENARIO...", help=SCENARIO_HELP, autocompletion=scenarios, show_default=False),
]
ScenariosArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="SCENARIO...",
        help="Scenario files or names of the library; - for standard input.",
        autocompletion=scenarios,
        show_default=False,
    ),
]
OptionalScenario = Annotated[
    list[str] | None,
    typer.Argument(metavar="[SCENARIO]...", help=SCENARIO_HELP, autocompletion=scenarios, show_default=False),
]
RunsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PATH]...",
        help="Files or folders of runs, or CSV tables; - for standard input.",
        autocompletion=run_files,
        show_default=False,
    ),
]
GradesOption = Annotated[
    str, typer.Option("--grades", metavar="LETTERS", help="Grades of runs that count, of A, B and C.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Change a field, e.g. cluster.nodes=256. Repeatable."),
]
VaryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="PATH=VALUES",
        help="Vary a field, e.g. cluster.nodes=64..1024:x2 or plan.tensor=4,8. Repeatable: all combinations.",
    ),
]
ConventionOption = Annotated[
    Convention,
    typer.Option("--flops-convention", help="How operations are counted for TFLOP/s and MFU."),
]
FormatOption = Annotated[Format, typer.Option("--format", envvar="AIPLAN_FORMAT", help="Form of the result.")]
OutputOption = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the result to a file; - is standard output."),
]
CatalogOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--catalog",
        metavar="DIR",
        help="Catalog folder of your own, on top of ours. Repeatable. Also AIPLAN_CATALOG and ./hardware_catalog.",
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No warnings and hints, only errors.")]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", envvar="AIPLAN_VERBOSE", help="Say what was read; traceback of a bug.")
]
NoColorOption = Annotated[
    bool, typer.Option("--no-color", envvar="AIPLAN_NO_COLOR", help="Neither colour nor bold. Also NO_COLOR.")
]
WidthOption = Annotated[
    int | None,
    typer.Option("--width", min=40, metavar="COLUMNS", help="Width of a table. Also COLUMNS; else the terminal's."),
]
GRADES = "ABC"


def check_runs(path: list[str] | None, grades: str) -> None:
    """Refuse grades that there are none of, and standard input asked for twice."""
    if not grades or set(grades) - set(GRADES):
        raise typer.BadParameter(f"'{grades}' is not made of the letters {', '.join(GRADES)}", param_hint="--grades")
    check_once(path or ())


def check_once(names: Sequence[str]) -> None:
    """Refuse standard input asked for twice."""
    if names.count("-") > 1:
        raise typer.BadParameter("standard input can be read once only")


SHARED = tuple(
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    for name, annotation, default in (
        ("form", FormatOption, Format.TABLE),
        ("output", OutputOption, None),
        ("catalog", CatalogOption, None),
        ("quiet", QuietOption, False),
        ("verbose", VerboseOption, False),
        ("no_color", NoColorOption, False),
        ("width", WidthOption, None),
    )
)
"""What every command with a catalog and a result takes."""


def with_session(command: Callable[..., None]) -> Callable[..., None]:
    """Add the shared options to a command, which gets what they mean as a session, its first argument."""
    return _joined(command, SHARED)


def with_output(command: Callable[..., None]) -> Callable[..., None]:
    """Add the shared options to a command whose result has one format and no width."""
    return _joined(command, [item for item in SHARED if item.name not in {"form", "no_color", "width"}])


def with_formats(formats: type[StrEnum], usual: StrEnum) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the shared options to a command that has formats of its own."""
    option = typer.Option("--format", envvar="AIPLAN_FORMAT", help="Form of the result.")
    form, *rest = SHARED
    own = form.replace(annotation=Annotated[formats, option], default=usual)
    return lambda command: _joined(command, (own, *rest))


def _joined(command: Callable[..., None], shared_options: Sequence[inspect.Parameter]) -> Callable[..., None]:
    """Return a command with its own options and shared ones."""

    def run(*, catalog: list[Path] | None, **values: Any) -> None:
        from aiplan.cli.session import Session

        shared = {item.name: values.pop(item.name) for item in shared_options if item.name in values}
        command(Session(overlays=tuple(catalog or ()), **shared), **values)

    _, *own = inspect.signature(command).parameters.values()
    parameters = [item.replace(kind=inspect.Parameter.KEYWORD_ONLY) for item in own]
    run.__signature__ = inspect.Signature([*parameters, *shared_options])  # type: ignore[attr-defined]
    run.__annotations__ = {}
    return run
