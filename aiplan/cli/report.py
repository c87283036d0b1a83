"""`aiplan report`: all that is known of a few scenarios as a page."""

from typing import TYPE_CHECKING

import typer

from aiplan.cli.options import (
    Convention,
    ConventionOption,
    ScenariosArgument,
    SetOption,
    VaryOption,
    check_once,
    with_output,
)

if TYPE_CHECKING:
    from aiplan.cli.session import Session

SHORT = "A page with pictures, of one scenario or several."
HELP = """Write a page of HTML with pictures: all that is known of a scenario, or of several side by side.

On it: results, step, memory by stage, scaling, roofline, fabric, checkpoints, the runs behind the interval, assumptions
and sources. One file without scripts that loads nothing. Without -o it goes to standard output. Exit code 1 if a
scenario does not fit into memory; the page is written all the same.

\b
Examples:
  aiplan report gpt3-175b-a100 -o report.html
  aiplan report a.yaml b.yaml c.yaml -o options.html
  aiplan report my.yaml --vary cluster.node=dgx-h100,dgx-b200 -o options.html
"""
DOES_NOT_FIT = 1


@with_output
def report(
    session: "Session",
    scenario: ScenariosArgument,
    settings: SetOption = None,
    vary: VaryOption = None,
    convention: ConventionOption = Convention.MEGATRON,
) -> None:
    """Run the command."""
    check_once(scenario)
    from aiplan.cli.progress import Progress
    from aiplan.cli.session import source_of
    from aiplan.planning.overview import overview
    from aiplan.planning.variants import Loaded, assignments
    from aiplan.report.overview.page import page

    changes = assignments(settings or ())
    sources = [source_of(text) for text in scenario]
    with Progress("scenarios", None, quiet=session.quiet) as progress:
        answer = overview(sources, session.catalog(), changes, vary or (), convention, progress.upto)
    session.warn(Loaded(None, answer.comparison.warnings()))
    session.emit(lambda _: page(answer))
    codes = [session.verdict(sheet.estimate) for sheet in answer.sheets]
    if any(codes):
        raise typer.Exit(DOES_NOT_FIT)
