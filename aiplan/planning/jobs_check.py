"""Jobs files among the files of a check: what is wrong with them, and which jobs can never start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aiplan.declare import Diagnostics, InputError, read
from aiplan.planning.check import Checked, Verdict, broken, exempt, in_order, path_of, told
from aiplan.planning.scheduling.bench import Bench
from aiplan.planning.scheduling.jobs import impossible
from aiplan.planning.scheduling.strategies import RANDOM, strategy
from aiplan.planning.scheduling.workload import workload
from aiplan.planning.variants import Loaded
from aiplan.scenario.files import Place
from aiplan.scenario.load_jobs import load_jobs, mark_at, resolve_jobs
from aiplan.scenario.policy import CODE_OF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.catalog.load import Catalog
    from aiplan.planning.scheduling.workload import Workload
    from aiplan.planning.variants import Source
    from aiplan.scenario.policy import Policy

UNSCHEDULABLE = "unschedulable"


def check_jobs(source: Source, catalog: Catalog, policy: Policy) -> Checked:
    """Return what is wrong with a jobs file, and for every job whether it could start on the empty cluster."""
    name, diagnostics = path_of(source), Diagnostics()
    try:
        work = _workload(source, name, catalog, diagnostics)
    except InputError as failure:
        diagnostics = Diagnostics(failure.diagnostics, failure.sources)
        work = None
    loaded = Loaded(None, diagnostics)
    if work is None:
        return broken(name, loaded)
    verdicts = in_order([*_verdicts(name, work, policy), *told(name, diagnostics, policy)])
    return Checked(name, work.plan.name, loaded, verdicts, None)


def _workload(source: Source, name: str, catalog: Catalog, diagnostics: Diagnostics) -> Workload | None:
    if source.piped is None:
        plan = load_jobs(source.text, catalog, diagnostics)
    else:
        tree = read(source.piped, name, diagnostics)
        plan = resolve_jobs(tree, Place(name, Path(name)), catalog, diagnostics)
    return plan and workload(plan, catalog, diagnostics)


def _verdicts(name: str, work: Workload, policy: Policy) -> Iterator[Verdict]:
    code, plan = CODE_OF[UNSCHEDULABLE], work.plan
    if work.jobs is None or plan.file.trace is not None:
        yield Verdict("valid", "ok", code, "a trace of jobs", mark=plan.tree.mark)
        return
    # Where pods would go does not matter for whether they can.
    anywhere = strategy(RANDOM)
    bench = Bench(work.machine, work.jobs, work.queues, anywhere, np.random.default_rng(0), work.cohorts)
    needed = bench.least if work.policy.elastic else bench.most
    never = impossible(work.jobs, bench, needed)
    for index, first in enumerate(work.first_jobs()):
        job, mark = plan.file.jobs[index], mark_at(plan.tree, ("jobs", index))
        pods, each = bench.most[first], bench.pod(first).milli / 1000.0
        what = f"job {job.name}, {pods:,} pod{'' if pods == 1 else 's'} with {pods * each:,g} GPUs"
        level = policy.level(UNSCHEDULABLE)
        if first not in never:
            yield Verdict("schedulable", "ok", code, f"{what}: fits", mark=mark)
        elif level != "off":
            yield exempt(name, policy, Verdict(UNSCHEDULABLE, level, code, f"{what}: {never[first]}", mark=mark))
