"""The closed forms against plain loops, enumerations and what must always hold."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiplan.core import placement, quotas
from aiplan.planning.scheduling.fragments import Typical
from aiplan.planning.scheduling.ledger import Cohort, Ledger, Quota
from aiplan.planning.scheduling.machine import Group, Pod, machine
from aiplan.planning.scheduling.state import State

quick = settings(max_examples=60, deadline=None)
whole = st.integers(0, 10**6)
MANY = np.full(3, 1e6)
"""More than anybody asks for."""


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
    ledger = Ledger(quota, np.full(3, 1000.0))
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
            st.sampled_from([0, 100, 500, 1000, 1000, 1000]),
            st.sampled_from([1, 2, 4]),
            st.integers(0, 8),
            st.sampled_from([(), (0,), (1,)]),
        ),
        min_size=1,
        max_size=6,
    ),
    st.lists(
        st.lists(st.sampled_from([0, 1000]), min_size=4, max_size=4)
        | st.lists(st.just(1000) | st.integers(0, 1000), min_size=4, max_size=4),
        min_size=3,
        max_size=3,
    ),
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


def test_a_shared_pod_on_a_whole_gpu_takes_it_from_pods_of_several():
    """Two whole GPUs are of use to pods of two, and with half of one gone none of them is."""
    state = State(machine([Group(1, 2, 9, 0)]))
    known, half = Typical([(Pod(0, 0, 2), 1.0)]), Pod(0, 0, 1, 500)
    assert known.of(state).tolist() == [0.0]
    assert known.score(state, half, np.array([0])).tolist() == [math.floor(100 / (1 + math.exp(1.5)))]


trees = st.lists(st.integers(-1, 3), min_size=1, max_size=4).map(
    # Parents have smaller numbers, so that there is no circle; the first is a root.
    lambda above: [min(one, number - 1) if number else -1 for number, one in enumerate(above)]
)
bounds = st.sampled_from([0.0, 2.0, 5.0, math.inf])


class Node:
    """One queue or cohort, as Kueue keeps it: quotas are summed up the tree, use bubbles up beyond what is kept."""

    def __init__(self, own, borrows, lends, above=None):
        self.own, self.borrows, self.lends, self.above, self.used = own, borrows, lends, above, 0.0
        self.quota = own

    def kept(self):
        return max(0.0, self.quota - self.lends)

    def spare(self):
        return max(0.0, self.kept() - self.used)

    def available(self):
        if self.above is None:
            return self.quota - self.used
        over = self.above.available()
        if math.isfinite(self.borrows):
            stored, taken = self.quota - self.kept(), max(0.0, self.used - self.kept())
            over = min(over, stored - taken + self.borrows)
        return self.spare() + over

    def add(self, amount):
        up = amount - self.spare()
        self.used += amount
        if self.above is not None and up > 0:
            self.above.add(up)

    def remove(self, amount):
        stored = self.used - self.kept()
        self.used -= amount
        if self.above is not None and stored > 0:
            self.above.remove(min(amount, stored))


@quick
@given(
    trees,
    st.lists(st.tuples(st.integers(0, 9), bounds, bounds), min_size=4, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), bounds, bounds), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 6), st.booleans()), max_size=30),
)
def test_trees_of_cohorts_against_a_step_by_step_one(above, cohorts, queues, steps):
    three = lambda value: (float(value), math.inf, math.inf)  # noqa: E731
    names = [f"c{number}" for number in range(len(above))]
    plain = []
    for number, parent in enumerate(above):
        own, most, lent = cohorts[number]
        plain.append(Node(own, most, lent, plain[parent] if parent >= 0 else None))
    leaves = [Node(own, most, lent, plain[at % len(above)]) for at, own, most, lent in queues]
    for node in [*leaves, *reversed(plain)]:
        if node.above is not None:
            node.above.quota += node.quota - node.kept()
    ledger = Ledger(
        [
            Quota(
                f"q{n}", nominal=three(own), cohort=names[at % len(above)], borrowing=three(most), lending=three(lent)
            )
            for n, (at, own, most, lent) in enumerate(queues)
        ],
        np.full(3, 1e6),
        [
            Cohort(
                names[number],
                names[parent] if parent >= 0 else "",
                (float(cohorts[number][0]), 0.0, 0.0),
                three(cohorts[number][1]),
                three(cohorts[number][2]),
            )
            for number, parent in enumerate(above)
        ],
    )
    taken = []
    for queue, gpus, gives in steps:
        request = np.array([float(gpus), 0.0, 0.0])
        if gives and taken:
            last, amount = taken.pop()
            ledger.give(last, np.array([float(amount), 0.0, 0.0]))
            leaves[last].remove(amount)
        elif queue < len(queues):
            fits = gpus <= leaves[queue].available()
            assert ledger.admits(queue, request) == fits
            if fits:
                ledger.take(queue, request)
                leaves[queue].add(gpus)
                taken.append((queue, gpus))
        found = [ledger.available(leaf)[0] for leaf in range(len(queues))]
        assert found == pytest.approx([max(leaf.available(), 0.0) for leaf in leaves])


def test_fair_sharing_counts_the_workload_and_what_the_parent_can_lend():
    """Two queues of 4 in a cohort of 20: one that uses 6 and asks for 2 more borrows 4 of 20, for weight 2."""
    cohort = Cohort("c", nominal=(12.0, 0.0, 0.0))
    own = (4.0, math.inf, math.inf)
    ledger = Ledger(
        [Quota("a", nominal=own, cohort="c", weight=2), Quota("b", nominal=own, cohort="c")], MANY, [cohort]
    )
    ledger.take(0, np.array([6.0, 0.0, 0.0]))
    assert ledger.shares(0, np.array([2.0, 0.0, 0.0])) == [(0, pytest.approx(1000 * 4 / 20 / 2))]
    assert ledger.shares(1, np.array([4.0, 0.0, 0.0])) == [(1, 0.0)]


def test_reclaiming_spares_cohorts_within_their_quota():
    """A queue takes back what borrowers use, but not from a cohort that stays within what it has."""
    own = lambda gpus: (float(gpus), math.inf, math.inf)  # noqa: E731
    queues = [
        Quota("me", nominal=own(8), cohort="left"),
        Quota("sister", nominal=own(0), cohort="left"),
        Quota("modest", nominal=own(0), cohort="right"),
        Quota("greedy", nominal=own(0), cohort="other"),
    ]
    cohorts = [
        Cohort("root"),
        Cohort("left", "root", (2.0, 0.0, 0.0)),
        Cohort("right", "root", (4.0, 0.0, 0.0)),
        Cohort("other", "root", (0.0, 0.0, 0.0)),
    ]
    ledger = Ledger(queues, MANY, cohorts)
    for queue, gpus in ((1, 3.0), (2, 4.0), (3, 7.0)):
        ledger.take(queue, np.array([gpus, 0.0, 0.0]))
    assert ledger.lenders_out(0, np.array([8.0, 0.0, 0.0])) == {1, 3}
    # More than its own quota, but within that of its cohort with it: only from outside of the cohort.
    assert ledger.lenders_out(0, np.array([9.0, 0.0, 0.0])) == set()
    ledger.give(1, np.array([3.0, 0.0, 0.0]))
    assert ledger.lenders_out(0, np.array([9.0, 0.0, 0.0])) == {3}
    assert ledger.lenders_out(0, np.array([11.0, 0.0, 0.0])) == set()


def test_what_a_queue_keeps_for_itself_is_used_before_its_cohort_is_asked():
    """Six are more than a queue's four; of its own it keeps two, and the other four are what its cohort has."""
    three = lambda gpus: (float(gpus), math.inf, math.inf)  # noqa: E731
    queues = [
        Quota("me", nominal=three(4), cohort="left", lending=three(2)),
        Quota("greedy", nominal=three(0), cohort="root"),
    ]
    cohorts = [Cohort("root"), Cohort("left", "root", (2.0, 0.0, 0.0))]
    ledger = Ledger(queues, MANY, cohorts)
    ledger.take(1, np.array([3.0, 0.0, 0.0]))
    assert ledger.lenders_out(0, np.array([6.0, 0.0, 0.0])) == {1}
    assert ledger.lenders_out(0, np.array([7.0, 0.0, 0.0])) == set()


def water(total, weight, request, capability, guarantee):
    """Share out as Volcano's plugin does, queue by queue and resource by resource."""
    queues, kinds = range(len(weight)), range(len(total))
    most = [
        [min(capability[q][r], total[r] - sum(guarantee[o][r] for o in queues) + guarantee[q][r]) for r in kinds]
        for q in queues
    ]
    deserved, left, met = [[0.0] * len(total) for _ in queues], list(total), set()
    for _ in range(10_000):
        open_weight = sum(weight[q] for q in queues if q not in met)
        if not open_weight:
            break
        change = [0.0 for _ in kinds]
        for q in [q for q in queues if q not in met]:
            old = deserved[q]
            new = [min(old[r] + left[r] * weight[q] / open_weight, most[q][r], request[q][r]) for r in kinds]
            if all(request[q][r] <= new[r] for r in kinds) or new == old:
                met.add(q)
            deserved[q] = [max(new[r], guarantee[q][r]) for r in kinds]
            change = [change[r] + deserved[q][r] - old[r] for r in kinds]
        left = [left[r] - change[r] for r in kinds]
        if all(one < 1e-9 for one in left) or not any(change):
            break
    return deserved


@quick
@given(
    st.lists(
        st.tuples(
            st.integers(1, 4),
            st.tuples(st.integers(0, 60), st.integers(0, 60)),
            st.tuples(st.sampled_from([5.0, 20.0, math.inf]), st.sampled_from([10.0, math.inf])),
            st.sampled_from([0.0, 0.0, 3.0]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_shares_of_several_resources_against_a_loop(queues):
    total = [40.0, 64.0]
    weight, request, capability, guaranteed = map(list, zip(*queues, strict=True))
    guarantee = [[one, 0.0] for one in guaranteed]
    expected = water(total, weight, [[*map(float, one)] for one in request], capability, guarantee)
    found = quotas.deserved(
        np.array(total)[:, np.newaxis],
        np.array(weight),
        np.array(request, dtype=float).T,
        np.array(capability).T,
        np.array(guarantee).T,
    )
    assert pytest.approx(np.array(expected), rel=1e-6, abs=1e-6) == found.T
