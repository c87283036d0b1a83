"""`aiplan size`: published trainings come out, small cases against brute force, and what it prints and refuses."""

import json
import math

import pytest
from jsonschema import Draft7Validator

from aiplan.catalog.load import Catalog
from aiplan.planning.counts import accelerator_seconds_at_peak, fewest_for_weights, possible_counts
from aiplan.planning.scale import at_size
from aiplan.planning.search import question_of, search
from aiplan.planning.size import Request, size, usual_goal
from aiplan.planning.sizes import legal_sizes
from aiplan.planning.trial import Limits
from aiplan.planning.variants import Source, load_written
from aiplan.report.schemas import schema_of
from aiplan.scenario.conditions import read_condition

DAY = 86400.0
SMALL = b"""
model: {layers: 4, hidden: 1024, heads: 4, ffn: 4096, vocab: 32000}
workload: {sequence_length: 1024, global_batch: 192, tokens: 200e9}
cluster: {node: dgx-h100, nodes: 2}
plan: {cuda_graphs: full}
"""
EASY = ["size", "small.yaml", "--deadline", "10 h"]
LIMITED = ["size", "small.yaml", "--deadline", "2 h"]
GOLDENS = {
    "help": ["size", "--help"],
    "80 columns": [*LIMITED, "--width", "80"],
    "200 columns": [*LIMITED, "--budget", "2000 USD", "--power", "1 MW", "--width", "200"],
    "fastest": ["size", "small.yaml", "--budget", "600 USD", "--width", "100"],
    "sure": [*EASY, "--sure", "--width", "100"],
    "nodes": [*EASY, "--node", "dgx-a100-80gb", "--node", "dgx-h100", "--node", "dgx-h200", "--width", "100"],
    "nothing meets it": ["size", "small.yaml", "--deadline", "1 min", "--budget", "200 USD", "--width", "80"],
    "one has to give way": ["size", "small.yaml", "--deadline", "1 h", "--budget", "600 USD", "--width", "80"],
    "markdown": [*EASY, "--where", "tensor = 1", "--format", "markdown"],
    "csv": [*EASY, "--format", "csv"],
    "plain": [*EASY, "--format", "plain"],
    "no limit": ["size", "small.yaml"],
    "bad limits": ["size", "small.yaml", "--deadline", "30", "--budget", "2 MW", "--power", "-1 MW"],
    "bad goal": [*LIMITED, "--for", "speed"],
    "bad node": [*LIMITED, "--node", "dgx-h10"],
    "no tokens": [*LIMITED, "--set", "workload.tokens=null"],
    "no price": ["size", "small.yaml", "--budget", "1M USD", "--set", "cluster.node=atlas-900-a2"],
}
NO = {"nothing meets it", "one has to give way"}


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens(name, run, folder, golden):
    (folder / "small.yaml").write_bytes(SMALL)
    done = run(*GOLDENS[name])
    assert done.code == (1 if name in NO else 2 if name[:3] in {"no ", "bad"} else 0)
    assert done.text == golden(name=name)


def asked(name, limits, goal="gpus", *conditions, settings=(), **other):
    request = Request(limits, goal, conditions=tuple(map(read_condition, conditions)), **other)
    changes = tuple((path, value, "--set") for path, value in settings)
    return size(Source(name), Catalog([]), changes, request)


def small(limits, goal="gpus", **other):
    return size(Source("", SMALL), Catalog([]), (), Request(limits, goal, **other))


def interval(trial):
    found = trial.estimate.interval("run.time_to_train")
    return found.low, found.high


def test_llama_3_70b_in_150_days_takes_about_1024_h100():
    """15e12 tokens at 48 % of the peak of 1,024 H100 take 150 days."""
    answer = asked("llama-3-70b-h100", Limits(deadline=150 * DAY))
    tried = {trial.accelerators: trial for trial in answer.trials}
    assert 0.9 * 1024 <= answer.best.accelerators <= 1.25 * 1024
    assert tried[1024].time == pytest.approx(150 * DAY, rel=0.03)
    assert tried[1024].estimate.mfu == pytest.approx(0.48, abs=0.04)
    low, high = interval(tried[1024])
    assert low < 150 * DAY < high
    assert len(answer.trials) <= 15
    larger = asked("llama-3-70b-h100", Limits(deadline=150 * DAY), settings=[("workload.global_batch", "2048")])
    tried = {trial.accelerators: trial for trial in larger.trials}
    assert tried[1024].time == pytest.approx(150 * DAY, rel=0.02)
    low, high = interval(tried[1024])
    assert low < 150 * DAY < high


def test_gpt3_175b_in_34_days_takes_about_1024_a100():
    """As the software of that time could do it: everything recomputed, activations not split along the sequence."""
    then = ("recompute = full", "sequence_parallel = false")
    answer = asked("gpt3-175b-a100", Limits(deadline=34 * DAY), "gpus", *then)
    assert answer.best.accelerators == pytest.approx(1024, rel=0.05)
    low, high = interval(answer.best)
    assert low < 34 * DAY < high
    assert len(answer.trials) <= 15
    assert answer.best.estimate.scenario.file.plan.recompute == "full"


@pytest.fixture(scope="module")
def everything():
    """Every possible number of GPUs up to 400 with the time of its fastest plan, each searched on its own."""
    base = load_written(Source("", SMALL), Catalog([]), searched=True).scenario
    found = {}
    for count in map(int, possible_counts(base, 400)):
        scenario = load_written(Source("", SMALL), Catalog([]), at_size(base, count, 192), searched=True).scenario
        best = search([scenario], question_of(scenario, "time", shown=1)).best
        if best:
            found[count] = best[0].estimate
    return base, found


def test_every_trial_is_what_a_search_of_that_size_finds(everything):
    _, found = everything
    for trial in small(Limits(deadline=7200)).trials:
        if trial.accelerators in found:
            one = found[trial.accelerators]
            assert (trial.time, trial.cost) == (one["run.time_to_train"], one["run.cost"])
            assert trial.power == pytest.approx(one["run.power"])


@pytest.mark.parametrize("hours", [1.2, 3])
def test_the_fewest_of_all(everything, hours):
    _, found = everything
    best = small(Limits(deadline=3600 * hours)).best
    assert best.accelerators == min(n for n, one in found.items() if one["run.time_to_train"] <= 3600 * hours)


@pytest.mark.parametrize("hours", [2])
def test_the_cheapest_of_all(everything, hours):
    _, found = everything
    best = small(Limits(deadline=3600 * hours), "cost").best
    least = min(one["run.cost"] for one in found.values() if one["run.time_to_train"] <= 3600 * hours)
    assert best.cost == pytest.approx(least, rel=0.02)


@pytest.mark.parametrize("budget", [600, 1600])
def test_the_fastest_of_all(everything, budget):
    _, found = everything
    answer = small(Limits(budget=budget), "time")
    within = {n: one["run.time_to_train"] for n, one in found.items() if one["run.cost"] <= budget}
    assert answer.best.cost <= budget
    assert answer.best.time == pytest.approx(min(within.values()), rel=0.02)


def test_nothing_beats_the_peak(everything):
    base, found = everything
    bound = accelerator_seconds_at_peak(base)
    for count, one in found.items():
        assert one["run.time_to_train"] * count > bound
        assert one["memory"] * count > 2 * one["parameters.total"]
    assert fewest_for_weights(base) == 1


@pytest.mark.parametrize(
    "change",
    [
        (),
        (("model.kv_heads", "2"), ("workload.global_batch", "6"), ("workload.sequence_length", "96")),
        (("model.layers", "5"), ("workload.global_batch", "10")),
        (("model.experts", "{count: 4, top_k: 1, ffn: 512, layers: 2}"),),
    ],
)
def test_possible_numbers_are_those_with_a_legal_layout(change):
    """Every number of nodes up to 16, tried with the rules of a search."""
    changes = [(path, value, "--set") for path, value in change]
    base = load_written(Source("", SMALL), Catalog([]), changes, searched=True).scenario
    batch = base.file.workload.global_batch
    legal = []
    for count in range(8, 129, 8):
        settings = [*changes, *at_size(base, count, batch)]
        scenario = load_written(Source("", SMALL), Catalog([]), settings, searched=True).scenario
        sizes, _ = legal_sizes(scenario, lambda table: table["tensor"] > 0)
        legal += [count] if len(sizes) else []
    assert possible_counts(base, 128).tolist() == legal


def test_at_the_upper_end_more_are_needed(everything):
    """The deadline is hardly longer than what 48 GPUs most likely take."""
    _, found = everything
    limits = Limits(deadline=1.001 * found[48]["run.time_to_train"])
    likely, sure = small(limits).best, small(limits, sure=True).best
    assert likely.accelerators < sure.accelerators
    assert interval(sure)[1] <= limits.deadline < interval(likely)[1]


def test_power_bounds_the_number():
    limits = Limits(power=300e3)
    best = small(limits, "time").best
    assert best.power <= 300e3
    assert small(Limits(power=600e3), "time").best.time < best.time


FAILING = SMALL + b"reliability: {mtbf_per_node: 36 h, spares: 2, repair: 4 h}\ncheckpoint: {interval: 20 min}\n"
SIMPLE = (read_condition("tensor = 1"), read_condition("pipeline = 1"))


def failing(deadline, **other):
    return size(Source("", FAILING), Catalog([]), (), Request(Limits(deadline), "gpus", conditions=SIMPLE, **other))


def test_a_size_counts_failures():
    """A deadline that steps alone meet needs more GPUs where nodes fail, and no fewer would do.

    `--sure` adds the chance of failures to the error of a step.
    """
    base = load_written(Source("", FAILING), Catalog([]), searched=True).scenario

    def fastest(count):
        changes = at_size(base, count, 192)
        scenario = load_written(Source("", FAILING), Catalog([]), changes, searched=True).scenario
        return search([scenario], question_of(scenario, "time", SIMPLE, shown=1)).best[0].estimate

    limits = Limits(deadline=1.005 * fastest(16)["run.time_to_train"])
    alone, answer = small(limits, conditions=SIMPLE).best, failing(limits.deadline)
    best = answer.best
    assert best.accelerators > alone.accelerators == 16
    assert best.time == best.estimate["wallclock"] <= limits.deadline
    assert best.cost == best.estimate["total.cost"] > best.estimate["run.cost"]
    for trial in answer.trials:
        if trial.estimate is not None:
            assert trial.time > trial.estimate["run.time_to_train"]
            assert trial.power == trial.estimate["total.power"] > trial.estimate["run.power"]  # two spare nodes
            assert trial.accelerators >= best.accelerators or "deadline" in trial.misses(limits)
    assert fastest(best.accelerators)["wallclock"] == best.time
    late = 1.02 * fastest(16)["wallclock"]
    sure = failing(late, sure=True).best
    assert sure.accelerators > failing(late).best.accelerators == 16
    high = sure.estimate.wallclock_interval().high
    assert sure.upper_time == high <= late
    assert sure.upper_cost == pytest.approx(sure.cost * high / sure.time)


def test_what_binds_is_the_next_smaller_number():
    answer = small(Limits(deadline=7200))
    assert answer.neighbour.accelerators == answer.possible[0][-1]
    assert answer.neighbour.misses(answer.request.limits) == ("deadline",)


def test_what_would_do_meets_all_other_limits():
    tight = small(Limits(deadline=3600, budget=600.0))
    assert tight.best is None
    changes = dict(tight.changes())
    assert set(changes) == {"deadline", "budget"}
    assert changes["deadline"].cost <= 600.0
    assert changes["budget"].time <= 3600
    assert tight.shortest("all").time == min(t.time for t in tight.trials if not math.isnan(t.time))


def test_nodes_of_the_catalog():
    """Another node brings its own network and price; what cannot win is left out with the reason."""
    text = SMALL.replace(b"nodes: 2", b"nodes: 2, price: 1 USD/h, network: {fabric: eth-100g}").replace(
        b"eth-100g", b"ib-hdr"
    )
    request = Request(Limits(deadline=7200), "cost", ("dgx-h100", "dgx-a100-80gb", "dgx-h100"))
    answer = size(Source("", text), Catalog([]), (), request)
    best = answer.best.estimate.scenario
    assert best.values["cluster.price"].origin.kind != "given"
    assert best.file.cluster.network.fabric is None
    assert ("NVIDIA DGX H100", "the same as NVIDIA DGX H100 for this question") in answer.left_out
    for node in answer.machines:
        own = [trial.cost for trial in answer.trials if trial.node == node and not trial.misses(request.limits)]
        assert answer.best.cost <= min(own, default=math.inf)


def test_what_is_least_if_nobody_says():
    assert usual_goal(Limits(deadline=1.0), ()) == "gpus"
    assert usual_goal(Limits(deadline=1.0, budget=1.0), ("dgx-h100",)) == "gpus"
    assert usual_goal(Limits(deadline=1.0), ("all",)) == "cost"
    assert usual_goal(Limits(budget=1.0, power=1.0), ()) == "time"


@pytest.mark.parametrize("arguments", [GOLDENS["sure"], [*EASY, "--where", "tensor = 3"]])
def test_document(run, folder, arguments):
    (folder / "small.yaml").write_bytes(SMALL)
    content = json.loads(run(*arguments, "--format", "json").out)
    Draft7Validator(schema_of("result")).validate(content)
    result = content["result"]
    assert (result["best"] is None) == ("tensor = 3" in arguments)
    met = [trial for trial in result["tried"] if trial["meets"]]
    assert bool(met) == (result["best"] is not None)
