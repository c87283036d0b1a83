"""Search where a scenario speaks of storage, checkpoints or failures, against the estimate of every plan."""

import functools

import numpy as np
import pytest

from aiplan.engine.evaluate import at_step, step_and_memory, whole_terms
from aiplan.planning.chunks import spaces
from aiplan.planning.estimate import estimate
from aiplan.planning.objectives import OBJECTIVES, ranked
from aiplan.planning.search import question_of, search
from aiplan.scenario.load import with_plan

from .cases import TWO_NODES, every_plan, loaded, question

SMALL = (
    TWO_NODES.replace("global_batch: 4", "global_batch: 2")
    .replace("layers: 6", "layers: 2")
    .replace("heads: 4", "heads: 2")
    + "plan: {tensor: 2}\n"
)
WORK = "{sequence_length: 2048, global_batch: 2, tokens: 1e9}"
# Failures every few minutes and checkpoints that hold training up: which ranks write decides more than the step does.
FREQUENT = {
    "storage": "{read: 2 GB/s, write: 2 GB/s}",
    "checkpoint": "{mode: sync, writer_rate: 300 MB/s}",
    "reliability": "{mtbf: 20 min, spares: 1, repair: 2 h, evaluation: {every: 100, time: 10 s}}",
}
STARVED = {"storage": "{read: 10 MB/s, write: 1 GB/s, sample: 100 kB, latency: 50 ms}"}
KINDS = {
    "frequent failures": FREQUENT,
    "tiered, elastic": {
        "checkpoint": "{mode: tiered, restore: all-read}",
        "reliability": "{mtbf: 1 h, spares: 0, elastic: {minimum: 1}}",
        "storage": "{read: 500 MB/s, write: 500 MB/s}",
    },
    "starved of data": STARVED,
}
TERMS = {
    "time": ("wallclock", 1.0),
    "cost": ("total.cost", 1.0),
    "energy": ("total.energy", 1.0),
    "carbon": ("total.carbon", 1.0),
    "goodput": ("run.goodput", -1.0),
}


def scenario(kind):
    return loaded(SMALL, ("workload", WORK), ("cluster.price", "2 USD/h"), *KINDS[kind].items())


@functools.cache
def single_estimates(kind):
    """Return the space of a scenario, and the estimate of every plan by itself."""
    whole = scenario(kind)
    [space] = spaces([whole], question())
    plans = list(every_plan(space))
    found = estimate([with_plan(whole, space.plan(*place), "") for place in plans])
    return space, dict(zip(plans, found, strict=True))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("objective", TERMS)
def test_search_is_brute_force(kind, objective):
    space, single = single_estimates(kind)
    term, sign = TERMS[objective]
    least = {}
    for (group, layout, _), one in single.items():
        if one.fits:
            row = space.groups[group].sizes.row(layout)
            least[row] = min(least.get(row, np.inf), sign * one[term])
    found = search([space.scenario], question(objective, shown=len(least)))
    assert found.possible == len(least)
    assert sign * found.best[0].estimate[term] == pytest.approx(min(least.values()), rel=1e-12)
    for choice in found.best:
        plan = choice.plan
        sizes = (plan.tensor, plan.context, plan.pipeline, int(plan.count_embedding_as_layer), plan.expert)
        row = next(row for row in least if row[:5] == sizes and row[6:8] == (plan.interleave, plan.micro_batch))
        assert sign * choice.estimate[term] == pytest.approx(least[row], rel=1e-12)
    told = [sign * choice.estimate[term] for choice in found.best]
    assert told == pytest.approx(sorted(told), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_front_is_what_no_plan_beats(kind):
    space, single = single_estimates(kind)
    points = [(one["wallclock"], one["total.cost"], one["memory.needed"]) for one in single.values() if one.fits]
    for choice in search([space.scenario], question()).front:
        here = tuple(choice.estimate[term] for term in ("wallclock", "total.cost", "memory.needed"))
        beaten = [there for there in points if all(a <= b * (1 - 1e-9) for a, b in zip(there, here, strict=True))]
        assert not beaten


@pytest.mark.parametrize(
    "condition",
    [
        "wallclock <= {wallclock}",
        "goodput >= {run.goodput}",
        "cost <= {total.cost} USD",
        "energy <= {total.energy} J",
        "carbon <= {total.carbon} kg",
    ],
)
def test_conditions_on_the_run_as_a_whole(condition):
    space, single = single_estimates("frequent failures")
    term = condition.partition("{")[2].partition("}")[0]
    bound = float(np.median([one[term] for one in single.values()]))
    text = condition.replace(f"{{{term}}}", f"{bound:.9e}" + (" s" if term == "wallclock" else ""))
    kept = [one for one in single.values() if one.fits and ((one[term] >= bound) == (term == "run.goodput"))]
    found = search([space.scenario], question("time", text, shown=1))
    left = sum(one.fits for one in single.values()) - len(kept)
    assert abs(found.unwanted - left) <= 1  # the plan in the middle, whose value was rounded
    assert 0 < found.unwanted < found.plans


def test_who_writes_can_outweigh_the_step():
    """If plans whose checkpoints one replica writes had the faster steps, others would be the better runs."""
    [space] = spaces([scenario("frequent failures")], question())
    for number, group in enumerate(space.groups):
        values = space.inputs(number, 0, len(group.sizes))
        terms = step_and_memory(values, space.run)
        terms["loading.busy"] = terms["loading.busy"] * np.where(values.plan.zero > 0, 1.0, 0.97)
        terms = at_step(values, space.run, terms, terms["loading.busy"])
        whole = whole_terms(values, space.run, terms)["wallclock"]
        legal = np.ones(whole.shape, dtype=bool)
        found = ranked(values, space.run, terms, legal, OBJECTIVES["time"])
        axes = tuple(range(whole.ndim - 2))
        assert found.objective == pytest.approx(whole.min(axis=axes)[0], rel=1e-12)
        picked = whole.reshape(-1, whole.shape[-1])[found.key.reshape(-1, whole.shape[-1]).argmin(axis=0)]
        assert np.diagonal(picked) == pytest.approx(found.objective, rel=1e-12)


def test_plans_whose_saves_cannot_keep_up_are_left_out():
    asked = {
        "checkpoint": "{mode: async, interval: 2 s, writer_rate: 200 MB/s}",
        "reliability": "{}",
        "storage": "{read: 20 GB/s, write: 20 GB/s}",
    }
    whole = loaded(SMALL, ("workload", WORK), ("plan", "auto"), *asked.items())
    assert whole is not None
    found = search([whole], question(shown=50))
    assert found.unwanted
    for choice in found.best:
        assert choice.estimate["checkpoint.drain"] <= 2.0 + choice.estimate["checkpoint.stall"]


def test_without_tokens_plans_are_compared_by_some():
    whole = loaded(SMALL, *FREQUENT.items())
    found = search([whole], question_of(whole, "cost", own=estimate([whole])[0]))
    assert found.best
    assert 0 < found.ahead < found.possible


def test_data_that_comes_too_late_is_in_the_step():
    space, single = single_estimates("starved of data")
    found = search([space.scenario], question()).best[0].estimate
    assert found["step.loading"] > 0
    assert found["step"] == min(one["step"] for one in single.values() if one.fits)
