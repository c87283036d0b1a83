"""Reductions of gradients by the algorithm that a scenario asks for."""

import numpy as np
import pytest

from aiplan.core.algorithms import ALGORITHMS
from aiplan.core.choices import ALL_REDUCES, HALVES
from aiplan.engine import reductions
from aiplan.engine.reductions import Group
from aiplan.engine.wires import Tier, Wires

INSIDE, OUTSIDE, LINK, PORT = 300e9, 25e9, 2e-6, 10e-6
GIB = 2.0**30


def column(*values):
    return np.array(values, dtype=float)[None, :]


def net(contention=1.0, below=256.0):
    tier = Tier(column(below), *(column(contention) for _ in range(3)))
    return Wires(column(INSIDE), column(OUTSIDE), column(LINK), column(PORT), column(8), (tier, tier))


def group(ranks, name="auto", stride=1.0):
    return Group(column(ranks), column(stride), column(ALL_REDUCES.index(name)))


def time(name, ranks=64.0, nbytes=GIB, stride=1.0, wires=None):
    return float(reductions.all_reduce(wires or net(), group(ranks, name, stride), column(nbytes))[0, 0])


def test_every_choice_is_an_algorithm_with_what_it_is_used_for():
    assert all("all-reduce" in ALGORITHMS[name].forms for name in ALL_REDUCES[1:])
    assert all({"reduce-scatter", "all-gather"} <= set(ALGORITHMS[name].forms) for name in HALVES[1:])


@pytest.mark.parametrize("nbytes", [1e3, 1e6, 1e9])
@pytest.mark.parametrize("ranks", [2.0, 8.0, 64.0, 1024.0])
def test_automatic_is_the_faster_of_ring_and_tree(ranks, nbytes):
    assert time("auto", ranks, nbytes) == min(time("ring", ranks, nbytes), time("tree", ranks, nbytes))


def test_hierarchical_by_hand():
    """Rings of 8 inside, then 8 rings of 8 nodes on the rails, each with an eighth of the bytes."""
    by_hand = 2 * 7 * (GIB / (8 * INSIDE) + LINK) + 2 * 7 * (GIB / (64 * OUTSIDE) + PORT)
    assert time("hierarchical") == pytest.approx(by_hand)


def test_hierarchical_with_one_rank_a_node_is_a_ring():
    assert time("hierarchical", 16.0, stride=8.0) == pytest.approx(time("ring", 16.0, stride=8.0))


@pytest.mark.parametrize("contention", [1.0, 4.0])
@pytest.mark.parametrize("name", HALVES[1:])
def test_halves_make_the_whole(name, contention):
    """Across a narrow tier too: halves of rings are sent to neighbours as rings are."""
    narrow, asked = net(contention, below=16.0), group(64.0, name)
    halves = (half(narrow, asked, column(GIB)) for half in (reductions.reduce_scatter, reductions.all_gather))
    assert float(sum(halves)[0, 0]) == pytest.approx(time(name, wires=narrow))


def test_an_algorithm_without_halves_leaves_them_to_rings():
    halves = [reductions.reduce_scatter(net(), group(64.0, name), column(GIB)) for name in ("binomial", "auto")]
    assert halves[0] == halves[1]


@pytest.mark.parametrize("name", ["hierarchical", "rabenseifner", "recursive-doubling"])
def test_a_narrow_tier_slows_what_crosses_it(name):
    """A tier with 16 ranks, two nodes, below a switch: the rails of both nodes enter it and leave it."""
    assert time(name, wires=net(8.0, 16.0)) > 1.5 * time(name)
    assert time(name, ranks=16.0, wires=net(8.0, 16.0)) == time(name, ranks=16.0)


def test_a_batch_of_plans_gives_what_each_plan_gives():
    count = len(ALL_REDUCES)
    together = reductions.all_reduce(net(), Group(column(*[64.0] * count), 1.0, column(*range(count))), column(GIB))
    assert together[0].tolist() == [time(name) for name in ALL_REDUCES]


def test_no_algorithm_beats_the_bound_of_links_and_ports():
    least = max(2 * GIB * 63 / 64 / (INSIDE + OUTSIDE), GIB * 7 / 8 / (8 * OUTSIDE))
    assert all(time(name) > least for name in ALL_REDUCES if name != "collnet")
