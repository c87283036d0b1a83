"""What a collective runs on: a few numbers per link, at the scale of one rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric


class Net(NamedTuple):
    """Hockney's alpha and beta inside a node and between nodes; every field broadcasts with sizes and ranks.

    Parameters
    ----------
    local_ranks : numeric
        Ranks g that share a node, or a domain of fast links. [-]
    inside_latency : numeric
        Per step inside it, a_i. [s]
    inside_bandwidth : numeric
        Per rank, one way, b_i. [B/s]
    outside_latency : numeric
        Per step between nodes, a_o. [s]
    outside_bandwidth : numeric
        Share b_o of the node's ports that each rank has, one way. [B/s]
    launch : numeric
        Before the first step, c. [s]
    reduction : numeric
        Rate r at which a rank adds up what arrives; infinite if hidden behind the transfer. [B/s]
    """

    local_ranks: Numeric = np.inf
    inside_latency: Numeric = 0.0
    inside_bandwidth: Numeric = np.inf
    outside_latency: Numeric = 0.0
    outside_bandwidth: Numeric = np.inf
    launch: Numeric = 0.0
    reduction: Numeric = np.inf

    def local(self, ranks: Numeric) -> Numeric:
        """Ranks of the group in one node."""
        return np.minimum(ranks, self.local_ranks)

    def nodes(self, ranks: Numeric) -> Numeric:
        """Nodes that the group spans."""
        return np.ceil(ranks / self.local(ranks))

    def crosses(self, ranks: Numeric) -> Numeric:
        """Whether the group spans several nodes."""
        return np.asarray(ranks) > self.local_ranks

    def flat(self, ranks: Numeric) -> tuple[Numeric, Numeric]:
        """Latency and bandwidth of a step in which every rank may have to use its port."""
        across = self.crosses(ranks)
        latency = np.where(across, np.maximum(self.inside_latency, self.outside_latency), self.inside_latency)
        slower = np.minimum(self.inside_bandwidth, self.outside_bandwidth)
        return latency, np.where(across, slower, self.inside_bandwidth)

    def halvings(self, ranks: Numeric) -> tuple[Numeric, Numeric]:
        """Return the rounds of a butterfly over the largest power of two of ranks: all, and those that stay inside.

        The partner at distance d shares the node if 2 d divides the ranks of a node.
        """
        rounds = np.floor(np.log2(ranks))
        whole = np.asarray(np.minimum(self.local(ranks), 2.0**53)).astype(np.int64)
        inside = np.log2(whole & -whole)
        return rounds, np.where(self.crosses(ranks), np.minimum(inside, rounds), rounds)
