"""Time of an all-to-all, and of a message to the neighbour, by algorithm: all with the same arguments.

Symbols in the formulas, as in `aiplan.core.net`: g ranks of a node, m nodes, a_i and b_i latency and bandwidth
inside, a_o and b_o between nodes, c before the first step, r the rate of adding up. One rank takes no time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.collectives import all_to_all_time, binomial_tree_depth, send_time
from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric
    from aiplan.core.net import Net


@closed_form
def send(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a message to the neighbour, every rank sending at once.

    t = c + a + n / b

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
    Hockney's model; a message that leaves the node uses the rank's own share of the ports.

    References
    ----------
    .. [1] Hockney, "The communication challenge for MPP: Intel Paragon and Meiko CS-2", Parallel Computing 20, 1994.
       https://doi.org/10.1016/S0167-8191(06)80021-9
    """
    latency, bandwidth = net.flat(ranks)
    return _after_launch(send_time(nbytes, bandwidth, latency), ranks, net)


@closed_form
def pairwise(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of an all-to-all of direct messages, those that stay and those that leave side by side.

    t = c + max(n (g - 1) / (p b_i), n (p - g) / (p b_o)) + (g - 1) a_i + (p - g) a_o

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
    Grouped sends and receives, as NCCL's all-to-all. Even spread of bytes over ranks.

    References
    ----------
    .. [1] Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH",
       IJHPCA 19(1), 2005. https://doi.org/10.1177/1094342005051521
    """
    local = net.local(ranks)
    transfer = all_to_all_time(nbytes, ranks, local, net.inside_bandwidth, net.outside_bandwidth, 0.0)
    latency = (local - 1.0) * net.inside_latency + (ranks - local) * net.outside_latency
    return _after_launch(transfer + latency, ranks, net)


@closed_form
def bruck(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of Bruck's all-to-all: half of the data moves on by 1 rank, 2, 4 and so on.

    t = c + ceil(log2 p) (a + n / (2 b))

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
    For small n. An upper bound where p is no power of two: a round then moves less than half.

    References
    ----------
    .. [1] Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing systems",
       IEEE TPDS 8(11), 1997. https://doi.org/10.1109/71.642949
    """
    latency, bandwidth = net.flat(ranks)
    return _after_launch(binomial_tree_depth(ranks) * (latency + nbytes / (2.0 * bandwidth)), ranks, net)


@closed_form
def rail_aligned(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of an all-to-all that first moves data to the rank on the right rail, then along the rails (PXN).

    t = c + (g - 1) (a_i + n / (g b_i)) + (m - 1) (a_o + n / (m b_o))

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
    One message to each other node per rail, g times as large as without. Both phases one after the other.

    References
    ----------
    .. [1] NVIDIA, "Doubling all2all Performance with NVIDIA Collective Communication Library 2.12", 2022.
       https://developer.nvidia.com/blog/doubling-all2all-performance-with-nvidia-collective-communication-library-2-12/
    """
    local, nodes = net.local(ranks), net.nodes(ranks)
    inside = (local - 1.0) * (net.inside_latency + nbytes / (local * net.inside_bandwidth))
    outside = (nodes - 1.0) * (net.outside_latency + nbytes / (nodes * net.outside_bandwidth))
    return _after_launch(inside + outside, ranks, net)


def _after_launch(time: Numeric, ranks: Numeric, net: Net) -> Numeric:
    return np.where(np.asarray(ranks) > 1, net.launch + time, 0.0)
