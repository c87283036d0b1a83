"""Hybrid sharding: states are sharded over neighbours, and groups of these hold a copy each."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiplan.engine.exchange import exchanges
from aiplan.engine.footprint import held
from aiplan.engine.wires import wires
from aiplan.planning.estimate import columns
from tests.conftest import Ask

sys.path.insert(0, str(Path(__file__).parent))
import ranks as simulated

sys.path.pop(0)

STATES = ("memory.weights", "memory.gradients", "memory.optimizer")


def llama(nodes=8, model="llama-3-8b", node="dgx-h100", **plan):
    return {
        "model": model,
        "workload": {"sequence_length": 8192, "global_batch": 256},
        "cluster": {"node": node, "nodes": nodes},
        "plan": {"zero": 3, **plan},
        "communication": {"all_reduce": "ring"},
        "software": "torchtitan",
    }


def group_times(ask, elements, **plan):
    """Return links and ports of a scenario, and its exchange of so many parameters."""
    scenario, _ = ask.resolved(llama(**plan))
    values = columns([scenario])
    net = wires(values)
    links = [
        (one.item(), two.item()) for one, two in ((net.link_latency, net.inside), (net.network_latency, net.outside))
    ]
    return links, exchanges(values, net, held(values), np.array([[float(elements)]]), np.zeros((1, 1))).dense


@pytest.mark.parametrize("shards", [2, 4, 8, 16, 32])
def test_time_and_sums_of_ranks_that_pass_real_chunks(shards, ask):
    """64 ranks with gradients of their own. A played ring leaves a node through one port; a real one through up to 8."""
    elements, width = 64 * 64 * 2, 4.0
    links, found = group_times(ask, elements, shards=shards)
    gradients = simulated.gradients_of(64, elements)
    cluster = simulated.Cluster(gradients, 8, *links)
    parts = simulated.reduce_over_copies(cluster, 64, shards, elements, width)
    for rank, part in parts.items():
        np.testing.assert_array_equal(cluster.held[rank][part], sum(gradients)[part])
    assert cluster.clock / 8 <= found.reduce_scatter.item() <= cluster.clock * (1 + 1e-12)
    if shards == 8:  # every ring between nodes has a port of its own
        assert found.reduce_scatter.item() == pytest.approx(cluster.clock, rel=1e-12)


def test_gathering_stays_inside_a_group(ask):
    """Weights of 8 of 64 ranks, in bf16, over the links of a node: seven steps of an eighth each."""
    (inside, _), found = group_times(ask, 8e9, shards=8)
    assert found.gather.item() == pytest.approx(7 * (inside[0] + 2 * 1e9 / inside[1]), rel=1e-12)


@pytest.mark.parametrize("zero", [1, 2, 3])
@pytest.mark.parametrize("model", ["llama-3-8b", "mixtral-8x7b"])
def test_states_are_those_of_as_many_ranks_alone(model, zero, ask):
    """A copy over 16 of 64 ranks takes what plain ZeRO over 16 ranks takes, experts too."""
    plan = {"zero": zero, "tensor": 2} | ({"expert": 8} if model.startswith("mix") else {})
    copied, alone = (ask.planned(llama(nodes, model, **plan, **more)) for nodes, more in ((8, {"shards": 8}), (2, {})))
    for name in STATES:
        assert copied[name] == pytest.approx(alone[name], rel=1e-12)


@pytest.mark.parametrize("plan", [{}, {"context": 2}, {"tensor": 2, "zero": 1}, {"pipeline": 2, "zero": 1}])
def test_one_copy_is_plain_zero_to_the_last_bit(plan, ask):
    ranks = 64 // (plan.get("tensor", 1) * plan.get("pipeline", 1))
    plain, one = (ask.planned(llama(**plan, **more)) for more in ({}, {"shards": ranks}))
    assert plain.terms.keys() == one.terms.keys()
    np.testing.assert_array_equal(list(plain.terms.values()), list(one.terms.values()))


@given(st.sampled_from([1, 2, 4, 8, 16, 32, 64]), st.sampled_from([1, 2, 3]))
@settings(max_examples=12, deadline=None, derandomize=True)
def test_larger_groups_hold_less(shards, zero):
    ask = Ask()
    small, large = (ask.planned(llama(zero=zero, shards=each)) for each in (shards, min(64, 2 * shards)))
    for name in STATES:
        assert small[name] >= large[name]
    assert small["step.data"] > 0


def test_groups_of_a_node_pay_on_a_slow_network(ask):
    """Weights twice and gradients once cross it with plain ZeRO, gradients twice with copies: 6 bytes against 4."""
    tree = llama(nodes=16, node="dgx-h100")
    tree["cluster"]["network"] = {"fabric": "roce-100g", "ports": 1}
    whole, hybrid = (
        ask.planned(tree | {"plan": {"zero": 3, "gradient_precision": "bf16", **more}}) for more in ({}, {"shards": 8})
    )
    assert hybrid["step.data"] < 0.85 * whole["step.data"]


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        ({"shards": 5}, "64 ranks do not divide into groups of 5"),
        ({"shards": 8, "zero": 0}, "ZeRO stage 0 shards nothing"),
        ({"shards": 128}, "do not divide into groups of 128"),
    ],
)
def test_what_is_refused(plan, problem, ask):
    assert problem in ask.refused(llama(**plan))
    assert "AIP313" in ask.refused(llama(**plan))


def test_experts_lie_inside_a_copy(ask):
    assert "do not fit into" in ask.refused(llama(model="mixtral-8x7b", expert=8, shards=4))
    assert ask.planned(llama(model="mixtral-8x7b", expert=8, shards=8))["step"] > 0


def test_sparse_gradients_are_not_added_up_over_copies(ask):
    tree = llama(zero=1, shards=8) | {"communication": {"compression": "topk-1%"}}
    assert "AIP323" in ask.refused(tree)
