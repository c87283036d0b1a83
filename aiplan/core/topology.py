"""Where the ranks of a parallel group lie, and what bandwidth that leaves each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def ranks_per_domain(group: Numeric, stride: Numeric, domain: Numeric) -> Numeric:
    """Ranks of one group that share a scale-up domain, for ranks laid out in order.

    g = max(1, min(p, floor(D / s)))

    Parameters
    ----------
    group : numeric
        Ranks p of the group. [-]
    stride : numeric
        Distance s between neighbours of the group in rank order. [-]
    domain : numeric
        Accelerators D that share a scale-up network (NVLink, xGMI ...). [-]

    Returns
    -------
    numeric
        Ranks g, broadcast shape of the inputs. [-]

    Notes
    -----
    Tensor parallel ranks are neighbours (s = 1), then context, expert, data, and pipeline outermost, as Megatron-LM
    lays them out.

    References
    ----------
    .. [1] Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters", SC21, section 3.
       https://arxiv.org/abs/2104.04473
    """
    return np.maximum(1.0, np.minimum(group, np.floor(domain / stride)))


@closed_form
def ring_bandwidth(
    group: Numeric,
    local_ranks: Numeric,
    inside: Numeric,
    outside_per_rank: Numeric,
    concurrent: Numeric = 1.0,
) -> Numeric:
    """One-way bandwidth of a ring through a group: the slowest of its hops.

    b = b_in if p <= g else min(b_in, g b_out / c)

    Parameters
    ----------
    group : numeric
        Ranks p of the group. [-]
    local_ranks : numeric
        Ranks g of the group in one scale-up domain. [-]
    inside : numeric
        One-way bandwidth b_in of a rank inside the domain. [B/s]
    outside_per_rank : numeric
        Share b_out of the domain's network ports that each rank has, one way. [B/s]
    concurrent : numeric
        Rings c of other groups that share each rank's ports at the same time. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B/s]

    Notes
    -----
    A ring enters and leaves a domain once per round, so the g ranks of a domain pool their ports, one ring a port
    (rail-aligned rings, as NCCL builds them).

    References
    ----------
    .. [1] NCCL, topology search. https://github.com/NVIDIA/nccl
    """
    across = np.minimum(inside, local_ranks * outside_per_rank / concurrent)
    return np.where(np.asarray(group) > local_ranks, across, inside)


@closed_form
def hop_latency(group: Numeric, local_ranks: Numeric, inside: Numeric, outside: Numeric) -> Numeric:
    """Mean latency of one step of a ring that crosses domains.

    a = a_in if p <= g else ((g - 1) a_in + a_out) / g

    Parameters
    ----------
    group : numeric
        Ranks p of the group. [-]
    local_ranks : numeric
        Ranks g of the group in one scale-up domain. [-]
    inside : numeric
        Latency a_in of a step inside the domain. [s]
    outside : numeric
        Latency a_out of a step between domains. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Protocol latency, not wire latency.

    References
    ----------
    .. [1] NCCL, tuning model. https://github.com/NVIDIA/nccl
    """
    across = ((local_ranks - 1.0) * inside + outside) / local_ranks
    return np.where(np.asarray(group) > local_ranks, across, inside)


@closed_form
def ports_per_rank(
    ports: Numeric, bandwidth: Numeric, fraction: Numeric, ranks: Numeric, oversubscription: Numeric
) -> Numeric:
    """One-way network bandwidth that each accelerator of a node has to itself.

    b = c B f / (r o)

    Parameters
    ----------
    ports : numeric
        Network ports c of the node for accelerator traffic. [-]
    bandwidth : numeric
        One-way data rate B of a port. [B/s]
    fraction : numeric
        Share f that long messages reach. [-]
    ranks : numeric
        Accelerators r of the node. [-]
    oversubscription : numeric
        How much less the fabric carries than its edge, o >= 1. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B/s]

    Notes
    -----
    Even share; a ring through several ranks of a node pools their shares.

    References
    ----------
    .. [1] Leiserson, "Fat-trees: universal networks for hardware-efficient supercomputing", IEEE ToC C-34, 1985.
       https://doi.org/10.1109/TC.1985.6312192
    """
    return ports * bandwidth * fraction / (ranks * oversubscription)


@closed_form
def crosses(group: Numeric, local_ranks: Numeric) -> Numeric:
    """Whether a group reaches beyond one scale-up domain.

    c = [p > g]

    Parameters
    ----------
    group : numeric
        Ranks p of the group. [-]
    local_ranks : numeric
        Ranks g of the group in one scale-up domain. [-]

    Returns
    -------
    numeric
        1 or 0, broadcast shape of the inputs. [-]

    Notes
    -----
    A message between domains waits for the network, however many stay inside.

    References
    ----------
    .. [1] NCCL, topology search. https://github.com/NVIDIA/nccl
    """
    return np.where(np.asarray(group) > local_ranks, 1.0, 0.0)


@closed_form
def uniform_bandwidth(
    within: Numeric,
    outside_per_rank: Numeric,
    group: Numeric,
    local_ranks: Numeric,
    below: Numeric,
    contention: Numeric,
) -> Numeric:
    """One-way bandwidth a rank has between domains when all ranks send to all others and a tier of switches is narrow.

    b = min(b_w, b_out (p - g) / (c (p - l))) if p > l else b_w

    Parameters
    ----------
    within : numeric
        Bandwidth b_w that the tiers below leave. [B/s]
    outside_per_rank : numeric
        Share b_out of the domain's network ports that each rank has, one way. [B/s]
    group : numeric
        Ranks p of the group. [-]
    local_ranks : numeric
        Ranks g of the group in one scale-up domain. [-]
    below : numeric
        Ranks l of the group below one part of the tier. [-]
    contention : numeric
        Factor c by which what crosses the tier is slowed. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [B/s]

    Notes
    -----
    Only the share (p - l) / (p - g) of what leaves a domain crosses the tier. c = 1 never slows.

    References
    ----------
    .. [1] Leiserson, "Fat-trees: universal networks for hardware-efficient supercomputing", IEEE ToC C-34, 1985.
       https://doi.org/10.1109/TC.1985.6312192
    """
    leaves = np.asarray(group) > below
    crossing = np.where(leaves, contention * (group - below), 1.0)
    narrow = outside_per_rank * (np.maximum(group - local_ranks, 0.0) / crossing)
    return np.where(leaves, np.minimum(within, narrow), within)
