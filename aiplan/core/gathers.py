"""Time of an all-gather or a reduce-scatter, by algorithm: one form each, all with the same arguments.

Symbols in the formulas, as in `aiplan.core.net`: g ranks of a node, m nodes, a_i and b_i latency and bandwidth
inside, a_o and b_o between nodes, c before the first step, r the rate of adding up. One rank takes no time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.collectives import binomial_tree_depth, ring_all_gather_time
from aiplan.core.formula import closed_form
from aiplan.core.topology import hop_latency, ring_bandwidth

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric
    from aiplan.core.net import Net


@closed_form
def ring_all_gather(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a ring all-gather.

    t = c + (p - 1) (n / (p b) + a)

    Parameters
    ----------
    nbytes : numeric
        Whole tensor n. [B]
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
    b and a as of the ring all-reduce. Any p; bandwidth optimal.

    References
    ----------
    .. [1] Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH",
       IJHPCA 19(1), 2005. https://doi.org/10.1177/1094342005051521
    """
    bandwidth = ring_bandwidth(ranks, net.local_ranks, net.inside_bandwidth, net.outside_bandwidth)
    latency = hop_latency(ranks, net.local_ranks, net.inside_latency, net.outside_latency)
    return _after_launch(ring_all_gather_time(nbytes, ranks, bandwidth, latency), ranks, net)


@closed_form
def doubling_all_gather(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of an all-gather by recursive doubling, the farthest pairs first, while parts are small.

    t = c + k_i a_i + k_o a_o + n ((1 - h) / b_i + (h - q) / b_o)

    Parameters
    ----------
    nbytes : numeric
        Whole tensor n. [B]
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
    p a power of two: k = log2 p rounds, k_i of them inside a node, h = 2^-k_i, q = 2^-k.

    References
    ----------
    .. [1] Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH",
       IJHPCA 19(1), 2005. https://doi.org/10.1177/1094342005051521
    """
    rounds, inside = net.halvings(ranks)
    kept, least = np.exp2(-inside), np.exp2(-rounds)
    latency = inside * net.inside_latency + (rounds - inside) * net.outside_latency
    transfer = nbytes * ((1.0 - kept) / net.inside_bandwidth + (kept - least) / net.outside_bandwidth)
    return _after_launch(latency + transfer, ranks, net)


@closed_form
def bruck_all_gather(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of Bruck's all-gather: what is held is sent on to the ranks 1, 2, 4 and so on before.

    t = c + ceil(log2 p) a + n (p - 1) / (p b)

    Parameters
    ----------
    nbytes : numeric
        Whole tensor n. [B]
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
    Any p. Some rank of a node has to use its port in every round.

    References
    ----------
    .. [1] Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing systems",
       IEEE TPDS 8(11), 1997. https://doi.org/10.1109/71.642949
    """
    latency, bandwidth = net.flat(ranks)
    transfer = nbytes * (ranks - 1.0) / (ranks * bandwidth)
    return _after_launch(binomial_tree_depth(ranks) * latency + transfer, ranks, net)


@closed_form
def pat_all_gather(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a parallel aggregated trees all-gather: logarithmic rounds, the farthest first.

    t = c + ceil(log2 p) a + n (p - 1) / (p b)

    Parameters
    ----------
    nbytes : numeric
        Whole tensor n. [B]
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
    One rank a node in NCCL. Buffers large enough that no round is split. A reduce-scatter is its mirror image.

    References
    ----------
    .. [1] Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale", 2025.
       https://arxiv.org/abs/2506.20252
    """
    latency, bandwidth = net.flat(ranks)
    transfer = nbytes * (ranks - 1.0) / (ranks * bandwidth)
    return _after_launch(binomial_tree_depth(ranks) * latency + transfer, ranks, net)


@closed_form
def two_level_all_gather(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a hierarchical all-gather: rings between nodes on each rail, then a ring in the node.

    t = c + (m - 1) (n / (g m b_o) + a_o) + (g - 1) (n / (g b_i) + a_i)

    Parameters
    ----------
    nbytes : numeric
        Whole tensor n. [B]
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
    g rings between nodes side by side, each on its own port.

    References
    ----------
    .. [1] Jia et al., "Highly Scalable Deep Learning Training System with Mixed-Precision", 2018, section 4.3.
       https://arxiv.org/abs/1807.11205
    """
    local, nodes = net.local(ranks), net.nodes(ranks)
    outside = ring_all_gather_time(nbytes / local, nodes, net.outside_bandwidth, net.outside_latency)
    inside = ring_all_gather_time(nbytes, local, net.inside_bandwidth, net.inside_latency)
    return _after_launch(outside + inside, ranks, net)


@closed_form
def nvls_all_gather(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of an all-gather in which the switch of a node multicasts.

    t = c + a_i + n / b_i

    Parameters
    ----------
    nbytes : numeric
        Whole tensor n. [B]
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
    One node only. Every rank sends its part once and receives all of it.

    References
    ----------
    .. [1] Klenk et al., "An In-Network Architecture for Accelerating Shared-Memory Multiprocessor Collectives",
       ISCA 2020. https://doi.org/10.1109/ISCA45697.2020.00085
    """
    return _after_launch(net.inside_latency + nbytes / net.inside_bandwidth, ranks, net)


@closed_form
def ring_reduce_scatter(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a ring reduce-scatter.

    t = c + (p - 1) (n / (p b) + a) + n (p - 1) / (p r)

    Parameters
    ----------
    nbytes : numeric
        Whole tensor n. [B]
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
    The mirror image of a ring all-gather, with additions.

    References
    ----------
    .. [1] Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH",
       IJHPCA 19(1), 2005. https://doi.org/10.1177/1094342005051521
    """
    adding = nbytes * (ranks - 1.0) / (ranks * net.reduction)
    return ring_all_gather(nbytes, ranks, net) + adding


@closed_form
def pairwise_reduce_scatter(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a reduce-scatter in which every rank sends each other rank its part, one after the other.

    t = c + (g - 1) a_i + (p - g) a_o + n ((g - 1) / b_i + (p - g) / b_o) / p + n (p - 1) / (p r)

    Parameters
    ----------
    nbytes : numeric
        Whole tensor n. [B]
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
    Any p.

    References
    ----------
    .. [1] Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH",
       IJHPCA 19(1), 2005. https://doi.org/10.1177/1094342005051521
    """
    local = net.local(ranks)
    latency = (local - 1.0) * net.inside_latency + (ranks - local) * net.outside_latency
    transfer = ((local - 1.0) / net.inside_bandwidth + (ranks - local) / net.outside_bandwidth) * nbytes / ranks
    adding = nbytes * (ranks - 1.0) / (ranks * net.reduction)
    return _after_launch(latency + transfer + adding, ranks, net)


@closed_form
def halving_reduce_scatter(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a reduce-scatter by recursive halving: the nearest pairs swap the largest parts.

    t = c + k_i a_i + k_o a_o + n ((1 - h) / b_i + (h - q) / b_o) + [fold] (2 a_f + n (1 + 1 / p) / b_f)
      + n (1 - q + [fold]) / r

    Parameters
    ----------
    nbytes : numeric
        Whole tensor n. [B]
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
    As the first half of Rabenseifner's all-reduce; with a fold, the ranks beyond the power of two get their part last.

    References
    ----------
    .. [1] Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH",
       IJHPCA 19(1), 2005. https://doi.org/10.1177/1094342005051521
    """
    rounds, _ = net.halvings(ranks)
    fold = np.where(np.exp2(rounds) < ranks, 1.0, 0.0)
    latency, bandwidth = net.flat(ranks)
    folding = fold * (2.0 * latency + nbytes * (1.0 + 1.0 / ranks) / bandwidth)
    adding = nbytes * (1.0 - np.exp2(-rounds) + fold) / net.reduction
    return doubling_all_gather(nbytes, ranks, net) + folding + adding


@closed_form
def pat_reduce_scatter(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a parallel aggregated trees reduce-scatter.

    t = c + ceil(log2 p) a + n (p - 1) / (p b) + n (p - 1) / (p r)

    Parameters
    ----------
    nbytes : numeric
        Whole tensor n. [B]
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
    One rank a node in NCCL. Buffers large enough that no round is split.

    References
    ----------
    .. [1] Jeaugey, "PAT: a new algorithm for all-gather and reduce-scatter operations at scale", 2025.
       https://arxiv.org/abs/2506.20252
    """
    return pat_all_gather(nbytes, ranks, net) + nbytes * (ranks - 1.0) / (ranks * net.reduction)


@closed_form
def two_level_reduce_scatter(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a hierarchical reduce-scatter: a ring in the node, then rings between nodes on each rail.

    t = c + (g - 1) (n / (g b_i) + a_i) + (m - 1) (n / (g m b_o) + a_o) + n (p - 1) / (p r)

    Parameters
    ----------
    nbytes : numeric
        Whole tensor n. [B]
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
    The mirror image of the hierarchical all-gather.

    References
    ----------
    .. [1] Jia et al., "Highly Scalable Deep Learning Training System with Mixed-Precision", 2018, section 4.3.
       https://arxiv.org/abs/1807.11205
    """
    return two_level_all_gather(nbytes, ranks, net) + nbytes * (ranks - 1.0) / (ranks * net.reduction)


def _after_launch(time: Numeric, ranks: Numeric, net: Net) -> Numeric:
    return np.where(np.asarray(ranks) > 1, net.launch + time, 0.0)
