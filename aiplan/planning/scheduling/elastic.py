"""Jobs that a scenario describes: how long they take at each size, by the model of a step."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.declare import is_file
from aiplan.planning.estimate import estimate
from aiplan.planning.variants import Source, load_source
from aiplan.scenario.files import find_in_library, library_ids
from aiplan.scenario.load_jobs import mark_at

if TYPE_CHECKING:
    from aiplan.catalog.load import Catalog
    from aiplan.core.arrays import Array
    from aiplan.declare import Diagnostics
    from aiplan.scenario.job_records import Job
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.load_jobs import JobsPlan

NODES = "cluster.nodes"


class Sized(NamedTuple):
    """A job by its scenario: pods (nodes), GPUs of each, whole duration, and the rate with 1, 2, ... pods.

    `legal` are the sizes at which the plan divides and fits into memory, `steps` their times of a step; the rate of
    others is that of the next smaller legal size, as the job would leave the rest idle. `checkpoint` is the time
    between checkpoints at full size, NaN if the scenario says too little for one.
    """

    pods: int
    gpus: int
    duration: float
    speeds: Array
    legal: tuple[int, ...]
    steps: tuple[float, ...] = ()
    checkpoint: float = math.nan


def sized(job: Job, plan: JobsPlan, index: int, catalog: Catalog, diagnostics: Diagnostics) -> Sized:
    """Estimate a job's scenario at every size between its fewest and its most pods."""
    source = Source(_path(job.scenario or "", plan))
    whole = _at(source, catalog, diagnostics, job.replicas)
    mark = mark_at(plan.tree, ("jobs", index, "scenario"))
    if whole is None:
        diagnostics.error(
            "AIP362", f"the scenario of '{job.name}' cannot be used", mark, hint=_known(job.scenario or "")
        )
        return Sized(1, 0, 0.0, np.ones(1), ())
    most = whole.file.cluster.nodes
    least = min(job.min_replicas or most, most)
    scenarios = {most: whole}
    for size in range(least, most):
        smaller = load_source(source, catalog, ((NODES, str(size), "--set"),)).scenario
        if smaller is not None:
            scenarios[size] = smaller
    sizes = sorted(scenarios)
    estimates = estimate([scenarios[size] for size in sizes])
    times = {size: one["step"] for size, one in zip(sizes, estimates, strict=True) if one.fits or size == most}
    duration = job.duration or estimates[-1]["run.time_to_train"]
    if math.isnan(duration):
        hint = "give workload.tokens in the scenario, or duration here"
        diagnostics.error("AIP106", f"how long '{job.name}' runs is not known", mark, hint=hint)
    if job.min_replicas is not None and least not in times:
        legal = ", ".join(str(size) for size in sorted(times))
        problem = f"'{job.name}' cannot run on {least} nodes: the plan does not divide, or memory is short"
        steps = ("jobs", index, "min_replicas")
        diagnostics.error("AIP362", problem, mark_at(plan.tree, steps), hint=f"sizes that work: {legal}")
    return Sized(
        pods=most,
        gpus=whole.node.accelerators,
        duration=duration,
        speeds=_speeds(times, most),
        legal=tuple(sorted(times)),
        steps=tuple(times[size] for size in sorted(times)),
        checkpoint=estimates[-1].terms.get("checkpoint.interval", math.nan),
    )


def _speeds(times: dict[int, float], most: int) -> Array:
    speeds, rate = np.zeros(most), 0.0
    for size in range(1, most + 1):
        if size in times:
            rate = times[most] / times[size]
        speeds[size - 1] = rate
    return speeds


def _at(source: Source, catalog: Catalog, diagnostics: Diagnostics, nodes: int | None) -> Scenario | None:
    settings = () if nodes is None else ((NODES, str(nodes), "replicas"),)
    loaded = load_source(source, catalog, settings)
    if loaded.scenario is None:
        diagnostics.items += loaded.diagnostics.items
        diagnostics.sources.update(loaded.diagnostics.sources)
    return loaded.scenario


def _path(text: str, plan: JobsPlan) -> str:
    beside = plan.place.path.parent / text
    if "/" not in text and not Path(text).suffix and find_in_library("", text) is not None:
        return text
    return str(beside) if is_file(beside) else text


def _known(text: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  only after a mistake

    close = get_close_matches(text, library_ids(""), n=2)
    return f"did you mean {' or '.join(close)}?" if close else "a path from the jobs file's folder, or a library name"
