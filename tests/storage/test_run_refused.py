"""Storage, checkpoints and failures that cannot be, and what is warned of."""

import pytest

from aiplan.planning.estimate import estimate
from aiplan.planning.run_checks import impossible

from .cases import LLAMA, LUSTRE, PLAIN, RUN

REFUSED = {
    "no such system": ({"storage": "lustre-oss-moder"}, "AIP201", "lustre-oss-modern"),
    "inside a node": ({"storage": "node-raid0-8x-gen4"}, "AIP107", "storage.cache.system"),
    "no rates": ({"storage": {"servers": 4}}, "AIP106", "read: and write:"),
    "no tier": ({"storage": {"system": "fsx-lustre-persistent2", "capacity": "100 TiB"}}, "AIP106", "125, 250"),
    "unknown tier": (
        {"storage": {"system": "fsx-lustre-persistent2", "capacity": "100 TiB", "tier": "99"}},
        "AIP108",
        "tiers: 125",
    ),
    "no capacity": ({"storage": {"system": "fsx-lustre-scratch2"}}, "AIP106", "grows with its capacity"),
    "stripe": ({"storage": LUSTRE | {"targets": 4, "stripe": 8}}, "AIP107", "striped over 8 of 4"),
    "zero bandwidth": ({"storage": {"read": "0 GB/s", "write": "1 GB/s"}}, "AIP107", "not above"),
    "cache outside": (
        {"storage": LUSTRE | {"cache": {"capacity": "1 TB", "system": "s3-standard"}}},
        "AIP107",
        "not inside",
    ),
    "incremental": ({"checkpoint": {"form": "incremental", "ratio": 0.1}}, "AIP380", "adam changes every byte"),
    "no ratio": ({"checkpoint": {"form": "quantised"}}, "AIP106", "needs a ratio"),
    "ratio of a whole": ({"checkpoint": {"ratio": 0.5}}, "AIP107", "no ratio"),
    "two intervals": ({"checkpoint": {"storage_interval": "1 h"}}, "AIP107", "one interval only"),
    "negative mtbf": ({"reliability": {"mtbf": "-3 h"}}, "AIP107", "not above"),
    "two rates": ({"reliability": {"mtbf": "3 h", "mtbf_per_node": "1 day"}}, "AIP107", "twice"),
    "spares": ({"reliability": {"spares": 33}}, "AIP107", "33 spare nodes for 32"),
    "elastic": ({"reliability": {"elastic": {"minimum": 64}}}, "AIP107", "cannot need 64"),
    "owned and rented": ({"cluster": PLAIN["cluster"] | {"owned": {}, "price": "2 USD/h"}}, "AIP107", "has a price"),
    "owned and discount": ({"cluster": PLAIN["cluster"] | {"owned": {}, "discount": 0.2}}, "AIP107", "nothing is off"),
    "mode": ({"checkpoint": {"mode": "asynchron"}}, "AIP108", "async"),
    "unknown key": ({"reliability": {"mtbf_node": "1 h"}}, "AIP104", "mtbf_per_node"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused(name, ask):
    blocks, code, text = REFUSED[name]
    found = ask.refused(PLAIN | blocks)
    assert code in found
    assert text in found


IMPOSSIBLE = {
    "longer than the run": ({"interval": "200 days"}, "none is ever made"),
    "shorter than a step": ({"interval": "2 s"}, "a step takes"),
    "drain": ({"interval": "1 min"}, "only after"),
    "drain of a tier": ({"mode": "tiered", "storage_interval": "1 min"}, "only after"),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_intervals_that_cannot_be(name, ask):
    saves, text = IMPOSSIBLE[name]
    slow = {"read": "10 GB/s", "write": "2 GB/s"}
    scenario, _ = ask.resolved(RUN | {"storage": slow, "checkpoint": saves})
    found = impossible(scenario)
    assert any(text in fault.problem and fault.code == "AIP382" for fault, _ in found)
    assert not impossible(
        ask.resolved(RUN | {"storage": slow, "checkpoint": saves | {"interval": "5 h", "storage_interval": None}})[0]
    )


def test_sizes_beyond_what_was_published_are_warned_of(ask):
    large = LLAMA | {"reliability": {}}
    large["cluster"] = {"node": "dgx-h100", "nodes": 12544, "network": {"topology": "dragonfly"}}
    large["plan"] = {"tensor": 8, "pipeline": 16, "count_embedding_as_layer": True}
    large["workload"] = LLAMA["workload"] | {"global_batch": 784 * 16}
    scenario, _ = ask.resolved(large)
    assert [one.code for one in scenario.cautions] == ["AIP381"]
    steep = ask.planned(large | {"reliability": {"exponent": 1.92}})
    assert estimate([scenario])[0]["reliability.mtbf"] / steep["reliability.mtbf"] == pytest.approx(2.8, abs=0.1)
