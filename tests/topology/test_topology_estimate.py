"""Topology, oversubscription and placement in the estimate."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiplan.core import topology
from aiplan.core.topologies.record import Site
from aiplan.core.topologies.registry import KINDS, NAMES
from aiplan.planning.estimate import estimate
from aiplan.planning.explain import explain
from aiplan.planning.placement import placement
from aiplan.scenario.records import TOPOLOGIES

quick = settings(max_examples=40, deadline=None)
DENSE = {
    "model": "llama-3-70b",
    "workload": {"tokens": "1e12", "sequence_length": 4096, "global_batch": 2048},
    "cluster": {"node": "dgx-h100", "nodes": 256},
    "plan": {"tensor": 8, "pipeline": 8, "micro_batch": 1},
    "software": "megatron-core",
}
EXPERTS = DENSE | {"model": "mixtral-8x7b", "plan": {"tensor": 1, "expert": 8, "pipeline": 4, "micro_batch": 1}}
SPREAD = EXPERTS | {"model": "deepseek-v3", "plan": {"expert": 64, "micro_batch": 1}}


def with_network(tree, **network):
    return tree | {"cluster": tree["cluster"] | {"network": network}}


@pytest.fixture(scope="module")
def step(ask):
    def of(tree, **network):
        return ask.planned(with_network(tree, **network))["step"]

    return of


def test_the_choices_of_a_scenario_are_the_registry():
    assert TOPOLOGIES == NAMES


@pytest.mark.parametrize("tree", [DENSE, EXPERTS, SPREAD], ids=["dense", "experts", "spread"])
def test_a_full_fat_tree_is_what_it_was(tree, step):
    """Neither its name, nor its switches, nor where ranks lie changes anything: no tier is narrow."""
    plain = step(tree)
    for network in (
        {"topology": "fat-tree", "oversubscription": 1},
        {"topology": "leaf-spine"},
        {"switch": "qm9700-ndr"},
        {"placement": "scattered"},
        {"nodes_per_leaf": 2, "nodes_per_pod": 8},
    ):
        assert step(tree, **network) == plain, network


def test_oversubscription_slows_only_what_crosses_it(step):
    plain = step(SPREAD)
    narrow = step(SPREAD, oversubscription=4)
    assert narrow > plain * 1.01
    assert step(SPREAD, oversubscription=4, topology="rail-optimized") < narrow  # 32 nodes below a rail leaf, not 4
    assert step(SPREAD, oversubscription=4, nodes_per_leaf=256) == plain
    assert step(SPREAD, oversubscription=4, topology="three-tier") == pytest.approx(step(SPREAD, topology="three-tier"))
    assert step(SPREAD, oversubscription=4, placement="scattered") > narrow


def test_scattered_ranks_meet_the_whole_oversubscription(ask):
    """Sends and rings then have a port's rate over it, whatever their length."""
    for over in (2, 7):
        tree = with_network(DENSE, oversubscription=over, placement="scattered")
        groups = {group.name: group for group in placement(ask.resolved(tree)[0])}
        assert groups["data"].share == pytest.approx(1 / over)
        assert groups["pipeline"].share == pytest.approx(1 / over)
        assert groups["tensor"].share == 1.0


@pytest.mark.parametrize(
    ("network", "least", "most"),
    [
        ({"topology": "dragonfly"}, 1.0001, 1.01),  # one switch more on the path, no narrow tier
        ({"topology": "three-tier", "oversubscription": 16}, 1.001, 2.0),
        ({"topology": "torus-3d"}, 1.05, 10.0),
    ],
    ids=["dragonfly", "three-tier", "torus"],
)
def test_topologies_differ_where_experts_lie_apart(step, network, least, most):
    assert least < step(SPREAD, **network) / step(SPREAD) < most


def test_the_largest_share_of_an_exchange_that_a_tier_can_take(ask):
    """64 ranks on 8 nodes, 4 nodes a leaf: 32 of 56 ranks beyond the node are beyond the leaf as well."""
    tree = with_network(SPREAD, oversubscription=4, nodes_per_leaf=4, nodes_per_pod=256)
    found = {group.name: group for group in placement(ask.resolved(tree)[0])}["expert"]
    assert (found.ranks, found.inside, found.leaf) == (64, 8, 32)
    assert found.share == pytest.approx(min(1, 56 / (4 * 32)))
    assert found.reach == "pod"


def test_where_groups_lie(ask):
    tree = with_network(DENSE, topology="three-tier", oversubscription=7, nodes_per_leaf=4, nodes_per_pod=32)
    groups = {group.name: group for group in placement(ask.resolved(tree)[0])}
    assert (groups["tensor"].ranks, groups["tensor"].stride, groups["tensor"].reach) == (8, 1, "scale-up network")
    assert (groups["data"].ranks, groups["data"].stride, groups["data"].reach) == (32, 8, "pod")
    assert (groups["pipeline"].stride, groups["pipeline"].pod, groups["pipeline"].reach) == (256, 1, "beyond a pod")
    assert groups["pipeline"].share == pytest.approx(1 / 7)  # one stage a pod: every send crosses
    assert groups["data"].share == 1.0
    assert groups["expert"].reach == "one rank"


def test_tensor_parallel_across_nodes_costs_what_it_costs(ask):
    inside = ask.planned(DENSE | {"plan": {"tensor": 8, "pipeline": 8, "micro_batch": 1}})
    across = ask.planned(DENSE | {"plan": {"tensor": 16, "pipeline": 4, "micro_batch": 1}})
    assert across["step.tensor"] > 2 * inside["step.tensor"]


def test_explain_says_where_it_comes_from(ask):
    scenario, _ = ask.resolved(with_network(SPREAD, oversubscription=4))
    text = repr(explain(scenario, "step.expert", 14))
    assert "topology.uniform_bandwidth" in text
    assert "cluster.leaf_uniform" in text
    assert "6 nodes below a leaf" in text
    assert scenario.values["cluster.leaf_accelerators"].origin.kind == "assumed"  # nobody named the switches
    named, _ = ask.resolved(with_network(SPREAD, oversubscription=4, switch="qm9700-ndr"))
    assert named.values["cluster.leaf_accelerators"].origin.kind == "derived"


def test_usual_oversubscription_is_an_assumption(ask):
    scenario, _ = ask.resolved(with_network(SPREAD, topology="three-tier"))
    value = scenario.values["cluster.oversubscription"]
    assert (value.number, value.origin.kind) == (4.0, "default")
    assert "cluster.oversubscription" in {item.name for item in estimate([scenario])[0].assumptions()}


REFUSED = {
    "too many": (
        {"topology": "leaf-spine", "switch": "sn3700-spectrum2", "fabric": "roce-200g"},
        "AIP107",
        "512 ports",
    ),
    "no core": ({"topology": "torus-3d", "oversubscription": 2}, "AIP107", "no core"),
    "small domain": ({"topology": "nvlink-domains"}, "AIP107", "scale-up networks of 17"),
    "pod below leaf": ({"nodes_per_leaf": 8, "nodes_per_pod": 4}, "AIP107", "smaller than a leaf"),
    "slow switch": ({"switch": "sb7800-edr"}, "AIP203", "carries less"),
    "no such switch": ({"switch": "qm9700"}, "AIP201", "qm9700-ndr"),
    "no such topology": ({"topology": "butterfly"}, "AIP108", "fat-tree"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused(name, ask):
    network, code, text = REFUSED[name]
    found = ask.refused(with_network(DENSE, **network))
    assert found.startswith(code)
    assert text in found


def test_scale_up_domains_of_a_rack(ask):
    tree = DENSE | {"cluster": {"node": "gb200-nvl72-tray", "nodes": 144, "network": {"topology": "nvlink-domains"}}}
    scenario, found = ask.resolved(
        tree
        | {
            "plan": {"tensor": 8, "pipeline": 8, "micro_batch": 1},
            "workload": DENSE["workload"] | {"global_batch": 2016},
        }
    )
    assert scenario is not None, found.items
    assert scenario.values["cluster.leaf_accelerators"].number >= scenario.values["cluster.domain"].number == 72


def test_a_batch_gives_what_each_gives_alone(ask):
    """Tiers that are narrow for one plan of a batch leave the others as they are, to the last bit."""
    networks = (
        {},
        {"oversubscription": 4},
        {"topology": "torus-3d"},
        {"topology": "three-tier"},
        {"placement": "scattered"},
    )
    for tree in (DENSE, EXPERTS):
        scenarios = [ask.resolved(with_network(tree, **network))[0] for network in networks]
        together = estimate(scenarios)
        for scenario, answer in zip(scenarios, together, strict=True):
            assert answer.terms == pytest.approx(estimate([scenario])[0].terms, rel=0, abs=0, nan_ok=True)


# ------------------------------------------------------------------ the closed form


counts = st.integers(1, 512)


@quick
@given(counts, counts, counts, st.floats(1.0, 16.0), st.floats(1e9, 1e12))
def test_uniform_bandwidth(ranks, local, below, contention, outside):
    local, below = min(local, ranks), min(max(local, below), ranks)
    got = float(topology.uniform_bandwidth(outside, outside, ranks, local, below, contention))
    assert 0 < got <= outside
    assert got * contention >= outside * (1 - 1e-12)
    if contention == 1.0 or below == ranks:
        assert got == outside
    if below == local < ranks:
        assert got == pytest.approx(outside / contention)


@quick
@given(st.sampled_from(sorted(set(KINDS) - {"nvlink-domains", "leaf-spine"})), st.integers(2, 512))
def test_no_topology_gives_more_than_the_ports(name, nodes):
    sized = KINDS[name].size(Site(float(nodes), 8.0, 64.0))
    assert all(float(value) >= 1.0 for tier in (sized.leaf, sized.pod) for value in tier.contention)
    assert float(sized.leaf.nodes) >= 1
    assert np.isfinite(float(sized.pod.nodes))
    assert not math.isnan(float(sized.paths.step))
