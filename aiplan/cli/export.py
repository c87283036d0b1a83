"""`aiplan export`: what a scenario means for other programs."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.complete import jobs_files
from aiplan.cli.options import ScenarioArgument, SetOption, with_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiplan.cli.session import Session

K8S_SHORT = "Manifests of Kubernetes for jobs, queues and classes."
K8S_HELP = """Print the manifests of Kubernetes for a jobs file, or for a scenario.

Namespaces, priority classes, quotas and queues come first, then every job once: GPUs as limits equal to requests,
shared memory, tolerations, racks, and the NCCL environment of a job's scenario, with the arguments or the file of
settings that run its plan (Megatron, torchtitan, DeepSpeed). Image and labels are placeholders for those of your site.

\b
Examples:
  aiplan export k8s research-cluster --flavor kueue > research.yaml
  aiplan export k8s elastic-training --flavor pytorchjob
  aiplan export k8s llama-3-70b-h100 --flavor jobset --rdma rdma/ib
"""
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


IMAGE = "nvcr.io/nvidia/pytorch:25.10-py3"


class Syntax(StrEnum):
    """How variables are written as text."""

    SHELL = "shell"
    KUBERNETES = "kubernetes"


class Flavor(StrEnum):
    """As what jobs are written."""

    POD = "pod"
    JOB = "job"
    PYTORCHJOB = "pytorchjob"
    TRAINJOB = "trainjob"
    JOBSET = "jobset"
    VOLCANO = "volcano"
    KUEUE = "kueue"


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

    loaded = session.load(source_of(*scenario), session.catalog(), assignments(settings or ()))
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

        loaded = session.load(source_of(*scenario), session.catalog(), assignments(settings or ()))
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


@app.command("k8s", help=K8S_HELP, short_help=K8S_SHORT)
@with_session
def k8s(
    session: "Session",
    source: Annotated[
        str,
        typer.Argument(
            metavar="JOBS|SCENARIO",
            help="Jobs file or scenario, or a name of the library.",
            autocompletion=jobs_files,
            show_default=False,
        ),
    ],
    flavor: Annotated[Flavor, typer.Option("--flavor", help="As what jobs are written.")] = Flavor.JOBSET,
    image: Annotated[str, typer.Option("--image", metavar="NAME", help="Image of the containers.")] = IMAGE,
    script: Annotated[
        str, typer.Option("--script", metavar="PATH", help="What torchrun starts; that of the software if not given.")
    ] = "",
    rack_label: Annotated[
        str, typer.Option("--rack-label", metavar="KEY", help="Label of a node that names its rack.")
    ] = "topology.example.com/rack",
    rdma: Annotated[
        str, typer.Option("--rdma", metavar="RESOURCE", help="Resource of RDMA devices, one a pod, e.g. rdma/ib.")
    ] = "",
) -> None:
    """Print manifests."""
    from aiplan.declare import Diagnostics
    from aiplan.planning.scheduling.manifests import Site, manifests, plan_of
    from aiplan.planning.variants import Loaded
    from aiplan.report.manifests import manifests_text

    catalog, diagnostics = session.catalog(), Diagnostics()
    plan = plan_of(source, catalog, diagnostics)
    if plan is None:
        raise diagnostics.failure()
    found = manifests(plan, flavor, Site(image, script, rack_label, rdma), catalog, diagnostics)
    diagnostics.raise_if_errors()
    session.warn(Loaded(None, diagnostics))
    inputs = {"source": source, "flavor": flavor.value}
    session.emit(lambda _: manifests_text(found, session.form, inputs))
