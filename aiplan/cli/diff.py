"""`aiplan diff`: what a change to a scenario does."""

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aiplan.cli.complete import scenarios
from aiplan.cli.options import Convention, ConventionOption, SetOption, with_session

if TYPE_CHECKING:
    from aiplan.catalog.load import Catalog
    from aiplan.cli.session import Session
    from aiplan.planning.causes import Side
    from aiplan.planning.variants import Setting, Source

SHORT = "What a change to a scenario does."
HELP = """Compare two estimates: changed inputs first, then changed results, then the terms that changed most.

Each is a scenario, or a result that was saved with --format json. With --against-git one path is compared with itself
in a revision; nothing is fetched.

\b
Examples:
  aiplan diff old.yaml new.yaml
  aiplan diff main.json my.yaml --threshold 1% --exit-code
  aiplan diff my.yaml --against-git origin/main --format markdown
"""


@with_session
def diff(
    session: "Session",
    old: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="Scenario or saved result; - for standard input.",
            autocompletion=scenarios,
            show_default=False,
        ),
    ],
    new: Annotated[
        str | None,
        typer.Argument(metavar="[B]", help="What to compare it with.", autocompletion=scenarios, show_default=False),
    ] = None,
    revision: Annotated[
        str | None,
        typer.Option("--against-git", metavar="REV", help="Compare A with itself in a commit, branch or tag."),
    ] = None,
    threshold: Annotated[
        str, typer.Option("--threshold", metavar="SHARE", help="Change up to which results count as the same: 5%.")
    ] = "0 %",
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit code 1 if a result changed by more than the threshold.")
    ] = False,
    settings: SetOption = None,
    convention: ConventionOption = Convention.MEGATRON,
) -> None:
    """Run the command."""
    if (new is None) == (revision is None):
        raise typer.BadParameter("give two scenarios or results, or one and --against-git")
    if old == new == "-":
        raise typer.BadParameter("standard input can be read once only")
    from dataclasses import replace

    from aiplan.cli.session import source_of
    from aiplan.planning.causes import alone
    from aiplan.planning.diff import diff as compare
    from aiplan.planning.revision import at_revision
    from aiplan.planning.variants import assignments
    from aiplan.report.diff import render

    within, changes, catalog = _share(threshold), assignments(settings or ()), session.catalog()
    before = nullcontext(source_of(old)) if revision is None else at_revision(old, revision)
    after = source_of(old if new is None else new)
    with before as source:
        (first, one), (second, other) = (_side(session, each, catalog, changes, convention) for each in (source, after))
        answer = compare(first, second, within)
        if one is not None and other is not None:
            answer = replace(answer, alone=alone(one, other, answer.fields, catalog, convention))
    session.emit(lambda look: render(answer, session.form, look))
    if exit_code and answer.changed:
        raise typer.Exit(1)


def _share(text: str) -> float:
    from aiplan import units

    try:
        share = units.parse(text, "fraction")
    except units.UnitError as fault:
        raise typer.BadParameter(f"{fault.problem}; write e.g. 5%", param_hint="--threshold") from None
    if not 0 <= share <= 1:
        raise typer.BadParameter(f"'{text}' is not between 0 and 100 %", param_hint="--threshold")
    return share


def _side(
    session: "Session", source: "Source", catalog: "Catalog", settings: "tuple[Setting, ...]", convention: str
) -> "tuple[dict[str, Any], Side | None]":
    """Return an estimate as a document, the saved one or that of a scenario now, and the scenario if there is one."""
    import json
    from pathlib import Path

    from aiplan.declare import Diagnostics
    from aiplan.planning.causes import Side
    from aiplan.planning.estimate import estimate
    from aiplan.planning.saved import is_saved, read_if_there, read_saved
    from aiplan.planning.variants import place_of
    from aiplan.report.console import Look
    from aiplan.report.estimate import Answer, render

    content = source.piped if source.piped is not None else read_if_there(Path(source.text))
    if content is not None and is_saved(content):
        found = Diagnostics()
        saved = read_saved(content, source.text, found)
        if saved is None:
            raise found.failure()
        return saved, None
    scenario = session.load(source, catalog, settings)
    answer = estimate([scenario], convention)[0]
    return json.loads(render(Answer(answer), "json", Look())), Side(scenario, place_of(source))
