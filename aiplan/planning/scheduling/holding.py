"""Manifests held against pools and against each other: what will never be scheduled, and why."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.adapters import kubernetes
from aiplan.adapters.kubernetes import GPU
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
from aiplan.planning.scheduling.machine import Pod
from aiplan.planning.scheduling.state import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.adapters.kubernetes_check import Found
    from aiplan.declare import Diagnostics, Node
    from aiplan.planning.scheduling.workload import Workload


class Held(NamedTuple):
    """What a manifest asks for and whether the pools could ever take it; `reason` is empty if they can."""

    kind: str
    name: str
    namespace: str
    pods: int
    gpus: float
    reason: str


def hold(found: Sequence[Found], work: Workload | None, diagnostics: Diagnostics) -> list[Held]:
    """Return for every manifest whether it can be scheduled on empty pools; note names that lead nowhere."""
    _references(found, diagnostics)
    rows = []
    for one in found:
        counts = pod_counts(one)
        gpus = sum(_pod(spec, ()).gpus * count for spec, count in counts)
        pods = sum(count for _, count in counts)
        reason = ""
        if work is not None and counts:
            reason = next((why for spec, count in counts if (why := _unschedulable(spec, count, work))), "")
            reason = reason or _over_quota(one, gpus, found)
        rows.append(Held(one.kind, one.name, one.namespace, pods, gpus, reason))
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
    most = sum(_largest(other) for other in _tree(cluster, found))
    limit = min(most, _largest(cluster, own=True))
    return f"{gpus:g} GPUs, and its queue {wanted} can have {limit:g} at most" if gpus > limit else ""


def _tree(cluster: Found, found: Sequence[Found]) -> list[Found]:
    """Return a queue and all queues and cohorts that it could borrow from if there were no limits."""
    parents = {one.name: text_at(one.node, "spec", "parentName") for one in found if one.kind == "Cohort"}

    def root(name: str) -> str:
        seen = [name]
        while parents.get(seen[-1]) and parents[seen[-1]] not in seen:
            seen.append(parents[seen[-1]])
        return seen[-1]

    name = text_at(cluster.node, "spec", "cohortName")
    if not name:
        return [cluster]
    members = [(one, text_at(one.node, "spec", "cohortName")) for one in found if one.kind == "ClusterQueue"]
    members += [(one, one.name) for one in found if one.kind == "Cohort"]
    return [one for one, cohort in members if cohort and root(cohort) == root(name)]


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
