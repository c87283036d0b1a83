"""Scores, fragments and quotas as they were published: unit tests of schedulers, documentation, result files."""

import json
from functools import cache

import numpy as np
import pytest

from aiplan.core import placement, quotas
from aiplan.planning.scheduling.fragments import Typical, typical_pods
from aiplan.planning.scheduling.jobs import Policy
from aiplan.planning.scheduling.ledger import Cohort, Ledger, Quota
from aiplan.planning.scheduling.machine import Pod
from aiplan.planning.scheduling.replay import allocations, replay, resampled
from aiplan.planning.scheduling.simulation import Simulation
from aiplan.planning.scheduling.state import State
from aiplan.planning.scheduling.strategies import SHUFFLED, strategy
from scheduling.traces import jobs_of, openb_machine, openb_pods, table, uniform

ROWS = table("scheduling_oracles.csv")
TYPICAL = table("scheduling_typical_pods.csv")
TYPES = sorted({row["gpu_type"] for row in TYPICAL} | {"1080", "P100"})
SEEDS = {"random": 3, "bestfit": 1, "fgd": 1, "spread": 1, "gpu-packing": 1}
MEAN = [row for row in ROWS if row["form"] == "replay" and not row["note"].startswith("unused")]


def arguments(row):
    return json.loads(row["arguments"])


def unlimited(values):
    return np.array([np.inf if value is None else value for value in values])


def weighted(form):
    return lambda requested, allocatable, weights: [
        placement.weighted_score(form(np.array(requested), np.array(allocatable)), np.array(weights))
    ]


def fragment(cpu_left, gpu_left, gpu_type, **which):
    pods = [row for row in TYPICAL if row["list"] == which["list"]] or TYPICAL[:1]
    column = {key: np.array([float(row[key]) for row in pods]) for key in ("gpus", "each", "cpu", "share")}
    allowed = np.array([row["gpu_type"] in {"", gpu_type} for row in pods])
    lost = placement.fragment(np.array(gpu_left), cpu_left, column["gpus"], column["each"], column["cpu"], allowed)
    return [(lost * column["share"]).sum() / 100]


def available(nominal, used, borrowing_limit=(None, None), lending_limit=(None, None)):
    borrowing, lending = unlimited(borrowing_limit), unlimited(lending_limit)
    pool = quotas.lendable(np.array(nominal), lending).sum()
    return quotas.available_quota(np.array(nominal), np.array(used), lending, borrowing, pool)


def cohort_tree(queues, cohorts, used):
    """What queues of a tree may still have of one resource."""
    rows = [(name, above, *(unlimited([own, most, lent]))) for name, above, own, most, lent in [*queues, *cohorts]]
    made = [
        form(name, **{key: above}, nominal=(own,) * 3, borrowing=(most,) * 3, lending=(lent,) * 3)
        for (name, above, own, most, lent), (form, key) in zip(
            rows, [(Quota, "cohort")] * len(queues) + [(Cohort, "parent")] * len(cohorts), strict=True
        )
    ]
    ledger = Ledger(made[: len(queues)], np.full(3, np.inf), made[len(queues) :])
    for queue, amount in enumerate(used):
        ledger.take(queue, np.full(3, amount))
    return [ledger.available(queue)[1] for queue in range(len(queues))]


def gang(nodes, pods, minimum):
    """Pods of one GPU that run on nodes of one GPU each, if so many are the least."""
    jobs = jobs_of([{"replicas": pods, "least": minimum}])
    run = Simulation(uniform(nodes, gpus=1), jobs, [Quota("all")], strategy("binpack"), Policy(horizon=1.0)).run()
    return [len(run.bench.running[0].spots)]


FORMS = {
    "most_allocated": weighted(placement.most_allocated),
    "least_allocated": weighted(placement.least_allocated),
    "binpack_score": lambda **given: [placement.binpack_score(**{k: np.array(v) for k, v in given.items()})],
    "available_quota": available,
    "tightest_domains": quotas.tightest_domains,
    "fullest_domains": quotas.fullest_domains,
    "requeue_delay": lambda attempt: quotas.requeue_delay(np.array(attempt)),
    "fair_share": lambda **given: [quotas.fair_share(**given)],
    "fragment": fragment,
    "too_small": lambda gpu_left, each: [placement.too_small(np.array(gpu_left), each)],
    "packing_score": lambda gpu_left, gpus, each: [placement.packing_score(np.array(gpu_left), gpus, each)],
    "gang": gang,
    "cohort_tree": cohort_tree,
}


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["form"] in FORMS], ids=lambda row: f"{row['form']} {row['case']}"
)
def test_published_value(row):
    found = np.asarray(FORMS[row["form"]](**arguments(row)), dtype=float)
    expected = np.array([float(part) for part in row["value"].split()])
    if "may change places" in row["note"]:
        found, expected = np.sort(found), np.sort(expected)
    assert found == pytest.approx(expected, rel=1e-9)


def test_every_row_is_used_or_says_why_not():
    assert {row["form"] for row in ROWS} == {*FORMS, "replay", "trace"}
    assert sum(row["note"].startswith("unused") for row in ROWS) == 4


def test_trace_is_the_published_one():
    by = {row["case"]: [int(part) for part in row["value"].split()] for row in ROWS if row["form"] == "trace"}
    nodes, pods = openb_machine(), openb_pods()
    assert [nodes.size, nodes.gpu_count] == by["nodes with GPUs, GPUs"]
    count = lambda test: sum(number for pod, number in pods.items() if test(pod))  # noqa: E731
    whole = [count(lambda pod, size=size: pod.gpus == size and not pod.shared) for size in (1, 2, 4, 8)]
    assert [count(lambda pod: not pod.gpus), count(lambda pod: pod.shared), *whole] == by[
        "pods: no GPU, shared, 1, 2, 4, 8"
    ]
    assert [count(lambda pod: pod.gpus) and sum(n * pod.gpus for pod, n in pods.items())] == by[
        "demand if every shared pod takes a whole GPU"
    ]


@cache
def replayed(name):
    """Allocation of a strategy at 80 %, 100 % and 130 % of arrivals, mean over seeds; in per cent.

    Ties as in the simulator that was published: nodes get names in an order drawn for the run, the first name wins.
    """
    nodes, pods = openb_machine(), openb_pods()
    runs = []
    for seed in range(SEEDS[name]):
        generator = np.random.default_rng(seed)
        order = resampled(pods, nodes.gpu_count, 1.3, generator)
        done = replay(nodes, list(pods), order, strategy(name, typical_pods(pods), SHUFFLED), generator)
        runs.append([*allocations(done, [0.8, 1.0]), done.allocation])
    return np.mean(runs, axis=0) * 100


@pytest.mark.parametrize("row", MEAN, ids=lambda row: row["case"] + row["arguments"][-4:-1])
def test_openb_replay(row):
    given = arguments(row)
    found = replayed(given["strategy"])[(0.8, 1.0, 1.3).index(given["arrivals"])]
    assert found == pytest.approx(float(row["value"]), abs=0.5)


def test_typical_pods_of_the_trace():
    typical = typical_pods(openb_pods())
    assert len(typical) == 35
    assert sum(share for _, share in typical) == pytest.approx(1.0)


def test_fragments_kept_up_to_date_are_those_of_the_closed_form():
    """Sums by rows of a table, changed node by node, against the formula on the whole state."""
    nodes, pods = openb_machine(), openb_pods()
    typical = Typical(typical_pods(pods))
    generator = np.random.default_rng(5)
    order = resampled(pods, nodes.gpu_count, 0.5, generator)[:1500]
    done = replay(nodes, list(pods), order, strategy("fgd", typical_pods(pods)), generator)
    state = done.state
    direct = sum(
        share
        * placement.fragment(state.gpu_left, state.cpu_left, float(pod.gpus), float(pod.each), float(pod.cpu), 1.0)
        for pod, share in typical_pods(pods)
    )
    assert typical.of(state) == pytest.approx(direct)


def test_best_device_is_the_one_that_scores():
    state = State(uniform(1, gpus=4, cpu=64_000))
    typical = Typical([(Pod(4000, 0, 1, 500), 0.5), (Pod(4000, 0, 1, 1000), 0.5)])
    state.place(Pod(1000, 0, 1, 500), 0, (2,))
    pod = Pod(1000, 0, 1, 500)
    assert typical.best_device(state, pod, 0) == (2,)
    full = typical.score(state, pod, np.array([0]))[0]
    assert full == max(
        placement.fragmentation_score(typical.of(state)[0], _after(typical, state, pod, device)) for device in range(4)
    )


def _after(typical, state, pod, device):
    other = State(state.machine)
    other.place(Pod(1000, 0, 1, 500), 0, (2,))
    other.place(pod, 0, (device,))
    return Typical(list(zip(typical.pods, typical.share, strict=True))).of(other)[0]
