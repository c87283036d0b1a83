"""`aiplan export`: what a scenario means for other programs."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.options import ScenarioArgument, SetOption, with_session

if TYPE_CHECKING:
    from aiplan.cli.session import Session

HELP = "Write what a scenario means for other programs."
NCCL_SHORT = "Environment variables of NCCL for a cluster."
NCCL_HELP = """Print the NCCL environment variables that the cluster of a scenario should set.

Each comes with its reason, its default and where it is documented.

They follow from accelerators, network and topology; what the scenario's own environment: gives stays. They are a
starting point: the names of interfaces are those of your site.

\b
Examples:
  aiplan export nccl-env my.yaml > nccl.sh
  aiplan export nccl-env my.yaml --as kubernetes
  aiplan export nccl-env my.yaml --format json
"""
app = typer.Typer(name="export", help=HELP, rich_markup_mode=None, no_args_is_help=False)


class Syntax(StrEnum):
    """How variables are written as text."""

    SHELL = "shell"
    KUBERNETES = "kubernetes"


@app.callback()
def export() -> None:
    """Hold the commands below `export`."""


@app.command("nccl-env", help=NCCL_HELP, short_help=NCCL_SHORT)
@with_session
def nccl_env(
    session: "Session",
    scenario: ScenarioArgument,
    syntax: Annotated[
        Syntax, typer.Option("--as", help="Text for a shell, or the env list of a Kubernetes container.")
    ] = Syntax.SHELL,
    settings: SetOption = None,
) -> None:
    """Print variables of NCCL."""
    from aiplan.cli.session import source_of
    from aiplan.planning.nccl_environment import nccl_environment
    from aiplan.planning.variants import assignments
    from aiplan.report.nccl_env import render_kubernetes, render_shell

    loaded = session.load(source_of(scenario), session.catalog(), assignments(settings or ()))
    answer = nccl_environment(loaded)
    report = render_kubernetes if syntax == Syntax.KUBERNETES else render_shell
    session.emit(lambda look: report(answer, session.form, look))
