"""Manifests for a jobs file or a scenario."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aiplan.adapters import kubernetes, kubernetes_queues
from aiplan.adapters.exports.launch import FOLDER, Launch, launch
from aiplan.adapters.kubernetes import FLAVORS, PodSpec
from aiplan.adapters.kubernetes_queues import Flavor, Team
from aiplan.declare import Mapping, is_file, read
from aiplan.planning.nccl_environment import nccl_environment
from aiplan.planning.scheduling.ledger import RESOURCES
from aiplan.planning.variants import Source, load_source
from aiplan.scenario.files import Place, find_scenario, read_place
from aiplan.scenario.load_jobs import find_jobs, load_jobs, resolve_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.adapters.kubernetes import Manifest
    from aiplan.catalog.load import Catalog
    from aiplan.declare import Diagnostics
    from aiplan.scenario.job_records import Amounts, Job
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.load_jobs import JobsPlan

DEFAULT = "default"
SCRIPT = "train.py"
"""What torchrun starts where neither an option nor the software says."""
KUEUE, VOLCANO, PLAIN = "kueue", "volcano", "resource-quota"


class Site(NamedTuple):
    """What differs from site to site: image, script, label of racks, and the resource of RDMA devices."""

    image: str
    script: str
    rack_label: str
    rdma: str


def plan_of(text: str, catalog: Catalog, diagnostics: Diagnostics) -> JobsPlan | None:
    """Return a jobs file, or a scenario as a jobs file of one job on its own nodes."""
    place = find_jobs(text)
    if is_file(place.path):
        tree = read_place(place, diagnostics)
        if isinstance(tree, Mapping) and any(key.text in {"pools", "jobs", "trace"} for key, _ in tree.items):
            return load_jobs(text, catalog, diagnostics)
    loaded = load_source(Source(text), catalog)
    if loaded.scenario is None:
        diagnostics.items += loaded.diagnostics.items
        diagnostics.sources.update(loaded.diagnostics.sources)
        return None
    return _plan_of_scenario(loaded.scenario, text, catalog, diagnostics)


def _plan_of_scenario(scenario: Scenario, text: str, catalog: Catalog, diagnostics: Diagnostics) -> JobsPlan | None:
    cluster = scenario.file.cluster
    name = Path(find_scenario(text).path.stem).name.lower().replace("_", "-")
    where = f"node: {cluster.node}" if cluster.node else f"gpus: {scenario.node.accelerators}"
    pool = f"{{name: {name}, {where}, nodes: {cluster.nodes}}}"
    job = f"{{name: {name}, replicas: {cluster.nodes}, gpus: {scenario.node.accelerators}, duration: 1 h}}"
    tree = read(f"pools: [{pool}]\njobs: [{job}]\n".encode(), text, diagnostics)
    plan = resolve_jobs(tree, Place(text, Path(text)), catalog, diagnostics)
    if plan is None:
        return None
    only = plan.file.jobs[0]
    values = vars(only) | {"scenario": str(find_scenario(text).path)}
    file = type(plan.file)(**(vars(plan.file) | {"jobs": (type(only)(**values),)}))
    return plan._replace(file=file)


def manifests(plan: JobsPlan, flavor: str, site: Site, catalog: Catalog, diagnostics: Diagnostics) -> list[Manifest]:
    """Return what to apply for a jobs file: classes and queues first, then every job once.

    Parameters
    ----------
    plan : JobsPlan
        The jobs file.
    flavor : str
        A key of `FLAVORS`.
    site : Site
        What differs from site to site.
    catalog : Catalog
        For the scenarios that jobs name.
    diagnostics : Diagnostics
        Takes what cannot be written in this flavor.
    """
    specs = [_spec(plan, job, flavor, site, catalog, diagnostics) for job in plan.file.jobs]
    if flavor == "trainjob":
        _refuse_elastic(specs, diagnostics)
    budgets = [
        kubernetes_queues.disruption_budget(spec.name, spec.namespace, job.min_available)
        for spec, job in zip(specs, plan.file.jobs, strict=True)
        if job.min_available is not None
    ]
    jobs = [one for spec in specs for one in (*kubernetes.config_map(spec), *FLAVORS[flavor](spec))]
    return [*_policies(plan, flavor, site), *budgets, *jobs]


def _refuse_elastic(specs: Sequence[PodSpec], diagnostics: Diagnostics) -> None:
    for spec in specs:
        if spec.elastic:
            hint = "export elastic jobs with --flavor pytorchjob, or leave min_replicas out"
            diagnostics.error("AIP366", f"a TrainJob has no elastic form, and '{spec.name}' is elastic", hint=hint)


def _spec(plan: JobsPlan, job: Job, flavor: str, site: Site, catalog: Catalog, diagnostics: Diagnostics) -> PodSpec:
    scenario = _scenario(plan, job, catalog, diagnostics)
    nodes = scenario.file.cluster.nodes if scenario else 1
    gpus = job.gpus if job.gpus is not None else scenario.node.accelerators if scenario else 0
    pods = job.replicas or nodes
    environment: tuple[tuple[str, str], ...] = ()
    if scenario is not None and pods * gpus > 1:
        environment = tuple((item.name, item.value) for item in nccl_environment(scenario).settings)
    started = _started(job, flavor, scenario, pods * gpus, diagnostics)
    selector = dict(job.node_selector)
    if len(job.pools) == 1 and not selector:
        selector = _labels(plan, [pool.name for pool in plan.file.pools].index(job.pools[0]))
    queue = job.queue or (plan.file.queues[0].name if plan.file.queues else "")
    queued = flavor in {KUEUE, VOLCANO} and any(one.name == queue and one.kind != PLAIN for one in plan.file.queues)
    return PodSpec(
        name=job.name,
        namespace=queue or DEFAULT,
        pods=pods,
        least=job.min_replicas or pods,
        gpus=gpus if job.gpu_share == 1 else 1,
        cpus=job.cpus,
        memory=job.memory,
        image=site.image,
        script=site.script or started.script or SCRIPT,
        priority=job.priority or "",
        queue=queue if queued else "",
        gang=job.gang,
        selector=tuple(sorted(selector.items())),
        tolerations=job.tolerations,
        topology=job.topology,
        rack_label=site.rack_label,
        rdma=site.rdma,
        environment=environment,
        arguments=started.arguments,
        files=((started.file, started.text),) if started.file else (),
        folder=FOLDER,
    )


def _started(job: Job, flavor: str, scenario: Scenario | None, gpus: int, diagnostics: Diagnostics) -> Launch:
    """Return how the scenario of a job is started; note what of it the manifest does not say."""
    if scenario is None:
        return Launch()
    found = launch(scenario)
    remarks = found.remarks
    if gpus != scenario.accelerators:
        found = Launch(found.script)
        remarks = (f"the plan: it is for {scenario.accelerators} GPUs, and the job has {gpus}",)
    elif found.file and flavor == "trainjob":
        found, remarks = Launch(found.script), (f"the plan: a TrainJob mounts no {found.file}",)
    for remark in remarks:
        diagnostics.warning("AIP346", f"the manifest of '{job.name}' does not say {remark}")
    return found


def _scenario(plan: JobsPlan, job: Job, catalog: Catalog, diagnostics: Diagnostics) -> Scenario | None:
    if job.scenario is None:
        return None
    beside = plan.place.path.parent / job.scenario
    loaded = load_source(Source(str(beside) if is_file(beside) else job.scenario), catalog)
    if loaded.scenario is None:
        diagnostics.items += loaded.diagnostics.items
        diagnostics.sources.update(loaded.diagnostics.sources)
    return loaded.scenario


def _labels(plan: JobsPlan, pool: int) -> dict[str, str]:
    """Return the labels by which a pool is chosen: its own, or its name."""
    return plan.file.pools[pool].labels or {"pool": plan.file.pools[pool].name}


def _policies(plan: JobsPlan, flavor: str, site: Site) -> list[Manifest]:
    file = plan.file
    teams = [_team(plan, index) for index in range(len(file.queues))]
    queued = [team for team in teams if team.kind != PLAIN]
    found: list[Manifest] = [kubernetes_queues.namespace(team.name) for team in teams]
    for item in file.priorities:
        found.append(kubernetes_queues.priority_class(item.name, item.value, preempts=item.preemption == "lower"))
        if flavor == KUEUE:
            found.append(kubernetes_queues.workload_priority_class(item.name, item.value))
    if flavor == KUEUE and queued:
        racks = any(pool.nodes_per_rack for pool in file.pools)
        flavors = [_flavor(plan, index) for index in range(len(file.pools))]
        found += [kubernetes_queues.topology(site.rack_label)] if racks else []
        found += [kubernetes_queues.flavor(one, racks=racks) for one in flavors]
        found += [kubernetes_queues.cohort(_cohort(plan, index), flavors) for index in range(len(file.cohorts))]
        for team in queued:
            found += [kubernetes_queues.cluster_queue(team, flavors), kubernetes_queues.local_queue(team)]
    elif flavor == VOLCANO:
        found += [kubernetes_queues.volcano_queue(team) for team in queued]
    for team in teams:
        plain = team.kind == PLAIN or flavor not in {KUEUE, VOLCANO}
        if plain and any(math.isfinite(value) for value in team.quota):
            found += [kubernetes_queues.resource_quota(team), kubernetes_queues.limit_range(team)]
    return found


def _team(plan: JobsPlan, index: int) -> Team:
    queue = plan.file.queues[index]
    borrowing, lending = _amounts(queue.borrowing_limit), _amounts(queue.lending_limit)
    guarantee, weight = queue.guarantee or 0.0, queue.weight or 1.0
    return Team(
        queue.name, queue.kind, _amounts(queue.quota), queue.cohort or "", borrowing, lending, weight, guarantee
    )


def _cohort(plan: JobsPlan, index: int) -> Team:
    cohort = plan.file.cohorts[index]
    borrowing, lending = _amounts(cohort.borrowing_limit), _amounts(cohort.lending_limit)
    own = _amounts(cohort.quota, otherwise=0.0)
    return Team(cohort.name, "", own, cohort.parent or "", borrowing, lending, cohort.weight or 1.0, 0.0)


def _amounts(given: Amounts, otherwise: float = math.inf) -> tuple[float, float, float]:
    gpus, cpus, memory = (otherwise if (value := getattr(given, name)) is None else float(value) for name in RESOURCES)
    return gpus, cpus, memory


def _flavor(plan: JobsPlan, index: int) -> Flavor:
    pool, entry = plan.file.pools[index], plan.entries[index]
    memory = pool.memory or (entry.memory if entry else None) or LARGE_MEMORY
    cpus = pool.cpus or LARGE_CPUS
    there = (float(plan.gpus(index) * pool.nodes), cpus * pool.nodes, memory * pool.nodes)
    return Flavor(pool.name, tuple(sorted(_labels(plan, index).items())), pool.taints, there)


LARGE_CPUS, LARGE_MEMORY = 1024.0, 4.0 * 2**40
"""Cores and bytes of a node in quotas, where a pool does not say: more than nodes have, so that GPUs decide."""
