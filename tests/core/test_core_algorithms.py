"""The closed forms of collectives against ranks that exchange real chunks, and against the bounds."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiplan.core import all_reduces, broadcasts, exchanges, gathers, trees
from aiplan.core.algorithms import ALGORITHMS, EXCHANGES, OPERATIONS, algorithms_of, least_time
from aiplan.core.net import Net

sys.path.insert(0, str(Path(__file__).parent))
import message_simulator as played
import switch_simulator as switched
import tree_simulator as pipelined

sys.path.pop(0)

RANKS = (*range(1, 34), 47, 48, 63, 64)
ODD_SIZES = (1, 7, 101, 1000, 4099)
FLAT = Net(64, 3.0, 1.0, 5.0, 1.0)
NODES = [(2, 2), (2, 4), (4, 3), (6, 3), (8, 2), (8, 4), (8, 8), (1, 5), (1, 16), (3, 5)]
"""Ranks of a node, and nodes."""


def two_level(local):
    return Net(local, 3.0, 4.0, 7.0, 1.0)


def play(algorithm, ranks, size, net):
    """Run an all-reduce; return the time, having checked the sums on every rank."""
    machine, data = played.Machine(ranks, net), played.inputs(ranks, size)
    want = sum(played.inputs(ranks, size))
    assert all(np.array_equal(part, want) for part in algorithm(machine, data))
    return machine.time


EXACT = {
    "ring": (played.ring_all_reduce, all_reduces.ring, lambda ranks: 2 * (ranks - 1)),
    "recursive doubling": (played.recursive_doubling, all_reduces.recursive_doubling, lambda _: 0),
    "rabenseifner": (played.rabenseifner, all_reduces.rabenseifner, lambda ranks: 2 * ranks.bit_length()),
    "binomial": (played.binomial_all_reduce, all_reduces.binomial_tree, lambda _: 0),
}


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", EXACT)
def test_all_reduces_in_one_node(name, ranks):
    algorithm, form, rounding = EXACT[name]
    even = 64 * ranks
    exact = form(even, ranks, FLAT)
    assert play(algorithm, ranks, even, FLAT) == pytest.approx(exact, rel=1e-12)
    for size in ODD_SIZES:
        time, closed = play(algorithm, ranks, size, FLAT), form(size, ranks, FLAT)
        assert closed * (1 - 1e-12) <= time <= closed + rounding(ranks) + 1e-9, "at most a byte a step more"


@pytest.mark.parametrize(("local", "nodes"), NODES)
@pytest.mark.parametrize("name", ["recursive doubling", "rabenseifner", "binomial"])
def test_all_reduces_over_nodes(name, local, nodes):
    algorithm, form, _ = EXACT[name]
    net, ranks = two_level(local), local * nodes
    time, closed = play(algorithm, ranks, 64 * ranks, net), float(form(64 * ranks, ranks, net))
    if local & (local - 1) == 0:
        assert time == pytest.approx(closed, rel=1e-12)
    else:  # some ranks find a partner of a later round in their node: the form charges the network to all
        assert 0.6 * closed <= time <= closed


def lone(ranks):
    """Whether the roots of two trees over so many ranks have one child each: a power of two of ranks, over 2."""
    return ranks > 2 and ranks & (ranks - 1) == 0


@pytest.mark.parametrize("ranks", RANKS)
def test_double_tree(ranks):
    """k chunks take as many rounds as the tree has levels, and k - 1; a rank sends at most its buffer each way.

    Where the roots have one child each, the last round upwards and the first one downwards move half of a chunk.
    """
    levels, most = ranks.bit_length() - 1, 0.5 if ranks == 2 else 1.0
    for size in (24, 720):
        taken = {k: 2 * (levels + k - 1) * (3.0 + most * size / k) * (ranks > 1) for k in range(1, 61)}
        closed = float(trees.double_tree(size, ranks, FLAT))
        assert closed * (1 - 1e-12) <= min(taken.values()) <= 1.02 * closed, "the best number of chunks is whole"
        for chunks in (1, 3, 12):
            time = play(lambda m, d, k=chunks: pipelined.double_tree(m, d, k), ranks, size, FLAT)
            assert time == pytest.approx(taken[chunks] - lone(ranks) * size / chunks, rel=1e-12)
            assert time >= OPERATIONS["all-reduce"].least(size, ranks, FLAT) * (1 - 1e-12)
    for size in ODD_SIZES:
        chunks = min(size, 8)
        time = play(lambda m, d, k=chunks: pipelined.double_tree(m, d, k), ranks, size, FLAT)
        exact = 2 * (levels + chunks - 1) * (3.0 + most * size / chunks) - lone(ranks) * size / chunks
        assert abs(time - exact * (ranks > 1)) <= 4 * (levels + chunks), "halves and chunks differ by a byte"


@pytest.mark.parametrize(("local", "nodes"), NODES)
def test_double_trees_on_rails(local, nodes):
    """The first chunk passes all levels, the others follow at the slower kind of link."""
    net, ranks = two_level(local), local * nodes
    near, far = local.bit_length() - 1, nodes.bit_length() - 1
    for size in (48 * local, 720 * local):
        inside = lambda k, n=size: 3.0 + n * (1 - 1 / local) / (4.0 * k)  # noqa: E731
        outside = lambda k, n=size: 7.0 + n * (0.5 if nodes == 2 else 1.0) / (local * k)  # noqa: E731
        taken = {
            k: 2 * (near * inside(k) + far * outside(k) + (k - 1) * max(inside(k) * (near > 0), outside(k)))
            for k in range(1, 200)
        }
        closed = float(trees.double_tree(size, ranks, net))
        assert closed * (1 - 1e-12) <= min(taken.values()) <= 1.03 * closed
        for chunks, share in ((1, 0.39), (6, 0.78), (24, 0.93)):
            time = play(lambda m, d, k=chunks: pipelined.double_tree(m, d, k), ranks, size, net)
            assert share * taken[chunks] <= time <= taken[chunks] * (1 + 1e-12), "first and last rounds move less"
            assert time >= OPERATIONS["all-reduce"].least(size, ranks, net) * (1 - 1e-12)


@pytest.mark.parametrize("ranks", RANKS)
def test_double_tree_broadcast(ranks):
    levels = (ranks - 1).bit_length()
    for size in (24, 720):
        taken = {k: (levels + k - 1) * (3.0 + size / k) * (ranks > 1) for k in range(1, 61)}
        closed = float(trees.double_tree_broadcast(size, ranks, FLAT))
        assert closed * (1 - 1e-12) <= min(taken.values()) <= 1.02 * closed
        for chunks in (1, 3, 12):
            machine, data = played.Machine(ranks, FLAT), played.inputs(ranks, size)
            want = data[0].copy()
            assert all(np.array_equal(part, want) for part in pipelined.double_tree_broadcast(machine, data, chunks))
            assert taken[chunks] * 0.75 <= machine.time <= taken[chunks] * (1 + 1e-12)
            assert machine.time >= OPERATIONS["broadcast"].least(size, ranks, FLAT) * (1 - 1e-12)


@pytest.mark.parametrize("ranks", RANKS)
def test_sums_and_copies_in_a_switch(ranks):
    """A byte a tick and port: a few ticks pass before the ports are full."""
    net = Net(ranks, 0.0, 1.0)
    for size in (1, 101, 4 * ranks):
        data, want = played.inputs(ranks, size), sum(played.inputs(ranks, size))
        ticks = switched.switch_ticks(data, adding=True)
        assert all(np.array_equal(part, want) for part in data)
        assert ranks == 1 or all_reduces.nvls(size, ranks, net) <= ticks <= all_reduces.nvls(size, ranks, net) + 5
        assert ticks >= OPERATIONS["all-reduce"].least_in_node(size, ranks, net)
        data = played.inputs(ranks, size)
        want = np.array([data[byte % ranks][byte] for byte in range(size)])
        ticks = switched.switch_ticks(data, adding=False)
        assert all(np.array_equal(part, want) for part in data)
        assert ticks == size + 1, "one tick up, then down one byte after the other"
        assert ranks == 1 or gathers.nvls_all_gather(size, ranks, net) == size


@pytest.mark.parametrize(("local", "nodes"), [pair for pair in NODES if pair[0] > 1])
def test_sums_in_switches_and_trees_between_nodes(local, nodes):
    """With many chunks the ports are full; NCCL takes (p - 1) / p of g / (g - 1) more inside than what passes."""
    ranks, size, chunks = local * nodes, 960 * local, 60
    stages = 2 + 2 * (nodes.bit_length() - 1)
    for inside in (0.5, 4.0, 100.0):
        net = Net(local, 0.01, inside, 0.03, 1.0)
        node, fabric = size * (1 + 1 / local) / inside, size / local
        time = play(lambda m, d: switched.nvls_tree(m, d, chunks), ranks, size, net)
        longest = max(node, {2: 1.0, 3: 1.5}.get(nodes, 2.0) * fabric)  # of three nodes two are roots, one is a leaf
        assert 0.95 * longest <= time <= (1.03 + stages / chunks) * longest, "as many rounds as chunks and stages"
        more = (1 - 1 / ranks) / (1 - 1 / local)
        latency = 0.01 + (stages - 2) * 0.03
        assert all_reduces.nvls_tree(size, ranks, net) == pytest.approx(
            latency + max(node * more, min(nodes - 1, 2) * fabric)
        )
        assert time >= OPERATIONS["all-reduce"].least_in_node(size, ranks, net)
    small = play(lambda m, d: switched.nvls_tree(m, d, 1), ranks, 2 * local, Net(local, 2.0, 1e9, 5.0, 1e9))
    closed = float(all_reduces.nvls_tree(2 * local, ranks, Net(local, 2.0, 1e9, 5.0, 1e9)))
    assert small == pytest.approx(closed + 2.0), "the kernel that sums and copies starts once"


@pytest.mark.parametrize(("local", "nodes"), NODES)
def test_sums_in_the_fabric(local, nodes):
    net, ranks = two_level(local), local * nodes
    for size in (12 * local, *ODD_SIZES[:4]):
        time, closed = play(switched.collnet, ranks, size, net), float(all_reduces.in_network(size, ranks, net))
        whole = -(-size // local) * local
        most = float(all_reduces.in_network(whole, ranks, net)) + 1.0
        assert closed * (1 - 1e-12) <= time <= most * (1 + 1e-12), "a byte behind, and parts of whole bytes"
        assert time >= OPERATIONS["all-reduce"].least_in_network(size, ranks, net) * (1 - 1e-12)


@pytest.mark.parametrize(("local", "nodes"), [(g, ranks // g) for ranks in RANKS for g in (1, 2, 4) if ranks % g == 0])
def test_every_number_of_nodes(local, nodes):
    """Sums are right for a size that nothing divides, in no more rounds and bytes a round than the forms count."""
    net, ranks, size, chunks = two_level(local), local * nodes, 101, 3
    near, far, both = local.bit_length() - 1, nodes.bit_length() - 1, 1 if nodes == 2 else 2
    part = -(-size // (2 * chunks * (1 if nodes == 1 else local)))
    inside = 3.0 + part * (2 * (local - 1) if nodes > 1 else 1 if ranks == 2 else 2) / 4.0
    outside = 7.0 + part * both
    slower = max(inside * (near > 0), outside * (far > 0))
    time = play(lambda m, d: pipelined.double_tree(m, d, chunks), ranks, size, net)
    assert time <= 2 * (near * inside + far * outside + (chunks - 1) * slower) * (1 + 1e-12)
    assert time >= OPERATIONS["all-reduce"].least(size, ranks, net) * (1 - 1e-12)
    if nodes == 1:
        return
    closed = float(all_reduces.in_network(-(-size // local) * local, ranks, net))
    assert 0.97 * closed <= play(switched.collnet, ranks, size, net) <= closed + 1.0
    if local > 1:
        time = play(lambda m, d: switched.nvls_tree(m, d, chunks), ranks, size, net)
        longest = max(3.0 + 2 * part * (local + 1) / 4.0, 7.0 + 2 * both * part)
        assert time <= (chunks + 1 + 2 * far) * longest * (1 + 1e-12)
        assert time >= OPERATIONS["all-reduce"].least_in_node(size, ranks, net) * (1 - 1e-12)


@pytest.mark.parametrize("ranks", RANKS)
def test_rabenseifner_reduce(ranks):
    for size in (64 * ranks, *ODD_SIZES):
        machine, want = played.Machine(ranks, FLAT), sum(played.inputs(ranks, size))
        assert np.array_equal(played.rabenseifner_reduce(machine, played.inputs(ranks, size))[0], want)
        closed = float(broadcasts.rabenseifner_reduce(size, ranks, FLAT))
        least = OPERATIONS["reduce"].least(size, ranks, FLAT)
        assert machine.time >= least * (1 - 1e-12)
        if size == 64 * ranks:
            assert machine.time == pytest.approx(closed, rel=1e-12)
        else:
            assert abs(machine.time - closed) <= 2 * ranks.bit_length(), "halves differ by a byte"


@pytest.mark.parametrize(("local", "nodes"), [(1, 2), (2, 4), (4, 4), (8, 8), (1, 32)])
def test_rabenseifner_reduce_over_nodes(local, nodes):
    net, ranks = two_level(local), local * nodes
    machine = played.Machine(ranks, net)
    played.rabenseifner_reduce(machine, played.inputs(ranks, 64 * ranks))
    assert machine.time == pytest.approx(float(broadcasts.rabenseifner_reduce(64 * ranks, ranks, net)), rel=1e-12)


@pytest.mark.parametrize("ranks", RANKS)
def test_broadcast_and_reduce(ranks):
    for size in ODD_SIZES:
        source = played.inputs(ranks, size)
        machine, data = played.Machine(ranks, FLAT), [part.copy() for part in source]
        assert all(np.array_equal(part, source[0]) for part in played.binomial_broadcast(machine, data))
        assert machine.time == pytest.approx(broadcasts.binomial_broadcast(size, ranks, FLAT))
        machine = played.Machine(ranks, FLAT)
        assert np.array_equal(played.binomial_reduce(machine, source)[0], sum(played.inputs(ranks, size)))
        assert machine.time == pytest.approx(broadcasts.binomial_reduce(size, ranks, FLAT))


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 17, 33])
@pytest.mark.parametrize("size", [12, 600])
def test_chain_broadcast_with_the_best_chunks(ranks, size):
    closed = float(broadcasts.chain_broadcast(size, ranks, FLAT))
    times = []
    for chunks in range(1, min(size, 120) + 1):
        machine, data = played.Machine(ranks, FLAT), played.inputs(ranks, size)
        want = data[0].copy()
        assert all(np.array_equal(part, want) for part in played.chain_broadcast(machine, data, chunks))
        times.append(machine.time)
    assert closed * (1 - 1e-12) <= min(times) <= 1.06 * closed


@pytest.mark.parametrize("ranks", RANKS)
def test_exchanges_and_gathers(ranks):
    size = 5 * ranks
    want = [np.concatenate([part[5 * rank :][:5] for part in played.inputs(ranks, size)]) for rank in range(ranks)]
    for algorithm in (played.pairwise_all_to_all, played.bruck_all_to_all):
        machine = played.Machine(ranks, FLAT)
        got = algorithm(machine, played.inputs(ranks, size))
        assert all(np.array_equal(*pair) for pair in zip(got, want, strict=True))
        if algorithm is played.pairwise_all_to_all:
            assert machine.time == pytest.approx(exchanges.pairwise(size, ranks, FLAT))
        else:
            closed = exchanges.bruck(size, ranks, FLAT)
            power = ranks & (ranks - 1) == 0
            assert machine.time == pytest.approx(closed) if power else machine.time <= closed
    whole = np.arange(size)
    for algorithm, form in (
        (played.ring_all_gather, gathers.ring_all_gather),
        (played.bruck_all_gather, gathers.bruck_all_gather),
    ):
        data = [np.full(size, -1) for _ in range(ranks)]
        for rank in range(ranks):
            data[rank][5 * rank :][:5] = whole[5 * rank :][:5]
        machine = played.Machine(ranks, FLAT)
        assert all(np.array_equal(part, whole) for part in algorithm(machine, data))
        assert machine.time == pytest.approx(form(size, ranks, FLAT))


@pytest.mark.parametrize(("local", "nodes"), [(2, 2), (4, 3), (8, 4), (6, 3), (4, 16), (3, 5)])
def test_hierarchical_all_reduce_and_rail_aligned_all_to_all(local, nodes):
    net, ranks = two_level(local), local * nodes
    time = play(played.hierarchical_all_reduce, ranks, 12 * ranks, net)
    assert time == pytest.approx(float(all_reduces.two_level(12 * ranks, ranks, net)))
    machine, size = played.Machine(ranks, net), 3 * ranks
    got = played.rail_aligned_all_to_all(machine, played.inputs(ranks, size))
    for rank in range(ranks):
        assert np.array_equal(got[rank], np.concatenate([p[3 * rank :][:3] for p in played.inputs(ranks, size)]))
    assert machine.time == pytest.approx(float(exchanges.rail_aligned(size, ranks, net)))


@pytest.mark.parametrize(("local", "nodes"), [(1, 2), (2, 4), (4, 4), (8, 1), (8, 8), (1, 32)])
def test_halving_and_doubling(local, nodes):
    net, ranks = two_level(local), local * nodes
    machine, data = played.Machine(ranks, net), played.inputs(ranks, 8 * ranks)
    want = sum(played.inputs(ranks, 8 * ranks))
    own = played.halving_reduce_scatter(machine, data)
    assert all(np.array_equal(data[rank][own[rank]], want[own[rank]]) for rank in range(ranks))
    assert machine.time == pytest.approx(float(gathers.halving_reduce_scatter(8 * ranks, ranks, net)))
    gathering = played.Machine(ranks, net)
    assert all(np.array_equal(part, want) for part in played.doubling_all_gather(gathering, data, own))
    assert gathering.time == pytest.approx(float(gathers.doubling_all_gather(8 * ranks, ranks, net)))


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", ["pairwise", "pat"])
def test_reduce_scatters(name, ranks):
    algorithm, form = {
        "pairwise": (played.pairwise_reduce_scatter, gathers.pairwise_reduce_scatter),
        "pat": (played.pat_reduce_scatter, gathers.pat_reduce_scatter),
    }[name]
    size = 5 * ranks
    machine, want = played.Machine(ranks, FLAT), sum(played.inputs(ranks, size))
    own = algorithm(machine, played.inputs(ranks, size))
    assert np.array_equal(np.concatenate(own), want)
    assert machine.time == pytest.approx(float(form(size, ranks, FLAT)))


@pytest.mark.parametrize("ranks", RANKS)
def test_parallel_aggregated_trees(ranks):
    size, whole = 5 * ranks, np.arange(5 * ranks)
    data = [np.full(size, -1) for _ in range(ranks)]
    for rank in range(ranks):
        data[rank][5 * rank :][:5] = whole[5 * rank :][:5]
    machine = played.Machine(ranks, FLAT)
    assert all(np.array_equal(part, whole) for part in played.pat_all_gather(machine, data))
    assert machine.time == pytest.approx(float(gathers.pat_all_gather(size, ranks, FLAT)))


@pytest.mark.parametrize("ranks", RANKS)
def test_scatter_and_gather_broadcast(ranks):
    """The scatter halves what is left: exact for powers of two; else the first half is the larger one."""
    size = 6 * ranks
    machine, data = played.Machine(ranks, FLAT), played.inputs(ranks, size)
    want = data[0].copy()
    assert all(np.array_equal(part, want) for part in played.scatter_broadcast(machine, data))
    closed = float(broadcasts.scatter_broadcast(size, ranks, FLAT))
    if ranks & (ranks - 1) == 0:
        assert machine.time == pytest.approx(closed)
    else:
        assert 0.8 * closed <= machine.time <= closed * (1 + 1e-12)


@pytest.mark.parametrize("ranks", [2, 3, 5, 8, 17, 64])
@pytest.mark.parametrize("size", [12, 600])
def test_chain_reduce_with_the_best_chunks(ranks, size):
    closed, want = float(broadcasts.chain_reduce(size, ranks, FLAT)), sum(played.inputs(ranks, size))
    times = []
    for chunks in range(1, min(size, 120) + 1):
        machine = played.Machine(ranks, FLAT)
        assert np.array_equal(played.chain_reduce(machine, played.inputs(ranks, size), chunks)[0], want)
        times.append(machine.time)
    assert closed * (1 - 1e-12) <= min(times) <= 1.06 * closed


def test_a_simulation_that_loses_data_is_noticed():
    def broken(machine, data):
        played.ring_all_reduce(machine, data)
        data[1][0] += 1
        return data

    with pytest.raises(AssertionError):
        play(broken, 4, 16, FLAT)


# ------------------------------------------------------------------ properties

ROWS = [(operation, row) for operation in OPERATIONS for row in algorithms_of(operation)]
NAMED = [f"{operation} {row.name}" for operation, row in ROWS]
positive = st.floats(1e-7, 1e-3)
rates = st.floats(1e8, 1e12)
nets = st.builds(
    Net,
    local_ranks=st.sampled_from([1, 2, 3, 4, 6, 8, 16, 72]),
    inside_latency=positive,
    inside_bandwidth=rates,
    outside_latency=positive,
    outside_bandwidth=rates,
    launch=st.floats(0, 1e-4),
    reduction=st.one_of(st.just(np.inf), rates),
)
sizes = st.integers(1, 2**34)


@st.composite
def settings_of(draw):
    """Draw a size, a network, and ranks that fill whole nodes or part of one."""
    net = draw(nets)
    if draw(st.booleans()):
        return draw(sizes), draw(st.integers(1, net.local_ranks)), net
    return draw(sizes), net.local_ranks * draw(st.integers(1, 128)), net


@pytest.mark.parametrize(("operation", "row"), ROWS, ids=NAMED)
@given(case=settings_of())
def test_no_result_beats_the_bound(operation, row, case):
    size, ranks, net = case
    if row.need.holds(ranks, net):
        least = least_time(operation, row)(size, ranks, net)
        assert row.forms[operation](size, ranks, net) >= least * (1 - 1e-9)


@pytest.mark.parametrize(("operation", "row"), ROWS, ids=NAMED)
@given(case=settings_of(), factor=st.floats(1.0, 100.0))
def test_more_bytes_and_slower_links_never_take_less_time(operation, row, case, factor):
    size, ranks, net = case
    form = row.forms[operation]
    time = form(size, ranks, net)
    slower = net._replace(
        inside_bandwidth=net.inside_bandwidth / factor, outside_bandwidth=net.outside_bandwidth / factor
    )
    later = net._replace(inside_latency=net.inside_latency * factor, outside_latency=net.outside_latency * factor)
    assert form(size * factor, ranks, net) >= time * (1 - 1e-12)
    assert form(size, ranks, slower) >= time * (1 - 1e-12)
    assert form(size, ranks, later) >= time * (1 - 1e-12)


@pytest.mark.parametrize(("operation", "row"), ROWS, ids=NAMED)
@given(size=sizes, net=nets)
def test_one_rank_takes_no_time(operation, row, size, net):
    assert row.forms[operation](size, 1, net) == 0


@pytest.mark.parametrize(("operation", "row"), ROWS, ids=NAMED)
def test_forms_broadcast_and_keep_the_shape(operation, row):
    net = Net(np.array([2.0, 4.0, 8.0]), 1e-6, 1e11, 5e-6, 1e10)
    sizes = np.array([[8.0], [1e6]])
    together = row.forms[operation](sizes, np.array([8.0, 8.0, 16.0]), net)
    assert together.shape == (2, 3)
    alone = row.forms[operation](1e6, 16.0, net._replace(local_ranks=8.0))
    assert together[1, 2] == alone


@pytest.mark.parametrize("row", ALGORITHMS.values(), ids=list(ALGORITHMS))
def test_registry_rows(row):
    assert row.need.text
    assert row.source.startswith("https://")
    assert set(row.nccl) <= set(row.forms) <= set(OPERATIONS)


def test_in_network_reduction_gains_at_most_twice_the_ring():
    for ranks in (2, 8, 64):
        net = Net(1, outside_bandwidth=1e9)
        gain = all_reduces.ring(1e9, ranks, net) / all_reduces.in_network(1e9, ranks, net)
        assert gain == pytest.approx(2 * (ranks - 1) / ranks)
        inside = Net(ranks, inside_bandwidth=1e9)
        gain = all_reduces.ring(1e9, ranks, inside) / all_reduces.nvls(1e9, ranks, inside)
        assert gain == pytest.approx(2 * (ranks - 1) / (ranks + 1))


@pytest.mark.parametrize("ranks", [4, 8, 16, 64])
def test_crossovers_by_algebra(ranks):
    """Where two forms meet, solved by hand for p a power of two: a = 3, b = 1."""
    rounds, share = np.log2(ranks), (ranks - 1) / ranks
    meets = {
        (all_reduces.recursive_doubling, all_reduces.rabenseifner): rounds * 3 / (rounds - 2 * share),
        (broadcasts.binomial_broadcast, broadcasts.scatter_broadcast): (ranks - 1) * 3 / (rounds - 2 * share),
        (exchanges.bruck, exchanges.pairwise): (ranks - 1 - rounds) * 3 / (rounds / 2 - share),
    }
    if ranks > 4:
        root = np.sqrt(rounds * share) - np.sqrt(rounds - 1)
        meets[trees.double_tree, all_reduces.ring] = ranks**2 * 3 * root**2
    for (small, large), size in meets.items():
        assert small(size, ranks, FLAT) == pytest.approx(float(large(size, ranks, FLAT)))
        assert small(0.9 * size, ranks, FLAT) < large(0.9 * size, ranks, FLAT)


def test_what_counts_what_leaves_a_rank_are_operations():
    assert set(EXCHANGES) < set(OPERATIONS)
