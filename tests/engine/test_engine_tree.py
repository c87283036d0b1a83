"""What must hold for every plan: parts add up, batches change nothing, better hardware is never slower."""

import json
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics, read
from aiplan.engine.evaluate import evaluate
from aiplan.engine.tree import ENERGY, ROOTS, TREE
from aiplan.planning.estimate import columns, estimate
from aiplan.scenario.files import Place, library_ids
from aiplan.scenario.load import load, resolve_tree

CATALOG = Catalog()
MODELS = {
    "llama-3-8b": 32,
    "gpt3-13b": 40,
    "mixtral-8x7b": 32,
    "deepseek-v2-lite": 27,
    "gemma-2-9b": 42,
    "gpt-oss-20b": 24,
}
"""Models of different kinds with their layers: plain, learned positions, experts, latent attention, windows, sinks."""
EXPERTS = {"mixtral-8x7b": 8, "deepseek-v2-lite": 64, "gpt-oss-20b": 32}
NODES = ("dgx-a100-80gb", "dgx-h100", "hgx-mi300x")
SOFTWARE = ("megatron-core", "megatron-lm-2021", "deepspeed")
ROUNDING = 1 + 1e-12
RUN_LENGTH = {"run.steps", "run.time_to_train", "run.cost", "run.electricity", "run.carbon"} | {
    name for name in ENERGY if name.startswith("run.")
}

quick = settings(max_examples=30, deadline=None)


def replace(record, **changes):
    return type(record)(**{**vars(record), **changes})


@lru_cache(maxsize=256)
def resolved_text(text):
    diagnostics = Diagnostics()
    place = Place("plan.yaml", Path("plan.yaml"))
    return resolve_tree(read(text.encode(), place.name, diagnostics), place, CATALOG, diagnostics)


def resolved(tree):
    """Resolve a scenario given as a tree; None if its layout is refused."""
    return resolved_text(json.dumps(tree))


def powers(limit):
    return st.sampled_from([2**k for k in range(limit.bit_length()) if 2**k <= limit])


@st.composite
def trees(draw, deepest_zero=3):
    """Draw a scenario with a legal plan for one of the models."""
    model = draw(st.sampled_from(sorted(MODELS)))
    layers, nodes = MODELS[model], draw(powers(16))
    tensor, context = draw(powers(8)), draw(powers(4))
    pipeline = draw(st.sampled_from([p for p in (1, 2, 3, 4, 5, 8) if 8 * nodes % p == 0]))
    assume(8 * nodes % (tensor * context * pipeline) == 0)
    data = 8 * nodes // (tensor * context * pipeline)
    chunks = draw(st.sampled_from([1, 1, *(v for v in (2, 3, 4) if pipeline > 1 and layers % (pipeline * v) == 0)]))
    micro_batch = draw(powers(4))
    rounds = draw(st.integers(1, 6)) * pipeline
    plan = {
        "tensor": tensor,
        "context": context,
        "pipeline": pipeline,
        "interleave": chunks,
        "micro_batch": micro_batch,
    }
    plan["recompute"] = draw(st.sampled_from(("none", "selective", "full")))
    plan["zero"] = draw(st.integers(0, min(deepest_zero, 2 if pipeline > 1 else 3)))
    if tensor > 1:
        plan["sequence_parallel"] = draw(st.booleans())
    if model in EXPERTS:
        plan["expert"] = draw(powers(min(EXPERTS[model], 8 * nodes // pipeline)))
    if chunks == 1 and layers % pipeline:
        cuts = sorted(draw(st.lists(st.integers(0, layers), min_size=pipeline - 1, max_size=pipeline - 1)))
        plan["stage_layers"] = [b - a for a, b in zip([0, *cuts], [*cuts, layers], strict=True)]
    tree = {
        "model": model,
        "workload": {
            "tokens": "1e12",
            "sequence_length": draw(st.sampled_from((1024, 4096, 32768))),
            "global_batch": rounds * micro_batch * data,
        },
        "cluster": {
            "node": draw(st.sampled_from(NODES)),
            "nodes": nodes,
            "network": draw(st.sampled_from(({}, {"fabric": "tcp-10g", "ports": 1}))),
        },
        "plan": plan,
        "software": draw(st.sampled_from(SOFTWARE)),
    }
    assume(resolved(tree) is not None)
    return tree


def check_sums(terms):
    """Every parent is the sum of its children, exactly, added from left to right."""
    for name, branch in TREE.items():
        if branch.children:
            total = terms[branch.children[0]]
            for child in branch.children[1:]:
                total = total + terms[child]
            assert np.array_equal(total, terms[name]), name


def same(left, right):
    return np.array_equal(left, right, equal_nan=True)


# ------------------------------------------------------------------ the tree


@pytest.mark.parametrize("name", library_ids(""))
def test_scenarios_of_the_library_add_up(name):
    diagnostics = Diagnostics()
    scenario = load(name, CATALOG, diagnostics)
    diagnostics.raise_if_errors()
    check_sums(evaluate(columns([scenario])))


@quick
@given(st.lists(trees(), min_size=1, max_size=3))
def test_drawn_plans_add_up(plans):
    terms = evaluate(columns([resolved(plan) for plan in plans]))
    check_sums(terms)
    for name in TREE:
        assert np.isfinite(terms[name]).all(), name
        assert (terms[name] >= 0).all(), name
    for root in ROOTS:
        assert (terms[root] > 0).all()


def test_the_tree_has_one_parent_per_term():
    children = [child for branch in TREE.values() for child in branch.children]
    assert len(children) == len(set(children))
    assert set(children) | set(ROOTS) == set(TREE)
    for name, branch in TREE.items():
        assert all(child.startswith(f"{name}.") and TREE[child].unit == branch.unit for child in branch.children)


# ------------------------------------------------------------------ one path for one and for many


@quick
@given(st.lists(trees(), min_size=2, max_size=5))
def test_a_batch_is_its_plans_one_by_one(plans):
    together = estimate([resolved(plan) for plan in plans])
    for plan, answer in zip(plans, together, strict=True):
        alone = estimate([resolved(plan)])[0]
        assert alone.terms.keys() == answer.terms.keys()
        different = [name for name in alone.terms if not same(alone[name], answer[name])]
        assert different == []


@quick
@given(trees(), st.integers(2, 5))
def test_the_same_plan_many_times_is_the_same_answer(plan, times):
    for name, column in evaluate(columns([resolved(plan)] * times)).items():
        assert same(column, np.broadcast_to(column[0], column.shape)), name


# ------------------------------------------------------------------ better hardware

IMPROVEMENTS = {
    "memory_bandwidth": ("memory_bandwidth",),
    "link_bandwidth": ("link_bandwidth",),
    "network_bandwidth": ("network_bandwidth",),
    "peak": ("matmul_peak", "attention_peak"),
}


@pytest.mark.parametrize("fields", IMPROVEMENTS.values(), ids=IMPROVEMENTS.keys())
@quick
@given(plan=trees(deepest_zero=3), factor=st.floats(1.0, 100.0))
def test_better_hardware_is_never_slower(fields, plan, factor):
    values = columns([resolved(plan)])
    better = {name: getattr(values.cluster, name) * factor for name in fields}
    before, after = (evaluate(v) for v in (values, replace(values, cluster=replace(values.cluster, **better))))
    assert after["step"] <= before["step"] * ROUNDING
    assert same(after["memory"], before["memory"])
    assert same(after["flops_per_token.megatron"], before["flops_per_token.megatron"])


TIERS = [f"{tier}_{traffic}" for tier in ("leaf", "pod") for traffic in ("ring", "send", "uniform")]


@quick
@given(trees(deepest_zero=3), st.floats(1.0, 100.0))
def test_latency_and_oversubscription_are_never_faster(plan, factor):
    values = columns([resolved(plan)])
    worse = {
        name: getattr(values.cluster, name) * factor for name in ("link_latency", "network_latency", "launch", *TIERS)
    }
    slow = evaluate(replace(values, cluster=replace(values.cluster, **worse)))
    assert slow["step"] * ROUNDING >= evaluate(values)["step"]


@quick
@given(trees())
def test_utilisation_is_a_share(plan):
    answer = estimate([resolved(plan)])[0]
    assert 0 < answer["utilisation.megatron"] <= answer["utilisation.full"] < 1
    assert answer["utilisation.full"] <= answer["utilisation.hardware"] < 1


# ------------------------------------------------------------------ what is not used costs nothing


def only(**plan):
    """Train Llama 3 8B on one node in a given layout."""
    found = resolved(
        {
            "model": plan.pop("model", "llama-3-8b"),
            "workload": {"tokens": "1e12", "sequence_length": 4096, "global_batch": 64},
            "cluster": {"node": "dgx-h100", "nodes": 1, "accelerators": plan.pop("accelerators", 8)},
            "plan": plan,
        }
    )
    return estimate([found])[0]


def test_one_accelerator_does_not_communicate():
    alone = only(accelerators=1)
    for term in ("tensor", "context", "expert", "pipeline", "bubble", "data"):
        assert alone[f"step.{term}"] == 0.0
    assert alone["step.stragglers"] == 0.0
    parts = ("compute", "host", "optimizer", "overhead")
    assert alone["step"] == pytest.approx(sum(alone[f"step.{part}"] for part in parts))


@pytest.mark.parametrize(
    ("term", "without", "using"),
    [
        ("step.tensor", {"tensor": 1}, {"tensor": 8}),
        ("step.bubble", {"pipeline": 1}, {"pipeline": 4}),
        ("step.pipeline", {"pipeline": 1}, {"pipeline": 4}),
        ("step.data.gradients", {"accelerators": 1}, {"overlap": {"gradients": False}}),
        ("step.compute.recompute", {"recompute": "none"}, {"recompute": "full"}),
        ("step.expert", {"model": "mixtral-8x7b", "expert": 1}, {"model": "mixtral-8x7b", "expert": 8}),
        ("step.compute.experts", {}, {"model": "mixtral-8x7b"}),
        ("memory.gathered", {"zero": 1}, {"zero": 3}),
    ],
)
def test_what_is_not_used_costs_nothing(term, without, using):
    assert only(**without)[term] == 0.0
    assert only(**using)[term] > 0.0


@pytest.mark.parametrize("stage", [1, 2, 3])
def test_sharding_more_holds_less(stage):
    less, more = only(zero=stage), only(zero=stage - 1)
    shrinks = {1: "memory.optimizer", 2: "memory.gradients", 3: "memory.weights"}[stage]
    assert less[shrinks] == pytest.approx(more[shrinks] / 8, rel=1e-12)


# ------------------------------------------------------------------ unknown stays unknown


@quick
@given(trees())
def test_an_unknown_price_makes_only_the_cost_unknown(plan):
    values = columns([resolved(plan)])
    known = evaluate(replace(values, cluster=replace(values.cluster, price=np.full_like(values.cluster.price, 1e-3))))
    unknown = evaluate(
        replace(values, cluster=replace(values.cluster, price=np.full_like(values.cluster.price, np.nan)))
    )
    assert np.isfinite(known["run.cost"]).all()
    assert np.isnan(unknown["run.cost"]).all()
    assert [name for name in known if not same(known[name], unknown[name])] == ["run.cost"]


def test_an_unknown_length_makes_only_the_run_unknown():
    tree = {
        "model": "llama-3-8b",
        "workload": {"sequence_length": 4096, "global_batch": 64},
        "cluster": {"node": "dgx-h100", "nodes": 1},
    }
    answer = estimate([resolved(tree)])[0]
    unknown = {name for name, value in answer.terms.items() if np.isnan(value)}
    assert unknown <= RUN_LENGTH
    assert {"run.steps", "run.time_to_train", "run.cost", "run.energy", "run.carbon"} <= unknown


# ------------------------------------------------------------------ part of the layers computed again


def test_part_of_the_layers_computed_again_lies_between():
    """Five of sixteen layers a stage: time and memory lie as far between none and all as the layers say."""
    none, full = only(recompute="none", pipeline=2), only(recompute="full", pipeline=2)
    part = only(recompute="full", recompute_layers=5, pipeline=2)
    share = 5 / 16
    for term in ("step.compute.recompute", "memory.activations"):
        low, high = sorted((none[term], full[term]))
        assert low < part[term] < high
    assert part["step.compute.recompute"] == pytest.approx(share * full["step.compute.recompute"], rel=1e-12)
