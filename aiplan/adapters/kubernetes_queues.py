"""Manifests of Kubernetes for teams: namespaces, priority classes, quotas, and queues of Kueue and Volcano."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from aiplan.adapters.kubernetes import GPU, HOST_LABEL, cores, quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aiplan.adapters.kubernetes import Manifest

API = "kueue.x-k8s.io/v1beta2"
TOPOLOGY_NAME = "racks"
MOST_WEIGHT = 65535

Amount = tuple[float, float, float]
"""GPUs, cores and bytes; infinite where there is no limit."""


class Team(NamedTuple):
    """A queue: its kind, limits, and what belongs to the kind. A cohort has no kind, and its parent as cohort."""

    name: str
    kind: str
    quota: Amount
    cohort: str
    borrowing: Amount
    lending: Amount
    weight: float
    guarantee: float


class Flavor(NamedTuple):
    """Nodes that quotas tell apart: labels, taints, and what there is of them."""

    name: str
    labels: tuple[tuple[str, str], ...]
    taints: tuple[str, ...]
    there: Amount


def namespace(name: str) -> Manifest:
    """Return a namespace."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def priority_class(name: str, value: int, *, preempts: bool) -> Manifest:
    """Return a priority class."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        "globalDefault": False,
        "preemptionPolicy": "PreemptLowerPriority" if preempts else "Never",
        "description": f"priority {value}",
    }


def workload_priority_class(name: str, value: int) -> Manifest:
    """Return a priority class of Kueue, which orders and preempts workloads but not pods."""
    about = {"apiVersion": API, "kind": "WorkloadPriorityClass", "metadata": {"name": name}}
    return {**about, "value": value, "description": f"priority {value}"}


def resource_quota(team: Team) -> Manifest:
    """Return the hard limits of a team's namespace; GPUs can only be limited by their requests."""
    gpus, cpus, memory = team.quota
    hard = {}
    if math.isfinite(cpus):
        hard["requests.cpu"] = cores(cpus)
    if math.isfinite(memory):
        hard["requests.memory"] = quantity(memory)
    if math.isfinite(gpus):
        hard[f"requests.{GPU}"] = f"{math.floor(gpus)}"
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": f"{team.name}-quota", "namespace": team.name},
        "spec": {"hard": hard},
    }


def limit_range(team: Team) -> Manifest:
    """Return what containers get that ask for nothing; a quota on CPU or memory would refuse them otherwise."""
    item = {"type": "Container", "defaultRequest": {"cpu": "100m", "memory": "200Mi"}}
    about = {"name": f"{team.name}-defaults", "namespace": team.name}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": about, "spec": {"limits": [item]}}


def flavor(one: Flavor, *, racks: bool) -> Manifest:
    """Return a flavor of Kueue for the nodes of a pool."""
    spec: dict[str, Any] = {"nodeLabels": dict(one.labels)}
    if one.taints:
        spec["nodeTaints"] = [{"key": key, "effect": "NoSchedule"} for key in one.taints]
        spec["tolerations"] = [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in one.taints]
    if racks:
        spec["topologyName"] = TOPOLOGY_NAME
    return {"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": one.name}, "spec": spec}


def topology(rack_label: str) -> Manifest:
    """Return the levels of Kueue's topology-aware scheduling: racks, then nodes."""
    levels = [{"nodeLabel": rack_label}, {"nodeLabel": HOST_LABEL}]
    return {"apiVersion": API, "kind": "Topology", "metadata": {"name": TOPOLOGY_NAME}, "spec": {"levels": levels}}


def cluster_queue(team: Team, flavors: Sequence[Flavor]) -> Manifest:
    """Return a queue of Kueue; its quota is filled with the flavors in their order, as far as each goes."""
    spec: dict[str, Any] = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": team.name}},
        "queueingStrategy": "BestEffortFIFO",
        "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any" if team.cohort else "Never"},
        "resourceGroups": [_groups(team, flavors)],
    }
    if team.cohort:
        spec["cohortName"] = team.cohort
        spec["fairSharing"] = {"weight": f"{team.weight:g}"}
    return {"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": team.name}, "spec": spec}


def cohort(team: Team, flavors: Sequence[Flavor]) -> Manifest:
    """Return a cohort of Kueue; its quota goes over flavors as that of a queue does, its limits hold for each."""
    spec: dict[str, Any] = {"fairSharing": {"weight": f"{team.weight:g}"}}
    if team.cohort:
        spec["parentName"] = team.cohort
    if any(team.quota) or any(map(math.isfinite, (*team.borrowing, *team.lending))):
        spec["resourceGroups"] = [_groups(team, flavors)]
    return {"apiVersion": API, "kind": "Cohort", "metadata": {"name": team.name}, "spec": spec}


def disruption_budget(name: str, namespace: str, least: int) -> Manifest:
    """Return how many pods of a job should keep running."""
    spec = {"minAvailable": least, "selector": {"matchLabels": {"app": name}}}
    about = {"name": name, "namespace": namespace}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": about, "spec": spec}


def _groups(team: Team, flavors: Sequence[Flavor]) -> dict[str, Any]:
    shares = [_spread(team.quota[index], [one.there[index] for one in flavors]) for index in range(len(COVERED))]
    rows = [
        {"name": one.name, "resources": [_cell(team, index, shares[index][place]) for index in COVERED]}
        for place, one in enumerate(flavors)
    ]
    return {"coveredResources": [name for name, _ in COVERED.values()], "flavors": rows}


def _whole(value: float) -> str:
    return f"{math.floor(value)}"


COVERED: dict[int, tuple[str, Callable[[float], str]]] = {
    1: ("cpu", cores),
    2: ("memory", quantity),
    0: (GPU, _whole),
}
"""Resources of quotas by their place in an amount: what they are called, and how they are written."""


def _cell(team: Team, index: int, share: float) -> dict[str, str]:
    name, write = COVERED[index]
    cell = {"name": name, "nominalQuota": write(share)}
    if team.cohort and math.isfinite(team.borrowing[index]):
        cell["borrowingLimit"] = write(team.borrowing[index])
    if team.cohort and math.isfinite(team.lending[index]):
        cell["lendingLimit"] = write(min(team.lending[index], share) if team.kind else team.lending[index])
    return cell


def _spread(total: float, there: Sequence[float]) -> list[float]:
    """Return a quota over flavors: the first as far as it goes, then the next; the last takes what is left."""
    found = []
    for place, most in enumerate(there):
        share = min(total, most) if place < len(there) - 1 or not math.isfinite(total) else total
        found.append(share)
        total -= share if math.isfinite(total) else 0.0
    return found


def local_queue(team: Team) -> Manifest:
    """Return the queue that jobs of a namespace name."""
    about = {"name": team.name, "namespace": team.name}
    return {"apiVersion": API, "kind": "LocalQueue", "metadata": about, "spec": {"clusterQueue": team.name}}


def volcano_queue(team: Team) -> Manifest:
    """Return a queue of Volcano."""
    spec: dict[str, Any] = {"weight": max(1, min(MOST_WEIGHT, round(team.weight))), "reclaimable": True}
    gpus, cpus, memory = team.quota
    capability = {}
    if math.isfinite(cpus):
        capability["cpu"] = cores(cpus)
    if math.isfinite(memory):
        capability["memory"] = quantity(memory)
    if math.isfinite(gpus):
        capability[GPU] = _whole(gpus)
    if capability:
        spec["capability"] = capability
    if team.guarantee:
        spec["guarantee"] = {"resource": {GPU: _whole(team.guarantee)}}
    about = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": team.name}}
    return {**about, "spec": spec}
