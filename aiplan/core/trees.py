"""Time of collectives over two binary trees, each with half of the data, cut into the best number of chunks.

Symbols in the formulas, as in `aiplan.core.net`: g ranks of a node, m nodes, a_i and b_i latency and bandwidth
inside, a_o and b_o between nodes, c before the first step. A round of a rank is one latency and the bytes of all that
it sends in it. One rank takes no time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core.collectives import binomial_tree_depth, search_tree_depth
from aiplan.core.formula import closed_form

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric
    from aiplan.core.net import Net


@closed_form
def double_tree(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a pipelined all-reduce over two binary trees: up to the roots, then down again.

    t = c + 2 max over l of (A - a_l + B_l + min over k >= 1 of (k a_l + (S - B_l) / k)),
    A = d_i a_i + d_o a_o, S = d_i B_i + d_o B_o, l = i, o

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
    d_i = floor(log2 g) levels in a node, d_o = floor(log2 m) between nodes. B_o = f n / (2 g b_o), every rank of a
    node with a tree on its own port; B_i = n (g - 1) / (g b_i), or f n / (2 b_i) on one node; f = 2, or 1 for two
    nodes or two ranks. k chunks, a whole number in practice; reduction hidden. A rank sends 2 n in all, so that the
    bandwidth term is p / (p - 1) of the ring's.

    References
    ----------
    .. [1] Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
       Parallel Computing 35, 2009. https://doi.org/10.1016/j.parco.2009.09.001
    """
    local, nodes = net.local(ranks), net.nodes(ranks)
    alone = np.where(ranks == 2, 0.5, 1.0)
    inside = np.where(net.crosses(ranks), 1.0 - 1.0 / local, alone) * nbytes / net.inside_bandwidth
    outside = np.where(nodes == 2, 0.5, 1.0) * nbytes / (local * net.outside_bandwidth)
    near = _links(search_tree_depth(local), net.inside_latency, inside)
    far = _links(search_tree_depth(nodes), net.outside_latency, outside)
    return _after_launch(2.0 * _pipelined(near, far), ranks, net)


@closed_form
def double_tree_broadcast(nbytes: Numeric, ranks: Numeric, net: Net) -> Numeric:
    """Time of a pipelined broadcast over two binary trees, whose roots have half of the message each from the source.

    t = c + max over l of (A - a_l + B_l + min over k >= 1 of (k a_l + (S - B_l) / k)),
    A = d_i a_i + d_o a_o, S = d_i B_i + d_o B_o, l = i, o

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
    d_i = ceil(log2 g) levels in a node, d_o = ceil(log2 m) between nodes, the source above both trees. B_i = n / b_i,
    B_o = n / (g b_o). k chunks, a whole number in practice.

    References
    ----------
    .. [1] Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
       Parallel Computing 35, 2009. https://doi.org/10.1016/j.parco.2009.09.001
    """
    local, nodes = net.local(ranks), net.nodes(ranks)
    near = _links(binomial_tree_depth(local), net.inside_latency, nbytes / net.inside_bandwidth)
    far = _links(binomial_tree_depth(nodes), net.outside_latency, nbytes / (local * net.outside_bandwidth))
    return _after_launch(_pipelined(near, far), ranks, net)


class _Links(NamedTuple):
    """The levels of a tree over one kind of link: latency of a round, transfer time of the whole, sums over levels."""

    latency: Numeric
    transfer: Numeric
    path: Numeric
    store: Numeric


def _links(levels: Numeric, latency: Numeric, transfer: Numeric) -> _Links:
    """Return what passes a kind of link; nothing where the tree has no level there."""
    used = levels > 0
    latency, transfer = np.where(used, latency, 0.0), np.where(used, transfer, 0.0)
    return _Links(latency, transfer, levels * latency, levels * transfer)


def _pipelined(near: _Links, far: _Links) -> Numeric:
    """Return the time of the best number of chunks: the first passes all levels, the others follow at the slower."""
    path, store = near.path + far.path, near.store + far.store
    return np.maximum(*(_following(links, path, store) for links in (near, far)))


def _following(links: _Links, path: Numeric, store: Numeric) -> Numeric:
    first, rest = links.latency, store - links.transfer
    chunks = np.where(rest > first, 2.0 * np.sqrt(first * np.maximum(rest, 0.0)), first + rest)
    return path - first + links.transfer + chunks


def _after_launch(time: Numeric, ranks: Numeric, net: Net) -> Numeric:
    return np.where(np.asarray(ranks) > 1, net.launch + time, 0.0)
