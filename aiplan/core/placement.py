"""Where pods go: scores of kube-scheduler, Volcano and packing heuristics, fragments, what fits, what blocks.

Integer scores are integers here too: they are floored where the scheduler floors them, because ties decide placements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric

BEST = 100
"""Highest score of a node."""
WHOLE = 1000.0
"""Thousandths in a whole GPU, the unit in which shared GPUs are asked for."""
LARGEST_CPU, LARGEST_GPU = 128_000.0, 8_000.0
"""Thousandths of cores and of GPUs of the largest node, by which the best-fit score is scaled."""


@closed_form
def most_allocated(requested: Numeric, allocatable: Numeric) -> Numeric:
    """Score of one resource of a node under the strategy MostAllocated, which packs.

    r = floor(100 min(q, c) / c)

    Parameters
    ----------
    requested : numeric
        Requests q on the node, the pod's own among them. [-]
    allocatable : numeric
        What the node can give, c, in the same unit. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs, 0 to 100. [-]

    Notes
    -----
    A node that has none of the resource scores 0. A container that asks for no CPU or memory counts as 0.1 cores and
    200 MiB in the score, and as nothing when it is asked whether the pod fits.

    References
    ----------
    .. [1] Kubernetes, NodeResourcesFit, most_allocated.go.
       https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/plugins/noderesources/most_allocated.go
    """
    there = np.greater(allocatable, 0)
    return np.where(there, np.minimum(requested, allocatable) * BEST // np.where(there, allocatable, 1), 0)


@closed_form
def least_allocated(requested: Numeric, allocatable: Numeric) -> Numeric:
    """Score of one resource of a node under the strategy LeastAllocated, which spreads.

    r = floor(100 (c - q) / c), and 0 if q > c

    Parameters
    ----------
    requested : numeric
        Requests q on the node, the pod's own among them. [-]
    allocatable : numeric
        What the node can give, c, in the same unit. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs, 0 to 100. [-]

    Notes
    -----
    The default strategy of kube-scheduler, on CPU and memory only: GPUs count where the configuration lists them.

    References
    ----------
    .. [1] Kubernetes, NodeResourcesFit, least_allocated.go.
       https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/plugins/noderesources/least_allocated.go
    """
    fits = np.greater(allocatable, 0) & np.less_equal(requested, allocatable)
    return np.where(fits, np.subtract(allocatable, requested) * BEST // np.where(fits, allocatable, 1), 0)


@closed_form
def weighted_score(values: Numeric, weights: Numeric) -> Numeric:
    """Score of a node from the scores of its resources.

    R = floor(sum(w r) / sum(w))

    Parameters
    ----------
    values : numeric
        Scores r, resources along the last axis. [-]
    weights : numeric
        Weights w, resources along the last axis; 0 leaves one out. [-]

    Returns
    -------
    numeric
        Shape of the inputs without their last axis. [-]

    Notes
    -----
    An extended resource such as nvidia.com/gpu has weight 0 for a pod that does not ask for it.

    References
    ----------
    .. [1] Kubernetes, "Resource Bin Packing". https://kubernetes.io/docs/concepts/scheduling-eviction/resource-bin-packing/
    """
    scores, weights = np.atleast_1d(values), np.atleast_1d(weights)
    total = (weights if weights.shape[-1] == scores.shape[-1] else np.broadcast_to(weights, scores.shape)).sum(axis=-1)
    return np.where(total > 0, (scores * weights).sum(axis=-1) // np.where(total > 0, total, 1), 0)


@closed_form
def balanced_allocation(values: Numeric) -> Numeric:
    """Score of a node by how evenly its resources are used.

    R = floor(100 (1 - std(f)))

    Parameters
    ----------
    values : numeric
        Requested over allocatable f of each resource, at most 1, resources along the last axis. [-]

    Returns
    -------
    numeric
        Shape of the input without its last axis. [-]

    Notes
    -----
    The standard deviation is that of the whole population; of two resources, half their difference.

    References
    ----------
    .. [1] Kubernetes, NodeResourcesBalancedAllocation, balanced_allocation.go.
       https://github.com/kubernetes/kubernetes/blob/master/pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go
    """
    return np.floor((1.0 - np.std(np.minimum(np.atleast_1d(values), 1.0), axis=-1)) * BEST)


@closed_form
def binpack_score(
    requested: Numeric, used: Numeric, allocatable: Numeric, weights: Numeric, factor: Numeric
) -> Numeric:
    """Score of a node under Volcano's plugin binpack.

    R = 100 B sum(w (u + q) / c) / sum(w) over the resources asked for, and 0 if any u + q > c

    Parameters
    ----------
    requested : numeric
        What the pod asks for, q, resources along the last axis; 0 leaves a resource out. [-]
    used : numeric
        What is used on the node, u. [-]
    allocatable : numeric
        What the node has, c. [-]
    weights : numeric
        Weights w of the configuration; 0 leaves a resource out. [-]
    factor : numeric
        Weight B of the plugin, binpack.weight. [-]

    Returns
    -------
    numeric
        Shape of the inputs without their last axis. [-]

    Notes
    -----
    A resource that the node does not have adds nothing to the sum above and its weight to the sum below.

    References
    ----------
    .. [1] Volcano, binpack_test.go.
       https://github.com/volcano-sh/volcano/blob/master/pkg/scheduler/plugins/binpack/binpack_test.go
    """
    asked, used, there, weights = np.broadcast_arrays(np.atleast_1d(requested), used, allocatable, weights)
    counted = (asked > 0) & (weights > 0)
    has = counted & (there > 0)
    share = np.where(has, (used + asked) / np.where(has, there, 1.0), 0.0)
    over = (has & (used + asked > there)).any(axis=-1)
    total = np.where(counted, weights, 0.0).sum(axis=-1)
    mean = (share * np.where(counted, weights, 0.0)).sum(axis=-1) / np.where(total > 0, total, 1.0)
    return np.where(over, 0.0, mean * BEST * factor)


@closed_form
def best_fit(cpu_after: Numeric, gpu_after: Numeric) -> Numeric:
    """Score of a node by how little of it is left with the pod on it.

    R = floor(100 (1 - (c / C + g / G) / 2)), C = 128 cores, G = 8 GPUs

    Parameters
    ----------
    cpu_after : numeric
        Thousandths c of cores that are left with the pod. [-]
    gpu_after : numeric
        Thousandths g of GPUs that are left with the pod. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    What is left counts, not its share, so a small node is better than an equally full large one: this sizes nodes.

    References
    ----------
    .. [1] Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent",
       USENIX ATC, 2023; best_fit_score.go of its simulator.
       https://github.com/hkust-adsl/kubernetes-scheduler-simulator
    """
    left = np.divide(cpu_after, LARGEST_CPU) * 0.5 + np.divide(gpu_after, LARGEST_GPU) * 0.5
    return np.floor((1.0 - left) * BEST)


@closed_form
def packing_score(gpu_left: Numeric, gpus: Numeric, each: Numeric) -> Numeric:
    """Score of a node that prefers GPUs in use, then nodes in use, then the smallest empty node.

    R = max(100 - floor(shared / 10), 50); max(50 - n, 33) with n whole GPUs taken; max(33 - G, G) of G empty ones

    Parameters
    ----------
    gpu_left : numeric
        Thousandths left on each GPU of the node, GPUs along the last axis. [-]
    gpus : numeric
        GPUs of the pod. [-]
    each : numeric
        Thousandths of each that it takes. [-]

    Returns
    -------
    numeric
        Shape of `gpu_left` without its last axis. [-]

    Notes
    -----
    `shared` is what is left on the GPUs taken, in per cent. Defined where the pod fits.

    References
    ----------
    .. [1] Weng et al., USENIX ATC, 2023; gpu_packing_score.go of its simulator.
       https://github.com/hkust-adsl/kubernetes-scheduler-simulator
    """
    left = np.sort(np.atleast_1d(gpu_left), axis=-1)
    fitting = left >= each
    taken = fitting & (np.cumsum(fitting, axis=-1) <= gpus)
    whole = (taken & (left >= WHOLE)).sum(axis=-1)
    shared = np.where(taken, left * BEST // WHOLE, 0).sum(axis=-1)
    used = np.where(whole > 0, np.maximum(BEST // 2 - whole, BEST // 3), np.maximum(BEST - shared // 10, BEST // 2))
    count = left.shape[-1]
    return np.where((left >= WHOLE).all(axis=-1), np.maximum(BEST // 3 - count, count), used)


@closed_form
def too_small(gpu_left: Numeric, each: Numeric) -> Numeric:
    """GPU that is left on GPUs which have less than a pod needs of one.

    S = sum(left where left < e)

    Parameters
    ----------
    gpu_left : numeric
        Thousandths left on each GPU of the node, GPUs along the last axis. [-]
    each : numeric
        Thousandths e of one GPU that the pod needs. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs, without the axis of the GPUs. [-]

    Notes
    -----
    What a pod cannot use although GPUs are there and idle in part.

    References
    ----------
    .. [1] Weng et al., USENIX ATC, 2023, section 3. https://www.usenix.org/conference/atc23/presentation/weng
    """
    left = np.atleast_1d(gpu_left)
    return np.where(left < np.asarray(each)[..., np.newaxis], left, 0).sum(axis=-1)


@closed_form
def fragment(
    gpu_left: Numeric, cpu_left: Numeric, gpus: Numeric, each: Numeric, cpu: Numeric, allowed: Numeric
) -> Numeric:
    """Idle GPU of a node that a pod cannot use.

    F = all that is left if the pod cannot run there or asks for no GPU, else sum(left where left < e)

    Parameters
    ----------
    gpu_left : numeric
        Thousandths left on each GPU of the node, GPUs along the last axis. [-]
    cpu_left : numeric
        Thousandths of cores left. [-]
    gpus : numeric
        GPUs of the pod. [-]
    each : numeric
        Thousandths e of each that it takes. [-]
    cpu : numeric
        Thousandths of cores that it takes. [-]
    allowed : numeric
        1 if the pod may run on GPUs of this type. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs, `gpu_left` without the axis of the GPUs. [-]

    Notes
    -----
    Weighted by the popularity of typical pods and added up over the nodes it is the fragmentation of a cluster.

    References
    ----------
    .. [1] Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent",
       USENIX ATC, 2023. https://www.usenix.org/conference/atc23/presentation/weng
    """
    left = np.atleast_1d(gpu_left)
    fitting = (left >= np.asarray(each)[..., np.newaxis]).sum(axis=-1)
    runs = (fitting >= gpus) & np.greater_equal(cpu_left, cpu) & np.greater(allowed, 0) & np.greater(gpus, 0)
    return np.where(runs, too_small(left, each), left.sum(axis=-1))


@closed_form
def fragmentation_score(before: Numeric, after: Numeric) -> Numeric:
    """Score of a node by how far a pod on it would lower its fragmentation.

    R = floor(100 / (1 + exp((F' - F) / 1000)))

    Parameters
    ----------
    before : numeric
        Fragmentation F of the node, in thousandths of a GPU. [-]
    after : numeric
        The same with the pod, F'. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs, 0 to 100. [-]

    Notes
    -----
    Fragmentation gradient descent (FGD). The score is whole, so ties are common and their rule decides much.

    References
    ----------
    .. [1] Weng et al., USENIX ATC, 2023; fgd_score.go of its simulator.
       https://github.com/hkust-adsl/kubernetes-scheduler-simulator
    """
    return np.floor(BEST / (1.0 + np.exp(np.subtract(after, before) / WHOLE)))


@closed_form
def pods_that_fit(free: Numeric, requested: Numeric) -> Numeric:
    """Pods of one size that a node has room for, of one resource.

    n = floor(free / q), no limit if q = 0

    Parameters
    ----------
    free : numeric
        What is free on the node. [-]
    requested : numeric
        What a pod takes, q, in the same unit. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    The least over the resources of a node, added up over nodes, is the largest gang that can start now: what is free
    on different nodes never adds up for one pod.

    References
    ----------
    .. [1] Kubernetes, "Schedule GPUs". https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
    """
    asked = np.greater(requested, 0)
    return np.where(asked, np.floor_divide(free, np.where(asked, requested, 1.0)), np.inf)


@closed_form
def usable_gpus(gpus: Numeric, cpu: Numeric, memory: Numeric, cpu_per_gpu: Numeric, memory_per_gpu: Numeric) -> Numeric:
    """GPUs of a node that can be used before its CPU or memory runs out.

    g = min(G, floor(C / c), floor(M / m))

    Parameters
    ----------
    gpus : numeric
        GPUs G of the node. [-]
    cpu : numeric
        Cores C of the node. [-]
    memory : numeric
        Memory M of the node. [B]
    cpu_per_gpu : numeric
        Cores c that pods take with each GPU; 0 is no limit. [-]
    memory_per_gpu : numeric
        Memory m that pods take with each GPU; 0 is no limit. [B]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    The rest of the GPUs is stranded.

    References
    ----------
    .. [1] Weng et al., "MLaaS in the Wild", NSDI, 2022. https://www.usenix.org/conference/nsdi22/presentation/weng
    """
    return np.minimum(gpus, np.minimum(pods_that_fit(cpu, cpu_per_gpu), pods_that_fit(memory, memory_per_gpu)))


@closed_form
def empty_nodes_random(utilisation: Numeric, gpus: Numeric) -> Numeric:
    """Share of nodes that are empty where pods of one GPU lie anywhere.

    e = (1 - u)^G

    Parameters
    ----------
    utilisation : numeric
        Share u of GPUs in use. [-]
    gpus : numeric
        GPUs G of a node. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Packed pods leave 1 - u: half of the nodes of eight at u = 0.5, against 0.4 % here.

    Examples
    --------
    >>> empty_nodes_random(0.5, 8.0)
    0.00390625

    References
    ----------
    .. [1] Kubernetes, "Resource Bin Packing". https://kubernetes.io/docs/concepts/scheduling-eviction/resource-bin-packing/
    """
    return (1.0 - utilisation) ** gpus


@closed_form
def blocking(capacity: Numeric, sizes: Numeric, loads: Numeric) -> Numeric:
    """Share of the jobs of each size that find too few free GPUs, if jobs that do not fit are lost.

    B_k = sum(q(n) for n > C - b_k) / sum(q), n q(n) = sum_k(a_k b_k q(n - b_k))

    Parameters
    ----------
    capacity : numeric
        GPUs C of the pool; one number. [-]
    sizes : numeric
        GPUs b_k of a job of each class, along one axis. [-]
    loads : numeric
        Jobs a_k of each class that would run at a time if none were lost: rate x duration. [-]

    Returns
    -------
    numeric
        One share for each class. [-]

    Notes
    -----
    Poisson arrivals; any distribution of durations. Fragmentation is ignored and nothing waits, so it is a lower bound
    for real jobs of many GPUs.

    References
    ----------
    .. [1] Kaufman, "Blocking in a Shared Resource Environment", IEEE Trans. Communications 29(10), 1981.
       https://doi.org/10.1109/TCOM.1981.1094894
    """
    total = int(capacity)
    sizes = np.atleast_1d(sizes).astype(int)
    loads = np.broadcast_to(np.atleast_1d(np.asarray(loads, dtype=float)), sizes.shape)
    weights = np.zeros(total + 1)
    weights[0] = 1.0
    for n in range(1, total + 1):
        within = sizes <= n
        weights[n] = (loads * sizes * within * weights[np.where(within, n - sizes, 0)]).sum() / n
        if weights[n] > 1e200:  # only ratios count
            weights[: n + 1] /= weights[n]
    tails = np.concatenate([np.cumsum(weights[::-1])[::-1], [0.0]])
    return tails[np.maximum(total - sizes + 1, 0)] / tails[0]
