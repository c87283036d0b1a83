"""`aiplan storage`: what a training asks of its storage, and what the storage gives."""

from typing import TYPE_CHECKING

import typer

from aiplan.cli.options import ScenarioArgument, SetOption, with_session

if TYPE_CHECKING:
    from aiplan.cli.session import Session

SHORT = "Storage: demand against supply, the stage that limits, capacity, what to buy."
HELP = """Put what a training asks of its storage beside what the storage gives.

Asked are training data, checkpoints and restarts; given is the narrowest of servers, limits on requests, clients,
network ports and targets. Shown too: capacity over the run, cost of a month, and levels of guidance as a yardstick.

Exit code 1: storage holds the run up.

\b
Examples:
  aiplan storage my.yaml --set storage=s3-standard
  aiplan storage llama-3-70b-h100 --set "storage={system: lustre-oss-modern, servers: 4}" --set reliability={}
"""
NO = 1


@with_session
def storage(session: "Session", scenario: ScenarioArgument, settings: SetOption = None) -> None:
    """Run the command."""
    from aiplan.cli.session import source_of
    from aiplan.planning.storage import storage_answer
    from aiplan.planning.variants import assignments
    from aiplan.report.storage import render

    catalog = session.catalog()
    loaded = session.load(source_of(*scenario), catalog, assignments(settings or ()))
    answer = storage_answer(loaded, catalog)
    session.emit(lambda look: render(answer, session.form, look))
    if not answer.met:
        raise typer.Exit(NO)
