"""Which algorithms there are for which operation, where they hold, and who described them.

The forms all have one signature, (nbytes, ranks, net): a search, a table or a benchmark runs over this registry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from aiplan.core import all_reduces, bounds, broadcasts, busbw, exchanges, gathers, trees

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiplan.core.arrays import Numeric
    from aiplan.core.net import Net

Form: TypeAlias = "Callable[[Any, Any, Any], Any]"


class Operation(NamedTuple):
    """A collective: what its size counts, and the least time without switches, with those of nodes, of the fabric."""

    name: str
    size: str
    least: Form
    least_in_node: Form
    least_in_network: Form


_BUFFER, _WHOLE = "buffer of each rank", "whole tensor"
OPERATIONS = {
    row.name: row
    for row in (
        Operation("all-reduce", _BUFFER, bounds.all_reduce, bounds.in_node_all_reduce, bounds.in_network_all_reduce),
        Operation("all-gather", _WHOLE, bounds.all_gather, bounds.in_network_all_gather, bounds.in_network_all_gather),
        Operation("reduce-scatter", _WHOLE, *(bounds.reduce_scatter,) * 3),
        Operation("broadcast", "message", *(bounds.broadcast,) * 3),
        Operation("reduce", "message", *(bounds.reduce,) * 3),
        Operation("all-to-all", "send buffer of a rank", *(bounds.all_to_all,) * 3),
        Operation("send-recv", "message", *(bounds.send,) * 3),
    )
}
EXCHANGES = tuple(name for name in OPERATIONS if name in busbw.SHARED)
"""Operations whose bus bandwidth counts the part that leaves a rank."""


class Need(NamedTuple):
    """Where an algorithm holds: in words, and as a test of ranks and network."""

    text: str
    holds: Callable[[Numeric, Net], Any]


def _any(ranks: Numeric, _: Net) -> Any:
    return np.asarray(ranks) >= 1


def _power(ranks: Numeric, _: Net) -> Any:
    return np.exp2(np.floor(np.log2(ranks))) == ranks


def _one_node(ranks: Numeric, net: Net) -> Any:
    return ~np.asarray(net.crosses(ranks))


def _several(ranks: Numeric, net: Net) -> Any:
    return np.asarray(net.crosses(ranks))


def _several_shared(ranks: Numeric, net: Net) -> Any:
    return np.asarray(net.crosses(ranks)) & (np.asarray(net.local_ranks) > 1)


def _alone(ranks: Numeric, net: Net) -> Any:
    return np.asarray(net.local(ranks)) == 1


ANY = Need("any number of ranks", _any)
POWER = Need("a power of two of ranks", _power)
ONE_NODE = Need("one node whose switch adds up", _one_node)
NODES_WITH_SWITCH = Need("several nodes of two or more ranks whose switch adds up", _several_shared)
SEVERAL = Need("several nodes", _several)
TWO_LEVELS = Need("several nodes of two or more ranks", _several_shared)
ALONE = Need("one rank a node", _alone)


class Algorithm(NamedTuple):
    """An algorithm: its form for each operation, where it holds, who runs it, and a source.

    `nccl` are the operations for which NCCL has it; `switch` says what has to add up or multicast: nothing, the
    switch of a `node`, or the `fabric`.
    """

    name: str
    forms: dict[str, Form]
    need: Need
    source: str
    nccl: tuple[str, ...] = ()
    switch: str = ""


_THAKUR = "https://doi.org/10.1177/1094342005051521"
_NCCL = "https://github.com/NVIDIA/nccl/blob/master/src/graph/tuning.cc"
ALGORITHMS = {
    row.name: row
    for row in (
        Algorithm(
            "ring",
            {
                "all-reduce": all_reduces.ring,
                "all-gather": gathers.ring_all_gather,
                "reduce-scatter": gathers.ring_reduce_scatter,
                "broadcast": broadcasts.chain_broadcast,
                "reduce": broadcasts.chain_reduce,
            },
            ANY,
            "https://doi.org/10.1016/j.jpdc.2008.09.002",
            nccl=("all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce"),
        ),
        Algorithm(
            "tree",
            {"all-reduce": trees.double_tree, "broadcast": trees.double_tree_broadcast},
            ANY,
            "https://doi.org/10.1016/j.parco.2009.09.001",
            nccl=("all-reduce",),
        ),
        Algorithm(
            "nvls",
            {"all-reduce": all_reduces.nvls, "all-gather": gathers.nvls_all_gather},
            ONE_NODE,
            _NCCL,
            nccl=("all-reduce", "all-gather"),
            switch="node",
        ),
        Algorithm(
            "nvls-tree",
            {"all-reduce": all_reduces.nvls_tree},
            NODES_WITH_SWITCH,
            _NCCL,
            nccl=("all-reduce",),
            switch="node",
        ),
        Algorithm(
            "collnet",
            {"all-reduce": all_reduces.in_network},
            SEVERAL,
            "https://doi.org/10.1109/COMHPC.2016.006",
            nccl=("all-reduce",),
            switch="fabric",
        ),
        Algorithm(
            "pat",
            {"all-gather": gathers.pat_all_gather, "reduce-scatter": gathers.pat_reduce_scatter},
            ALONE,
            "https://arxiv.org/abs/2506.20252",
            nccl=("all-gather", "reduce-scatter"),
        ),
        Algorithm(
            "pairwise",
            {"all-to-all": exchanges.pairwise, "reduce-scatter": gathers.pairwise_reduce_scatter},
            ANY,
            _THAKUR,
            nccl=("all-to-all",),
        ),
        Algorithm(
            "rail-aligned",
            {"all-to-all": exchanges.rail_aligned},
            TWO_LEVELS,
            "https://developer.nvidia.com/blog/"
            "doubling-all2all-performance-with-nvidia-collective-communication-library-2-12/",
            nccl=("all-to-all",),
        ),
        Algorithm(
            "direct",
            {"send-recv": exchanges.send},
            ANY,
            "https://doi.org/10.1016/S0167-8191(06)80021-9",
            nccl=("send-recv",),
        ),
        Algorithm("recursive-doubling", {"all-reduce": all_reduces.recursive_doubling}, ANY, _THAKUR),
        Algorithm("doubling", {"all-gather": gathers.doubling_all_gather}, POWER, _THAKUR),
        Algorithm("halving", {"reduce-scatter": gathers.halving_reduce_scatter}, ANY, _THAKUR),
        Algorithm(
            "rabenseifner",
            {"all-reduce": all_reduces.rabenseifner, "reduce": broadcasts.rabenseifner_reduce},
            ANY,
            "https://doi.org/10.1007/978-3-540-24685-5_1",
        ),
        Algorithm(
            "binomial",
            {
                "all-reduce": all_reduces.binomial_tree,
                "broadcast": broadcasts.binomial_broadcast,
                "reduce": broadcasts.binomial_reduce,
            },
            ANY,
            _THAKUR,
        ),
        Algorithm(
            "bruck",
            {"all-gather": gathers.bruck_all_gather, "all-to-all": exchanges.bruck},
            ANY,
            "https://doi.org/10.1109/71.642949",
        ),
        Algorithm(
            "scatter-gather",
            {"broadcast": broadcasts.scatter_broadcast},
            ANY,
            "https://doi.org/10.1002/cpe.1206",
        ),
        Algorithm(
            "hierarchical",
            {
                "all-reduce": all_reduces.two_level,
                "all-gather": gathers.two_level_all_gather,
                "reduce-scatter": gathers.two_level_reduce_scatter,
            },
            TWO_LEVELS,
            "https://arxiv.org/abs/1807.11205",
        ),
    )
}


def algorithms_of(operation: str) -> list[Algorithm]:
    """Return the algorithms for an operation, those of NCCL first."""
    found = [row for row in ALGORITHMS.values() if operation in row.forms]
    return sorted(found, key=lambda row: operation not in row.nccl)


def least_time(operation: str, row: Algorithm | None = None) -> Form:
    """Return the bound for an operation, or for an algorithm of it that switches help."""
    known = OPERATIONS[operation]
    if row is None or not row.switch:
        return known.least
    return known.least_in_node if row.switch == "node" else known.least_in_network
