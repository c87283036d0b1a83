"""`aiplan diff`: what a change to a scenario does."""

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from aiplan.cli.complete import scenarios
from aiplan.cli.options import Convention, ConventionOption, SetOption, with_session

if TYPE_CHECKING:
    from aiplan.catalog.load import Catalog
    from aiplan.cli.session import Session
    from aiplan.planning.causes import Side
    from aiplan.planning.estimate import Estimate
    from aiplan.planning.variants import Setting, Source

SHORT = "What a change to a scenario does."
HELP = """Compare two estimates: changed inputs first, then changed results, then the terms that changed most.

Each is a scenario, or a result that was saved with --format json. With --against-git a path is compared with itself
in a revision; nothing is fetched. Several paths, a folder or a pattern give every scenario that was changed, added or
removed: one table, then what lies between each pair. So do two folders. Exit code 2 if one of them cannot be read.

\b
Examples:
  aiplan diff old.yaml new.yaml
  aiplan diff main.json my.yaml --threshold 1% --exit-code
  aiplan diff my.yaml --against-git origin/main --format markdown
  aiplan diff clusters --against-git origin/main
"""


@with_session
def diff(
    session: "Session",
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="A...",
            help="Two scenarios or saved results, - for standard input, or folders; with --against-git any paths.",
            autocompletion=scenarios,
            show_default=False,
        ),
    ],
    revision: Annotated[
        str | None,
        typer.Option(
            "--against-git",
            metavar="REV",
            help="Compare with a commit, branch or tag REV, or with where HEAD left it: REV...",
        ),
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
    if revision is None and len(paths) != 2:
        raise typer.BadParameter("give two scenarios or results, or one or more and --against-git")
    if "-" in paths and (paths.count("-") > 1 or len(paths) > 2):
        raise typer.BadParameter("standard input can be read once only")
    from aiplan.planning.pairs import are_folders, are_several
    from aiplan.planning.variants import assignments

    asked = _Asked(_share(threshold), assignments(settings or ()), convention, revision)
    several = are_folders(*paths) if revision is None else are_several(paths)
    changed, broken = (_several if several else _two)(session, paths, asked)
    if broken or (exit_code and changed):
        raise typer.Exit(2 if broken else 1)


class _Asked(NamedTuple):
    """How to compare."""

    threshold: float
    settings: "tuple[Setting, ...]"
    convention: str
    revision: str | None


def _two(session: "Session", paths: list[str], asked: _Asked) -> tuple[bool, bool]:
    """Compare two estimates, and return whether a result changed, and that both could be read."""
    from dataclasses import replace

    from aiplan.cli.session import source_of
    from aiplan.planning.causes import alone
    from aiplan.planning.diff import diff as compare
    from aiplan.planning.revision import at_revision
    from aiplan.report.diff import render

    catalog = session.catalog()
    before = nullcontext(source_of(paths[0])) if asked.revision is None else at_revision(paths[0], asked.revision)
    after = source_of(paths[-1])
    with before as source:
        (first, one), (second, other) = (
            _side(session, each, catalog, asked.settings, asked.convention) for each in (source, after)
        )
        answer = compare(first, second, asked.threshold)
        if one is not None and other is not None:
            answer = replace(answer, alone=alone(one, other, answer.fields, catalog, asked.convention))
    session.emit(lambda look: render(answer, session.form, look))
    return answer.changed, False


def _several(session: "Session", paths: list[str], asked: _Asked) -> tuple[bool, bool]:
    """Compare many scenarios, and return whether any of them changed, and whether one cannot be read."""
    from aiplan.planning.changes import Changes, changes
    from aiplan.planning.pairs import between, since
    from aiplan.report.changes import render

    if "-" in paths:
        raise typer.BadParameter("standard input has no past; give paths")
    catalog = session.catalog()
    with nullcontext(between(*paths)) if asked.revision is None else since(paths, asked.revision) as pairs:
        found = changes(pairs, catalog, asked.settings, asked.convention, asked.threshold, _document)
    answer = Changes(found, tuple(paths), asked.revision or "", asked.threshold)
    for one in answer.broken:
        if one.loaded is not None:
            session.fault(one.loaded)
    session.emit(lambda look: render(answer, session.form, look))
    return answer.changed, bool(answer.broken)


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
    from pathlib import Path

    from aiplan.declare import Diagnostics
    from aiplan.planning.causes import Side
    from aiplan.planning.estimate import estimate
    from aiplan.planning.saved import is_saved, read_if_there, read_saved
    from aiplan.planning.variants import place_of

    content = source.piped if source.piped is not None else read_if_there(Path(source.text))
    if content is not None and is_saved(content):
        found = Diagnostics()
        saved = read_saved(content, source.text, found)
        if saved is None:
            raise found.failure()
        return saved, None
    scenario = session.load(source, catalog, settings)
    return _document(estimate([scenario], convention)[0]), Side(scenario, place_of(source))


def _document(answer: "Estimate") -> "dict[str, Any]":
    """Return an estimate as it is saved."""
    import json

    from aiplan.report.console import Look
    from aiplan.report.estimate import Answer, render

    found: dict[str, Any] = json.loads(render(Answer(answer), "json", Look()))
    return found
