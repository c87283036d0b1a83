"""Time of collective operations, alpha-beta models.

`nbytes` is the full buffer: what each rank holds before an all-reduce or all-to-all, and the whole tensor for an
all-gather or a reduce-scatter, as nccl-tests define it. One rank takes no time, even if the bandwidth is unknown (NaN).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def ring_all_reduce_time(nbytes: Numeric, ranks: Numeric, bandwidth: Numeric, latency: Numeric) -> Numeric:
    """Time of a ring all-reduce.

    t = 2 (p - 1) (n / (p b) + a)

    Parameters
    ----------
    nbytes : numeric
        Buffer per rank n. [B]
    ranks : numeric
        Number of ranks p, at least 1. [-]
    bandwidth : numeric
        Per-rank, one-way b. [B/s]
    latency : numeric
        Per step a. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    p = 1 gives 0. No protocol overhead, no contention.

    Examples
    --------
    >>> float(ring_all_reduce_time(8e9, 8, 50e9, 0.0))
    0.28

    References
    ----------
    .. [1] Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69, 2009.
       https://doi.org/10.1016/j.jpdc.2008.09.002
    """
    return np.where(np.asarray(ranks) > 1, 2.0 * (ranks - 1.0) * (nbytes / (ranks * bandwidth) + latency), 0.0)


@closed_form
def ring_all_gather_time(nbytes: Numeric, ranks: Numeric, bandwidth: Numeric, latency: Numeric) -> Numeric:
    """Time of a ring all-gather, or of a ring reduce-scatter, which is its mirror image.

    t = (p - 1) (n / (p b) + a)

    Parameters
    ----------
    nbytes : numeric
        Whole tensor n. [B]
    ranks : numeric
        Number of ranks p, at least 1. [-]
    bandwidth : numeric
        Per-rank, one-way b. [B/s]
    latency : numeric
        Per step a. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    p = 1 gives 0.

    References
    ----------
    .. [1] Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH",
       IJHPCA 19(1), 2005. https://doi.org/10.1177/1094342005051521
    """
    return np.where(np.asarray(ranks) > 1, (ranks - 1.0) * (nbytes / (ranks * bandwidth) + latency), 0.0)


@closed_form
def all_to_all_time(
    nbytes: Numeric, ranks: Numeric, local_ranks: Numeric, inside: Numeric, outside: Numeric, latency: Numeric
) -> Numeric:
    """Time of a pairwise all-to-all over nodes: the slower of what stays inside a node and what leaves it.

    t = max(n (g - 1) / (p b_in), n (p - g) / (p b_out)) + (p - 1) a

    Parameters
    ----------
    nbytes : numeric
        Send buffer per rank n. [B]
    ranks : numeric
        Number of ranks p, at least 1. [-]
    local_ranks : numeric
        Ranks g of the group in one node. [-]
    inside : numeric
        Per-rank, one-way bandwidth b_in inside the node. [B/s]
    outside : numeric
        Per-rank, one-way bandwidth b_out between nodes. [B/s]
    latency : numeric
        Per message a. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    p = 1 gives 0. Even spread of bytes over ranks; imbalance multiplies n.

    References
    ----------
    .. [1] Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing systems",
       IEEE TPDS 8(11), 1997. https://doi.org/10.1109/71.642949
    """
    stays = nbytes * (local_ranks - 1.0) / (ranks * inside)
    leaves = nbytes * (ranks - local_ranks) / (ranks * outside)
    return np.where(np.asarray(ranks) > 1, np.maximum(stays, leaves) + (ranks - 1.0) * latency, 0.0)


@closed_form
def send_time(nbytes: Numeric, bandwidth: Numeric, latency: Numeric) -> Numeric:
    """Time of a point-to-point message.

    t = n / b + a

    Parameters
    ----------
    nbytes : numeric
        Message n. [B]
    bandwidth : numeric
        One-way b. [B/s]
    latency : numeric
        Per message a. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Hockney's model: no protocol switch.

    References
    ----------
    .. [1] Hockney, "The communication challenge for MPP: Intel Paragon and Meiko CS-2", Parallel Computing 20, 1994.
       https://doi.org/10.1016/S0167-8191(06)80021-9
    """
    return nbytes / bandwidth + latency


@closed_form
def broadcast_volume(nbytes: Numeric, ranks: Numeric) -> Numeric:
    """Bytes that all ranks together receive in a broadcast, whatever the tree.

    V = n (p - 1)

    Parameters
    ----------
    nbytes : numeric
        Message n. [B]
    ranks : numeric
        Number of ranks p, at least 1. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Without multicast in the network.

    References
    ----------
    .. [1] Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH",
       IJHPCA 19(1), 2005. https://doi.org/10.1177/1094342005051521
    """
    return nbytes * (ranks - 1.0)


@closed_form
def binomial_tree_depth(ranks: Numeric) -> Numeric:
    """Count the rounds of a binomial tree.

    d = ceil(log2 p)

    Parameters
    ----------
    ranks : numeric
        Number of ranks p, at least 1. [-]

    Returns
    -------
    numeric
        Shape of the input. [-]

    Notes
    -----
    p = 1 gives 0.

    References
    ----------
    .. [1] Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH",
       IJHPCA 19(1), 2005. https://doi.org/10.1177/1094342005051521
    """
    return np.ceil(np.log2(np.maximum(ranks, 1.0)))


@closed_form
def search_tree_depth(ranks: Numeric) -> Numeric:
    """Count the levels below the root of a search tree, in which every rank is a node.

    d = floor(log2 p)

    Parameters
    ----------
    ranks : numeric
        Number of ranks p, at least 1. [-]

    Returns
    -------
    numeric
        Shape of the input. [-]

    Notes
    -----
    p = 1 gives 0. A rank sends to both of its children at once.

    References
    ----------
    .. [1] Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
       Parallel Computing 35, 2009. https://doi.org/10.1016/j.parco.2009.09.001
    """
    return np.floor(np.log2(np.maximum(ranks, 1.0)))


@closed_form
def ring_all_reduce_volume(nbytes: Numeric, ranks: Numeric) -> Numeric:
    """Bytes that each rank sends in a ring all-reduce.

    V = 2 (p - 1) n / p

    Parameters
    ----------
    nbytes : numeric
        Buffer per rank n. [B]
    ranks : numeric
        Number of ranks p, at least 1. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B]

    Notes
    -----
    Tends to 2 n; no algorithm without in-network reduction sends less.

    References
    ----------
    .. [1] Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69, 2009.
       https://doi.org/10.1016/j.jpdc.2008.09.002
    """
    return 2.0 * (ranks - 1.0) * nbytes / ranks


@closed_form
def distinct_nodes(nodes: Numeric, copies: Numeric) -> Numeric:
    """Nodes that hold at least one of a token's experts, on average.

    d = m (1 - (1 - 1 / m)^k)

    Parameters
    ----------
    nodes : numeric
        Nodes m that the expert parallel group spans. [-]
    copies : numeric
        Experts k that a token passes. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Experts drawn evenly and independently; routers that limit the nodes of a token reach fewer.

    References
    ----------
    .. [1] DeepSeek-AI, DeepEP. https://github.com/deepseek-ai/DeepEP
    """
    return nodes * (1.0 - np.power(1.0 - 1.0 / nodes, copies))


@closed_form
def two_level_dispatch_time(
    nbytes: Numeric,
    copies: Numeric,
    reached: Numeric,
    ranks: Numeric,
    local_ranks: Numeric,
    inside: Numeric,
    outside: Numeric,
    latency: Numeric,
) -> Numeric:
    """Time of sending tokens to their experts, once to each node and from there to each rank.

    t = max(n k (g - 1) / (g b_in), n d (p - g) / (p b_out)) + [p > 1] a

    Parameters
    ----------
    nbytes : numeric
        One copy of the tokens of a rank, n. [B]
    copies : numeric
        Experts k that a token passes. [-]
    reached : numeric
        Nodes d that hold at least one of them. [-]
    ranks : numeric
        Ranks p of the group. [-]
    local_ranks : numeric
        Ranks g of the group in one node. [-]
    inside : numeric
        Per-rank, one-way bandwidth b_in inside the node. [B/s]
    outside : numeric
        Per-rank, one-way bandwidth b_out between nodes. [B/s]
    latency : numeric
        Per exchange a. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    p = 1 gives 0. Both levels run at the same time, in one kernel.

    References
    ----------
    .. [1] DeepSeek-AI, DeepEP. https://github.com/deepseek-ai/DeepEP
    """
    several = np.asarray(ranks) > 1
    stays = np.where(several, nbytes * copies * (local_ranks - 1.0) / (local_ranks * inside), 0.0)
    leaves = np.where(
        np.asarray(ranks) > local_ranks, nbytes * reached * (ranks - local_ranks) / (ranks * outside), 0.0
    )
    return np.maximum(stays, leaves) + np.where(several, latency, 0.0)
