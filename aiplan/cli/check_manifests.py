"""`aiplan check-manifests`: manifests of Kubernetes against their kinds, the rules, and pools."""

from typing import TYPE_CHECKING, Annotated

import typer

from aiplan.cli.complete import jobs_files
from aiplan.cli.options import with_session

if TYPE_CHECKING:
    from aiplan.cli.session import Session

SHORT = "Manifests of Kubernetes: fields, rules, and whether the pods can ever be scheduled."
HELP = """Check manifests of Kubernetes without a cluster.

Every field is held against its kind (Pod, Job, PyTorchJob, TrainJob, JobSet, Volcano, Kueue, quotas, classes), then the
rules that no list of fields holds: names, whole GPUs, requests equal to limits, elastic workers, quotas and cohorts.
With --on, also whether the pods fit the empty pools and the quotas of the file.

Exit code 1: some pods can never be scheduled.

\b
Examples:
  aiplan check-manifests jobs.yaml
  aiplan check-manifests jobs.yaml --on research-cluster
"""
NO = 1


@with_session
def check_manifests(
    session: "Session",
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Manifests, or - for standard input.", show_default=False)
    ],
    on: Annotated[
        str | None,
        typer.Option("--on", metavar="JOBS", help="Jobs file whose pools they run on.", autocompletion=jobs_files),
    ] = None,
) -> None:
    """Run the command."""
    from aiplan.adapters.kubernetes_check import read_manifests
    from aiplan.cli.session import log_texts
    from aiplan.declare import Diagnostics
    from aiplan.planning.scheduling.manifests import verdicts
    from aiplan.planning.scheduling.workload import workload
    from aiplan.report.manifests import render
    from aiplan.scenario.load_jobs import load_jobs

    diagnostics, catalog = Diagnostics(), session.catalog()
    work = None
    if on is not None:
        plan = load_jobs(on, catalog, diagnostics)
        work = None if plan is None else workload(plan, catalog, diagnostics)
    texts = log_texts([file], diagnostics)
    found = [one for name, content in texts for one in read_manifests(content, name, diagnostics)]
    rows = verdicts(found, work, diagnostics)
    diagnostics.raise_if_errors()
    inputs = {"file": file, "pools": on or ""}
    session.emit(lambda look: render(rows, session.form, look, inputs))
    if any(row.reason for row in rows):
        raise typer.Exit(NO)
