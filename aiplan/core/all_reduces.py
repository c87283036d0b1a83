"""Time of an all-reduce, by algorithm: one form each, all with the same arguments.

Symbols in the formulas, as in `aiplan.core.net`: g ranks of a node, m nodes, a_i and b_i latency and bandwidth
inside, a_o and b_o between nodes, c before the first step, r the rate of adding up. One rank takes no time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.collectives import (
    binomial_tree_depth,
    ring_all_gather_time,
    ring_all_reduce_time,
    search_tree_depth,
)
from aiplan.core.formula import closed_form
from aiplan.core.topology import hop_latency, ring_bandwidth

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric
    from aiplan.core.net import Net


@closed_form
def ring(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a ring all-reduce: reduce-scatter, then all-gather, each p - 1 steps to the neighbour.

    t = c + 2 (p - 1) (n / (p b) + a) + n (p - 1) / (p r)

    Parameters
    ----------
    nbytes : numeric
        Buffer per rank n. [B]
    ranks : numeric
        Number of ranks p, at least 1. [-]
    net : Net
        Links under it.

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    b is the slowest hop of rings through all ports of a node, a the mean of the hops. Any p; bandwidth optimal.

    References
    ----------
    .. [1] Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69, 2009.
       https://doi.org/10.1016/j.jpdc.2008.09.002
    """
    bandwidth = ring_bandwidth(ranks, net.local_ranks, net.inside_bandwidth, net.outside_bandwidth)
    latency = hop_latency(ranks, net.local_ranks, net.inside_latency, net.outside_latency)
    adding = nbytes * (ranks - 1.0) / (ranks * net.reduction)
    return _after_launch(ring_all_reduce_time(nbytes, ranks, bandwidth, latency) + adding, ranks, net)


@closed_form
def recursive_doubling(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of an all-reduce in which pairs at distance 1, 2, 4 and so on swap whole buffers.

    t = c + k_i (a_i + n / b_i) + k_o (a_o + n / b_o) + [fold] 2 (a_f + n / b_f) + (k + [fold]) n / r

    Parameters
    ----------
    nbytes : numeric
        Buffer per rank n. [B]
    ranks : numeric
        Number of ranks p, at least 1. [-]
    net : Net
        Links under it.

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    k = floor(log2 p) rounds, k_i of them inside a node. Where p is no power of two, the ranks beyond it send their
    buffer to another first and get the result last (fold).

    References
    ----------
    .. [1] Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH",
       IJHPCA 19(1), 2005. https://doi.org/10.1177/1094342005051521
    """
    rounds, inside = net.halvings(ranks)
    near = inside * (net.inside_latency + nbytes / net.inside_bandwidth)
    far = (rounds - inside) * (net.outside_latency + nbytes / net.outside_bandwidth)
    fold = np.where(np.exp2(rounds) < ranks, 1.0, 0.0)
    latency, bandwidth = net.flat(ranks)
    adding = (rounds + fold) * nbytes / net.reduction
    return _after_launch(near + far + fold * 2.0 * (latency + nbytes / bandwidth) + adding, ranks, net)


@closed_form
def rabenseifner(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of an all-reduce by recursive halving and doubling: the nearest pairs swap the largest parts.

    t = c + 2 k_i a_i + 2 k_o a_o + 2 n ((1 - h) / b_i + (h - q) / b_o) + [fold] 2 (a_f + n / b_f)
      + n (1 - q + [fold]) / r

    Parameters
    ----------
    nbytes : numeric
        Buffer per rank n. [B]
    ranks : numeric
        Number of ranks p, at least 1. [-]
    net : Net
        Links under it.

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    h = 2^-k_i, q = 2^-k, k = floor(log2 p) rounds, k_i of them inside a node. Fold as in recursive doubling.

    References
    ----------
    .. [1] Rabenseifner, "Optimization of Collective Reduction Operations", ICCS 2004.
       https://doi.org/10.1007/978-3-540-24685-5_1
    """
    rounds, inside = net.halvings(ranks)
    kept, least = np.exp2(-inside), np.exp2(-rounds)
    latency = 2.0 * (inside * net.inside_latency + (rounds - inside) * net.outside_latency)
    transfer = 2.0 * nbytes * ((1.0 - kept) / net.inside_bandwidth + (kept - least) / net.outside_bandwidth)
    fold = np.where(np.exp2(rounds) < ranks, 1.0, 0.0)
    fold_latency, fold_bandwidth = net.flat(ranks)
    folding = fold * 2.0 * (fold_latency + nbytes / fold_bandwidth)
    adding = nbytes * (1.0 - least + fold) / net.reduction
    return _after_launch(latency + transfer + folding + adding, ranks, net)


@closed_form
def binomial_tree(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of an all-reduce by a binomial reduction and a binomial broadcast.

    t = c + 2 (d_i (a_i + n / b_i) + d_o (a_o + n / b_o)) + (d_i + d_o) n / r

    Parameters
    ----------
    nbytes : numeric
        Buffer per rank n. [B]
    ranks : numeric
        Number of ranks p, at least 1. [-]
    net : Net
        Links under it.

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    d_i = ceil(log2 g) levels in a node, d_o = ceil(log2 m) between nodes. For small n.

    References
    ----------
    .. [1] Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH",
       IJHPCA 19(1), 2005. https://doi.org/10.1177/1094342005051521
    """
    near, far = binomial_tree_depth(net.local(ranks)), binomial_tree_depth(net.nodes(ranks))
    inside = near * (net.inside_latency + nbytes / net.inside_bandwidth)
    outside = far * (net.outside_latency + nbytes / net.outside_bandwidth)
    return _after_launch(2.0 * (inside + outside) + (near + far) * nbytes / net.reduction, ranks, net)


@closed_form
def two_level(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a hierarchical all-reduce: reduce-scatter in the node, rings between nodes, all-gather in the node.

    t = c + 2 (g - 1) (n / (g b_i) + a_i) + 2 (m - 1) (n / (g m b_o) + a_o) + n (p - 1) / (p r)

    Parameters
    ----------
    nbytes : numeric
        Buffer per rank n. [B]
    ranks : numeric
        Number of ranks p, at least 1. [-]
    net : Net
        Links under it.

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    g rings between nodes side by side, each on its own port (rail-aligned).

    References
    ----------
    .. [1] Jia et al., "Highly Scalable Deep Learning Training System with Mixed-Precision", 2018, section 4.3.
       https://arxiv.org/abs/1807.11205
    """
    local, nodes = net.local(ranks), net.nodes(ranks)
    inside = 2.0 * ring_all_gather_time(nbytes, local, net.inside_bandwidth, net.inside_latency)
    outside = ring_all_reduce_time(nbytes / local, nodes, net.outside_bandwidth, net.outside_latency)
    adding = nbytes * (ranks - 1.0) / (ranks * net.reduction)
    return _after_launch(inside + outside + adding, ranks, net)


@closed_form
def nvls(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of an all-reduce in which the switch of a node adds up and multicasts.

    t = c + a_i + n (1 + 1 / p) / b_i

    Parameters
    ----------
    nbytes : numeric
        Buffer per rank n. [B]
    ranks : numeric
        Number of ranks p, at least 1. [-]
    net : Net
        Links under it.

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    One node only. Every rank sends its buffer once and its share of the result once; at most 2 (p - 1) / (p + 1) of the
    ring's bandwidth.

    References
    ----------
    .. [1] Klenk et al., "An In-Network Architecture for Accelerating Shared-Memory Multiprocessor Collectives",
       ISCA 2020. https://doi.org/10.1109/ISCA45697.2020.00085
    """
    return _after_launch(net.inside_latency + nbytes * (1.0 + 1.0 / ranks) / net.inside_bandwidth, ranks, net)


@closed_form
def nvls_tree(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of an all-reduce with reduction in the switch of each node and a double tree between nodes.

    t = c + a_i + 2 d_o a_o + max(n (p - 1) (g + 1) / (p (g - 1) b_i), f n / (g b_o))

    Parameters
    ----------
    nbytes : numeric
        Buffer per rank n. [B]
    ranks : numeric
        Number of ranks p, at least 1. [-]
    net : Net
        Links under it.

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    The kernels reach the bus bandwidth of one node. d_o = floor(log2 m); f = 1 on two nodes, 2 on more.
    At least two ranks a node.

    References
    ----------
    .. [1] NCCL, tuning model. https://github.com/NVIDIA/nccl/blob/master/src/graph/tuning.cc
    """
    local, nodes = net.local(ranks), net.nodes(ranks)
    inside = nbytes * (ranks - 1.0) * (local + 1.0) / (ranks * np.maximum(local - 1.0, 0.5) * net.inside_bandwidth)
    sent = np.where(nodes == 2, 1.0, 2.0) * nbytes / (local * net.outside_bandwidth)
    outside = np.where(net.crosses(ranks), sent, 0.0)
    latency = net.inside_latency + 2.0 * search_tree_depth(nodes) * net.outside_latency
    return _after_launch(latency + np.maximum(inside, outside), ranks, net)


@closed_form
def in_network(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of an all-reduce whose part between nodes is added up by the switches of the fabric (SHARP).

    t = c + 2 (g - 1) (n / (g b_i) + a_i) + [m > 1] (2 a_o + n / (g b_o)) + n (g - 1) / (g r)

    Parameters
    ----------
    nbytes : numeric
        Buffer per rank n. [B]
    ranks : numeric
        Number of ranks p, at least 1. [-]
    net : Net
        Links under it.

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Rings in the node around one reduction in the fabric; a_o is the way up, or down. Every port sends its share once.

    References
    ----------
    .. [1] Graham et al., "Scalable Hierarchical Aggregation Protocol (SHArP)", COMHPC 2016.
       https://doi.org/10.1109/COMHPC.2016.006
    """
    local = net.local(ranks)
    inside = 2.0 * ring_all_gather_time(nbytes, local, net.inside_bandwidth, net.inside_latency)
    outside = 2.0 * net.outside_latency + nbytes / (local * net.outside_bandwidth)
    adding = nbytes * (local - 1.0) / (local * net.reduction)
    return _after_launch(inside + np.where(net.crosses(ranks), outside, 0.0) + adding, ranks, net)


def _after_launch(time: Numeric, ranks: Numeric, net: Net) -> Numeric:
    return np.where(np.asarray(ranks) > 1, net.launch + time, 0.0)
