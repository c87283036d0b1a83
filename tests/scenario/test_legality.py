"""Rules of layout: each with its numbers and its nearest legal choices, and none that lets a remainder through."""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aiplan.scenario.legality import check_model, check_plan, divisors, nearest, stage_layers
from aiplan.scenario.model import Experts, LatentAttention, Model, Window
from aiplan.scenario.records import Plan, Workload


def replace(record, **changes):
    return type(record)(**{**vars(record), **changes})


MODEL = Model(layers=12, hidden=1536, heads=24, kv_heads=8, ffn=3072, vocab=32000)
MIXTURE = replace(MODEL, experts=Experts(count=8, top_k=2, ffn=1024))
WORK = Workload(sequence_length=4096, global_batch=96)
GPUS = 48


def faults(model=MODEL, work=WORK, gpus=GPUS, **plan):
    """Return code, problem and hint of every rule that a plan breaks."""
    return [(fault.code, fault.problem, fault.hint) for fault in check_plan(model, work, Plan(**plan), gpus)]


def contradictions(**shape):
    """Return code, problem and hint of what contradicts itself in a shape."""
    model = replace(MODEL, **shape)
    return [(fault.code, fault.problem, fault.hint) for fault in check_model(model)]


def batch(size):
    return replace(WORK, global_batch=size)


# ------------------------------------------------------------------ every rule, with numbers and a way out


def test_legal_layouts_break_no_rule():
    assert faults() == []
    assert faults(tensor=8, pipeline=2, sequence_parallel=True) == []
    assert faults(tensor=24) == [], "key-value heads are copied evenly"
    assert faults(pipeline=4, tensor=4, interleave=3, data=3) == []
    assert faults(MIXTURE, tensor=2, expert=8, pipeline=3, context=2) == []
    assert contradictions() == []


def test_recomputed_layers():
    assert faults(recompute="full", recompute_layers=6, pipeline=2) == []
    assert faults(recompute="full", recompute_layers=7, pipeline=2) == [
        ("AIP305", "recompute_layers 7, but a stage has 6 of 12 layers at most", "give 6 or less")
    ]
    assert faults(recompute_layers=2) == [
        (
            "AIP107",
            "recompute_layers 2 with recompute none",
            "give recompute: full too, or leave recompute_layers out",
        )
    ]


def test_world_size():
    assert faults(tensor=8, pipeline=4) == [
        (
            "AIP301",
            "48 accelerators are not a multiple of tensor 8 x pipeline 4 x context 1 = 32",
            "nearest: 32 or 64 accelerators",
        )
    ]
    assert faults(tensor=8, pipeline=12, gpus=8)[0][2] == "nearest: 96 accelerators"


def test_data_that_does_not_follow():
    assert faults(tensor=8, pipeline=2, data=5) == [
        (
            "AIP301",
            "tensor 8 x pipeline 2 x context 1 = 16 x data 5 = 80, but there are 48 accelerators",
            "data is 3 for this layout; leave it out and it is derived",
        )
    ]


def test_heads():
    found = faults(replace(MODEL, ffn=3070), batch(80), tensor=5, gpus=40)
    assert found == [("AIP302", "24 heads do not divide over tensor 5", "nearest: tensor 3, 4, 6")]


def test_key_value_heads():
    assert faults(tensor=3) == [
        (
            "AIP303",
            "8 key-value heads neither divide over tensor 3 nor are copied evenly",
            "nearest: tensor 1, 2, 4",
        )
    ]
    latent = LatentAttention(key_value_rank=64, nope_dim=64, rope_dim=32, value_dim=64)
    assert faults(replace(MODEL, latent_attention=latent), tensor=3) == [], "latent attention has no key-value heads"


def test_key_value_heads_of_a_shape():
    assert contradictions(kv_heads=7) == [
        ("AIP303", "24 heads are not a multiple of 7 key-value heads", "nearest: 4, 6, 8")
    ]


def test_feed_forward_width():
    assert faults(replace(MODEL, ffn=3076), tensor=8) == [
        ("AIP304", "ffn 3076 does not divide over tensor 8", "nearest: tensor 1, 2, 4")
    ]
    odd = replace(MIXTURE, experts=Experts(count=8, top_k=2, ffn=1025))
    assert faults(odd, expert_tensor=2) == [
        ("AIP304", "expert ffn 1025 does not divide over expert_tensor 2", "nearest: expert_tensor 1, 5, 25")
    ]


def test_stages():
    assert faults(work=batch(80), pipeline=5, gpus=40) == [
        (
            "AIP305",
            "12 layers do not divide over 5 stages (12 % 5 = 2)",
            "nearest: pipeline 3, 4, 6; or give stage_layers, e.g. [3, 3, 2, 2, 2]",
        )
    ]
    assert faults(work=batch(80), pipeline=5, stage_layers=(3, 3, 2, 2, 2), gpus=40) == []


def test_stage_layers_that_do_not_add_up():
    assert faults(pipeline=3, stage_layers=(4, 4)) == [
        (
            "AIP305",
            "stage_layers has 2 numbers that add up to 8; 3 that add up to 12 are due",
            "e.g. [4, 4, 4]",
        )
    ]


def test_embedding_counted_as_a_layer():
    """126 layers and two ends in 16 stages of 8, as Llama 3 405B. https://arxiv.org/abs/2407.21783"""
    model = replace(MODEL, layers=126)
    split = stage_layers(model, Plan(pipeline=16, count_embedding_as_layer=True))
    assert split == (7, *[8] * 14, 7)
    assert stage_layers(model, Plan(pipeline=16)) is None


def test_batch():
    assert faults(work=batch(100), tensor=8, pipeline=2, micro_batch=4) == [
        (
            "AIP306",
            "global_batch 100 is not a multiple of micro_batch 4 x data 3 = 12",
            "nearest: global_batch 96, 108",
        )
    ]
    assert faults(work=batch(90), tensor=8, pipeline=2, micro_batch=4)[0][2] == (
        "nearest: global_batch 84, 96; or micro_batch 2, 3, 5"
    )


def test_interleave():
    assert faults(interleave=2) == [("AIP307", "interleave 2 with a single stage", "interleave 1")]
    assert faults(pipeline=2, interleave=5) == [
        ("AIP307", "12 layers do not divide over 2 stages x 5 chunks", "nearest: interleave 2, 3, 6")
    ]
    assert faults(work=batch(18), tensor=4, pipeline=4, interleave=3) == [
        (
            "AIP307",
            "interleaving needs micro-batches in multiples of pipeline 4, and there are 6",
            "nearest: global_batch 12, 24; or interleave 1",
        )
    ]


def test_experts():
    assert faults(expert=2) == [("AIP308", "expert 2, but the model has no experts", "expert 1")]
    assert faults(expert_tensor=2) == [("AIP308", "expert_tensor 2, but the model has no experts", "expert_tensor 1")]
    assert faults(MIXTURE, expert=3) == [("AIP308", "8 experts do not divide over expert 3", "nearest: expert 1, 2, 4")]
    code, problem, _ = faults(MIXTURE, pipeline=2, expert=8, expert_tensor=2)[0]
    assert code == "AIP308"
    assert problem == "expert 8 x expert_tensor 2 does not divide the 24 accelerators of a stage"


def test_experts_of_a_shape():
    assert contradictions(experts=Experts(count=4, top_k=5, ffn=1024)) == [
        ("AIP308", "a token passes 5 experts, but there are only 4", "at most 4")
    ]


def test_sequence():
    assert faults(context=3) == [
        ("AIP309", "sequence_length 4096 does not divide over 2 x context 3", "nearest: context 1, 2, 4")
    ]
    assert faults(sequence_parallel=True) == [
        (
            "AIP309",
            "sequence_parallel splits over tensor parallel ranks, and tensor is 1",
            "leave it out, or raise tensor",
        )
    ]


@pytest.mark.parametrize(
    ("shape", "problem"),
    [
        ({"hidden": 1540}, "hidden 1540 is not a multiple of 24 heads, and head_dim is not given"),
        (
            {"experts": Experts(count=8, top_k=2, ffn=1024, layers=13)},
            "13 layers with experts, but only 12 layers",
        ),
        (
            {"ffn": None, "experts": Experts(count=8, top_k=2, ffn=1024, layers=9)},
            "3 layers have no experts, and ffn is not given",
        ),
        ({"window": Window(size=128, layers=20)}, "20 layers with a window, but only 12 layers"),
    ],
)
def test_shape(shape, problem):
    assert [fault[:2] for fault in contradictions(**shape)] == [("AIP310", problem)]


def test_head_dim_is_a_key_of_its_own():
    assert contradictions(hidden=1540, head_dim=64) == []
    assert contradictions(ffn=None, experts=Experts(count=8, top_k=2, ffn=1024)) == []


def test_all_broken_rules_come_at_once():
    found = faults(replace(MODEL, ffn=3076), batch(97), tensor=16, pipeline=5, expert=2, context=3)
    assert {code for code, _, _ in found} == {"AIP301", "AIP302", "AIP304", "AIP305", "AIP308", "AIP309"}


# ------------------------------------------------------------------ a layout passes exactly if everything divides

few = st.sampled_from((1, 1, 2, 2, 3, 4, 6, 8))
models = st.builds(
    Model,
    layers=st.sampled_from((4, 6, 8, 12, 24)),
    hidden=st.just(1536),
    heads=st.sampled_from((8, 12, 24)),
    kv_heads=st.sampled_from((1, 2, 4)),
    ffn=st.sampled_from((1024, 3072, 1536)),
    vocab=st.just(32000),
    experts=st.one_of(st.none(), st.builds(Experts, count=st.sampled_from((4, 6, 8)), top_k=few, ffn=st.just(768))),
)
works = st.builds(
    Workload, sequence_length=st.sampled_from((96, 4096)), global_batch=st.sampled_from((24, 48, 96, 100))
)
plans = st.builds(
    Plan,
    tensor=few,
    pipeline=few,
    context=st.sampled_from((1, 1, 1, 2, 3)),
    expert=st.sampled_from((1, 1, 2, 4)),
    expert_tensor=st.sampled_from((1, 1, 1, 2)),
    micro_batch=st.sampled_from((1, 1, 2, 4)),
    interleave=st.sampled_from((1, 1, 1, 2, 3)),
    sequence_parallel=st.sampled_from((None, True)),
)
gpu_counts = st.sampled_from((8, 24, 48, 96))


def divides(model, work, plan, gpus):
    """Whether everything divides, written down once more and apart from the rules."""
    ranks = plan.tensor * plan.pipeline * plan.context
    remainders = [
        gpus % ranks,
        model.heads % plan.tensor,
        min(model.kv_heads % plan.tensor, plan.tensor % model.kv_heads),
        model.ffn % plan.tensor,
        model.layers % (plan.pipeline * plan.interleave),
        work.sequence_length % (2 * plan.context if plan.context > 1 else 1),
    ]
    if gpus % ranks == 0:
        replicas = gpus // ranks
        remainders.append(work.global_batch % (plan.micro_batch * replicas))
        if plan.interleave > 1 and remainders[-1] == 0:
            remainders.append(work.global_batch // (plan.micro_batch * replicas) % plan.pipeline)
    if model.experts:
        remainders.append(model.experts.count % plan.expert)
        remainders.append(model.experts.ffn % plan.expert_tensor)
        remainders.append(gpus // plan.pipeline % (plan.expert * plan.expert_tensor))
    elif plan.expert > 1 or plan.expert_tensor > 1:
        return False
    if plan.interleave > 1 and plan.pipeline == 1:
        return False
    if plan.sequence_parallel and plan.tensor == 1:
        return False
    if plan.sequence_parallel and work.sequence_length % plan.context == 0:
        remainders.append(work.sequence_length // plan.context % plan.tensor)
    return not any(remainders)


@settings(max_examples=400, deadline=None)
@given(models, works, plans, gpu_counts)
def test_a_layout_passes_exactly_if_everything_divides(model, work, plan, gpus):
    found = list(check_plan(model, work, plan, gpus))
    assert (not found) is divides(model, work, plan, gpus)
    if not found:
        split = stage_layers(model, plan)
        assert sum(split) == model.layers
        assert len(split) == plan.pipeline


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 130), st.integers(1, 20), st.booleans())
def test_no_layer_vanishes(layers, stages, ends):
    split = stage_layers(replace(MODEL, layers=layers), Plan(pipeline=stages, count_embedding_as_layer=ends))
    assert (split is not None) is (
        (layers + 2 * ends) % stages == 0 and (layers + 2 * ends) // stages >= 1 + (stages == 1) * ends
    )
    if split is not None:
        assert sum(split) == layers
        assert min(split) >= 0


# ------------------------------------------------------------------ the way out really is one


def suggested(hint, word):
    """Return the numbers that a hint names behind a word."""
    found = re.search(rf"{word} ((?:\d+, )*\d+)", hint)
    return [int(number) for number in found[1].split(", ")] if found else []


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 130),
    st.sampled_from((1, 2, 4, 8)),
    st.integers(1, 4),
    st.integers(1, 9000),
    st.integers(1, 64),
    st.integers(1, 24),
)
def test_suggested_widths_and_stages_are_legal(groups, kv_heads, per_group, ffn, tensor, stages):
    model = replace(MODEL, layers=groups, heads=kv_heads * per_group, kv_heads=kv_heads, ffn=ffn)

    def codes(**changed):
        plan = {"tensor": tensor, "pipeline": stages} | changed
        return {fault.code: fault.hint for fault in check_plan(model, WORK, Plan(**plan), tensor * stages)}

    broken = codes()
    for code, word in (("AIP302", "tensor"), ("AIP303", "tensor"), ("AIP304", "tensor"), ("AIP305", "pipeline")):
        if code in broken:
            choices = suggested(broken[code], word)
            assert choices
            for choice in choices:
                assert code not in codes(**{word: choice})


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 500), st.integers(1, 8), st.integers(1, 12))
def test_suggested_batches_are_legal(global_batch, micro_batch, data):
    assume(global_batch % (micro_batch * data))

    def hint(size, each):
        work = replace(WORK, global_batch=size)
        return [fault.hint for fault in check_plan(MODEL, work, Plan(micro_batch=each), data)]

    [text] = hint(global_batch, micro_batch)
    assert suggested(text, "global_batch")
    for size in suggested(text, "global_batch"):
        assert hint(size, micro_batch) == []
    for each in suggested(text, "micro_batch"):
        assert hint(global_batch, each) == []


@given(st.integers(1, 3000))
def test_divisors(number):
    assert divisors(number) == [d for d in range(1, number + 1) if number % d == 0]


@given(st.integers(1, 100), st.lists(st.integers(1, 200), min_size=1, unique=True))
def test_nearest(number, choices):
    shown = [int(text) for text in nearest(number, choices).split(", ")]
    left = [c for c in choices if c not in shown]
    assert shown == sorted(shown)
    assert len(shown) == min(3, len(choices))
    assert all(abs(s - number) <= abs(other - number) for s in shown for other in left)
