"""`aiplan calibrate`: fit the constants of the models on what was measured."""

from typing import TYPE_CHECKING

import typer

from aiplan.cli.options import GradesOption, RunsArgument, SetOption, check_runs, with_session

if TYPE_CHECKING:
    from aiplan.cli.session import Session

HELP = "Fit the constants of the models on what was measured."
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
app = typer.Typer(name="calibrate", help=HELP, rich_markup_mode=None, no_args_is_help=False)


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
