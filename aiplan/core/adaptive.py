"""Communication that adapts: less often, in another precision over a training, in levels of the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


@closed_form
def mean_reductions(reductions: Numeric, every: Numeric) -> Numeric:
    """Mean number of reductions per step if gradients are reduced only every few steps.

    c = r / k

    Parameters
    ----------
    reductions : numeric
        Reductions r of a step that reduces. [-]
    every : numeric
        Steps k from one reduction to the next; 1 is every step. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [-]

    Notes
    -----
    Local SGD: ranks take k steps on their own and average their weights. It is another algorithm: how many more steps
    it needs is not said here. Only where every rank holds the whole optimizer. What a reduction takes and what hides
    it shrink alike.

    References
    ----------
    .. [1] Stich, "Local SGD Converges Fast and Communicates Little", ICLR 2019. https://arxiv.org/abs/1805.09767
    """
    return reductions / every


@closed_form
def phased_mean(first: Numeric, last: Numeric, last_share: Numeric) -> Numeric:
    """Mean per step of a quantity that is one in the first part of a training and another in the last.

    x = (1 - w) x_1 + w x_2

    Parameters
    ----------
    first : numeric
        Value x_1 per step in the first part. [-]
    last : numeric
        Value x_2 per step in the last part, in the unit of the first. [-]
    last_share : numeric
        Share w of the steps in the last part. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs, in their unit. [-]

    Notes
    -----
    For bytes and times alike. A precision that is raised late: x_1 compressed, x_2 not. The warm-up of 1-bit Adam: the
    other way round.

    References
    ----------
    .. [1] Tang et al., "1-bit Adam: Communication Efficient Large-Scale Training with Adam's Convergence Speed",
       ICML 2021. https://arxiv.org/abs/2102.02888
    """
    return (1.0 - last_share) * first + last_share * last


@closed_form
def hierarchical_mean_time(inside: Numeric, whole: Numeric, inside_every: Numeric, whole_every: Numeric) -> Numeric:
    """Mean time per step of reductions inside the nodes, some of which go on between them.

    t = (1 / k_i - 1 / k_w) t_i + t_w / k_w

    Parameters
    ----------
    inside : numeric
        Time t_i of a reduction inside the nodes. [s]
    whole : numeric
        Time t_w of one inside and between them. [s]
    inside_every : numeric
        Steps k_i from one reduction inside to the next. [-]
    whole_every : numeric
        Steps k_w from one reduction between nodes to the next, a multiple of k_i. [-]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    Ranks of a node stay together while nodes drift apart for k_w steps. Both 1 is an ordinary reduction in two levels.
    What is exposed of either can be put in as well: it is a mean over steps.

    References
    ----------
    .. [1] Lin et al., "Don't Use Large Mini-Batches, Use Local SGD", ICLR 2020, section on hierarchical local SGD.
       https://arxiv.org/abs/1808.07217
    """
    return (1.0 / inside_every - 1.0 / whole_every) * inside + whole / whole_every


@closed_form
def two_hop_exchange_time(
    nbytes: Numeric,
    ranks: Numeric,
    local_ranks: Numeric,
    inside: Numeric,
    outside: Numeric,
    inside_latency: Numeric,
    outside_latency: Numeric,
) -> Numeric:
    """Time of a reduction by exchange in two hops: parts are added up inside the node, the sums between nodes.

    t = n (g - 1) / (g b_in) + (g - 1) a_in + n (p - g) / (p g b_out) + (p / g - 1) a_out

    Parameters
    ----------
    nbytes : numeric
        Buffer of codes per rank n. [B]
    ranks : numeric
        Number of ranks p, at least 1. [-]
    local_ranks : numeric
        Ranks g of the group in one node. [-]
    inside : numeric
        Per-rank, one-way bandwidth b_in inside the node. [B/s]
    outside : numeric
        Per-rank, one-way bandwidth b_out between nodes. [B/s]
    inside_latency : numeric
        Per message inside the node a_in. [s]
    outside_latency : numeric
        Per message between nodes a_out. [s]

    Returns
    -------
    numeric
        Broadcast shape of the inputs. [s]

    Notes
    -----
    p = 1 gives 0. For codes that cannot be added on the way, as those of 8 bits and of signs: each rank receives its
    part from all, adds it up in full precision and codes the sum again. One hop would send g times as much between
    nodes. As many ranks in every node.

    References
    ----------
    .. [1] Wang et al., "ZeRO++: Extremely Efficient Collective Communication for Giant Model Training", 2023,
       section on quantized gradients. https://arxiv.org/abs/2306.10209
    """
    hop_inside = nbytes * (local_ranks - 1.0) / (local_ranks * inside) + (local_ranks - 1.0) * inside_latency
    across = nbytes * (ranks - local_ranks) / (ranks * local_ranks * outside)
    return hop_inside + across + (ranks / local_ranks - 1.0) * outside_latency
