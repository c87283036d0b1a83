"""A jobs file as arrays: nodes, jobs, quotas and rules, with what scenarios and traces say."""

from __future__ import annotations

import math
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.adapters import cluster_traces
from aiplan.planning.scheduling.elastic import Sized, sized
from aiplan.planning.scheduling.fragments import typical_pods
from aiplan.planning.scheduling.jobs import ANYWHERE, PREFERRED, REQUIRED, Budget, Failures, Jobs, Policy
from aiplan.planning.scheduling.ledger import RESOURCES, UNLIMITED, Cohort, Quota
from aiplan.planning.scheduling.machine import MILLI, Group, Machine, Pod, machine
from aiplan.planning.scheduling.strategies import Weights
from aiplan.scenario.load_jobs import mark_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.adapters.cluster_traces import TraceJob, TraceNode, TracePod
    from aiplan.catalog.load import Catalog
    from aiplan.core.arrays import Array
    from aiplan.declare import Diagnostics
    from aiplan.scenario import job_records as records
    from aiplan.scenario.job_records import Amounts, Job, Queue, Rules
    from aiplan.scenario.load_jobs import JobsPlan

NO_LIMIT = 1 << 50
"""Cores and bytes of a node whose file does not say how many it has."""
TOPOLOGY = {"any": ANYWHERE, "preferred": PREFERRED, "required": REQUIRED}


class Arrivals(NamedTuple):
    """Pods of a trace that arrive and never leave, by class, and what arrives over what there is, if drawn."""

    counts: dict[Pod, int]
    order: tuple[int, ...]
    share: float | None


class Workload(NamedTuple):
    """What is to be scheduled, and how."""

    plan: JobsPlan
    machine: Machine
    queues: tuple[Quota, ...]
    cohorts: tuple[Cohort, ...]
    policy: Policy
    weights: Weights
    typical: list[tuple[Pod, float]]
    jobs: Jobs | None
    arrivals: Arrivals | None
    sizes: dict[int, Sized]

    def priority_name(self, value: int) -> str:
        """Return the name of the priority class with a value."""
        return next((item.name for item in self.plan.file.priorities if item.value == value), "no class")

    def first_jobs(self) -> list[int]:
        """Return the number of the first job of every entry of the file."""
        counts = [job.count for job in self.plan.file.jobs]
        return [sum(counts[:place]) for place in range(len(counts))]


def workload(plan: JobsPlan, catalog: Catalog, diagnostics: Diagnostics) -> Workload:
    """Return a jobs file as arrays.

    Raises
    ------
    InputError
        A scenario or a trace that it names cannot be used.
    """
    file = plan.file
    nodes, arrivals, jobs, sizes = _pools(plan), None, None, {}
    queues = tuple(_quota(queue) for queue in file.queues) or (Quota("all"),)
    if file.trace is not None and file.trace.format == "openb":
        nodes, arrivals = _openb(plan, nodes, diagnostics)
    elif file.trace is not None:
        jobs, queues = _philly(plan, nodes, diagnostics)
    else:
        sizes = {
            index: sized(job, plan, index, catalog, diagnostics)
            for index, job in enumerate(file.jobs)
            if job.scenario is not None
        }
        diagnostics.raise_if_errors()
        jobs = _jobs(plan, sizes)
    diagnostics.raise_if_errors()
    counts = arrivals.counts if arrivals else _pod_counts(jobs)
    weights = file.rules.weights
    return Workload(
        plan=plan,
        machine=nodes,
        queues=queues,
        cohorts=tuple(_cohort(cohort) for cohort in file.cohorts),
        policy=policy_of(file.rules),
        weights=Weights(weights.cpus, weights.memory, weights.gpus),
        typical=typical_pods(counts),
        jobs=jobs,
        arrivals=arrivals,
        sizes=sizes,
    )


def policy_of(rules: Rules) -> Policy:
    """Return the rules of a file."""

    def limit(value: float | None) -> float:
        return math.inf if value is None else value

    return Policy(
        gang=rules.gang,
        queueing=rules.queueing,
        guard=limit(rules.starvation_guard),
        preemption=rules.preemption,
        elastic=rules.elastic,
        fair=rules.fair_sharing,
        ready_timeout=limit(rules.ready_timeout),
        resize=rules.restart,
        horizon=limit(rules.horizon),
        failures=Failures(limit(rules.failures.node_mtbf), rules.failures.repair),
    )


def pod_of(job: Job, pools: tuple[int, ...], size: Sized | None = None) -> Pod:
    """Return the class of a job's pods."""
    gpus = job.gpus if job.gpus is not None else size.gpus if size else 0
    if job.gpu_share < 1:
        gpus = 1
    return Pod(round(job.cpus * 1000), round(job.memory), gpus, round(job.gpu_share * MILLI), pools)


def _pools(plan: JobsPlan) -> Machine:
    groups = []
    for index, pool in enumerate(plan.file.pools):
        entry = plan.entries[index]
        memory = pool.memory or (entry.memory if entry else None)
        groups.append(
            Group(
                nodes=pool.nodes,
                gpus=plan.gpus(index),
                cpu=round(pool.cpus * 1000) if pool.cpus else NO_LIMIT,
                memory=round(memory) if memory else NO_LIMIT,
                gpu_type=plan.gpu_type(index),
                pool=index,
                domain_size=pool.nodes_per_rack or 0,
                name=pool.name,
            )
        )
    return machine(groups)


def _quota(queue: Queue) -> Quota:
    return Quota(
        queue.name,
        queue.kind,
        _amounts(queue.quota),
        queue.cohort or "",
        _amounts(queue.borrowing_limit),
        _amounts(queue.lending_limit),
        queue.weight or 1.0,
        queue.guarantee or 0.0,
    )


def _cohort(cohort: records.Cohort) -> Cohort:
    limits = (_amounts(cohort.borrowing_limit), _amounts(cohort.lending_limit))
    own = _amounts(cohort.quota, otherwise=0.0)
    return Cohort(cohort.name, cohort.parent or "", own, *limits, weight=cohort.weight or 1.0)


def _amounts(given: Amounts, otherwise: float = math.inf) -> tuple[float, ...]:
    return tuple(otherwise if (value := getattr(given, name)) is None else value for name in RESOURCES)


def _jobs(plan: JobsPlan, sizes: dict[int, Sized]) -> Jobs:
    file = plan.file
    queues = [queue.name for queue in file.queues] or ["all"]
    priorities = {item.name: item for item in file.priorities}
    everything = tuple(range(len(file.pools)))
    rows: list[tuple[Job, Pod, Sized | None, int]] = []
    for index, job in enumerate(file.jobs):
        pools = () if plan.pools[index] == everything else plan.pools[index]
        pod = pod_of(job, pools, sizes.get(index))
        rows += [(job, pod, sizes.get(index), copy) for copy in range(job.count)]
    classes = tuple(dict.fromkeys(pod for _, pod, _, _ in rows))
    numbers = {pod: index for index, pod in enumerate(classes)}
    firsts = np.cumsum([0, *(job.count for job in file.jobs)]).tolist()
    budgets = [
        Budget(first, first + job.count, job.min_available)
        for job, first in zip(file.jobs, firsts[:-1], strict=True)
        if job.min_available
    ]
    replicas = [job.replicas or (size.pods if size else 1) for job, _, size, _ in rows]
    named = [priorities.get(job.priority or "") for job, *_ in rows]
    return Jobs(
        names=tuple(job.name if job.count == 1 else f"{job.name}-{copy}" for job, _, _, copy in rows),
        classes=classes,
        kind=np.array([numbers[pod] for _, pod, _, _ in rows], dtype=np.int64),
        submit=np.array([job.submit + copy * job.every for job, _, _, copy in rows]),
        duration=np.array([job.duration or (size.duration if size else 0.0) for job, _, size, _ in rows]),
        replicas=np.array(replicas, dtype=np.int64),
        least=np.array([job.min_replicas or most for (job, *_), most in zip(rows, replicas, strict=True)]),
        queue=np.array([queues.index(job.queue) if job.queue else 0 for job, *_ in rows], dtype=np.int64),
        priority=np.array([item.value if item else 0 for item in named], dtype=np.int64),
        preempts=np.array([item is None or item.preemption == "lower" for item in named]),
        gang=np.array([job.gang for job, *_ in rows]),
        topology=np.array([TOPOLOGY[job.topology] for job, *_ in rows], dtype=np.int64),
        checkpoint=np.array([job.checkpoint or _interval(size) for job, _, size, _ in rows]),
        speeds=tuple(size.speeds if size else np.empty(0) for _, _, size, _ in rows) if sizes else (),
        budgets=tuple(budgets),
    )


def _interval(size: Sized | None) -> float:
    """Return the time between checkpoints of a job's scenario; without one, a stop loses everything."""
    return math.inf if size is None or math.isnan(size.checkpoint) else size.checkpoint


def _pod_counts(jobs: Jobs | None) -> dict[Pod, int]:
    """Return how many pods of each class there are in all."""
    if jobs is None:
        return {}
    counts = np.bincount(jobs.kind, jobs.replicas, len(jobs.classes))
    return {pod: round(count) for pod, count in zip(jobs.classes, counts.tolist(), strict=True)}


# Traces


def _text(plan: JobsPlan, path: str, steps: tuple[str, ...], diagnostics: Diagnostics) -> tuple[str, str] | None:
    """Return a table that lies beside the jobs file, and its name."""
    place = plan.place.path.parent / path
    try:
        content = place.read_bytes()
        text = _unpacked(content).decode()
    except (OSError, UnicodeDecodeError, EOFError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not text"
        mark = mark_at(plan.tree, steps)
        diagnostics.error(
            "AIP113", f"cannot read '{path}': {reason}", mark, hint="paths are from the jobs file's folder"
        )
        return None
    diagnostics.sources[path] = text
    return text, path


def _unpacked(content: bytes) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    import gzip  # noqa: PLC0415  only for packed tables

    return gzip.decompress(content)


def _openb(plan: JobsPlan, pools: Machine, diagnostics: Diagnostics) -> tuple[Machine, Arrivals]:
    trace = plan.file.trace
    assert trace is not None  # noqa: S101  the caller has looked
    nodes: list[TraceNode] = []
    if trace.nodes is not None:
        found = _text(plan, trace.nodes, ("trace", "nodes"), diagnostics)
        nodes = cluster_traces.openb_nodes(*found, diagnostics) if found else []
        nodes = [node for node in nodes if node.gpus or not trace.gpu_nodes_only]
    table = _text(plan, trace.jobs, ("trace", "jobs"), diagnostics)
    pods = cluster_traces.openb_pods(*table, diagnostics) if table else []
    diagnostics.raise_if_errors()
    types = sorted({node.gpu_type for node in nodes} or set(pools.types))
    groups = [
        Group(len(list(same)), node.gpus, node.cpu, node.memory, node.gpu_type, types.index(node.gpu_type))
        for node, same in groupby(nodes)
    ]
    classes = [_trace_pod(pod, types) for pod in pods]
    kinds = {pod: index for index, pod in enumerate(dict.fromkeys(classes))}
    order = tuple(kinds[pod] for pod in classes)
    return machine(groups) if groups else pools, Arrivals(dict(Counter(classes)), order, trace.arrivals)


def _trace_pod(pod: TracePod, types: Sequence[str]) -> Pod:
    pools = tuple(sorted(types.index(name) for name in pod.gpu_types if name in types))
    return Pod(pod.cpu, pod.memory, pod.gpus, pod.each, pools or ((len(types),) if pod.gpu_types else ()))


def _philly(plan: JobsPlan, nodes: Machine, diagnostics: Diagnostics) -> tuple[Jobs | None, tuple[Quota, ...]]:
    trace = plan.file.trace
    assert trace is not None  # noqa: S101  the caller has looked
    table = _text(plan, trace.jobs, ("trace", "jobs"), diagnostics)
    found = cluster_traces.philly_jobs(*table, diagnostics) if table else []
    if not found:
        if table and not diagnostics.has_errors:
            diagnostics.error("AIP364", "the table has no jobs", mark_at(plan.tree, ("trace", "jobs")))
        return None, ()
    names = sorted({job.queue for job in found})
    pods = [_split(job.gpus, trace.gpus_per_pod) for job in found]
    classes = tuple(Pod(gpus=size) for size in sorted({size for size, _ in pods}))
    each = [pod.gpus for pod in classes]
    count = len(found)
    replicas = np.array([pieces for _, pieces in pods], dtype=np.int64)
    jobs = Jobs(
        names=tuple(f"job-{index}" for index in range(count)),
        classes=classes,
        kind=np.array([each.index(size) for size, _ in pods], dtype=np.int64),
        submit=np.array([job.submit for job in found]),
        duration=np.array([job.duration for job in found]),
        replicas=replicas,
        least=replicas,
        queue=np.array([names.index(job.queue) for job in found], dtype=np.int64),
        priority=np.zeros(count, dtype=np.int64),
        preempts=np.zeros(count, dtype=bool),
        gang=np.ones(count, dtype=bool),
        topology=np.zeros(count, dtype=np.int64),
        checkpoint=np.full(count, math.inf),
        speeds=(),
    )
    shares = _shares(found, names) * nodes.gpu_count if trace.queue_quotas else None
    return jobs, tuple(_cluster_quota(name, index, shares) for index, name in enumerate(names))


def _split(gpus: int, most: int) -> tuple[int, int]:
    """Return the pods of a job: as large as the limit allows and all alike."""
    pieces = next(count for count in range(-(-gpus // most), gpus + 1) if gpus % count == 0)
    return gpus // pieces, pieces


def _shares(jobs: Sequence[TraceJob], names: Sequence[str]) -> Array:
    time = np.zeros(len(names))
    for job in jobs:
        time[names.index(job.queue)] += job.gpus * job.duration
    return np.asarray(time / time.sum())


def _cluster_quota(name: str, index: int, shares: Array | None) -> Quota:
    if shares is None:
        return Quota(name)
    return Quota(name, nominal=(float(np.ceil(shares[index])), *UNLIMITED[1:]), cohort="all")
