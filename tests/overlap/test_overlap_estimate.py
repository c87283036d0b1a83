"""Pieces of communication in the estimate: against passes played tensor by tensor, and that nothing changes without."""

import math
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiplan.catalog.load import Catalog
from aiplan.core import collectives, trees
from aiplan.core.formula import recording
from aiplan.core.net import Net
from aiplan.engine.evaluate import evaluate
from aiplan.planning.estimate import columns, estimate
from aiplan.planning.explain import explain
from aiplan.planning.variants import Source, assignments, load_source

sys.path.insert(0, str(Path(__file__).parent))
import timeline

sys.path.pop(0)

CATALOG = Catalog()
DDP = ("ethernet-cluster", "model=gpt3-350m", "plan.zero=0", "plan.overlap.contention=0%")
FSDP = ("lab-8gpu", "plan.overlap.contention=0%")
TENSOR = ("gpt3-175b-a100", "plan.overlap.contention=0%")
EXPERTS = ("mixtral-8x7b-h100",)
MB = 1e6


def loaded(name, *changes):
    found = load_source(Source(name), CATALOG, assignments(changes))
    assert found.scenario is not None, found.diagnostics.items
    return found.scenario


def answer(name, *changes):
    return estimate([loaded(name, *changes)])[0]


def tree(found):
    return {name: value for name, value in found.terms.items() if name.startswith(("step", "memory"))}


def argument(scenario, term, call, name):
    """Return an argument of a closed form below a term."""
    left = [explain(scenario, term, 12)]
    while left:
        one = left.pop()
        if one.call == call:
            return next(part.value for part in one.arguments if part.name == name)
        left.extend(one.arguments)
    raise AssertionError(f"no {call} below {term}")


def numbers(scenario):
    return {name: value.number for name, value in scenario.values.items()}


def fastest_all_reduce(scenario):
    """Return the time of an all-reduce over all ranks of servers with one port, as a function of bytes."""
    known = numbers(scenario)
    port = known["cluster.network_bandwidth"] * known["cluster.network_fraction"] / known["cluster.oversubscription"]
    latency = (7 * known["cluster.link_latency"] + known["cluster.network_latency"]) / 8
    link = known["cluster.link_bandwidth"] * known["cluster.link_fraction"]
    net = Net(8.0, known["cluster.link_latency"], link, known["cluster.network_latency"], port / 8)
    return lambda nbytes: min(
        float(collectives.ring_all_reduce_time(nbytes, 32.0, port, latency)),
        float(trees.double_tree(nbytes, 32.0, net)),
    )


def gpt_tensors(scenario, backward):
    """Return (bytes, seconds) of the gradients of a GPT from last layer to embedding, fp32."""
    known = numbers(scenario)
    hidden, layers = known["model.hidden"], int(known["model.layers"])
    matrices = [4 * hidden**2, 4 * hidden**2, *[hidden**2] * 4] * layers
    in_layers = sum(matrices)
    embedding = (known["model.vocab"] + known["model.positions"]) * hidden
    return [*((4 * size, backward * size / in_layers) for size in matrices), (4 * embedding, 0.0)]


@pytest.mark.parametrize("bucket", [1, 5, 25, 50, 100, 400, 1500])
@pytest.mark.parametrize("fabric", ["tcp-25g", "ib-ndr"])
def test_buckets_against_a_pass_played_tensor_by_tensor(bucket, fabric):
    """Matrices of two sizes go into buckets one by one, where the estimate takes their mean."""
    scenario = loaded(*DDP, f"communication.bucket={bucket} MB", f"cluster.network.fabric={fabric}")
    backward = argument(scenario, "step.data.gradients", "overlap.bucketed_exposed_time", "computation")
    buckets = timeline.buckets_of(gpt_tensors(scenario, backward), bucket * MB)
    played, alone = timeline.bucketed(buckets, fastest_all_reduce(scenario))
    found = estimate([scenario])[0]["step.data.gradients"]
    assert found == pytest.approx(played, abs=0.04 * alone)
    assert argument(scenario, "step.data.gradients", "overlap.slowed_time", "communication") == pytest.approx(
        alone, rel=0.04
    )


def llama_units(scenario):
    """Return the parameters of a layer, and of embedding and head together."""
    known = numbers(scenario)
    hidden = known["model.hidden"]
    attention = 2 * hidden * known["model.head_dim"] * (known["model.heads"] + known["model.kv_heads"])
    return attention + 3 * hidden * known["model.ffn"] + 2 * hidden, 2 * known["model.vocab"] * hidden


@pytest.mark.parametrize("ahead", [0, 1])
def test_layers_gathered_ahead_against_a_played_pass(ahead):
    scenario = loaded(*FSDP, f"communication.prefetch={ahead}")
    known, found = numbers(scenario), estimate([scenario])[0]
    layers, count = int(known["model.layers"]), known["workload.global_batch"] / 8
    port = known["cluster.link_bandwidth"] * known["cluster.link_fraction"]

    def half(parameters, size):
        return float(collectives.ring_all_gather_time(parameters * size, 8.0, port, known["cluster.link_latency"]))

    layer, ends = llama_units(scenario)
    played = []
    for term, scattered in (
        ("step.data.parameters", 0.0),
        ("step.data.gradients", half(layer, known["workload.gradient_bytes"])),
    ):
        each = argument(scenario, term, "overlap.prefetched_exposed_time", "computation")
        gathers, computations = [half(layer, 2.0)] * layers, [each] * layers
        played.append(timeline.fully_sharded(gathers, [scattered] * layers, computations, ahead))
    parameters, gradients = played
    assert found["step.data.parameters"] == pytest.approx(count * (half(ends, 2.0) + parameters), rel=1e-3)
    assert found["step.data.gradients"] == pytest.approx(
        count * (half(ends, known["workload.gradient_bytes"]) + gradients), rel=1e-3
    )


@pytest.mark.parametrize("pieces", [1, 4, 16])
def test_tensor_parallel_pieces_against_played_matmuls(pieces):
    """Four halves of all-reduces a layer and pass, each beside matmuls of its own."""
    whole = answer(*TENSOR, "plan.overlap.tensor=false")
    found = answer(*TENSOR, f"communication.tensor_pieces={pieces}")
    if pieces == 1:
        assert found["step.tensor"] == pytest.approx(whole["step.tensor"], rel=1e-12)
    else:
        assert whole["step.tensor"] / pieces < found["step.tensor"] < whole["step.tensor"]
    moved = {name for name in tree(found) if found[name] != whole[name]}
    beside = {"step.bubble", "step.host", "step.data", "step.data.gradients", "step.stragglers"}
    assert moved <= {"step", "step.tensor"} | beside


def test_pieces_run_beside_every_matmul_of_a_layer_once():
    """Eight halves a layer, forward and backward: played one by one, together they are the term."""
    scenario = loaded(*TENSOR, "plan.recompute=none", "communication.tensor_pieces=4")
    with recording() as calls:
        evaluate(columns([scenario]))
    halves = [call for call in calls._calls.values() if call.name == "overlap.bucketed_exposed_time"]
    beside = [float(half.arguments["computation"][0, 0]) for half in halves]
    left = [float(half.result[0, 0]) for half in halves]
    piece = float(halves[0].arguments["each"][0, 0])
    assert left == pytest.approx([timeline.in_pieces(4, piece, matmul, feeds=True) for matmul in beside])
    found, known = estimate([scenario])[0], numbers(scenario)
    times = known["workload.global_batch"] / known["plan.micro_batch"] / known["plan.data"] * 12  # layers of a stage
    matmuls = found["step.compute.projections"] + found["step.compute.feed_forward"]
    assert len(halves) == 8
    assert times * sum(beside) == pytest.approx(matmuls)
    assert times * sum(left) == pytest.approx(found["step.tensor"])


@pytest.mark.parametrize("name", [DDP[0], *EXPERTS, "gpt3-175b-a100", "lab-8gpu"])
def test_nothing_changes_without(name):
    scenario = loaded(name)
    assert not any(numbers(scenario)[f"communication.{key}"] for key in ("bucket", "in_units", "tensor_pieces"))
    assert not any(key.startswith("late.") for key in scenario.values)
    with_keys = loaded(name, "communication.reduce_every=1")
    assert tree(estimate([with_keys])[0]) == tree(estimate([scenario])[0])


def test_only_what_is_asked_for_moves():
    plain = answer(*DDP)
    for key, value in (("bucket", "25 MB"), ("reduce_every", "2")):
        found = answer(*DDP, f"communication.{key}={value}")
        assert {name for name in tree(plain) if plain[name] != found[name]} == {
            "step",
            "step.data",
            "step.data.gradients",
            "step.stragglers",
        }
    plain, found = answer(*FSDP), answer(*FSDP, "communication.prefetch=3")
    moved = {name for name in tree(plain) if plain[name] != found[name]}
    gathering = {"step", "step.data", "step.data.gradients", "step.data.parameters"}
    assert moved == {*gathering, "memory", "memory.needed", "memory.gathered"}
    assert found["memory.gathered"] == pytest.approx(2 * plain["memory.gathered"])


def test_small_buckets_cost_latency_and_large_ones_a_tail():
    found = [answer(*DDP, f"communication.bucket={size}")["step"] for size in ("5 MB", "25 MB", "100 MB", "1 GB")]
    assert found[0] > found[1] > found[2] < found[3]
    whole = answer(*DDP, "plan.overlap.gradients=false")
    assert answer(*DDP, "communication.bucket=1 TB")["step"] == pytest.approx(whole["step"], rel=1e-4)


@settings(max_examples=25, deadline=None)
@given(st.floats(0.5, 3000.0), st.floats(1.0, 8.0), st.sampled_from([DDP, EXPERTS]))
def test_more_bandwidth_is_never_slower(bucket, factor, scenario):
    changes = (f"communication.bucket={bucket:.3f} MB",)
    ports = 4 if scenario is EXPERTS else 1
    narrow, wide = (
        answer(*scenario, *changes, f"cluster.network.ports={ports}", f"cluster.network.efficiency={share:.4f}")
        for share in (0.9 / factor, 0.9)
    )
    assert 0 < wide["step.data.gradients"] <= narrow["step.data.gradients"] * (1 + 1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 100), st.sampled_from(["none", "fp16", "topk-1%", "1bit"]))
def test_a_late_part_lies_between_all_early_and_all_late(percent, late):
    early, last = (answer(*DDP, f"communication.compression={text}") for text in ("fp8", late))
    found = answer(
        *DDP,
        "communication.compression=fp8",
        f"communication.late_precision={{compression: {late}, after: {percent}%}}",
    )
    share = 1 - percent / 100
    for term in ("step.data.gradients", "step.data.compression", "step"):
        assert found[term] == pytest.approx((1 - share) * early[term] + share * last[term], rel=1e-9)
    most = early if not share else max(early, last, key=lambda one: one["memory.compression"])
    assert found["memory.compression"] == most["memory.compression"]


def test_warm_up_of_1bit_adam():
    """Full precision first, signs from 15 % of the steps on."""
    late = "communication.late_precision={compression: 1bit, after: 15%}"
    full, signs = answer(*DDP), answer(*DDP, "communication.compression=1bit")
    found = answer(*DDP, late)
    assert found["step"] == pytest.approx(0.15 * full["step"] + 0.85 * signs["step"])


@pytest.mark.parametrize("bucket", [(), ("communication.bucket=25 MB",)])
def test_levels_are_what_their_steps_take(bucket):
    base = (*DDP, *bucket, "communication.reduce_every=12")
    rare = answer(*base, "communication.all_reduce=hierarchical")["step.data.gradients"] * 12
    found = {k: answer(*base, f"communication.reduce_inside_every={k}")["step.data.gradients"] for k in (1, 3, 4, 6)}
    inside = (12 * found[6] - rare) / (2 - 1)
    assert inside > 0
    for k, mean in found.items():
        played = sum(rare if step % 12 == 0 else inside for step in range(k, 13, k)) / 12
        assert mean == pytest.approx(played)
    assert sorted(found.values(), reverse=True) == list(found.values())


def test_codes_are_made_for_every_reduction_inside_a_node_too():
    base = (*DDP, "communication.reduce_every=8", "communication.compression=fp16")
    often, seldom = (answer(*base, f"communication.reduce_inside_every={k}") for k in (1, 4))
    assert often["step.data.compression"] == pytest.approx(4 * seldom["step.data.compression"])


def test_contention_can_be_set():
    scenario = loaded(DDP[0], "plan.overlap.contention=25%")
    value = scenario.values["plan.contention"]
    assert (value.number, value.origin.kind) == (0.25, "given")
    less, more = (answer(DDP[0], f"plan.overlap.contention={share}") for share in ("0", "1"))
    assert less["step.data.gradients"] < more["step.data.gradients"]
    assert more["step.data.gradients"] == pytest.approx(
        answer(DDP[0], "plan.overlap.gradients=false")["step.data.gradients"]
    )


def test_channels_take_their_share_of_the_multiprocessors():
    name = "llama-3-8b-h100"
    by_share, by_channels = (answer(name, f"plan.overlap.{key}") for key in (f"contention={24 / 132}", "channels=24"))
    assert by_channels["step.data.gradients"] == pytest.approx(by_share["step.data.gradients"])
    both = evaluate(columns([loaded(name, "plan.overlap.channels=24"), loaded(name)]))["step"]
    assert [float(step) for step in both[0]] == [by_channels["step"], answer(name)["step"]]


def test_together_they_are_what_they_are_alone():
    """One batch of plans with and without each key."""
    changes = [
        (),
        ("communication.bucket=25 MB",),
        ("communication.bucket=1 TB", "communication.first_bucket=1 MB"),
        ("plan.zero=3", "communication.prefetch=0"),
        ("plan.zero=3", "communication.prefetch=2"),
        ("plan.tensor=8", "communication.tensor_pieces=4"),
        ("communication.reduce_every=4", "communication.reduce_inside_every=2"),
        ("communication.compression=fp16", "communication.late_precision={compression: none, after: 0.5}"),
    ]
    scenarios = [loaded("ethernet-cluster", "plan.zero=0", *some) for some in changes]
    together = evaluate(columns(scenarios))
    for name in ("step", "memory"):
        alone = [estimate([one])[0][name] for one in scenarios]
        assert [float(value) for value in together[name][0]] == alone
        assert all(math.isfinite(value) for value in alone)


def test_experts_have_buckets_of_their_own():
    """Two groups of ranks: the mean bucket lies between those of either, and all of them are the whole."""
    plain = answer(*EXPERTS, "plan.overlap.gradients=false", "plan.overlap.contention=0%")["step.data.gradients"]
    large = answer(*EXPERTS, "communication.bucket=1 TB", "plan.overlap.contention=0%")["step.data.gradients"]
    assert large == pytest.approx(plain, rel=1e-3)
    found = answer(*EXPERTS, "communication.bucket=100 MB", "plan.overlap.contention=0%")["step.data.gradients"]
    assert 0 < found < large


@pytest.mark.parametrize(
    ("changes", "stages"),
    [
        (("communication.bucket=25 MB",), {0, 1, 2}),
        (("communication.prefetch=1",), {3}),
        (
            ("communication.compression=fp8", "communication.late_precision={compression: none, after: 80%}"),
            {0, 1, 2, 3},
        ),
    ],
)
def test_a_search_keeps_to_plans_that_pieces_go_with(changes, stages):
    found = loaded(DDP[0], "plan=auto", *changes)
    plan = found.file.plan
    assert plan.zero in stages
    written = {
        name: getattr(plan, name) for name in ("tensor", "pipeline", "context", "micro_batch", "zero", "recompute")
    }
    again = loaded(DDP[0], *changes, *(f"plan.{name}={value}" for name, value in written.items()))
    best, same = estimate([found, again])
    assert best["step"] <= same["step"] * (1 + 1e-12)


FAULTS = [
    (("communication.bucket=25 MB", "plan.zero=3"), "AIP323"),
    (("communication.bucket=25 MB", "plan.overlap.gradients=false"), "AIP323"),
    (("communication.first_bucket=1 MB",), "AIP106"),
    (("communication.prefetch=1", "plan.zero=1"), "AIP323"),
    (("communication.prefetch=1", "plan.zero=3", "plan.pipeline=2", "software=torchtitan"), "AIP323"),
    (("communication.prefetch=1", "plan.zero=3", "plan.overlap.parameters=false"), "AIP323"),
    (("communication.tensor_pieces=4", "model=mixtral-8x7b"), "AIP323"),
    (("communication.tensor_pieces=4", "plan.tensor=2", "plan.overlap.tensor=false"), "AIP323"),
    (("communication.reduce_inside_every=2", "plan.zero=0"), "AIP107"),
    (("communication.reduce_inside_every=3", "communication.reduce_every=4", "plan.zero=0"), "AIP107"),
    (
        (
            "communication.reduce_inside_every=2",
            "communication.reduce_every=4",
            "plan.zero=0",
            "communication.all_reduce=tree",
        ),
        "AIP323",
    ),
    (
        (
            "communication.reduce_inside_every=2",
            "communication.reduce_every=4",
            "plan.zero=0",
            "communication.compression=int8",
        ),
        "AIP323",
    ),
    (("communication.late_precision={compression: fp33, after: 50%}",), "AIP108"),
    (("communication.late_precision={compression: topk-1%, after: 50%}", "plan.zero=2"), "AIP320"),
    (("communication.late_precision={compression: none, after: 150%}",), "AIP107"),
    (("communication.bucket=0 MB",), "AIP107"),
    (("communication.bucket=25",), "AIP102"),
    (("communication.prefetch=-1",), "AIP107"),
    (("plan.overlap.contention=2",), "AIP107"),
    (("plan.overlap.channels=200",), "AIP107"),
    (("plan.overlap.channels=24", "plan.overlap.contention=20%"), "AIP107"),
]


@pytest.mark.parametrize(("changes", "code"), FAULTS)
def test_what_cannot_be_is_refused(changes, code):
    found = load_source(Source("ethernet-cluster"), CATALOG, assignments(changes))
    assert found.scenario is None
    assert code in [item.code for item in found.diagnostics.items if item.level == "error"]
    assert all(item.hint or item.expected for item in found.diagnostics.items)


CAUTIONS = [
    (("communication.tensor_pieces=4",), "no tensor parallel"),
    (("plan.overlap.channels=16", "software=megatron-lm-2021"), "beside computation"),
    (("communication.bucket=1 MB",), "whole tensors"),
    (
        ("plan.zero=0", "plan.tensor=8", "communication.reduce_every=4", "communication.reduce_inside_every=2"),
        "fill a node",
    ),
    (
        ("plan.zero=0", "cluster.nodes=1", "communication.reduce_every=4", "communication.reduce_inside_every=2"),
        "share one node",
    ),
    (("communication.late_precision={compression: none, after: 50%}",), "before as well"),
]


@pytest.mark.parametrize(("changes", "words"), CAUTIONS)
def test_what_has_no_effect_is_said(changes, words):
    scenario = loaded("ethernet-cluster", *changes)
    assert any(one.code == "AIP322" and words in one.problem for one in scenario.cautions)


def everything_below(top):
    found, left = {}, [top]
    while left:
        one = left.pop()
        if id(one) not in found:
            found[id(one)] = one
            left.extend(one.arguments)
    return list(found.values())


@pytest.mark.parametrize(
    ("name", "changes", "term", "call"),
    [
        (DDP[0], ("communication.bucket=25 MB",), "step.data.gradients", "overlap.bucketed_exposed_time"),
        (EXPERTS[0], ("communication.bucket=25 MB",), "step.data.gradients", "overlap.bucketed_exposed_time"),
        (FSDP[0], ("communication.prefetch=1",), "step.data.gradients", "overlap.prefetched_exposed_time"),
        (TENSOR[0], ("communication.tensor_pieces=4",), "step.tensor", "overlap.bucketed_exposed_time"),
        (
            DDP[0],
            ("plan.zero=0", "communication.reduce_every=4", "communication.reduce_inside_every=2"),
            "step.data.gradients",
            "adaptive.hierarchical_mean_time",
        ),
        (
            DDP[0],
            ("communication.late_precision={compression: fp16, after: 50%}",),
            "step.data.compression",
            "adaptive.phased_mean",
        ),
        (FSDP[0], ("communication.prefetch=3",), "memory.gathered", "memory.gathered_layer_bytes"),
    ],
)
def test_explanations_show_the_form_and_end_in_inputs(name, changes, term, call):
    parts = everything_below(explain(loaded(name, *changes), term, 100))
    assert call in {one.call for one in parts}
    assert {one.kind for one in parts} <= {"computed", "given", "catalog", "default", "assumed", "derived", "constant"}
