"""The closed forms against plain loops, enumerations and what must always hold."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiplan.core import placement, quotas
from aiplan.planning.scheduling.fragments import Typical
from aiplan.planning.scheduling.ledger import Ledger, Quota
from aiplan.planning.scheduling.machine import Group, Pod, machine
from aiplan.planning.scheduling.state import State

quick = settings(max_examples=60, deadline=None)
whole = st.integers(0, 10**6)


@quick
@given(st.lists(st.tuples(whole, st.integers(1, 10**6), st.integers(1, 100)), min_size=1, max_size=4))
def test_node_scores_are_those_of_integer_arithmetic(resources):
    requested, allocatable, weights = (np.array(column) for column in zip(*resources, strict=True))
    most = [min(q, c) * 100 // c for q, c, _ in resources]
    least = [0 if q > c else (c - q) * 100 // c for q, c, _ in resources]
    total = sum(w for *_, w in resources)
    for form, scores in ((placement.most_allocated, most), (placement.least_allocated, least)):
        expected = sum(s * w for s, (*_, w) in zip(scores, resources, strict=True)) // total
        assert placement.weighted_score(form(requested, allocatable), weights) == expected


@quick
@given(
    st.lists(st.integers(0, 1000), min_size=1, max_size=8), st.integers(1, 8), st.integers(1, 1000), st.integers(0, 9)
)
def test_fragments_against_a_loop(left, gpus, each, cpu):
    fitting = sum(one >= each for one in left)
    expected = sum(left) if fitting < gpus or cpu < 5 else sum(one for one in left if one < each)
    assert placement.fragment(np.array(left), cpu, gpus, each, 5, 1) == expected


def blocking_by_counting(capacity, sizes, loads):
    """Blocking from the weights of every state there is."""
    ranges = [range(capacity // size + 1) for size in sizes]
    weights = {
        state: math.prod(load**n / math.factorial(n) for n, load in zip(state, loads, strict=True))
        for state in itertools.product(*ranges)
        if sum(n * size for n, size in zip(state, sizes, strict=True)) <= capacity
    }
    total = sum(weights.values())
    used = {state: sum(n * size for n, size in zip(state, sizes, strict=True)) for state in weights}
    return [sum(w for state, w in weights.items() if used[state] + size > capacity) / total for size in sizes]


@quick
@given(
    st.integers(1, 14),
    st.lists(st.tuples(st.integers(1, 6), st.floats(0.05, 4.0)), min_size=1, max_size=3),
)
def test_blocking_against_the_weights_of_all_states(capacity, classes):
    sizes, loads = zip(*classes, strict=True)
    assert placement.blocking(capacity, sizes, loads) == pytest.approx(blocking_by_counting(capacity, sizes, loads))


def test_blocking_of_one_class_is_erlang_b():
    load, servers = 6.0, 8
    erlang = (load**servers / math.factorial(servers)) / sum(load**n / math.factorial(n) for n in range(servers + 1))
    assert placement.blocking(servers, 1, load)[0] == pytest.approx(erlang)


def test_blocking_of_a_large_pool_does_not_overflow():
    found = placement.blocking(20_000, [1, 8, 512], [6_000.0, 900.0, 10.0])
    assert np.isfinite(found).all()
    assert (np.diff(found) > 0).all()


def test_random_placement_leaves_fewer_nodes_empty_than_the_count_says():
    generator = np.random.default_rng(0)
    taken = generator.random((4000, 8)) < 0.5
    assert (~taken).all(axis=1).mean() == pytest.approx(placement.empty_nodes_random(0.5, 8.0), abs=3e-3)


limits = st.sampled_from([0.0, 1.0, 4.0, math.inf])


@quick
@given(
    st.lists(st.tuples(st.integers(0, 12), limits, limits), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 5)), max_size=40),
)
def test_cohorts_lend_what_they_have_and_no_more(queues, requests):
    quota = [
        Quota(
            f"q{n}",
            nominal=(float(own), math.inf, math.inf),
            cohort="c",
            borrowing=(most, math.inf, math.inf),
            lending=(lent, math.inf, math.inf),
        )
        for n, (own, most, lent) in enumerate(queues)
    ]
    ledger = Ledger(quota, 1000.0)
    for queue, gpus in requests:
        request = np.array([float(gpus), 0.0, 0.0])
        if queue < len(queues) and ledger.admits(queue, request):
            ledger.take(queue, request)
    used = ledger.used[:, 0]
    own, borrow, lend = (np.array(column, dtype=float) for column in zip(*queues, strict=True))
    assert (used <= own + borrow).all()
    kept = own - np.minimum(own, lend)
    # What a queue keeps for itself is there for it, whatever the others have taken.
    assert all(ledger.available(queue)[0] >= max(kept[queue] - used[queue], 0.0) for queue in range(len(queues)))
    assert used.sum() <= own.sum()


@quick
@given(
    st.floats(1.0, 1000.0),
    st.lists(
        st.tuples(st.floats(0.1, 10.0), st.floats(0.0, 500.0), limits.map(lambda x: x * 50)), min_size=1, max_size=5
    ),
)
def test_deserved_shares_fill_up_like_water(total, queues):
    weight, request, capability = (np.array(column, dtype=float) for column in zip(*queues, strict=True))
    found = quotas.deserved(total, weight, request, capability, 0.0)
    most = np.minimum(request, capability)
    assert (found <= most * (1 + 1e-9) + 1e-9).all()
    assert found.sum() <= total * (1 + 1e-9)
    assert found.sum() == pytest.approx(min(total, most.sum()), rel=1e-6)
    unmet = found < most * (1 - 1e-6) - 1e-6
    if unmet.sum() > 1:  # those who want more have got the same for their weight
        level = (found / weight)[unmet]
        assert level.max() == pytest.approx(level.min(), rel=1e-5)


@quick
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(1, 20), st.integers(1, 3))
def test_gangs_in_racks_are_whole(room, pods, size):
    room, pods = np.array(room), pods * size
    slices = (room // size).sum()
    for form in (quotas.tightest_domains, quotas.fullest_domains):
        found = form(room, pods, size)
        assert found.sum() == (pods if slices * size >= pods else 0)
        assert (found <= room).all()
        assert (found % size == 0).all()
    if room.max() // size * size >= pods:
        assert (quotas.tightest_domains(room, pods, size) > 0).sum() == 1


@quick
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0, 100, 250, 500, 900, 1000]),
            st.sampled_from([1, 1, 2, 4]),
            st.integers(0, 8),
            st.sampled_from([(), (0,), (1,)]),
        ),
        min_size=1,
        max_size=6,
    ),
    st.lists(st.lists(st.integers(0, 1000), min_size=4, max_size=4), min_size=3, max_size=3),
    st.lists(st.integers(0, 9), min_size=3, max_size=3),
    st.tuples(st.sampled_from([0, 100, 500, 1000]), st.sampled_from([1, 2]), st.integers(0, 3)),
)
def test_fragments_from_tables_are_those_of_the_formula(typical, left, cpu, asked):
    """A pod on every GPU of three nodes in turn, and the formula of each on what is then left."""
    pods = [
        (Pod(cores, 0, 0 if each == 0 else 1 if each < 1000 else count, each or 1000, pools), 1 / len(typical))
        for each, count, cores, pools in typical
    ]
    each, count, cores = asked
    pod = Pod(cores, 0, 0 if each == 0 else 1 if each < 1000 else count, each or 1000)
    nodes = machine([Group(1, 4, 9, 0, pool=n % 2) for n in range(3)])
    state = State(nodes)
    state.gpu_left[:], state.cpu_left[:] = left, cpu
    state.milli_left[:], state.whole_left[:] = state.gpu_left.sum(axis=1), (state.gpu_left == 1000).sum(axis=1)

    def fragments(left, cpu, pool):
        return sum(
            share * placement.fragment(left, cpu, one.gpus, one.each, one.cpu, not one.pools or pool in one.pools)
            for one, share in pods
        )

    known = Typical(pods)
    before = [fragments(state.gpu_left[n], cpu[n], nodes.pool[n]) for n in range(3)]
    assert known.of(state) == pytest.approx(before)
    room = np.flatnonzero(state.room(pod, np.arange(3)))
    if not room.size:
        return
    for node, found in zip(room, known.score(state, pod, room), strict=True):
        ways = [(d,) for d in range(4) if state.gpu_left[node, d] >= pod.each] if pod.shared else []
        scores = []
        for devices in ways or [state.whole_devices(pod, node)]:
            after = state.gpu_left[node].copy()
            after[list(devices)] -= pod.each
            lost = fragments(after, cpu[node] - pod.cpu, nodes.pool[node])
            scores.append(100 / (1 + math.exp((lost - before[node]) / 1000)))
        assert found in {math.floor(max(scores) + slip) for slip in (-1e-9, 1e-9)}
