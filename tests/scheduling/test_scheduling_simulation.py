"""Events over time: nothing is given away twice, no job is lost, and the rules are those that are stated."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiplan.planning.scheduling.jobs import REQUIRED, STRICT, Budget, Failures, Policy
from aiplan.planning.scheduling.ledger import Cohort, Quota
from aiplan.planning.scheduling.machine import Group, Pod, machine
from aiplan.planning.scheduling.simulation import Simulation
from aiplan.planning.scheduling.strategies import NAMES, SHUFFLED, strategy
from scheduling.traces import jobs_of, uniform

HOUR = 3600.0
ONE = [Quota("all")]
LIMITED = [
    Quota("a", nominal=(10, math.inf, math.inf), cohort="both", lending=(4, math.inf, math.inf)),
    Quota("b", nominal=(14, math.inf, math.inf), cohort="both", borrowing=(3, math.inf, math.inf)),
    Quota("c", kind="volcano", nominal=(12, math.inf, math.inf), weight=2, guarantee=2),
    Quota("d", kind="volcano", weight=1),
]
TREE = [
    Cohort("both", "all", (2.0, math.inf, math.inf), borrowing=(3.0, math.inf, math.inf)),
    Cohort("all", "", (2,) * 3),
]
TYPICAL = [(Pod(1000, 1, 1, 500), 0.5), (Pod(2000, 1, 2), 0.5)]


def simulate(nodes, rows, queues=ONE, name="binpack", policy=Policy(), seed=0, cohorts=(), **shared):  # noqa: B008
    return Simulation(nodes, jobs_of(rows, **shared), queues, strategy(name, TYPICAL), policy, seed, cohorts)


def started(run):
    return [record.started for record in run.records]


def audit(run):
    """Compare nodes, quotas and counters with the pods that are really there."""
    bench, nodes = run.bench, run.bench.machine
    milli = Counter()
    cpu, memory = Counter(), Counter()
    used = np.zeros_like(bench.ledger.used)
    for job, running in bench.running.items():
        pod = bench.pod(job)
        assert len(running.spots) <= bench.most[job]
        assert not running.working or len(running.spots) >= bench.least[job] or not run.policy.elastic
        for node, devices in running.spots:
            assert bench.state.up[node]
            assert len(set(devices)) == pod.gpus
            cpu[node] += pod.cpu
            memory[node] += pod.memory
            for device in devices:
                assert device < nodes.gpus[node]
                milli[node, device] += pod.each
            assert job in bench.on_node[node]
        used[bench.queue[job]] += bench.request(job, len(running.spots))
    assert max(milli.values(), default=0) <= 1000
    for node in range(nodes.size):
        left = [1000 - milli[node, device] for device in range(nodes.gpus[node])]
        assert bench.state.gpu_left[node, : nodes.gpus[node]].tolist() == left
        assert bench.state.milli_left[node] == sum(left)
        assert bench.state.whole_left[node] == left.count(1000)
        assert bench.state.cpu_left[node] == nodes.cpu[node] - cpu[node] >= 0
        assert bench.state.memory_left[node] == nodes.memory[node] - memory[node] >= 0
    assert bench.ledger.used == pytest.approx(used)
    asked = np.zeros_like(bench.ledger.asked)
    for job in [job for heap in run._waiting.values() for _, job in heap]:
        asked[bench.queue[job]] += bench.request(job, run._needed(job))
    for job in run._partial:
        there = len(bench.running[job].spots) if job in bench.running else 0
        asked[bench.queue[job]] += (bench.most[job] - there) * bench.request(job, 1)
    assert bench.ledger.asked == pytest.approx(asked)
    assert bench.busy == sum(milli.values())
    assert bench.state.idle == nodes.gpu_count * 1000 - bench.busy
    alone = [index for index, quota in enumerate(bench.ledger.queues) if not quota.cohort]
    assert (bench.ledger.used[alone] <= bench.ledger.nominal[alone] + 1e-6).all()
    beyond = np.maximum(bench.ledger.usage - bench.ledger.kept, 0.0)
    for node in range(len(bench.ledger.queues), len(bench.ledger.parent)):  # a cohort knows what its members take of it
        members = [other for other, above in enumerate(bench.ledger.parent) if above == node]
        assert bench.ledger.usage[node] == pytest.approx(beyond[members].sum(axis=0))


def places(run):
    """Return where every job is: each in exactly one place."""
    waiting = Counter(job for heap in run._waiting.values() for _, job in heap)
    working = Counter(job for job, running in run.bench.running.items() if running.working)
    partial = Counter(list(run._partial))
    ahead = Counter(which for _, kind, which, _ in run._events if kind == 4)
    ended = Counter(job for job, record in enumerate(run.records) if not math.isnan(record.ended))
    never = Counter(job for job, record in enumerate(run.records) if record.first_reason == "never fits")
    return waiting + working + partial + ahead + ended + never


pods = st.sampled_from(
    [
        Pod(1000, 1, 1),
        Pod(2000, 2, 2),
        Pod(4000, 1, 4),
        Pod(500, 1, 1, 300),
        Pod(500, 1, 0),
        Pod(9000, 1, 1),
        Pod(1, 1, 9),
    ]
)
rows = st.lists(
    st.fixed_dictionaries(
        {
            "pod": pods,
            "submit": st.integers(0, 20).map(lambda n: n * 600.0),
            "duration": st.integers(1, 30).map(lambda n: n * 500.0),
            "replicas": st.integers(1, 5),
            "queue": st.integers(0, 3),
            "priority": st.integers(0, 2),
            "preempts": st.booleans(),
            "gang": st.sampled_from([True, True, True, False]),
            "topology": st.integers(0, 2),
            "checkpoint": st.sampled_from([math.inf, 1000.0]),
        }
    ),
    min_size=1,
    max_size=25,
)


@settings(max_examples=30, deadline=None)
@given(
    rows,
    st.sampled_from(NAMES),
    st.sampled_from(["best-effort", "strict"]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 3),
    st.sampled_from([math.inf, 5000.0]),
    st.booleans(),
)
def test_nothing_is_given_twice_and_no_job_is_lost(jobs, name, queueing, elastic, fails, seed, guard, tree):
    for row in jobs:
        row["least"] = max(1, row["replicas"] - 2) if row["gang"] else row["replicas"]
    nodes = machine([Group(3, 4, 16_000, 64, domain_size=2), Group(2, 2, 8_000, 32, "small", name="small")])
    failures = Failures(40 * HOUR, 1 * HOUR) if fails else Failures()
    policy = Policy(
        queueing=queueing,
        elastic=elastic,
        failures=failures,
        ready_timeout=1800.0,
        resize=60.0,
        guard=guard,
        fair=tree,
    )
    kept = {"cohorts": TREE, "budgets": [Budget(0, 5, 3)]} if tree else {}
    run = simulate(nodes, jobs, LIMITED, name, policy, seed, **kept)
    for _ in range(150):
        if not (run.unfinished and run._pending):
            break
        run.step()
        audit(run)
        assert places(run) == Counter(range(len(jobs)))
    for record in run.records:
        assert record.held >= -1e-6 or not math.isnan(record.queued_at)
        assert record.lost >= 0
        if not math.isnan(record.ended):
            assert record.ended >= record.started


@settings(max_examples=30, deadline=None)
@given(rows, st.sampled_from(["binpack", "random", "fgd"]), st.integers(0, 5))
def test_the_same_seed_gives_the_same_run(jobs, name, seed):
    nodes = machine([Group(4, 4, 16_000, 64, domain_size=2)])
    policy = Policy(failures=Failures(30 * HOUR, HOUR), horizon=200 * HOUR)
    first, second = (simulate(nodes, jobs, LIMITED, name, policy, seed).run() for _ in range(2))
    assert first.timeline == second.timeline
    assert [vars_of(record) for record in first.records] == [vars_of(record) for record in second.records]


def vars_of(record):
    return {name: repr(getattr(record, name)) for name in record.__slots__}


def fifo(jobs, capacity):
    """Return start times of jobs (submit, duration, GPUs) in strict order: a simulator of its own, second by second."""
    running, free, starts, queue = [], capacity, [None] * len(jobs), []
    for now in range(100_000):
        free += sum(size for end, size in running if end == now)
        running = [(end, size) for end, size in running if end != now]
        queue += [index for index, (submit, *_) in enumerate(jobs) if submit == now]
        while queue and jobs[queue[0]][2] <= free:
            index = queue.pop(0)
            starts[index] = now
            free -= jobs[index][2]
            running.append((now + jobs[index][1], jobs[index][2]))
        if None not in starts:
            return starts
    raise AssertionError


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 40), st.integers(1, 6)), min_size=1, max_size=15))
def test_strict_order_is_that_of_a_queue_played_second_by_second(given_jobs):
    given_jobs = sorted(given_jobs, key=lambda job: job[0])
    jobs = [{"submit": s, "duration": d, "replicas": g} for s, d, g in given_jobs]
    run = simulate(uniform(6, gpus=1), jobs, policy=Policy(queueing=STRICT)).run()
    assert started(run) == fifo(given_jobs, 6)


def test_gangs_start_whole_or_not_at_all():
    """Ten nodes take ten pods of four cores; a gang of twelve starts none of them."""
    nodes = uniform(10, gpus=0, cpu=6000)
    run = simulate(nodes, [{"pod": Pod(4000, 0, 0), "replicas": 12}]).run()
    assert math.isnan(run.records[0].started)
    assert not run.bench.running
    assert run.never == {0: "its pools take 10 such pods, and it needs 12"}


def test_two_gangs_of_all_run_one_after_the_other():
    run = simulate(uniform(1), [{"replicas": 8}, {"replicas": 8}]).run()
    assert started(run) == [0.0, HOUR]


def test_without_gangs_two_jobs_hold_half_each_for_ever():
    rows = [{"replicas": 6, "gang": False}, {"replicas": 6, "gang": False}]
    run = simulate(uniform(1), rows).run()
    assert run.deadlock is not None
    assert run.deadlock.jobs == (0, 1)
    assert run.deadlock.gpus == 8
    assert [len(run.bench.running[job].spots) for job in (0, 1)] == [4, 4]


def test_a_time_out_ends_the_deadlock_and_tells_what_was_held():
    rows = [{"replicas": 6, "gang": False}, {"replicas": 6, "gang": False, "submit": 1.0}]
    run = simulate(uniform(1), rows, policy=Policy(ready_timeout=1800.0)).run()
    assert started(run) == [0.0, HOUR]
    # The second job holds two GPUs for 1,800 s, waits 60 s, holds two again from 1,861 s until the first one ends.
    assert run.records[1].evicted == 1
    assert run.records[1].held == pytest.approx(2 * 1800.0 + 2 * (HOUR - 1861.0), abs=0.1)


def test_free_gpus_on_different_nodes_do_not_add_up():
    rows = [
        {"pod": Pod(gpus=6), "replicas": 4},
        {"pod": Pod(gpus=8), "submit": 1.0},
        {"pod": Pod(gpus=2), "replicas": 4, "submit": 1.0},
    ]
    run = simulate(uniform(4), rows).run()
    assert run.records[1].first_reason == "fragmentation"
    assert started(run) == [0.0, HOUR + 1.0 if run.records[1].started > HOUR else HOUR, 1.0]


def test_strict_order_blocks_and_best_effort_overtakes():
    rows = [{"replicas": 6, "duration": 2 * HOUR}, {"replicas": 8, "submit": 1.0}, {"replicas": 2, "submit": 2.0}]
    strict = simulate(uniform(1), rows, policy=Policy(queueing=STRICT)).run()
    best = simulate(uniform(1), rows).run()
    assert started(strict) == [0.0, 2 * HOUR, 3 * HOUR]
    assert started(best) == [0.0, 2 * HOUR, 2.0]
    assert strict.records[2].first_reason == "order"


def test_guard_ends_starvation():
    """Small jobs overtake a large one for ever, unless it has waited long enough."""
    small = [{"replicas": 4, "submit": index * 1800.0, "duration": HOUR} for index in range(40)]
    rows = [*small, {"replicas": 8, "submit": 900.0}]
    starved = simulate(uniform(1), rows).run()
    guarded = simulate(uniform(1), rows, policy=Policy(guard=2 * HOUR)).run()
    assert starved.records[40].waited > 19 * HOUR
    assert guarded.records[40].waited < 4 * HOUR


def test_priority_preempts_and_what_is_lost_is_counted():
    rows = [
        {"replicas": 8, "duration": 10 * HOUR, "checkpoint": HOUR},
        {"replicas": 8, "priority": 1, "submit": 2.5 * HOUR},
    ]
    run = simulate(uniform(1), rows).run()
    assert started(run) == [0.0, 2.5 * HOUR]
    assert run.records[0].preempted == 1
    assert run.records[0].lost == pytest.approx(8 * 0.5 * HOUR)
    assert run.records[0].ended == pytest.approx(3.5 * HOUR + 8.0 * HOUR)
    never = simulate(uniform(1), [rows[0], rows[1] | {"preempts": False}]).run()
    assert started(never) == [0.0, 10 * HOUR]


def test_victims_are_borrowers_then_low_then_late_and_no_more_than_needed():
    queues = [Quota(name, nominal=(8, math.inf, math.inf), cohort="c") for name in "ab"]
    rows = [
        {"replicas": 4, "queue": 1, "priority": 5, "duration": 9 * HOUR},
        {"replicas": 4, "queue": 1, "priority": 5, "submit": 1.0, "duration": 9 * HOUR},
        {"replicas": 6, "queue": 1, "priority": 5, "submit": 2.0, "duration": 9 * HOUR},
        {"replicas": 4, "queue": 0, "submit": 3.0, "priority": 0},
    ]
    run = simulate(uniform(2), rows, queues, policy=Policy(horizon=HOUR / 2)).run()
    assert [record.preempted for record in run.records] == [0, 0, 1, 0]
    assert started(run)[3] == 3.0


def test_kube_scheduler_picks_the_node_with_the_lowest_highest_victim():
    pod = Pod(gpus=4)
    rows = [
        {"pod": pod, "priority": 3, "duration": 9 * HOUR},
        {"pod": pod, "priority": 1, "submit": 1.0, "duration": 9 * HOUR},
        {"pod": pod, "priority": 2, "submit": 2.0, "duration": 9 * HOUR},
        {"pod": pod, "priority": 2, "submit": 3.0, "duration": 9 * HOUR},
        {"pod": pod, "priority": 9, "submit": 4.0},
    ]
    run = simulate(uniform(2), rows, policy=Policy(horizon=HOUR / 2)).run()
    assert [record.preempted for record in run.records] == [0, 1, 0, 0, 0]
    whole = simulate(uniform(2), [*rows[:4], rows[4] | {"pod": Pod(gpus=8)}], policy=Policy(horizon=HOUR / 2)).run()
    # Both nodes would lose two jobs: priorities 3 and 1 on the first, 2 and 2 on the second.
    assert [record.preempted for record in whole.records] == [0, 0, 1, 1, 0]


def test_topology_required_waits_for_one_rack():
    nodes = uniform(4, domain_size=2)
    rows = [
        {"pod": Pod(gpus=8), "replicas": 1, "duration": 2 * HOUR},
        {"pod": Pod(gpus=8), "replicas": 1, "duration": 3 * HOUR, "topology": REQUIRED},
        {"pod": Pod(gpus=8), "replicas": 2, "topology": REQUIRED, "submit": 1.0},
    ]
    run = simulate(nodes, rows).run()
    assert started(run)[2] == 1.0
    assert set(nodes.domain[list(run.records[2].nodes)]) == {1}


def test_elastic_job_shrinks_for_others_and_grows_again():
    rows = [
        {"replicas": 8, "least": 2, "duration": 8 * HOUR},
        {"replicas": 4, "submit": HOUR, "duration": HOUR},
    ]
    run = simulate(uniform(1), rows).run()
    assert started(run) == [0.0, HOUR]
    assert run.records[0].resized == 2
    # Half the speed for an hour: half an hour later than alone.
    assert run.records[0].ended == pytest.approx(8.5 * HOUR)
    rigid = simulate(uniform(1), rows, policy=Policy(elastic=False)).run()
    assert started(rigid) == [0.0, 8 * HOUR]


def test_elastic_job_goes_on_after_a_failure_and_a_rigid_one_waits():
    policy = Policy(failures=Failures(50 * HOUR, 10 * HOUR), resize=300.0)
    row = {"pod": Pod(gpus=8), "replicas": 4, "duration": 100 * HOUR, "checkpoint": HOUR}
    elastic = simulate(uniform(4), [row | {"least": 1}], policy=policy, seed=3).run()
    rigid = simulate(uniform(4), [row], policy=policy, seed=3).run()
    assert elastic.records[0].failed
    assert rigid.records[0].failed
    assert elastic.records[0].ended < rigid.records[0].ended


def test_volcano_queues_get_what_they_deserve():
    queues = [Quota("x", "volcano", weight=3), Quota("y", "volcano", weight=1)]
    rows = [{"queue": index % 2, "duration": HOUR} for index in range(64)]
    run = simulate(uniform(2), rows, queues, policy=Policy(horizon=10.0)).run()
    assert run.bench.ledger.used[:, 0].tolist() == [12, 4]


def test_volcano_gives_pods_of_jobs_that_are_no_gangs_too():
    queues = [Quota("x", "volcano", weight=3), Quota("y", "volcano", weight=1)]
    rows = [{"queue": 0, "replicas": 8, "gang": False}, {"queue": 1, "replicas": 4, "gang": False}]
    assert started(simulate(uniform(2), rows, queues).run()) == [0.0, 0.0]


def test_pods_that_never_fit_are_said_so_and_hold_up_nothing():
    run = simulate(uniform(2), [{"pod": Pod(gpus=16)}, {"submit": 1.0}]).run()
    assert run.records[0].first_reason == "never fits"
    assert started(run)[1] == 1.0


def test_packing_leaves_room_that_the_first_node_would_not():
    """Two nodes with 53 and 31 GPUs free take pods of 30 and 50, if the first goes to the smaller one.

    https://github.com/kubernetes-sigs/kueue/issues/5243
    """
    nodes = machine([Group(1, 53, 0, 0), Group(1, 31, 0, 0)])
    rows = [{"pod": Pod(gpus=30)}, {"pod": Pod(gpus=50)}]
    assert started(simulate(nodes, rows, name="bestfit").run()) == [0.0, 0.0]
    assert started(simulate(nodes, rows, name="binpack").run()) == [0.0, 0.0]
    assert started(simulate(nodes, rows, name="spread").run()) == [0.0, HOUR]


def test_small_pods_leave_the_large_node_alone():
    """Nodes with 2, 1 and 1 GPUs take two pods of one and a pod of two.

    https://github.com/volcano-sh/volcano/issues/3948
    """
    nodes = machine([Group(1, 2, 0, 0), Group(2, 1, 0, 0)])
    rows = [{"replicas": 2}, {"pod": Pod(gpus=2)}]
    assert started(simulate(nodes, rows).run()) == [0.0, 0.0]
    assert started(simulate(nodes, rows, name="spread").run()) == [0.0, HOUR]


@pytest.mark.parametrize(
    ("used", "asked", "room", "smaller"), [((7, 6, 7), 4, 0, 2), ((6, 6, 6, 6), 8, 0, 2)], ids=["one of 4", "one of 8"]
)
def test_free_gpus_that_no_pod_of_a_size_can_use(used, asked, room, smaller):
    nodes = uniform(len(used))
    rows = [{"pod": Pod(gpus=count), "duration": 9 * HOUR} for count in used]
    run = simulate(nodes, rows, policy=Policy(horizon=HOUR)).run()
    assert run.bench.tables.of(Pod(gpus=asked)).total == room
    assert run.bench.tables.of(Pod(gpus=smaller)).total >= 1


def kube_victims(nodes, running, asked, budgets=()):
    """Choose a node and victims as kube-scheduler does, with plain lists: (node, GPUs, priority, start, job) each."""
    options = []
    for node, gpus in enumerate(nodes):
        here = [one for one in running if one[0] == node]
        lower = [one for one in here if one[2] < asked[1]]
        free = gpus - sum(one[1] for one in here)
        if free >= asked[0] or not lower or free + sum(one[1] for one in lower) < asked[0]:
            continue
        left, victims = free + sum(one[1] for one in lower), []
        order = sorted(lower, key=lambda one: (-one[2], one[3], one[4]))
        spare = [len([one for one in running if one[4] in jobs]) - least for jobs, least in budgets]
        against = []
        for one in order:
            hit = [place for place, (jobs, _) in enumerate(budgets) if one[4] in jobs]
            against += [one] if any(spare[place] <= 0 for place in hit) else []
            for place in hit:
                spare[place] -= 1
        for one in [*against, *(one for one in order if one not in against)]:
            if left - one[1] >= asked[0]:
                left -= one[1]
            else:
                victims.append(one)
        highest = max(one[2] for one in victims)
        options.append(
            (
                len([one for one in victims if one in against]),
                highest,
                sum(one[2] + 2**31 for one in victims),
                len(victims),
                -min(one[3] for one in victims if one[2] == highest),
                node,
                sorted(one[4] for one in victims),
            )
        )
    return min(options)[-1] if options else []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(0, 4)), min_size=3, max_size=16),
    st.integers(1, 8),
    st.integers(1, 5),
    st.lists(st.tuples(st.integers(0, 8), st.integers(2, 9), st.integers(1, 5)), max_size=2),
)
def test_victims_on_a_node_against_plain_lists(small, gpus, priority, kept):
    rows = [
        {"pod": Pod(gpus=g), "priority": p, "submit": float(n), "duration": 99 * HOUR, "preempts": False}
        for n, (g, p) in enumerate(small)
    ]
    rows.append({"pod": Pod(gpus=gpus), "priority": priority, "submit": 100.0, "duration": HOUR})
    budgets = [Budget(first, first + count, least) for first, count, least in kept]
    before = simulate(uniform(3), rows, policy=Policy(horizon=50.0), budgets=budgets).run()
    running = [
        (one.spots[0][0], before.bench.pod(job).gpus, before.bench.priority[job], one.begun, job)
        for job, one in before.bench.running.items()
    ]
    sets = [(range(budget.first, budget.last), budget.least) for budget in budgets]
    expected = kube_victims([8, 8, 8], running, (gpus, priority), sets)
    free = [8 - sum(one[1] for one in running if one[0] == node) for node in range(3)]
    after = simulate(uniform(3), rows, policy=Policy(horizon=100.5), budgets=budgets).run()
    stopped = [job for job, record in enumerate(after.records) if record.preempted]
    assert stopped == ([] if max(free) >= gpus else expected)


def test_reservation_lets_past_what_ends_in_time_and_nothing_else():
    """Six of eight GPUs are taken until 4 h; a job of eight has a reservation for then."""
    rows = [
        {"replicas": 6, "duration": 4 * HOUR},
        {"replicas": 8, "submit": 60.0},
        {"replicas": 1, "submit": 1.5 * HOUR, "duration": 2.4 * HOUR},
        {"replicas": 1, "submit": 1.5 * HOUR, "duration": 2.6 * HOUR},
    ]
    run = simulate(uniform(1), rows, policy=Policy(guard=HOUR)).run()
    assert started(run) == [0.0, 4 * HOUR, 1.5 * HOUR, 5 * HOUR]
    without = simulate(uniform(1), rows).run()
    assert started(without) == [0.0, pytest.approx(4.1 * HOUR), 1.5 * HOUR, 1.5 * HOUR]


def test_reservation_counts_quotas():
    queues = [Quota("a", nominal=(4, math.inf, math.inf)), Quota("b")]
    rows = [
        {"replicas": 3, "queue": 0, "duration": 3 * HOUR},
        {"replicas": 4, "queue": 0, "submit": 1.0},
        {"replicas": 8, "queue": 1, "submit": 2 * HOUR, "duration": 1.5 * HOUR},
        {"replicas": 8, "queue": 1, "submit": 2 * HOUR, "duration": 0.5 * HOUR},
    ]
    run = simulate(uniform(2), rows, queues, policy=Policy(guard=HOUR)).run()
    assert started(run) == [0.0, 3 * HOUR, 3 * HOUR, 2 * HOUR]


def test_disruption_budgets_are_broken_last():
    """Of two jobs of one priority the later goes, unless its budget says that it should stay."""
    pod = Pod(gpus=4)
    rows = [
        {"pod": pod, "priority": 1, "duration": 9 * HOUR},
        {"pod": pod, "priority": 1, "submit": 1.0, "duration": 9 * HOUR},
        {"pod": pod, "priority": 2, "submit": 2.0},
    ]
    policy = Policy(horizon=HOUR / 2)
    plain = simulate(uniform(1), rows, policy=policy).run()
    kept = simulate(uniform(1), rows, policy=policy, budgets=[Budget(1, 2, 1)]).run()
    assert [record.preempted for record in plain.records] == [0, 1, 0]
    assert [record.preempted for record in kept.records] == [1, 0, 0]
    both = simulate(uniform(1), rows, policy=policy, budgets=[Budget(0, 2, 2)]).run()
    assert sum(record.preempted for record in both.records) == 1  # last, not never


def test_fair_sharing_fills_queues_by_weight_and_first_come_does_not():
    own = (0.0, math.inf, math.inf)
    queues = [Quota("x", nominal=own, cohort="c", weight=3), Quota("y", nominal=own, cohort="c", weight=1)]
    rows = [{"queue": int(index < 16)} for index in range(32)]
    shared = Cohort("c", nominal=(16.0, 0.0, 0.0))
    nodes, horizon = uniform(4), 10.0

    def used(fair):
        policy = Policy(horizon=horizon, fair=fair)
        run = simulate(nodes, rows, queues, policy=policy, cohorts=[shared]).run()
        audit(run)
        return run.bench.ledger.used[:, 0].tolist()

    assert used(fair=True) == [12, 4]
    assert used(fair=False) == [0, 16]


def test_fair_sharing_in_a_tree_is_between_cohorts_first():
    """One cohort of two queues and one of a single queue share evenly, then the two with each other."""
    own = (0.0, math.inf, math.inf)
    queues = [Quota(name, nominal=own, cohort=above) for name, above in (("a", "left"), ("b", "left"), ("d", "right"))]
    cohorts = [Cohort("root", nominal=(16.0, 0.0, 0.0)), Cohort("left", "root"), Cohort("right", "root")]
    rows = [{"queue": index % 3} for index in range(48)]
    policy = Policy(horizon=10.0, fair=True)
    run = simulate(uniform(4), rows, queues, policy=policy, cohorts=cohorts).run()
    assert run.bench.ledger.used[:, 0].tolist() == [4, 4, 8]


def test_shuffled_ties_are_one_order_for_a_run_and_never_beat_a_score():
    nodes = uniform(40)
    first, orders = [{"pod": Pod(gpus=2)}], set()
    for seed in range(5):
        ties = strategy("spread", ties=SHUFFLED)
        run = Simulation(nodes, jobs_of(first * 40), ONE, ties, Policy(horizon=1.0), seed).run()
        order = tuple(run.bench.running[job].spots[0][0] for job in range(40))
        assert sorted(order) == list(range(40))  # the emptiest first, so that each node gets one
        orders.add(order)
        again = Simulation(nodes, jobs_of(first * 80), ONE, ties, Policy(horizon=1.0), seed).run()
        assert tuple(again.bench.running[job].spots[0][0] for job in range(80)) == order * 2
    assert len(orders) == 5
