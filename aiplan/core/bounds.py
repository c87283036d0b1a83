"""Least time of a collective, whatever the algorithm: all with the same arguments.

The longer of what latency and what bandwidth dictate; the sum of both would not be a bound.
Symbols in the formulas, as in `aiplan.core.net`: g ranks of a node, m nodes, a_i and b_i latency and bandwidth
inside, a_o and b_o between nodes, c before the first step, r the rate of adding up. One rank takes no time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.collectives import binomial_tree_depth
from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric
    from aiplan.core.net import Net


@closed_form
def all_reduce(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Least time of an all-reduce without reduction in the network.

    t = c + max(a, 2 n (p - 1) / p / (b_i + [m > 1] b_o), [m > 1] 2 n (m - 1) / m / (g b_o))

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
    a = ceil(log2 p) steps. One port a rank, sends and receives at once; the node counts as a rank of the fabric.

    References
    ----------
    .. [1] Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory, practice, and
       experience", Concurrency and Computation 19(13), 2007. https://doi.org/10.1002/cpe.1206
    """
    nodes = net.nodes(ranks)
    return _least(
        2.0 * nbytes * (ranks - 1.0) / ranks,
        2.0 * nbytes * (nodes - 1.0) / nodes,
        binomial_tree_depth(ranks),
        ranks,
        net,
    )


@closed_form
def in_network_all_reduce(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Least time of an all-reduce that switches may add up.

    t = c + max(a, n / (b_i + [m > 1] b_o), [m > 1] n / (g b_o))

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
    a = one step. Every rank, and every node, has to send its buffer once.

    References
    ----------
    .. [1] Graham et al., "Scalable Hierarchical Aggregation Protocol (SHArP)", COMHPC 2016.
       https://doi.org/10.1109/COMHPC.2016.006
    """
    return _least(nbytes, nbytes, 1.0, ranks, net)


@closed_form
def in_node_all_reduce(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Least time of an all-reduce that the switches of nodes, but not of the fabric, may add up.

    t = c + max(a, n / (b_i + [m > 1] b_o), [m > 1] 2 n (m - 1) / m / (g b_o))

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
    a = one step. Every rank has to send its buffer once, every node its part of a reduce-scatter and an all-gather.

    References
    ----------
    .. [1] Klenk et al., "An In-Network Architecture for Accelerating Shared-Memory Multiprocessor Collectives",
       ISCA 2020. https://doi.org/10.1109/ISCA45697.2020.00085
    """
    nodes = net.nodes(ranks)
    return _least(nbytes, 2.0 * nbytes * (nodes - 1.0) / nodes, 1.0, ranks, net)


@closed_form
def all_gather(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Least time of an all-gather.

    t = c + max(a, n (p - 1) / p / (b_i + [m > 1] b_o), [m > 1] n (m - 1) / m / (g b_o))

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
    a = ceil(log2 p) steps. One port a rank, sends and receives at once; the node counts as a rank of the fabric.

    References
    ----------
    .. [1] Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory, practice, and
       experience", Concurrency and Computation 19(13), 2007. https://doi.org/10.1002/cpe.1206
    """
    nodes = net.nodes(ranks)
    return _least(
        nbytes * (ranks - 1.0) / ranks, nbytes * (nodes - 1.0) / nodes, binomial_tree_depth(ranks), ranks, net
    )


@closed_form
def in_network_all_gather(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Least time of an all-gather that switches may multicast.

    t = c + max(a, n (p - 1) / p / (b_i + [m > 1] b_o), [m > 1] n (m - 1) / m / (g b_o))

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
    a = one step. Every rank has to receive what the others hold.

    References
    ----------
    .. [1] Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory, practice, and
       experience", Concurrency and Computation 19(13), 2007. https://doi.org/10.1002/cpe.1206
    """
    nodes = net.nodes(ranks)
    return _least(nbytes * (ranks - 1.0) / ranks, nbytes * (nodes - 1.0) / nodes, 1.0, ranks, net)


@closed_form
def reduce_scatter(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Least time of a reduce-scatter without reduction in the network.

    t = c + max(a, n (p - 1) / p / (b_i + [m > 1] b_o), [m > 1] n (m - 1) / m / (g b_o))

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
    a = ceil(log2 p) steps. One port a rank, sends and receives at once; the node counts as a rank of the fabric.

    References
    ----------
    .. [1] Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory, practice, and
       experience", Concurrency and Computation 19(13), 2007. https://doi.org/10.1002/cpe.1206
    """
    nodes = net.nodes(ranks)
    return _least(
        nbytes * (ranks - 1.0) / ranks, nbytes * (nodes - 1.0) / nodes, binomial_tree_depth(ranks), ranks, net
    )


@closed_form
def broadcast(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Least time of a broadcast.

    t = c + max(a, n / (b_i + [m > 1] b_o), [m > 1] n / (g b_o))

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
    a = ceil(log2 p) steps. One port a rank, sends and receives at once; the node counts as a rank of the fabric.

    References
    ----------
    .. [1] Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory, practice, and
       experience", Concurrency and Computation 19(13), 2007. https://doi.org/10.1002/cpe.1206
    """
    return _least(nbytes, nbytes, binomial_tree_depth(ranks), ranks, net)


@closed_form
def reduce(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Least time of a reduction to one rank.

    t = c + max(a, n / (b_i + [m > 1] b_o), [m > 1] n / (g b_o))

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
    a = ceil(log2 p) steps. One port a rank, sends and receives at once; the node counts as a rank of the fabric.

    References
    ----------
    .. [1] Chan, Heimlich, Purkayastha and van de Geijn, "Collective communication: theory, practice, and
       experience", Concurrency and Computation 19(13), 2007. https://doi.org/10.1002/cpe.1206
    """
    return _least(nbytes, nbytes, binomial_tree_depth(ranks), ranks, net)


@closed_form
def all_to_all(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Least time of an all-to-all.

    t = c + max(a, n (p - 1) / p / (b_i + [m > 1] b_o), [m > 1] n g (m - 1) / m / (g b_o))

    Parameters
    ----------
    nbytes : numeric
        Send buffer per rank n. [B]
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
    a = ceil(log2 p) steps. Every rank has something for every other.

    References
    ----------
    .. [1] Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing systems",
       IEEE TPDS 8(11), 1997. https://doi.org/10.1109/71.642949
    """
    local, nodes = net.local(ranks), net.nodes(ranks)
    return _least(
        nbytes * (ranks - 1.0) / ranks, nbytes * local * (nodes - 1.0) / nodes, binomial_tree_depth(ranks), ranks, net
    )


@closed_form
def send(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Least time of a message to the neighbour, every rank sending at once.

    t = c + max(a, n / (b_i + [m > 1] b_o), [m > 1] n / (g b_o))

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
    a = one step. One rank of every node sends to the next node.

    References
    ----------
    .. [1] Hockney, "The communication challenge for MPP: Intel Paragon and Meiko CS-2", Parallel Computing 20, 1994.
       https://doi.org/10.1016/S0167-8191(06)80021-9
    """
    return _least(nbytes, nbytes, 1.0, ranks, net)


def _least(rank: Numeric, node: Numeric, steps: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Return the bound from the bytes that a rank and a node have to send, and the least number of steps."""
    crosses = net.crosses(ranks)
    ports = net.inside_bandwidth + np.where(crosses, net.outside_bandwidth, 0.0)
    outside = np.where(crosses, node / (net.local(ranks) * net.outside_bandwidth), 0.0)
    fastest = np.where(crosses, np.minimum(net.inside_latency, net.outside_latency), net.inside_latency)
    latency = np.maximum(steps * fastest, np.where(crosses, net.outside_latency, 0.0))
    least = np.maximum(np.maximum(rank / ports, outside), latency)
    return np.where(np.asarray(ranks) > 1, net.launch + least, 0.0)
