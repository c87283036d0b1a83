"""Who may use how much: borrowing in cohorts, shares by weight, and gangs laid into racks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric

BACKOFF_BASE, BACKOFF_MOST = 60.0, 3600.0
"""First and longest time before a workload that never got ready is queued again. [s]"""


@closed_form
def lendable(nominal: Numeric, lending_limit: Numeric) -> Numeric:
    """Part of a queue's quota that others of its cohort may take.

    l = min(n, L)

    Parameters
    ----------
    nominal : numeric
        Nominal quota n of the queue. [-]
    lending_limit : numeric
        Lending limit L; infinite if there is none. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    The rest of the quota stays with the queue, in use or not.

    References
    ----------
    .. [1] Kueue, "Cluster Queue", cohorts. https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/
    """
    return np.minimum(nominal, lending_limit)


@closed_form
def available_quota(
    nominal: Numeric, used: Numeric, lending_limit: Numeric, borrowing_limit: Numeric, pool_unused: Numeric
) -> Numeric:
    """Quota that a queue can still admit: its own, and what its cohort lends.

    a = max(n - l - u, 0) + min(P, l - max(u - (n - l), 0) + B), l = min(n, L)

    Parameters
    ----------
    nominal : numeric
        Nominal quota n of the queue. [-]
    used : numeric
        What its workloads use, u. [-]
    lending_limit : numeric
        Lending limit L; infinite if there is none. [-]
    borrowing_limit : numeric
        Borrowing limit B; infinite if there is none, 0 without a cohort. [-]
    pool_unused : numeric
        P, the sum of what the queues of the cohort lend, less what they use beyond what they keep. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs; negative if more is in use than there is. [-]

    Notes
    -----
    In a tree of cohorts the same form holds for each: n is what it has with all that is lent to it from below, u what
    is used of that, and P what is available to the cohort above. Quotas know nothing of nodes: what is admitted may
    still not fit.

    References
    ----------
    .. [1] Kueue, resource_node.go.
       https://github.com/kubernetes-sigs/kueue/blob/main/pkg/cache/scheduler/resource_node.go
    """
    lent = lendable(nominal, lending_limit)
    kept = nominal - lent
    shared = lent - np.maximum(used - kept, 0.0) + borrowing_limit
    return np.maximum(kept - used, 0.0) + np.minimum(pool_unused, shared)


@closed_form
def fair_share(borrowed: Numeric, lendable_total: Numeric, weight: Numeric) -> Numeric:
    """How much a queue borrows in relation to its weight; the lowest is admitted first.

    s = 1000 b / l / w

    Parameters
    ----------
    borrowed : numeric
        What the queue uses beyond its nominal quota, b. [-]
    lendable_total : numeric
        What the cohort can lend in total, l. [-]
    weight : numeric
        Weight w of the queue. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs; infinite for a queue of weight 0 that borrows. [-]

    Notes
    -----
    Of several resources the largest counts.

    Examples
    --------
    >>> float(fair_share(30.0, 100.0, 2.0))
    150.0

    References
    ----------
    .. [1] Kueue, fair_sharing.go. https://github.com/kubernetes-sigs/kueue/blob/main/pkg/cache/scheduler/fair_sharing.go
    """
    borrows = np.greater(borrowed, 0) & np.greater(lendable_total, 0)
    share = np.where(borrows, 1000.0 * borrowed / np.where(borrows, lendable_total, 1.0), 0.0)
    weighs = np.greater(weight, 0)
    return np.where(weighs, share / np.where(weighs, weight, 1.0), np.where(borrows, np.inf, 0.0))


@closed_form
def real_capability(total: Numeric, capability: Numeric, guarantee: Numeric) -> Numeric:
    """Most that a queue of Volcano can have, given what is guaranteed to the others.

    r = min(c, T - sum(g) + g)

    Parameters
    ----------
    total : numeric
        What the cluster has, T; one number. [-]
    capability : numeric
        Capability c of each queue; infinite if there is none. [-]
    guarantee : numeric
        Guarantee g of each queue, along the last axis. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    A queue's own guarantee is open to itself only.

    References
    ----------
    .. [1] Volcano, proportion.go. https://github.com/volcano-sh/volcano/blob/master/pkg/scheduler/plugins/proportion/proportion.go
    """
    own = np.atleast_1d(guarantee)
    return np.minimum(capability, total - own.sum(axis=-1, keepdims=True) + own)


@closed_form
def deserved(total: Numeric, weight: Numeric, request: Numeric, capability: Numeric, guarantee: Numeric) -> Numeric:
    """Share that each queue of Volcano deserves: by weight, filled up like water.

    d = min(d + rest w / sum(w), request, r), at least g; again with what is left and the queues not yet met

    Parameters
    ----------
    total : numeric
        What the cluster has; one number, or one for each resource in a column. [-]
    weight : numeric
        Weight w of each queue, along the last axis. [-]
    request : numeric
        What the jobs of each queue run and ask for; of several resources, one row for each. [-]
    capability : numeric
        Capability of each queue; infinite if there is none. [-]
    guarantee : numeric
        Guarantee g of each queue. [-]

    Returns
    -------
    numeric
        One number for each queue, and for each resource if there are several. [-]

    Notes
    -----
    A queue that has what it deserves or more, of every resource, starts nothing new. It is met when it has all it asks
    for, or gets no more of anything: then its weight counts no longer, for any resource. Ends when nothing is left or
    nothing changes.

    References
    ----------
    .. [1] Volcano, proportion.go. https://github.com/volcano-sh/volcano/blob/master/pkg/scheduler/plugins/proportion/proportion.go
    """
    weight = np.asarray(weight, dtype=float).reshape(-1)
    request, capability, guarantee = (
        np.array(item, dtype=float) for item in np.broadcast_arrays(request, capability, guarantee, weight)[:3]
    )
    most = np.minimum(real_capability(total, capability, guarantee), request)
    shares = np.zeros_like(request)
    left = np.broadcast_to(np.asarray(total, dtype=float), (*request.shape[:-1], 1)).copy()
    small = 1e-9 * np.maximum(left, 1.0)
    met = np.zeros(weight.shape, dtype=bool)
    while (left > small).any() and not met.all():
        more = shares + left * weight / weight[~met].sum()
        capped = np.minimum(more, most)
        after = np.where(met, shares, np.maximum(capped, guarantee))
        resources = tuple(range(request.ndim - 1))
        met |= (request <= capped).all(axis=resources) | (capped <= shares).all(axis=resources)
        left -= (after - shares).sum(axis=-1, keepdims=True)
        if np.allclose(after, shares, rtol=1e-12, atol=0.0):
            break
        shares = after
    return shares


@closed_form
def requeue_delay(attempt: Numeric) -> Numeric:
    """Time until a workload that did not get all its pods ready is queued again.

    t = min(60 x 2^k, 3600)

    Parameters
    ----------
    attempt : numeric
        Evictions k so far, 0 at the first. [-]

    Returns
    -------
    numeric
        Shape of the input. [s]

    Notes
    -----
    Kueue's waitForPodsReady with its defaults: endless, unless a count is configured.

    References
    ----------
    .. [1] Kueue, "Setup All-or-nothing with ready Pods". https://kueue.sigs.k8s.io/docs/tasks/manage/setup_wait_for_pods_ready/
    """
    return np.minimum(BACKOFF_BASE * np.exp2(np.minimum(attempt, 10.0)), BACKOFF_MOST)


@closed_form
def tightest_domains(capacity: Numeric, pods: Numeric, slice_size: Numeric = 1.0) -> Numeric:
    """Pods in each domain of a topology when a gang takes as few domains as it can.

    x: the fullest capacity first while no single domain takes the rest, then the smallest that does

    Parameters
    ----------
    capacity : numeric
        Pods that each domain has room for, along one axis. [-]
    pods : numeric
        Pods of the gang; one number. [-]
    slice_size : numeric
        Pods that must stay together in a domain; one number. [-]

    Returns
    -------
    numeric
        One number for each domain; all 0 if the gang does not fit. [-]

    Notes
    -----
    BestFit of Kueue's topology-aware scheduling on one level. Equal numbers of slices: the smaller capacity first,
    then the earlier domain.

    References
    ----------
    .. [1] Kueue, KEP 2724.
       https://github.com/kubernetes-sigs/kueue/blob/main/keps/2724-topology-aware-scheduling/README.md
    """
    room = np.atleast_1d(np.asarray(capacity, dtype=float))
    slices = room // slice_size
    needed = np.ceil(pods / slice_size)
    taken = np.zeros_like(slices)
    if slices.sum() < needed:
        return taken
    order = np.lexsort((np.arange(room.size), room, -slices))
    for place, domain in enumerate(order):
        holds = order[place:][slices[order[place:]] >= needed]
        if holds.size:
            least = slices[holds].min()
            last = holds[np.lexsort((holds, room[holds], slices[holds] - least))[0]]
            taken[last] = needed
            break
        taken[domain] = slices[domain]
        needed -= slices[domain]
    return taken * slice_size


@closed_form
def fullest_domains(capacity: Numeric, pods: Numeric, slice_size: Numeric = 1.0) -> Numeric:
    """Pods in each domain of a topology when a gang fills up what has the least room.

    x: the least capacity first, each as full as it gets

    Parameters
    ----------
    capacity : numeric
        Pods that each domain has room for, along one axis. [-]
    pods : numeric
        Pods of the gang; one number. [-]
    slice_size : numeric
        Pods that must stay together in a domain; one number. [-]

    Returns
    -------
    numeric
        One number for each domain; all 0 if the gang does not fit. [-]

    Notes
    -----
    LeastFreeCapacity of Kueue's topology-aware scheduling, for gangs that may lie anywhere.

    References
    ----------
    .. [1] Kueue, KEP 2724.
       https://github.com/kubernetes-sigs/kueue/blob/main/keps/2724-topology-aware-scheduling/README.md
    """
    room = np.atleast_1d(np.asarray(capacity, dtype=float))
    slices = room // slice_size
    needed = np.ceil(pods / slice_size)
    taken = np.zeros_like(slices)
    if slices.sum() < needed:
        return taken
    order = np.lexsort((np.arange(room.size), room, slices))
    filled = np.concatenate([[0.0], np.cumsum(slices[order])])
    taken[order] = np.clip(needed - filled[:-1], 0.0, slices[order])
    return taken * slice_size
