"""What-if: every change is the estimate of the changed scenario, and hardware obeys the laws of physics."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from aiplan.catalog.load import Catalog
from aiplan.core.sensitivity import elasticity, kinked
from aiplan.engine.evaluate import evaluate
from aiplan.engine.inputs import SCALAR_NAMES, assembled
from aiplan.planning import estimate as estimating
from aiplan.planning.estimate import columns, estimate
from aiplan.planning.levers import HARDWARE, LEVERS
from aiplan.planning.roofline import roofline
from aiplan.planning.sensitivity import OUTCOMES, sensitivity
from aiplan.planning.variants import Source, load_source
from aiplan.report.sensitivity.keys import VALUES

sys.path.insert(0, str(Path(__file__).parent))
from whatif_cases import SCENARIOS, any_plan, loaded

sys.path.pop(0)

LEVER = {lever.name: lever for lever in LEVERS}
RATES = ("matmul_rate", "attention_rate", "memory_bandwidth", "link_bandwidth", "nic_bandwidth", "coding_rate")
TIMES = ("link_latency", "network_latency", "launch_time", "host_time", "step_overhead")
FASTER = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def named(answer):
    return {one.lever.name: one for one in answer.effects}


def scaled(scenario, factors):
    """Evaluate a scenario with inputs of the engine multiplied, without planning in between."""
    values = columns([scenario])
    flat = dict(values.named())
    changed = {name: flat[name] * factors.get(name, 1.0) for name in SCALAR_NAMES}
    return {name: term.item() for name, term in evaluate(assembled(changed, values.stages)).items() if term.size == 1}


def inputs_of(names, factor):
    return {name: factor for lever in names for name in LEVER[lever].inputs}


@pytest.mark.parametrize("name", SCENARIOS)
def test_one_batch_answers_everything(name, monkeypatch):
    widths = []

    def counted(values, run=None):
        widths.append(values.workload.sequence.shape[-1])
        return evaluate(values, run)

    monkeypatch.setattr(estimating, "evaluate", counted)
    answer = sensitivity(loaded(name))
    assert widths == [answer.columns]
    assert answer.columns > 2 * len(answer.effects)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_lever_is_answered_or_said_to_be_absent(name):
    answer = sensitivity(loaded(name))
    told = [one.lever.name for one in answer.effects] + [one.lever.name for one in answer.absent]
    assert sorted(told) == sorted(LEVER)


@pytest.mark.parametrize("factor", [2.0, 0.5])
@pytest.mark.parametrize("name", SCENARIOS)
def test_changes_of_inputs_are_those_of_the_engine(name, factor):
    scenario = loaded(name)
    base = scaled(scenario, {})
    for one in sensitivity(scenario).effects:
        trial = one.doubled if factor > 1 else one.halved
        if one.lever.fields or trial.refused:
            continue
        there = scaled(scenario, dict.fromkeys(one.lever.inputs, factor))
        assert trial.changes["step_time"] == there["step"] / base["step"] - 1.0, one.lever.name
        assert trial.changes["memory"] == there["memory.needed"] / base["memory.needed"] - 1.0, one.lever.name
        assert trial.fits == (there["memory.needed"] <= there["memory.capacity"])


RESOLVED = [
    ("dense", "nodes", ["cluster.nodes=8"], ["cluster.nodes=2"]),
    ("dense", "nics", ["cluster.network.ports=16"], ["cluster.network.ports=4"]),
    ("dense", "oversubscription", ["cluster.network.oversubscription=4"], ["cluster.network.oversubscription=1"]),
    ("dense", "scale_up_domain", ["cluster.domain=16"], ["cluster.domain=4"]),
    ("dense", "sequence", ["workload.sequence_length=8192"], ["workload.sequence_length=2048"]),
    ("dense", "global_batch", ["workload.global_batch=128"], ["workload.global_batch=32"]),
    ("dense", "micro_batch", ["plan.micro_batch=2"], None),
    ("experts", "sequence", ["workload.sequence_length=4096"], ["workload.sequence_length=1024"]),
    ("experts", "global_batch", ["workload.global_batch=128"], ["workload.global_batch=32"]),
    ("compressed", "nodes", ["cluster.nodes=16"], ["cluster.nodes=4"]),
]


@pytest.mark.parametrize(("name", "lever", "double", "half"), RESOLVED, ids=lambda value: str(value)[:24])
def test_changes_of_fields_are_those_of_set(name, lever, double, half):
    base = estimate([loaded(name)])[0]
    one = named(sensitivity(loaded(name)))[lever]
    for trial, texts in ((one.doubled, double), (one.halved, half)):
        if texts is None:
            assert trial.refused
            continue
        there = estimate([loaded(name, *texts)])[0]
        for outcome in OUTCOMES:
            expected = outcome.of(there) / outcome.of(base) - 1.0
            assert trial.changes[outcome.name] == (expected if math.isfinite(expected) else None)
        assert trial.fits == there.fits


def test_the_sequence_takes_with_it_what_follows_from_it():
    """Half of 12 does not split over 8 ranks, so norms are whole there: only the resolver knows."""
    texts = ("plan.tensor=8", "plan.pipeline=1", "software=megatron-core")
    whole, half = (loaded("dense", *texts, f"workload.sequence_length={length}") for length in (24, 12))
    assert whole.values["plan.sequence_parallel"].number == 1
    assert half.values["plan.sequence_parallel"].number == 0
    trial = named(sensitivity(whole))["sequence"].halved
    there, here = estimate([half])[0], estimate([whole])[0]
    assert trial.changes["step_time"] == there["step"] / here["step"] - 1.0


def test_what_is_not_legal_is_refused_with_the_reason():
    effects = named(sensitivity(loaded("dense", "workload.global_batch=16")))
    assert effects["micro_batch"].doubled.refused == ""
    assert effects["micro_batch"].halved.refused == "1 cannot be halved"
    one_each = named(sensitivity(loaded("dense", "workload.global_batch=8")))
    assert "global_batch" in one_each["micro_batch"].doubled.refused.replace(" ", "_")
    assert one_each["global_batch"].halved.refused
    assert one_each["global_batch"].below is None
    assert one_each["global_batch"].elasticities["time_to_train"] == one_each["global_batch"].above


def test_unknown_money_and_tokens_are_unknown_not_zero():
    answer = sensitivity(loaded("compressed", "cluster.network.ports=4"))
    assert answer.time == "time_per_token"
    one = named(answer)["matmul_rate"]
    assert one.better.changes["time_to_train"] is None
    assert one.elasticities["time_to_train"] is None
    assert one.better.changes["time_per_token"] < 0
    assert {"tokens"} <= {item.lever.name for item in answer.absent}


def test_a_searched_plan_is_kept(ask):
    tree = {
        "model": "llama-3-8b",
        "workload": {"sequence_length": 4096, "global_batch": 32, "tokens": 1e9},
        "cluster": {"node": "dgx-h100", "nodes": 1},
        "plan": "auto",
    }
    found = load_source(Source("", json.dumps(tree).encode()), Catalog([])).scenario
    answer = sensitivity(found)
    doubled = named(answer)["global_batch"].doubled
    layout = vars(found.file.plan) | {
        "overlap": {k: v for k, v in vars(found.file.plan.overlap).items() if v is not None}
    }
    written = {name: value for name, value in layout.items() if value not in (None, (), {})}
    there = ask.planned(tree | {"plan": written, "workload": tree["workload"] | {"global_batch": 64}})
    assert doubled.changes["step_time"] == there["step"] / answer.estimate["step"] - 1.0


@pytest.mark.parametrize("name", SCENARIOS)
def test_ranked_by_the_effect_on_time_in_each_group(name):
    answer = sensitivity(loaded(name))
    for group in ("hardware", "workload"):
        sizes = [abs(one.better.changes[answer.time] or 0.0) for one in answer.of(group)]
        assert sizes == sorted(sizes, reverse=True)


@FASTER
@given(plan=any_plan(), power=st.integers(-3, 3))
def test_all_rates_and_times_together_scale_the_step_exactly(plan, power):
    """Nothing else has a unit of time: the levers are complete. Only the smooth wait for the host rounds."""
    scenario = loaded(*plan)
    assume(scenario is not None)
    factor = 2.0**power
    before = scaled(scenario, {})
    after = scaled(scenario, inputs_of(RATES, factor) | inputs_of(TIMES, 1.0 / factor))
    for name, value in before.items():
        if name.startswith("step"):
            assert after[name] == pytest.approx(value / factor, rel=1e-14, abs=1e-14 * after["step"]), name
        elif name.startswith("memory"):
            assert after[name] == value, name


@FASTER
@given(plan=any_plan())
def test_elasticities_of_the_hardware_add_up_to_minus_one(plan):
    """Euler: the step is homogeneous of degree -1 in rates and 1 in times."""
    scenario = loaded(*plan)
    assume(scenario is not None)
    effects = named(sensitivity(scenario))
    present = [effects[name] for name in (*RATES, *TIMES) if name in effects]
    signs = [1.0 if one.lever.name in RATES else -1.0 for one in present]
    total = sum(sign * one.elasticities["step_time"] for sign, one in zip(signs, present, strict=True))
    bends = sum(abs(one.above - one.below) for one in present) / 2.0  # between the sides of a kink all is possible
    assert total == pytest.approx(-1.0, abs=1e-4 + bends)
    if not any(one.kink for one in present):
        assert total == pytest.approx(-1.0, abs=2e-2)


@FASTER
@given(plan=any_plan())
def test_better_hardware_is_never_slower(plan):
    """A larger scale-up domain is no faster part: it can change which algorithm reduces the gradients."""
    scenario = loaded(*plan)
    assume(scenario is not None)
    for name, one in named(sensitivity(scenario)).items():
        if name not in (*RATES, *TIMES, "memory_capacity", "nics", "oversubscription"):
            continue
        better = one.doubled if one.lever.better > 0 else one.halved
        worse = one.halved if one.lever.better > 0 else one.doubled
        assert better.refused or better.changes["step_time"] <= 1e-12, name
        assert worse.refused or worse.changes["step_time"] >= -1e-12, name
        if one.elasticities["step_time"] is not None:
            assert one.elasticities["step_time"] * one.lever.better <= 1e-9, name


@pytest.mark.parametrize("name", SCENARIOS)
def test_cost_follows_time_where_the_price_does_not_change(name):
    for one in sensitivity(loaded(name)).effects:
        if one.lever.group != HARDWARE or one.lever.name == "nodes":
            continue
        for trial in (one.doubled, one.halved):
            if trial.changes["cost"] is not None:
                assert trial.changes["cost"] == pytest.approx(trial.changes["time_to_train"], abs=1e-12)


def balanced(scenario):
    """Return the memory bandwidth at which the longest matmul waits for memory as long as it calculates. [B/s]"""
    found = max(
        (kernel for one in roofline(scenario).classes for kernel in one.kernels if kernel.flops and not kernel.moves),
        key=lambda kernel: kernel.times * kernel.time,
    )
    printed = scenario.values["cluster.memory_bandwidth"].number / found.bandwidth
    return printed * found.nbytes / (found.time - found.launch)


def test_a_kink_is_told_where_memory_and_arithmetic_are_in_balance():
    scenario = loaded("dense")
    there = balanced(scenario)

    def effect(bandwidth):
        value = scenario.values["cluster.memory_bandwidth"]._replace(number=bandwidth)
        return named(sensitivity(scenario._replace(values=scenario.values | {"cluster.memory_bandwidth": value})))

    at = effect(there)["memory_bandwidth"]
    assert at.kink
    assert at.below < at.above < 0
    assert not effect(1.3 * there)["memory_bandwidth"].kink
    assert not named(sensitivity(scenario))["memory_bandwidth"].kink


@given(below=st.floats(1e-3, 1e3), power=st.integers(-3, 3), ratio=st.floats(1.001, 4.0), scale=st.floats(1e-6, 1e6))
def test_the_elasticity_of_a_power_is_its_exponent(below, power, ratio, scale):
    found = elasticity(scale * below**power, scale * (below * ratio) ** power, ratio)
    assert float(found) == pytest.approx(power, rel=1e-6, abs=1e-6)


@given(
    terms=st.lists(
        st.tuples(st.floats(1e-3, 1e3), st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0])), min_size=1, max_size=5
    ),
    ratio=st.floats(1.005, 4.0),
)
def test_a_sum_of_powers_has_no_kink(terms, ratio):
    lower, here, upper = (sum(c * x**p for c, p in terms) for x in (1.0 / ratio, 1.0, ratio))
    assert not kinked(elasticity(lower, here, ratio), elasticity(here, upper, ratio), ratio)


def test_the_larger_of_two_has_a_kink_where_they_meet():
    lower, here, upper = (np.maximum(1.0 / x, 1.0) for x in (1.0 / 1.01, 1.0, 1.01))
    assert kinked(elasticity(lower, here, 1.01), elasticity(here, upper, 1.01), 1.01)


def test_keys_of_the_document_are_the_outcomes():
    assert list(VALUES) == [one.name for one in OUTCOMES]


def test_failures_and_storage_count_where_the_scenario_has_them():
    """With blocks for the run as a whole, effects are those on the wall clock, each that of the changed run alone."""
    settings = [("reliability", "{}", "--set"), ("storage", "s3-standard", "--set")]
    scenario = load_source(Source("gpt3-175b-a100"), Catalog(), settings).scenario
    found = sensitivity(scenario)
    effects = {one.lever.name: one for one in found.effects}
    assert found.time == "wall_clock"
    mtbf = scenario.run["reliability.accelerator_mtbf"]
    doubled = scenario._replace(
        run=scenario.run | {"reliability.accelerator_mtbf": mtbf._replace(number=2 * mtbf.number)}
    )
    [base, alone] = estimate([scenario, doubled])
    assert effects["mtbf"].doubled.changes["wall_clock"] == alone["wallclock"] / base["wallclock"] - 1.0 < 0.0
    assert effects["restart_time"].halved.changes["wall_clock"] < 0.0
    assert effects["storage_rate"].doubled.changes["wall_clock"] <= 0.0
    assert effects["mtbf"].doubled.changes["step_time"] == 0.0


def test_without_these_blocks_they_are_said_to_be_absent():
    absent = {one.lever.name: one.reason for one in sensitivity(loaded("dense")).absent}
    assert absent["mtbf"] == absent["storage_rate"] == "the scenario says nothing of it"
