"""NCCL's own estimate of a collective, by algorithm and protocol: what it compares when it chooses.

Bandwidths and latencies are those of one protocol; the constants stand in `aiplan.core.nccl_tables`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.collectives import search_tree_depth
from aiplan.core.formula import closed_form
from aiplan.core.nccl_tables import TREE_CORRECTION

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric

_CORRECTION = np.array([(*row, 1.0) for row in TREE_CORRECTION])


@closed_form
def protocol_bandwidth(bus: Numeric, share: Numeric, ceiling: Numeric) -> Numeric:
    """Bus bandwidth that a protocol leaves.

    b = min(s B, B_max)

    Parameters
    ----------
    bus : numeric
        Bus bandwidth B of all channels. [B/s]
    share : numeric
        Share s of the bytes on the wire that is data. [-]
    ceiling : numeric
        Most that the protocol reaches on the generation of GPU. [B/s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B/s]

    Notes
    -----
    LL carries a flag with every word of data, LL128 one with every 128 bytes, Simple none.

    References
    ----------
    .. [1] NCCL, tuning model. https://github.com/NVIDIA/nccl/blob/master/src/graph/tuning.cc
    """
    return np.minimum(share * bus, ceiling)


@closed_form
def ring_time(
    nbytes: Numeric,
    ranks: Numeric,
    steps: Numeric,
    network_steps: Numeric,
    bandwidth: Numeric,
    base: Numeric,
    inside: Numeric,
    outside: Numeric,
) -> Numeric:
    """Time of a ring as NCCL estimates it.

    t = c + (s - s_o) a_i + s_o a_o + n s / (p b)

    Parameters
    ----------
    nbytes : numeric
        Full buffer n. [B]
    ranks : numeric
        Number of ranks p. [-]
    steps : numeric
        Steps s: 2 (p - 1) for an all-reduce, p - 1 for an all-gather, p for a broadcast. [-]
    network_steps : numeric
        Steps s_o among them that wait for the network. [-]
    bandwidth : numeric
        Bus bandwidth b of the protocol. [B/s]
    base : numeric
        Before the first step, c. [s]
    inside : numeric
        Per step inside a node, a_i. [s]
    outside : numeric
        Per step between nodes, a_o. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    One rank takes no time. Optimistic by 15 to 60 % in the middle of the range of sizes.

    References
    ----------
    .. [1] NCCL, tuning model. https://github.com/NVIDIA/nccl/blob/master/src/graph/tuning.cc
    """
    latency = (steps - network_steps) * inside + network_steps * outside
    return np.where(np.asarray(ranks) > 1, base + latency + nbytes * steps / (ranks * bandwidth), 0.0)


@closed_form
def plateau_factor(nbytes: Numeric, ranks: Numeric, nodes: Numeric, channels: Numeric, factor: Numeric) -> Numeric:
    """Factor on the latency of a ring all-reduce with the Simple protocol over several nodes.

    f = f_0 if m > 1 and n >= 64 q p, else 1

    Parameters
    ----------
    nbytes : numeric
        Buffer per rank n. [B]
    ranks : numeric
        Number of ranks p. [-]
    nodes : numeric
        Nodes m. [-]
    channels : numeric
        Channels q. [-]
    factor : numeric
        Factor f_0 of the generation of GPU. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    From version 2.18 on. It applies to base and steps alike.

    References
    ----------
    .. [1] NCCL, tuning model. https://github.com/NVIDIA/nccl/blob/master/src/graph/tuning.cc
    """
    return np.where((np.asarray(nodes) > 1) & (nbytes >= 64.0 * channels * ranks), factor, 1.0)


@closed_form
def tree_correction(nbytes: Numeric, protocol: Numeric) -> Numeric:
    """Factor on the bandwidth of the tree in the middle of the range of sizes.

    f = table[protocol, floor(log2(n / 64))]

    Parameters
    ----------
    nbytes : numeric
        Buffer per rank n. [B]
    protocol : numeric
        0 for LL, 1 for LL128, 2 for Simple. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    1 below 64 B and from 512 MiB on. A staircase: a slightly larger message can be predicted to be faster.

    References
    ----------
    .. [1] NCCL, tuning model. https://github.com/NVIDIA/nccl/blob/master/src/graph/tuning.cc
    """
    last = _CORRECTION.shape[1] - 1
    power = np.floor(np.log2(np.maximum(nbytes, 1.0) / 64.0))
    column = np.where(power < 0, last, np.minimum(power, last)).astype(np.intp)
    return _CORRECTION[np.asarray(protocol).astype(np.intp), column]


@closed_form
def tree_time(
    nbytes: Numeric,
    ranks: Numeric,
    nodes: Numeric,
    bandwidth: Numeric,
    base: Numeric,
    inside: Numeric,
    outside: Numeric,
) -> Numeric:
    """Time of a double binary tree between nodes with a chain in each node, as NCCL estimates it.

    t = c + 2 ((p / m - 1) a_i + floor(log2 m) a_o) + 2 n / b

    Parameters
    ----------
    nbytes : numeric
        Buffer per rank n. [B]
    ranks : numeric
        Number of ranks p. [-]
    nodes : numeric
        Nodes m. [-]
    bandwidth : numeric
        Bus bandwidth b of the protocol, corrected for the size. [B/s]
    base : numeric
        Before the first step, c. [s]
    inside : numeric
        Per step inside a node, a_i. [s]
    outside : numeric
        Per step between nodes, a_o. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    One rank takes no time. All-reduce only.

    References
    ----------
    .. [1] NCCL, tuning model. https://github.com/NVIDIA/nccl/blob/master/src/graph/tuning.cc
    """
    latency = 2.0 * ((ranks / nodes - 1.0) * inside + search_tree_depth(nodes) * outside)
    return np.where(np.asarray(ranks) > 1, base + latency + 2.0 * nbytes / bandwidth, 0.0)


@closed_form
def pat_time(
    nbytes: Numeric, ranks: Numeric, nodes: Numeric, bandwidth: Numeric, base: Numeric, outside: Numeric
) -> Numeric:
    """Time of parallel aggregated trees as NCCL estimates it.

    t = c + log2(m) a_o / 3.5 + 2.8 us p + n (p - 1) / (p b)

    Parameters
    ----------
    nbytes : numeric
        Whole tensor n. [B]
    ranks : numeric
        Number of ranks p. [-]
    nodes : numeric
        Nodes m. [-]
    bandwidth : numeric
        Bus bandwidth b. [B/s]
    base : numeric
        Before the first step, c. [s]
    outside : numeric
        Per step between nodes, a_o. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    One GPU a node. One rank takes no time.

    References
    ----------
    .. [1] NCCL, tuning model. https://github.com/NVIDIA/nccl/blob/master/src/graph/tuning.cc
    """
    latency = base + np.log2(nodes) * outside / 3.5 + 2.8e-6 * ranks
    return np.where(np.asarray(ranks) > 1, latency + nbytes * (ranks - 1.0) / (ranks * bandwidth), 0.0)
