"""`aiplan check`: scenarios held to rules, for people and for continuous integration."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.complete import jobs_files, scenarios
from aiplan.cli.options import Convention, ConventionOption, SetOption, with_formats

if TYPE_CHECKING:
    from aiplan.catalog.load import Catalog
    from aiplan.cli.session import Session
    from aiplan.planning.scheduling.workload import Workload

SHORT = "Scenarios held to rules, and manifests to pools; made for CI."
HELP = """Check scenarios: expect: of each, the rules of a policy, and what usually goes wrong with a plan.

Files with apiVersion and kind are manifests of Kubernetes: every field is held against its kind (Pod, Job, PyTorchJob,
TrainJob, JobSet, Volcano, Kueue, quotas, classes), then the rules that no list of fields holds, names that lead
nowhere, and with --pools whether the pods fit empty pools and quotas. Jobs files are held to their own pools.

PATH is a file, a result saved with --format json, a scenario of the library, a pattern or a folder. Exit code 1 if a
rule is broken at the level of an error, 2 if a file could not be read. What each code means: aiplan explain AIP412.

\b
Examples:
  aiplan check gpt3-175b-a100
  aiplan check clusters/ --policy policy.yaml
  aiplan check "clusters/**/*.yaml" --format github
  aiplan check manifests/ --pools research-cluster
"""


class CheckFormat(StrEnum):
    """How the result is written."""

    TABLE = "table"
    PLAIN = "plain"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    GITHUB = "github"
    GITLAB = "gitlab"
    JUNIT = "junit"
    SARIF = "sarif"


@with_formats(CheckFormat, CheckFormat.TABLE)
def check(
    session: "Session",
    path: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Scenarios, jobs files, manifests: files, library names, patterns, folders; - for standard input.",
            autocompletion=scenarios,
            show_default=False,
        ),
    ],
    policy: Annotated[
        str | None, typer.Option("--policy", metavar="FILE", help="Rules for all of them; see docs/ci.md.")
    ] = None,
    pools: Annotated[
        str | None,
        typer.Option(
            "--pools",
            metavar="JOBS",
            help="Jobs file whose pools the pods of manifests must fit.",
            autocompletion=jobs_files,
        ),
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
    catalog = session.catalog()
    there = None if pools is None else _pools(pools, catalog)
    with Progress("files", len(sources), quiet=session.quiet) as progress:
        answer = check_all(
            sources, catalog, rules, changes, convention, searched=search, pools=there, done=progress.upto
        )
    for file in answer.files:
        if file.broken:
            session.fault(file.loaded)
    if pools is not None and not answer.holds_manifests:
        session.say("--pools has no effect: none of the files holds manifests")
    session.emit(lambda look: render(answer, session.form, look))
    if answer.code == 2 or (answer.code and not exit_zero):
        raise typer.Exit(answer.code)


def _pools(name: str, catalog: "Catalog") -> "Workload":
    from aiplan.declare import Diagnostics
    from aiplan.planning.scheduling.workload import workload
    from aiplan.scenario.load_jobs import load_jobs

    found = Diagnostics()
    plan = load_jobs(name, catalog, found)
    if plan is None:
        raise found.failure()
    return workload(plan, catalog, found)
