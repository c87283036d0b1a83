"""Elastic training: the closed forms against the simulation, and rates against the model of a step."""

import numpy as np
import pytest

from aiplan.catalog.load import Catalog
from aiplan.core import resizing
from aiplan.declare import Diagnostics
from aiplan.planning.estimate import estimate
from aiplan.planning.scheduling.jobs import Failures, Policy
from aiplan.planning.scheduling.ledger import Quota
from aiplan.planning.scheduling.machine import Pod
from aiplan.planning.scheduling.question import ask, variants
from aiplan.planning.scheduling.simulation import Simulation
from aiplan.planning.scheduling.strategies import strategy
from aiplan.planning.scheduling.workload import workload
from aiplan.planning.variants import Source, load_source
from aiplan.scenario.load_jobs import load_jobs
from scheduling.traces import jobs_of, uniform

HOUR, DAY = 3600.0, 86400.0
LONG = 20_000 * DAY
PROPORTIONAL = np.arange(1, 9) / 8
HALVES = np.array([0, 0, 0, 0.5, 0.5, 0.5, 0.5, 1.0])
"""Runs on four or eight nodes only."""


def simulated(least, speeds, between=20 * DAY, repair=12 * HOUR, restart=900.0, checkpoint=2 * HOUR):
    row = {"pod": Pod(gpus=8), "replicas": 8, "least": least, "duration": LONG, "checkpoint": checkpoint}
    jobs = jobs_of([row])
    jobs = type(jobs)(**{name: getattr(jobs, name) for name in jobs.__slots__} | {"speeds": (speeds,)})
    policy = Policy(failures=Failures(between, repair), resize=restart, horizon=3_000 * DAY)
    run = Simulation(uniform(8), jobs, [Quota("all")], strategy("binpack"), policy, seed=1).run()
    running = run.bench.running.get(0)
    done = LONG - run.bench.remaining[0]
    if running is not None:
        done += max(run.now - running.since, 0.0) * jobs.speed(0, len(running.spots))
    return done / run.now


def test_rigid_job_gets_on_as_the_closed_form_says():
    form = resizing.waiting_goodput(8.0, 20 * DAY, 12 * HOUR, 900.0, HOUR)
    assert simulated(8, PROPORTIONAL) == pytest.approx(form, rel=0.03)


@pytest.mark.parametrize("speeds", [PROPORTIONAL, HALVES], ids=["any size", "four or eight"])
def test_elastic_job_gets_on_as_the_closed_form_says(speeds):
    form = resizing.resizing_goodput(speeds, 4.0, 20 * DAY, 12 * HOUR, 900.0, HOUR)
    assert simulated(4, speeds) == pytest.approx(form, rel=0.015)


def test_a_job_that_may_not_shrink_is_rigid():
    rigid = resizing.waiting_goodput(8.0, 50 * DAY, HOUR, 300.0, 600.0)
    assert resizing.resizing_goodput(PROPORTIONAL, 8.0, 50 * DAY, HOUR, 300.0, 600.0) == pytest.approx(rigid, rel=1e-3)


def test_no_failures_no_loss():
    assert resizing.resizing_goodput(PROPORTIONAL, 2.0, 1e15, HOUR, 300.0, 600.0) == pytest.approx(1.0)


def test_smaller_is_never_worse_where_rates_are_proportional():
    found = [resizing.resizing_goodput(PROPORTIONAL, least, 20 * DAY, 12 * HOUR, 60.0, HOUR) for least in range(1, 9)]
    assert found == sorted(found, reverse=True)


def test_rates_are_those_of_the_model_of_a_step():
    diagnostics, catalog = Diagnostics(), Catalog()
    plan = load_jobs("elastic-training", catalog, diagnostics)
    work = workload(plan, catalog, diagnostics)
    size = work.sizes[0]
    times = {
        nodes: estimate(
            [load_source(Source("llama-3-8b-h100"), catalog, (("cluster.nodes", str(nodes), "--set"),)).scenario]
        )[0]["step"]
        for nodes in (4, 8)
    }
    assert size.legal == (4, 8)
    assert size.speeds[3] == pytest.approx(times[8] / times[4])
    assert size.speeds[7] == 1.0
    assert (size.speeds[:3] == 0).all()
    answer = ask(work, variants(work, compare="elastic"))
    assert [(row.pods, row.step, row.rate) for row in answer.static.steps] == [
        (nodes, pytest.approx(times[nodes]), pytest.approx(times[8] / times[nodes])) for nodes in (4, 8)
    ]
    grown, waited = (run.outcome for run in answer.runs)
    assert grown.span < waited.span
    row = answer.static.goodput[0]
    assert (row.name, row.least, row.most) == ("llama", 4, 8)
    assert row.elastic > row.rigid


def test_checkpoints_are_those_of_the_scenario_unless_the_job_says_otherwise(folder):
    """A scenario with an interval of its own, and a file that names it twice."""
    (folder / "s.yaml").write_text(
        "model: llama-3-8b\nworkload: {tokens: 1e12, sequence_length: 8192, global_batch: 128}\n"
        "cluster: {node: dgx-h100, nodes: 1}\nplan: {tensor: 4}\ncheckpoint: {interval: 20 min}\n",
        encoding="utf-8",
    )
    (folder / "jobs.yaml").write_text(
        "pools: [{name: a, node: dgx-h100, nodes: 2}]\n"
        "jobs: [{name: a, scenario: s.yaml}, {name: b, scenario: s.yaml, checkpoint: 1 h}]\n",
        encoding="utf-8",
    )
    diagnostics, catalog = Diagnostics(), Catalog()
    plan = load_jobs("jobs.yaml", catalog, diagnostics)
    assert workload(plan, catalog, diagnostics).jobs.checkpoint.tolist() == [1200.0, HOUR]
