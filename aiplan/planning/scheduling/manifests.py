"""Manifests for a jobs file or a scenario, and manifests held against pools: what will never be scheduled, and why."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.adapters import kubernetes, kubernetes_queues
from aiplan.adapters.kubernetes import FLAVORS, GPU, PodSpec
from aiplan.adapters.kubernetes_check import (
    SYSTEM_CLASSES,
    amount,
    at,
    items,
    pairs,
    pod_counts,
    resources_of,
    text_at,
)
from aiplan.adapters.kubernetes_queues import Flavor, Team
from aiplan.declare import Mapping, is_file, read
from aiplan.planning.nccl_environment import nccl_environment
from aiplan.planning.scheduling.ledger import RESOURCES
from aiplan.planning.scheduling.machine import Pod
from aiplan.planning.scheduling.state import State
from aiplan.planning.variants import Source, load_source
from aiplan.scenario.files import Place, find_scenario, read_place
from aiplan.scenario.load_jobs import find_jobs, load_jobs, resolve_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.adapters.kubernetes import Manifest
    from aiplan.adapters.kubernetes_check import Found
    from aiplan.catalog.load import Catalog
    from aiplan.declare import Diagnostics, Node
    from aiplan.planning.scheduling.workload import Workload
    from aiplan.scenario.job_records import Amounts, Job
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.load_jobs import JobsPlan

DEFAULT = "default"
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
    return [*_policies(plan, flavor, site), *(one for spec in specs for one in FLAVORS[flavor](spec))]


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
        script=site.script,
        priority=job.priority or "",
        queue=queue if queued else "",
        gang=job.gang,
        selector=tuple(sorted(selector.items())),
        tolerations=job.tolerations,
        topology=job.topology,
        rack_label=site.rack_label,
        rdma=site.rdma,
        environment=environment,
    )


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


def _amounts(given: Amounts) -> tuple[float, float, float]:
    gpus, cpus, memory = (math.inf if (value := getattr(given, name)) is None else float(value) for name in RESOURCES)
    return gpus, cpus, memory


def _flavor(plan: JobsPlan, index: int) -> Flavor:
    pool, entry = plan.file.pools[index], plan.entries[index]
    memory = pool.memory or (entry.memory if entry else None) or LARGE_MEMORY
    cpus = pool.cpus or LARGE_CPUS
    there = (float(plan.gpus(index) * pool.nodes), cpus * pool.nodes, memory * pool.nodes)
    return Flavor(pool.name, tuple(sorted(_labels(plan, index).items())), pool.taints, there)


LARGE_CPUS, LARGE_MEMORY = 1024.0, 4.0 * 2**40
"""Cores and bytes of a node in quotas, where a pool does not say: more than nodes have, so that GPUs decide."""


# Manifests held against pools


class Verdict(NamedTuple):
    """What a manifest asks for and whether the pools could ever take it; `reason` is empty if they can."""

    kind: str
    name: str
    namespace: str
    pods: int
    gpus: float
    reason: str


def verdicts(found: Sequence[Found], work: Workload | None, diagnostics: Diagnostics) -> list[Verdict]:
    """Return which of the manifests that have pods can be scheduled on empty pools; note names that lead nowhere."""
    _references(found, diagnostics)
    rows = []
    for one in found:
        counts = pod_counts(one)
        if not counts:
            continue
        gpus = sum(_pod(spec, ()).gpus * count for spec, count in counts)
        pods = sum(count for _, count in counts)
        reason = ""
        if work is not None:
            reason = next((why for spec, count in counts if (why := _unschedulable(spec, count, work))), "")
            reason = reason or _over_quota(one, gpus, found)
        rows.append(Verdict(one.kind, one.name, one.namespace, pods, gpus, reason))
    return rows


def _references(found: Sequence[Found], diagnostics: Diagnostics) -> None:
    """Note names of queues, flavors and classes that no manifest of the file defines, if it defines any of the kind."""
    names = {kind: {one.name for one in found if one.kind == kind} for kind in ("ClusterQueue", "ResourceFlavor")}
    classes = {one.name for one in found if one.kind == "PriorityClass"} | set(SYSTEM_CLASSES)
    local = {(one.namespace, one.name) for one in found if one.kind == "LocalQueue"}
    for one in found:
        if one.kind == "LocalQueue" and names["ClusterQueue"]:
            _known(text_at(one.node, "spec", "clusterQueue"), names["ClusterQueue"], one, "ClusterQueue", diagnostics)
        if one.kind == "ClusterQueue" and names["ResourceFlavor"]:
            for group in items(at(one.node, "spec", "resourceGroups")):
                for flavor in items(at(group, "flavors")):
                    _known(text_at(flavor, "name"), names["ResourceFlavor"], one, "ResourceFlavor", diagnostics)
        queue = pairs(at(one.node, "metadata", "labels")).get(kubernetes.QUEUE_LABEL)
        if queue and local and (one.namespace, queue) not in local:
            problem = f"{one.kind} {one.name}: namespace {one.namespace} has no LocalQueue '{queue}'"
            hint = "queues: " + ", ".join(sorted(name for _, name in local))
            diagnostics.error("AIP360", problem, one.node.mark, hint=hint)
        for spec, _ in pod_counts(one):
            name = text_at(spec, "priorityClassName")
            if name and len(classes) > len(SYSTEM_CLASSES):
                _known(name, classes, one, "PriorityClass", diagnostics)


def _known(name: str, known: set[str], one: Found, kind: str, diagnostics: Diagnostics) -> None:
    if name not in known:
        problem = f"{one.kind} {one.name}: no {kind} '{name}'"
        diagnostics.error("AIP360", problem, one.node.mark, hint=f"known: {', '.join(sorted(known))}")


def _pod(spec: Node, pools: tuple[int, ...]) -> Pod:
    cpu = memory = gpus = 0.0
    for resources in resources_of(spec):
        asked = {**pairs(at(resources, "limits")), **pairs(at(resources, "requests"))}
        cpu += amount(asked.get("cpu", "0")) or 0.0
        memory += amount(asked.get("memory", "0")) or 0.0
        gpus += amount(asked.get(GPU, "0")) or 0.0
    return Pod(round(cpu * 1000), round(memory), round(gpus), pools=pools)


def _unschedulable(spec: Node, count: int, work: Workload) -> str:
    """Return why so many pods can never all be placed on the empty pools."""
    selector, tolerated = pairs(at(spec, "nodeSelector")), _tolerated(spec)
    labelled, untainted = [], []
    for index, pool in enumerate(work.plan.file.pools):
        labels = {"pool": pool.name, **pool.labels}
        if selector.items() <= labels.items():
            labelled.append(index)
            if tolerated is None or set(pool.taints) <= tolerated:
                untainted.append(index)
    if not labelled:
        return "no pool has the labels " + ", ".join(f"{key}={value}" for key, value in sorted(selector.items()))
    if not untainted:
        taints = sorted({taint for index in labelled for taint in work.plan.file.pools[index].taints})
        return f"its pools are tainted, and it does not tolerate {', '.join(taints)}"
    pod = _pod(spec, tuple(untainted))
    nodes = np.flatnonzero(work.machine.allowed(pod))
    most = int(work.machine.gpus[nodes].max(initial=0))
    if pod.gpus > most:
        return f"a pod asks for {pod.gpus} GPUs, and the largest node of its pools has {most}"
    room = int(State(work.machine).room(pod, nodes).sum())
    if room == 0:
        return "no node has that many cores and that much memory beside the GPUs"
    return f"{count} pods, and its pools have room for {room}" if room < count else ""


def _tolerated(spec: Node) -> set[str] | None:
    """Return the taints that a pod tolerates; None if it tolerates all."""
    keys = [text_at(item, "key") for item in items(at(spec, "tolerations"))]
    return None if "" in keys else set(keys)


def _over_quota(one: Found, gpus: float, found: Sequence[Found]) -> str:
    for other in found:
        if other.kind == "ResourceQuota" and other.namespace == one.namespace:
            most = amount(text_at(other.node, "spec", "hard", f"requests.{GPU}"))
            if most is not None and gpus > most:
                return f"{gpus:g} GPUs, and the quota {other.name} of its namespace has {most:g}"
    queue = pairs(at(one.node, "metadata", "labels")).get(kubernetes.QUEUE_LABEL)
    local = next((o for o in found if o.kind == "LocalQueue" and (o.namespace, o.name) == (one.namespace, queue)), None)
    wanted = text_at(local.node, "spec", "clusterQueue") if local else ""
    cluster = next((o for o in found if o.kind == "ClusterQueue" and o.name == wanted), None)
    if cluster is None:
        return ""
    most = sum(_largest(other) for other in _cohort(cluster, found)) if _cohort(cluster, found) else 0.0
    own = _largest(cluster, own=True)
    limit = min(most, own)
    return f"{gpus:g} GPUs, and its queue {wanted} can have {limit:g} at most" if gpus > limit else ""


def _cohort(cluster: Found, found: Sequence[Found]) -> list[Found]:
    name = text_at(cluster.node, "spec", "cohortName")
    if not name:
        return [cluster]
    return [one for one in found if one.kind == "ClusterQueue" and text_at(one.node, "spec", "cohortName") == name]


def _largest(cluster: Found, *, own: bool = False) -> float:
    """Return the GPUs of a queue over its flavors, with what it may borrow if `own`."""
    total, alone = 0.0, not text_at(cluster.node, "spec", "cohortName")
    for group in items(at(cluster.node, "spec", "resourceGroups")):
        for flavor in items(at(group, "flavors")):
            for cell in items(at(flavor, "resources")):
                if text_at(cell, "name") == GPU:
                    borrows = amount(text_at(cell, "borrowingLimit"))
                    more = 0.0 if alone or not own else math.inf if borrows is None else borrows
                    total += (amount(text_at(cell, "nominalQuota")) or 0.0) + more
    return total
