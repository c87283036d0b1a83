"""`aiplan export`: what a scenario means for other programs."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.options import ScenarioArgument, SetOption, with_session

if TYPE_CHECKING:
    from collections.abc import Callable

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
TARGETS = {
    "megatron-args": (
        "Arguments of Megatron-LM for model, workload and plan.",
        "aiplan export megatron-args my.yaml > train.args",
    ),
    "torchtitan": ("A job of torchtitan as TOML.", "aiplan export torchtitan my.yaml > job.toml"),
    "deepspeed": ("A configuration of DeepSpeed as JSON.", "aiplan export deepspeed my.yaml > ds_config.json"),
    "slurm": ("A script for Slurm that runs Megatron.", "aiplan export slurm my.yaml > train.sbatch"),
    "k8s": ("A Job of Kubernetes that runs Megatron.", "aiplan export k8s my.yaml > job.yaml"),
}
"""Kinds of files, with what each is and an example; a test holds them against the exporters."""
TARGET_HELP = """{short}

Given is the layout of the scenario, with what the software preset sets where the plan says nothing. What the file
cannot say is a comment in it and a warning.

\b
Examples:
  {example}
  {example_json}
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


def _command(name: str) -> "Callable[..., None]":
    """Return the command that writes one kind of file."""

    @with_session
    def write(session: "Session", scenario: ScenarioArgument, settings: SetOption = None) -> None:
        from aiplan.adapters.exports import registry
        from aiplan.cli.session import source_of
        from aiplan.declare import Diagnostics
        from aiplan.planning.variants import Loaded, assignments
        from aiplan.report.exports import render

        loaded = session.load(source_of(scenario), session.catalog(), assignments(settings or ()))
        target = registry.TARGETS[name]
        answer = target.export(loaded)
        doubts = Diagnostics()
        for remark in answer.remarks:
            doubts.warning("AIP346", f"the file cannot say: {remark}")
        session.warn(Loaded(None, doubts))
        session.emit(lambda _: render(answer, target, loaded, session.form))

    return write


for _name, (_short, _example) in TARGETS.items():
    _help = TARGET_HELP.format(
        short=_short, example=_example, example_json=f"{_example.partition(' >')[0]} --format json"
    )
    app.command(_name, help=_help, short_help=_short)(_command(_name))
