"""`aiplan check`: scenarios held to rules, for people and for continuous integration."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.complete import scenarios
from aiplan.cli.options import Convention, ConventionOption, SetOption, with_formats

if TYPE_CHECKING:
    from aiplan.cli.session import Session

SHORT = "Scenarios held to rules; made for CI."
HELP = """Check scenarios: expect: of each, the rules of a policy, and what usually goes wrong with a plan.

PATH is a scenario file, a result saved with --format json, a scenario of the library, a pattern or a folder. Exit code
1 if a rule is broken at the level of an error, 2 if a file could not be read. What each code means: aiplan explain
AIP412.

\b
Examples:
  aiplan check gpt3-175b-a100
  aiplan check clusters/ --policy policy.yaml
  aiplan check "clusters/**/*.yaml" --format github
"""


class CheckFormat(StrEnum):
    """How the result is written."""

    TABLE = "table"
    PLAIN = "plain"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    GITHUB = "github"
    JUNIT = "junit"
    SARIF = "sarif"


@with_formats(CheckFormat, CheckFormat.TABLE)
def check(
    session: "Session",
    path: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Scenario files, names of the library, patterns, folders; - for standard input.",
            autocompletion=scenarios,
            show_default=False,
        ),
    ],
    policy: Annotated[
        str | None, typer.Option("--policy", metavar="FILE", help="Rules for all of them; see docs/ci.md.")
    ] = None,
    search: Annotated[
        bool, typer.Option("--search", help="Search for better plans too, and tell who is far behind.")
    ] = False,
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="Exit code 0 though rules are broken; 2 stays for what cannot be read.")
    ] = False,
    settings: SetOption = None,
    convention: ConventionOption = Convention.MEGATRON,
) -> None:
    """Run the command."""
    if path.count("-") > 1:
        raise typer.BadParameter("standard input can be read once only")
    from aiplan.cli.progress import Progress
    from aiplan.cli.session import source_of
    from aiplan.declare import Diagnostics
    from aiplan.planning.check import check as check_all
    from aiplan.planning.variants import assignments
    from aiplan.report.check import render
    from aiplan.scenario.policy import NO_POLICY, read_policy

    found = Diagnostics()
    rules = NO_POLICY if policy is None else read_policy(policy, found)
    if rules is None:
        raise found.failure()
    sources, changes = [source_of(text) for text in path], assignments(settings or ())
    with Progress("files", len(sources), quiet=session.quiet) as progress:
        answer = check_all(sources, session.catalog(), rules, changes, convention, searched=search, told=progress.upto)
    for file in answer.files:
        if file.broken:
            session.fault(file.loaded)
    session.emit(lambda look: render(answer, session.form, look))
    if answer.code == 2 or (answer.code and not exit_zero):
        raise typer.Exit(answer.code)
