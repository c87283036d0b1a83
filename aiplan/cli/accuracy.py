"""`aiplan accuracy`: predicted against measured, for the published runs or for one's own."""

from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.options import GradesOption, RunsArgument, SetOption, check_runs, with_session

if TYPE_CHECKING:
    from aiplan.cli.session import Session

SHORT = "Predicted against measured, for published runs or your own."
HELP = """Predict measured runs, and show how far the predictions are off: in all, by group, and the worst.

Plans that were measured under the same conditions are ranked, and so is efficiency as accelerators are added; whole
trainings are compared with the time of nothing but steps.

Without a PATH: the published runs and trainings that came with the program. A PATH is a YAML file of runs, a folder of
such files, a CSV table with a run or a whole training in each row, or - for standard input; "unseen" means published
runs that no constant was fitted on. A run that cannot be predicted is left out, and the reason is shown.

\b
Examples:
  aiplan accuracy
  aiplan accuracy my-runs.csv --format json -o errors.json
  aiplan accuracy unseen
  aiplan accuracy --grades A --html accuracy.html
"""


@with_session
def accuracy(
    session: "Session",
    path: RunsArgument = None,
    grades: GradesOption = "AB",
    worst: Annotated[int, typer.Option("--worst", metavar="N", min=0, help="How many of the worst runs to show.")] = 10,
    drawn: Annotated[bool, typer.Option("--plot", help="Draw a scatter plot of all runs below the tables.")] = False,
    svg: Annotated[str | None, typer.Option("--svg", metavar="FILE", help="Write that plot as SVG too.")] = None,
    html: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="Write a page with plot and tables too.")
    ] = None,
    settings: SetOption = None,
) -> None:
    """Run the command."""
    check_runs(path, grades)
    from aiplan.declare import Diagnostics
    from aiplan.planning.accuracy import Accuracy, compare_runs
    from aiplan.planning.run_files import library_trainings
    from aiplan.planning.trainings import compare_trainings, step_by_step
    from aiplan.planning.variants import assignments
    from aiplan.report.accuracy import Answer, render, render_drawn
    from aiplan.report.accuracy.page import page
    from aiplan.report.accuracy.scatter import plot

    changes = assignments(settings or ())
    catalog, diagnostics = session.catalog(), Diagnostics()
    runs = session.runs(path or (), catalog, changes)
    whole = [run for run in runs if run.whole] if path else library_trainings(catalog, diagnostics, changes)
    diagnostics.raise_if_errors()
    trainings = compare_trainings(whole, catalog, grades, changes)
    steps = compare_runs(step_by_step(runs), grades)
    answer = Accuracy(steps, tuple(path or ()), tuple(settings or ()), grades, trainings)
    if svg:
        session.picture(svg, lambda: plot(answer))
    if html:
        session._replace(output=html).emit(lambda _: page(Answer(answer, worst)))
    report = render_drawn if drawn else render
    session.emit(lambda look: report(Answer(answer, worst), session.form, look))
