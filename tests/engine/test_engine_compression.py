"""Compressed gradients in the estimate: terms, collectives, memory, and that nothing changes without."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiplan.catalog.load import Catalog
from aiplan.core import collectives
from aiplan.engine.evaluate import evaluate
from aiplan.planning.compression import break_even
from aiplan.planning.estimate import columns, estimate
from aiplan.planning.variants import Source, assignments, load_source
from aiplan.scenario.communication import EXAMPLES, read_compression

CATALOG = Catalog()
WHOLE = ("topk-1%", "randomk-1%", "powersgd-r4", "1bit")
DENSE, EXPERTS = "ethernet-cluster", "mixtral-8x7b-h100"


def answer(name, *changes):
    loaded = load_source(Source(name), CATALOG, assignments(changes))
    assert loaded.scenario is not None, loaded.diagnostics.items
    return estimate([loaded.scenario])[0]


def compressed(name, text, *changes):
    return answer(name, f"communication.compression={text}", *changes)


def tree(found):
    return {name: value for name, value in found.terms.items() if name.startswith(("step", "memory"))}


@pytest.mark.parametrize("name", [DENSE, EXPERTS])
def test_none_is_what_there_was(name):
    plain, none = answer(name), compressed(name, "none", "communication.reduce_every=1")
    assert tree(plain) == tree(none)
    assert plain["step.data.compression"] == plain["memory.compression"] == 0.0


@pytest.mark.parametrize("text", EXAMPLES[1:])
def test_only_data_parallel_terms_and_memory_of_compression_move(text):
    plain, other = answer(DENSE, "plan.zero=0"), compressed(DENSE, text, "plan.zero=0")
    moved = {name for name in plain.terms if plain[name] != other[name] and name.startswith(("step.", "memory."))}
    assert "step.data.compression" in moved
    assert moved <= {
        "step.data",
        "step.data.gradients",
        "step.data.compression",
        "step.stragglers",  # a share of all the others
        "memory.compression",
        "memory.cached",
        "memory.capacity",
        "memory.needed",
    }
    assert other["step.data.compression"] > 0.0
    assert other["memory.compression"] > 0.0


def test_already_that_narrow_is_none():
    plain = answer(DENSE, "plan.gradient_precision=bf16")
    assert tree(compressed(DENSE, "bf16", "plan.gradient_precision=bf16")) == tree(plain)


def test_by_hand():
    """Gradients of a dense model over 32 ranks behind one port a node, nothing hidden, ZeRO 0."""
    changes = ("plan.zero=0", "plan.overlap.gradients=false")
    plain = answer(DENSE, *changes)
    values = {name: value.number for name, value in plain.scenario.values.items()}
    port = values["cluster.network_bandwidth"] * values["cluster.network_fraction"] / values["cluster.oversubscription"]
    latency = (7 * values["cluster.link_latency"] + values["cluster.network_latency"]) / 8
    held = plain["parameters.total"]
    expected = {
        "none": collectives.ring_all_reduce_time(4.0 * held, 32.0, port, latency),
        "fp16": collectives.ring_all_reduce_time(2.0 * held, 32.0, port, latency),
        "topk-1%": 31.0 * (0.01 * held * 8.0 / port + latency),
    }
    for text, time in expected.items():
        assert compressed(DENSE, text, *changes)["step.data.gradients"] == pytest.approx(time, rel=1e-3), text
    feedback = compressed(DENSE, "randomk-1%", *changes)["memory.compression"]
    assert feedback == pytest.approx(4.0 * held, rel=0.01)


@pytest.mark.parametrize("zero", [0, 1, 2, 3])
@pytest.mark.parametrize("text", ["fp16", "bf16", "fp8", "int8"])
def test_narrow_values_go_with_every_stage(text, zero):
    plain, narrow = answer(DENSE, f"plan.zero={zero}"), compressed(DENSE, text, f"plan.zero={zero}")
    assert narrow["step.data.gradients"] < plain["step.data.gradients"]


@pytest.mark.parametrize("text", WHOLE)
def test_sharded_gradients_forbid_what_needs_all_of_them(text):
    loaded = load_source(Source(DENSE), CATALOG, assignments([f"communication.compression={text}", "plan.zero=2"]))
    assert loaded.scenario is None
    assert [item.code for item in loaded.diagnostics.items] == ["AIP320"]


def test_a_measured_rate_slows_coding_down_and_never_below_memory():
    bound = compressed(DENSE, "topk-1%", "plan.zero=0")
    slow = compressed(DENSE, "topk-1%", "plan.zero=0", "communication.coding_rate=0.4 GB/s")
    fast = compressed(DENSE, "topk-1%", "plan.zero=0", "communication.coding_rate=100 TB/s")
    assert slow["step.data.compression"] == pytest.approx(4.0 * bound["parameters.total"] / 0.4e9, rel=1e-3)
    assert fast["step.data.compression"] == bound["step.data.compression"]
    assert tree(answer(DENSE, "communication.coding_rate=0.4 GB/s")) == tree(answer(DENSE))


def test_local_steps_divide_what_is_exchanged():
    often, seldom = (answer(DENSE, "plan.zero=0", f"communication.reduce_every={k}") for k in (1, 8))
    assert seldom["step.data.gradients"] == often["step.data.gradients"] / 8


def test_gathered_volume_grows_with_the_ranks_and_the_reduced_one_hardly():
    def grows(text):
        changes = ("plan.zero=0", "plan.overlap.gradients=false", "workload.global_batch=1024")
        small, large = (compressed(DENSE, text, *changes, f"cluster.nodes={nodes}") for nodes in (4, 16))
        return large["step.data.gradients"] / small["step.data.gradients"]

    assert grows("topk-1%") == pytest.approx(127 / 31, rel=0.01)
    assert grows("fp16") < 1.1


@pytest.mark.parametrize("name", [DENSE, EXPERTS, "deepseek-v3-h800", "gpt3-175b-a100"])
def test_terms_add_up_and_are_known(name):
    stage = () if name in {DENSE, "gpt3-175b-a100"} else ("plan.zero=1",)
    for text in EXAMPLES:
        found = compressed(name, text, *stage)
        assert all(map(math.isfinite, (found["step"], found["memory"])))
        kinds = ("gradients", "parameters", "embedding", "compression")
        assert found["step.data"] == sum(found[f"step.data.{kind}"] for kind in kinds)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.01, 100.0), st.floats(0.01, 100.0), st.sampled_from(["topk", "randomk"]))
def test_less_density_is_never_slower_nor_larger(one, other, method):
    less, more = sorted((one, other))
    small, large = (compressed(DENSE, f"{method}-{share:.4f}%") for share in (less, more))
    assert small["step.data"] <= large["step.data"] * (1 + 1e-12)
    assert small["memory.compression"] <= large["memory.compression"]


def test_methods_in_one_batch_are_what_they_are_alone():
    texts = [f"communication.compression={text}" for text in EXAMPLES]
    scenarios = [load_source(Source(DENSE), CATALOG, assignments([text])).scenario for text in texts]
    together = evaluate(columns(scenarios))["step"][0]
    assert [float(step) for step in together] == [estimate([one])[0]["step"] for one in scenarios]


@pytest.mark.parametrize(
    ("text", "share", "rank"),
    [("topk-1%", 0.01, 0), ("topk-0.25", 0.25, 0), ("randomk-.5%", 0.005, 0), ("powersgd-r16", 1.0, 16)],
)
def test_read(text, share, rank):
    found = read_compression(text)
    assert (found.share, found.rank) == (pytest.approx(share), rank)


@pytest.mark.parametrize("text", ["topk", "topk-0%", "topk-101%", "powersgd-r0", "powersgd-4", "signsgd", "FP16", ""])
def test_not_read(text):
    assert read_compression(text) is None


def replace(held, **changes):
    """Return inputs with other columns."""
    return type(held)(**(vars(held) | changes))


def reduced_and_coded(scenario, bandwidth):
    """Return the time of reducing and coding at a bandwidth of every rank: nothing hidden, no latency, no narrow tier."""
    values = columns([scenario])
    ports = values.cluster.network_ports * values.cluster.network_fraction / values.cluster.accelerators_per_node
    wide = {f"{tier}_{kind}": 0.0 * ports + 1.0 for tier in ("leaf", "pod") for kind in ("ring", "send", "uniform")}
    cluster = replace(
        values.cluster,
        **wide,
        network_bandwidth=bandwidth / ports,
        link_bandwidth=bandwidth / values.cluster.link_fraction,
        network_latency=0.0 * ports,
        link_latency=0.0 * ports,
        domain=values.cluster.domain * 0.0 + 1.0,
    )
    plan = replace(values.plan, hidden_gradients=values.plan.hidden_gradients * 0.0)
    terms = evaluate(replace(values, cluster=cluster, plan=plan))
    return float((terms["step.data.gradients"] + terms["step.data.compression"]).item())


@pytest.mark.parametrize("text", EXAMPLES[1:])
@pytest.mark.parametrize("change", ["plan.zero=0", "plan.zero=1"])
def test_compression_pays_exactly_below_its_break_even_bandwidth(text, change):
    plain, other = (
        load_source(
            Source(DENSE),
            CATALOG,
            assignments(["communication.all_reduce=ring", change, f"communication.compression={name}"]),
        ).scenario
        for name in ("none", text)
    )
    assert break_even(plain) is None
    edge = break_even(other)
    if not edge.bandwidth:
        assert reduced_and_coded(other, 1e9) >= reduced_and_coded(plain, 1e9)
        return
    for factor, faster in ((0.9, True), (1.1, False)):
        bandwidth = factor * edge.bandwidth
        assert (reduced_and_coded(other, bandwidth) < reduced_and_coded(plain, bandwidth)) is faster


def test_density_at_which_gathering_sends_as_much():
    found = {text: break_even(compressed(DENSE, text, "plan.zero=0").scenario) for text in ("topk-1%", "randomk-1%")}
    assert found["topk-1%"].sent == 0.01
    sparse = compressed(DENSE, f"topk-{found['topk-1%'].density * 100:.6f}%", "plan.zero=0").scenario
    assert break_even(sparse).bandwidth < 1e-3 * found["topk-1%"].bandwidth
    assert found["randomk-1%"].density is None, "all ranks draw the same indices: an all-reduce of less"
