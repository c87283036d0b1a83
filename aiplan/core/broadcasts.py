"""Time of a broadcast or a reduction to one rank, by algorithm: one form each, all with the same arguments.

Symbols in the formulas, as in `aiplan.core.net`: g ranks of a node, m nodes, a_i and b_i latency and bandwidth
inside, a_o and b_o between nodes, c before the first step, r the rate of adding up. One rank takes no time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.collectives import binomial_tree_depth
from aiplan.core.formula import closed_form
from aiplan.core.gathers import ring_all_gather
from aiplan.core.topology import hop_latency, ring_bandwidth

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric
    from aiplan.core.net import Net


@closed_form
def binomial_broadcast(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a binomial broadcast: whoever has the message sends it on.

    t = c + d_i (a_i + n / b_i) + d_o (a_o + n / b_o)

    Parameters
    ----------
    nbytes : numeric
        Message n. [B]
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
    d_o = ceil(log2 m) rounds between nodes first, then d_i = ceil(log2 g) in each node. For small n.

    References
    ----------
    .. [1] Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH",
       IJHPCA 19(1), 2005. https://doi.org/10.1177/1094342005051521
    """
    near, far = binomial_tree_depth(net.local(ranks)), binomial_tree_depth(net.nodes(ranks))
    inside = near * (net.inside_latency + nbytes / net.inside_bandwidth)
    outside = far * (net.outside_latency + nbytes / net.outside_bandwidth)
    return _after_launch(inside + outside, ranks, net)


@closed_form
def chain_broadcast(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a broadcast down a chain of ranks, cut into the best number of chunks.

    t = c + (p - 2 + k) (a + n / (k b)), k = max(1, sqrt((p - 2) n / (a b)))

    Parameters
    ----------
    nbytes : numeric
        Message n. [B]
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
    NCCL's ring broadcast, with whole freedom in the chunk size. b and a as of the ring all-reduce.

    References
    ----------
    .. [1] Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory, practice, and
       experience", Concurrency and Computation 19(13), 2007. https://doi.org/10.1002/cpe.1206
    """
    bandwidth = ring_bandwidth(ranks, net.local_ranks, net.inside_bandwidth, net.outside_bandwidth)
    latency = hop_latency(ranks, net.local_ranks, net.inside_latency, net.outside_latency)
    hops, transfer = np.maximum(ranks - 2.0, 0.0), nbytes / bandwidth
    return _after_launch(_pipelined(hops, latency, transfer), ranks, net)


@closed_form
def scatter_broadcast(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a broadcast by a binomial scatter and a ring all-gather (van de Geijn).

    t = c + (ceil(log2 p) + p - 1) a + 2 n (p - 1) / (p b)

    Parameters
    ----------
    nbytes : numeric
        Message n. [B]
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
    Any p. The scatter is charged at the slowest hop.

    References
    ----------
    .. [1] Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory, practice, and
       experience", Concurrency and Computation 19(13), 2007. https://doi.org/10.1002/cpe.1206
    """
    latency, bandwidth = net.flat(ranks)
    scatter = binomial_tree_depth(ranks) * latency + nbytes * (ranks - 1.0) / (ranks * bandwidth)
    return scatter + ring_all_gather(nbytes, ranks, net)


@closed_form
def binomial_reduce(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a binomial reduction to one rank.

    t = c + d_i (a_i + n / b_i + n / r) + d_o (a_o + n / b_o + n / r)

    Parameters
    ----------
    nbytes : numeric
        Message n. [B]
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
    The mirror image of a binomial broadcast, with additions.

    References
    ----------
    .. [1] Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH",
       IJHPCA 19(1), 2005. https://doi.org/10.1177/1094342005051521
    """
    levels = binomial_tree_depth(net.local(ranks)) + binomial_tree_depth(net.nodes(ranks))
    return binomial_broadcast(nbytes, ranks, net) + levels * nbytes / net.reduction


@closed_form
def chain_reduce(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a reduction down a chain of ranks, cut into the best number of chunks.

    t = c + (p - 2 + k) (a + n s / k), k = max(1, sqrt((p - 2) n s / a)), s = 1 / b + 1 / r

    Parameters
    ----------
    nbytes : numeric
        Message n. [B]
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
    The mirror image of a chain broadcast; a chunk is added up before it is sent on.

    References
    ----------
    .. [1] Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory, practice, and
       experience", Concurrency and Computation 19(13), 2007. https://doi.org/10.1002/cpe.1206
    """
    bandwidth = ring_bandwidth(ranks, net.local_ranks, net.inside_bandwidth, net.outside_bandwidth)
    latency = hop_latency(ranks, net.local_ranks, net.inside_latency, net.outside_latency)
    hops, transfer = np.maximum(ranks - 2.0, 0.0), nbytes / bandwidth + nbytes / net.reduction
    return _after_launch(_pipelined(hops, latency, transfer), ranks, net)


@closed_form
def rabenseifner_reduce(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a reduction by recursive halving and a binomial gather.

    t = c + 2 k_i a_i + 2 k_o a_o + 2 n ((1 - h) / b_i + (h - q) / b_o) + [fold] (a_f + n / b_f)
      + n (1 - q + [fold]) / r

    Parameters
    ----------
    nbytes : numeric
        Message n. [B]
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
    As Rabenseifner's all-reduce, but nothing is sent back to the ranks beyond the power of two.

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
    adding = nbytes * (1.0 - least + fold) / net.reduction
    return _after_launch(latency + transfer + fold * (fold_latency + nbytes / fold_bandwidth) + adding, ranks, net)


def _after_launch(time: Numeric, ranks: Numeric, net: Net) -> Numeric:
    return np.where(np.asarray(ranks) > 1, net.launch + time, 0.0)


def _pipelined(hops: Numeric, latency: Numeric, transfer: Numeric) -> Numeric:
    """Return the time of a message cut into the best number k of chunks over hops + 1 links."""
    chunks = np.maximum(np.sqrt(hops * transfer / np.maximum(latency, 1e-300)), 1.0)
    return (hops + chunks) * latency + transfer + hops * transfer / chunks
