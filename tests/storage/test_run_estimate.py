"""Storage, checkpoints and failures in the estimate: sums, limits, storage of every kind, what is refused."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.engine.evaluate import evaluate
from aiplan.engine.run_inputs import RUN_NAMES
from aiplan.engine.supply import READ_STAGES
from aiplan.engine.tree import RUN_ROOTS, RUN_TREE, TREE
from aiplan.planning.checkpoint import checkpoint_answer
from aiplan.planning.estimate import columns, estimate, run_columns
from aiplan.planning.explain import explain
from aiplan.planning.run_checks import impossible
from aiplan.planning.run_names import RUN_RESULTS
from aiplan.planning.storage import storage_answer
from aiplan.planning.variants import Source
from aiplan.scenario.resolve_run import FLEET_RATES
from aiplan.scenario.run_records import FLEETS

quick = settings(max_examples=12, deadline=None)
PLAIN = {
    "model": "llama-3-70b",
    "workload": {"tokens": "2e12", "sequence_length": 8192, "global_batch": 512},
    "cluster": {"node": "dgx-h100", "nodes": 32},
    "plan": {"tensor": 8, "pipeline": 4},
}
LUSTRE = {"system": "lustre-oss-modern", "servers": 4}
RUN = PLAIN | {"storage": LUSTRE, "checkpoint": {}, "reliability": {}}
HOURS = 3600.0
DAYS = 24 * HOURS
BIGSCIENCE = frozenset({"bigscience-bloom"})


@pytest.fixture(scope="module")
def of(ask):
    def answer(**blocks):
        return ask.planned(PLAIN | blocks)

    return answer


# ------------------------------------------------------------------ nothing changes for those who do not ask


def test_without_blocks_there_is_no_run(ask):
    answer = ask.planned(PLAIN)
    assert answer.scenario.run == {}
    assert not any(name in answer.terms for name in RUN_TREE)


def test_blocks_leave_the_step_as_it_is(ask):
    plain, whole = ask.planned(PLAIN), ask.planned(RUN)
    for name in TREE:
        assert whole[name] == plain[name], name
    assert whole["run.time_to_train"] == plain["run.time_to_train"]


def test_none_is_an_ideal_run(of):
    answer = of(storage="none", checkpoint="none", reliability="none")
    assert answer["wallclock"] == answer["run.time_to_train"]
    assert answer["run.goodput"] == 1.0
    assert answer["total.cost"] == answer["run.cost"]


def test_every_input_is_resolved(ask):
    for tree in (RUN, PLAIN | {"checkpoint": "none"}, RUN | {"checkpoint": {"mode": "tiered"}}):
        assert ask.resolved(tree)[0].run.keys() == set(RUN_NAMES)


# ------------------------------------------------------------------ sums

BLOCKS = st.fixed_dictionaries(
    {
        "storage": st.sampled_from(
            [LUSTRE, "s3-standard", "gfs-2003", {"read": "1 GB/s", "write": "200 MB/s", "sample": "40 MB"}, "none"]
        ),
        "checkpoint": st.sampled_from(
            [
                {},
                {"mode": "sync"},
                {"mode": "in-memory"},
                {"mode": "tiered"},
                {"writers": "rank-0"},
                {"interval": "9 h"},
            ]
        ),
        "reliability": st.sampled_from(
            [
                {},
                {"fleet": "new-cluster", "spares": 1},
                {"mtbf": "2 h", "spares": 0, "elastic": {"minimum": 16}},
                {"evaluation": {"every": 500, "time": "10 min"}},
                "none",
            ]
        ),
    }
)


@quick
@given(blocks=BLOCKS)
def test_parents_are_sums_and_parts_are_the_ratio(blocks):
    tree = PLAIN | blocks
    if tree["storage"] == "gfs-2003":
        tree["checkpoint"] = {}  # nothing faster than a save of eight hours
    answer = _ASK.planned(tree)
    for name, branch in RUN_TREE.items():
        if branch.children:
            total = answer[branch.children[0]]
            for child in branch.children[1:]:
                total = total + answer[child]
            assert total == answer[name], name
        assert answer[name] >= 0.0, name
    running = answer["wallclock"] - answer["wallclock.nodes"] - answer["wallclock.startup"]
    work = answer["wallclock.steps"] + answer["wallclock.loading"] + answer["wallclock.evaluation"]
    assert work / running == pytest.approx(answer["reliability.ettr"], rel=1e-9)
    assert answer["reliability.interruptions"] == pytest.approx(answer["reliability.rate"] * running, rel=1e-9)
    assert answer["run.wallclock_low"] <= answer["wallclock"] <= answer["run.wallclock_high"]


@pytest.fixture(autouse=True, scope="module")
def _given_ask(ask):
    """Hypothesis needs the questions outside of a fixture."""
    global _ASK  # noqa: PLW0603
    _ASK = ask


def test_a_batch_gives_what_each_gives_alone(ask):
    trees = [PLAIN, RUN, RUN | {"checkpoint": {"mode": "sync"}}, RUN | {"storage": "s3-standard"}]
    scenarios = [ask.resolved(tree)[0] for tree in trees]
    for scenario, answer in zip(scenarios, estimate(scenarios), strict=True):
        assert answer.terms == pytest.approx(estimate([scenario])[0].terms, rel=0, abs=0, nan_ok=True)


def test_the_run_tree_has_one_parent_per_term():
    children = [child for branch in RUN_TREE.values() for child in branch.children]
    assert len(children) == len(set(children))
    assert set(children) | set(RUN_ROOTS) == set(RUN_TREE)


# ------------------------------------------------------------------ more is never slower

RATES = ("read_system", "write_system", "network", "read_client", "write_client")


@quick
@given(st.sampled_from(["sync", "async", "tiered"]), st.sampled_from(RATES), st.floats(1.0, 100.0))
def test_faster_storage_is_never_slower(mode, name, factor):
    tree = PLAIN | {"storage": {"read": "2 GB/s", "write": "1 GB/s", "sample": "30 MB", "network": "1 GB/s"}}
    tree |= {"checkpoint": {"mode": mode}, "reliability": {"fleet": "new-cluster"}}
    scenario, _ = _ASK.resolved(tree)
    values = columns([scenario])
    run = run_columns([scenario], values)
    before = evaluate(values, run)
    faster = run._replace(storage=run.storage._replace(**{name: getattr(run.storage, name) * factor}))
    after = evaluate(values, faster)
    assert after["wallclock"] <= before["wallclock"] * (1 + 1e-9)
    assert after["step"] <= before["step"]


@quick
@given(st.sampled_from(["accelerator_mtbf", "detect", "repair", "start"]), st.floats(1.0, 50.0))
def test_worse_reliability_is_never_faster(name, factor):
    scenario, _ = _ASK.resolved(RUN | {"reliability": {"spares": 1, "fleet": "rsc-1"}})
    values = columns([scenario])
    run = run_columns([scenario], values)
    scale = 1 / factor if name == "accelerator_mtbf" else factor
    worse = run._replace(reliability=run.reliability._replace(**{name: getattr(run.reliability, name) * scale}))
    assert evaluate(values, worse)["wallclock"] >= evaluate(values, run)["wallclock"] * (1 - 1e-9)


# ------------------------------------------------------------------ storage of every kind

SHARED = [
    ident
    for ident in Catalog().ids("storage")
    if Catalog().find("storage", ident, Diagnostics()).entry.scope not in {"node", "device"}
]


@pytest.mark.parametrize("ident", SHARED)
def test_every_shared_system_of_the_catalog_works(ident, ask):
    entry = Catalog().find("storage", ident, Diagnostics()).entry
    bought = entry.read is None and any(tier.throughput for tier in entry.tiers)
    use = {"system": ident} | ({"capacity": "500 TiB", "tier": entry.tiers[0].name} if bought else {})
    answer = storage_answer(ask.resolved(RUN | {"storage": use})[0], Catalog())
    for way in ("read", "write"):
        assert 0 < answer.estimate[f"storage.{way}_low"] <= answer.estimate[f"storage.{way}"]
        assert answer.estimate[f"storage.{way}"] <= answer.estimate[f"storage.{way}_high"] < math.inf
        assert math.isfinite(getattr(answer.binding(way), way))
    assert answer.estimate["wallclock"] > 0


def test_google_file_system_of_the_paper(ask):
    """16 clients behind one link read 125 MB/s at most, 94 of which were seen; writes go out in three copies."""
    tree = {
        "model": "llama-3-8b",
        "workload": {"tokens": "1e9", "sequence_length": 2048, "global_batch": 16},
        "cluster": {
            "accelerator": "h100-sxm",
            "accelerators_per_node": 1,
            "nodes": 16,
            "network": {"fabric": "tcp-10g"},
        },
        "plan": {"zero": 3},
        "storage": "gfs-2003",
    }
    answer = storage_answer(ask.resolved(tree)[0], Catalog())
    stages = {stage.name: stage for stage in answer.stages}
    assert stages["clients"].read == 200e6
    assert answer.binding("read").name == "core"
    assert answer.binding("read").read == 125e6
    assert answer.estimate["storage.read_low"] == pytest.approx(94e6, rel=0.01)
    assert answer.binding("write").write == pytest.approx(67e6, rel=0.01)
    assert answer.estimate["storage.write"] == pytest.approx(35e6, rel=0.03)


def test_rates_that_come_with_capacity(of):
    answer = of(storage={"system": "fsx-lustre-persistent1", "tier": "50", "capacity": "4.8 TiB"})
    assert answer["storage.read.servers"] == pytest.approx(240e6)


def test_object_stores(of):
    """Connections that wait for the first byte, limits on requests, the ports of the nodes: the narrowest counts."""
    few = of(storage={"system": "s3-standard", "connections": 8})
    many = of(storage={"system": "s3-standard", "connections": 512})
    one = 16e6 / (0.150 + 16e6 / 88e6)
    assert few["storage.read.clients"] == pytest.approx(32 * 8 * one)
    assert many["storage.read.clients"] == pytest.approx(32 * 512 * one)
    small = of(storage={"system": "s3-standard", "connections": 512, "request": "8 kB", "prefixes": 1})
    assert small["storage.read.requests"] == pytest.approx(5500 * 8e3)
    assert of(storage="aliyun-oss")["storage.write.servers"] == 2.5e9


def test_files_on_few_targets_are_slow(of):
    """One writer without striping has one target; a wide stripe has them all."""
    narrow = of(storage=LUSTRE, checkpoint={"writers": "rank-0"})
    wide = of(storage=LUSTRE | {"stripe": 4}, checkpoint={"writers": "rank-0"})
    assert narrow["storage.write.targets"] == wide["storage.write.targets"] / 4 == 25e9
    assert of(storage=LUSTRE, checkpoint={})["storage.write.targets"] == 100e9


def test_a_starved_file_system_is_named(ask):
    use = {"system": "orangefs-pvfs", "servers": 1, "sample": "100 MB"}
    tree = RUN | {"storage": use, "reliability": {"fleet": "new-cluster"}}
    answer = storage_answer(ask.resolved(tree)[0], Catalog())
    assert not answer.met
    assert {need.name for need, stage in answer.holds_up if stage.name == "servers"} >= {"training data", "checkpoint"}
    assert answer.estimate.causes()[0].label == "waiting for data"
    assert answer.estimate["step.loading"] > 0.5 * answer.estimate["step"]
    assert answer.estimate["loading.utilisation"] == pytest.approx(
        1 - answer.estimate["step.loading"] / answer.estimate["step"]
    )
    assert storage_answer(ask.resolved(RUN)[0], Catalog()).met


def test_caches_help_from_the_second_epoch_on(of):
    slow = {"read": "1 GB/s", "write": "1 GB/s", "sample": "100 MB", "dataset": "100 TB"}
    memory = {"capacity": "2 TB", "policy": "keep", "partitioned": True}
    hits = {
        policy: of(storage=slow | {"cache": memory | {"policy": policy}})["loading.hits"]
        for policy in ("keep", "page-cache", "lru")
    }
    assert 0 < hits["lru"] < hits["page-cache"] < hits["keep"] < 0.64
    with_cache = of(storage=slow | {"cache": memory})
    assert with_cache["step.loading"] < of(storage=slow)["step.loading"]
    once = of(storage={key: value for key, value in slow.items() if key != "dataset"} | {"cache": memory})
    assert once["loading.hits"] == 0.0


def test_prefetching_hides_latency(of):
    far = {"read": "100 GB/s", "write": "10 GB/s", "latency": "40 s"}
    waits = [of(storage=far | {"prefetch": depth})["step.loading"] for depth in (0, 1, 2, 4)]
    assert waits == sorted(waits, reverse=True)
    assert waits[0] > waits[1] > 0 == waits[3]


# ------------------------------------------------------------------ checkpoints and failures


def test_modes_of_checkpoints(of):
    stalls = {
        mode: of(checkpoint={"mode": mode}, storage=LUSTRE, reliability={})
        for mode in ("sync", "async", "tiered", "in-memory")
    }
    assert stalls["sync"]["checkpoint.stall"] > 5 * stalls["async"]["checkpoint.stall"]
    assert stalls["sync"]["checkpoint.drain"] == 0.0 < stalls["async"]["checkpoint.drain"]
    assert (
        stalls["async"]["checkpoint.interval"] + stalls["async"]["checkpoint.stall"]
        >= stalls["async"]["checkpoint.drain"]
    )
    assert stalls["in-memory"]["checkpoint.host_memory"] == 2 * stalls["async"]["checkpoint.host_memory"]
    assert (
        stalls["in-memory"]["reliability.near_share"]
        > 0.99
        > stalls["tiered"]["reliability.near_share"]
        == pytest.approx(0.22)
    )
    assert stalls["sync"]["run.goodput"] < min(one["run.goodput"] for mode, one in stalls.items() if mode != "sync")


def test_bytes_follow_precision_optimizer_and_contents(of):
    count = of()["parameters.total"]
    for contents, each in (("full", 14), ("optimizer", 12), ("weights", 2)):
        assert of(checkpoint={"contents": contents})["checkpoint.bytes"] == each * count
    assert of(checkpoint={"bytes_per_parameter": 10})["checkpoint.bytes"] == 10 * count
    assert of(checkpoint={"form": "quantised", "ratio": "50 %"})["checkpoint.bytes"] == 7 * count
    small = PLAIN["workload"] | {"optimizer": "adam-8bit"}
    assert of(workload=small, checkpoint={})["checkpoint.bytes"] == 8 * count


def test_one_writer_is_limited_by_its_node(of):
    alone, all_ranks = of(storage=LUSTRE, checkpoint={"writers": "rank-0"}), of(storage=LUSTRE, checkpoint={})
    assert alone["checkpoint.write"] > 20 * all_ranks["checkpoint.write"]


def test_who_writes_follows_from_zero(of):
    assert of(checkpoint={}).given("checkpoint.writers") == 256
    whole = PLAIN["plan"] | {"zero": 0}
    assert of(plan=whole, checkpoint={}).given("checkpoint.writers") == 32
    assert of(plan=whole, checkpoint={"writers": "sharded"}).given("checkpoint.writers") == 256


def test_a_long_drain_makes_the_interval_longer(of):
    slow = of(storage={"read": "1 GB/s", "write": "200 MB/s"}, checkpoint={}, reliability={"fleet": "new-cluster"})
    assert slow["checkpoint.interval"] == pytest.approx(slow["checkpoint.drain"] - slow["checkpoint.stall"])
    assert (
        slow["wallclock.lost"]
        > of(storage=LUSTRE, checkpoint={}, reliability={"fleet": "new-cluster"})["wallclock.lost"]
    )


def test_spares(of):
    none, some, enough = (of(reliability={"spares": spares}) for spares in (0, 2, 8))
    assert none["wallclock.nodes"] > some["wallclock.nodes"] > enough["wallclock.nodes"] > 0
    assert of(reliability={})["wallclock.nodes"] == 0.0
    lost = none["reliability.interruptions"] * 0.78
    assert none["wallclock.nodes"] == pytest.approx(lost * 86400)
    shrinking = of(reliability={"spares": 0, "elastic": {"minimum": 16}})
    assert 0 < shrinking["wallclock.nodes"] < none["wallclock.nodes"] / 5
    assert of(reliability={"spares": 0, "elastic": {"minimum": 32}})["wallclock.nodes"] == none["wallclock.nodes"]
    assert some["total.cost.spares"] == pytest.approx(some["total.cost.accelerators"] * 2 / 32)


def test_evaluation_and_start_are_counted(of):
    answer = of(reliability={"evaluation": {"every": 1000, "time": "12 min"}})
    assert answer["wallclock.evaluation"] == pytest.approx(answer["run.steps"] / 1000 * 720)
    assert answer["wallclock.startup"] == 240.0


def test_waiting_draws_less(of):
    answer = of(reliability={"mtbf": "3 h"})
    share = answer["total.energy.waiting"] / (
        answer["wallclock"] - answer["wallclock.steps"] - answer["wallclock.lost"]
    )
    busy = answer["total.energy.training"] / (answer["wallclock.steps"] + answer["wallclock.lost"])
    assert share / busy == pytest.approx(0.5)


def test_fleets_are_those_with_a_rate():
    assert set(FLEETS) == set(FLEET_RATES)


def test_rates_can_be_given_in_several_ways(of):
    hours = 8.0 * HOURS
    for rate in ({"mtbf": "8 h"}, {"mtbf_per_node": "256 h"}, {"mtbf_per_accelerator": "2048 h"}):
        assert of(reliability=rate)["reliability.mtbf"] == pytest.approx(hours)


def test_explain_knows_the_run(ask):
    scenario, _ = ask.resolved(RUN)
    assert "goodput.lost_time" in repr(explain(scenario, "wallclock.lost", 2))
    assert "419 in 54 days" in repr(explain(scenario, "reliability.rate", 2))
    assert "save_intervals.exact" in repr(explain(scenario, "checkpoint.storage_interval", 12))
    assert scenario.run["storage.read_system"].origin.kind == "catalog"


# ------------------------------------------------------------------ published runs


LLAMA = {
    "model": "llama-3.1-405b",
    "workload": {"tokens": "15.6e12", "sequence_length": 8192, "global_batch": 2048},
    "cluster": {"node": "dgx-h100", "nodes": 2048},
    "plan": {"tensor": 8, "pipeline": 16, "count_embedding_as_layer": True},
    "storage": {"read": "2 TB/s", "write": "2 TB/s"},
    "checkpoint": {},
}


def test_llama_3_405b(ask):
    """419 interruptions in 54 days lie between what the rates of two other fleets say; the ratio is above 0.90."""
    window = 54 * 86400
    expected = {}
    for fleet in ("best", "llama-3", "rsc-1"):
        answer = ask.planned(LLAMA | {"reliability": {"fleet": fleet}})
        expected[fleet] = answer["reliability.rate"] * window
        assert 0.90 < answer["reliability.ettr"] < 0.97, fleet
    assert expected["best"] < 419 < expected["rsc-1"]
    assert expected["llama-3"] == pytest.approx(419)


BLOOM = {
    "model": "bloom-176b",
    "workload": {"tokens": "366e9", "sequence_length": 2048, "global_batch": 2048},
    "cluster": {"accelerator": "a100-sxm-80gb", "nodes": 48, "network": {"fabric": "omni-path-100", "ports": 4}},
    "plan": {
        "tensor": 4,
        "pipeline": 12,
        "count_embedding_as_layer": True,
        "micro_batch": 2,
        "sequence_parallel": False,
        "zero": 1,
        "recompute": "full",
        "attention": "fused-softmax",
    },
    "software": "megatron-deepspeed",
    "storage": "gpfs-jean-zay-2021",
    "checkpoint": {"mode": "sync", "interval": "3 h"},
    "reliability": {"fleet": "new-cluster", "spares": 4, "evaluation": {"every": 1000, "time": "12 min"}},
}


def test_bloom(ask):
    """117.5 days with pauses were published; the steps of that training are no evidence for the interval."""
    answer = ask.planned(BLOOM)
    found = answer.wallclock_interval(BIGSCIENCE)
    assert found.low < 117.5 * DAYS < found.high
    assert answer["wallclock"] == pytest.approx(117.5 * DAYS, rel=0.15)
    assert 2.3 * 2**40 * 0.96 < answer["checkpoint.bytes"] < 2.3 * 2**40
    assert answer["wallclock.evaluation"] / answer["wallclock.steps"] == pytest.approx(0.0070, rel=0.05)


OPT = {
    "model": "opt-175b",
    "workload": {"tokens": "300e9", "sequence_length": 2048, "global_batch": 992, "precision": "fp16"},
    "cluster": {"accelerator": "a100-sxm-80gb", "nodes": 124, "network": {"fabric": "ib-hdr", "ports": 8}},
    "plan": {"tensor": 8, "micro_batch": 8, "zero": 3, "recompute": "full"},
    "checkpoint": {"interval": "1 h", "bytes_per_parameter": 10},
    "reliability": {"fleet": "rsc-1", "detect": "30 min"},
}
GLM = BLOOM | {
    "model": "glm-130b",
    "workload": {"tokens": "400e9", "sequence_length": 2048, "global_batch": 4224, "precision": "fp16"},
    "cluster": {"accelerator": "a100-sxm-40gb", "nodes": 96, "network": {"fabric": "ib-hdr", "ports": 4}},
    "plan": BLOOM["plan"] | {"pipeline": 8, "micro_batch": 1},
    "storage": {"read": "20 GB/s", "write": "20 GB/s"},
    "reliability": {"fleet": "new-cluster"},
}


def test_opt_175b(ask):
    """Sixty days of the calendar were published, with weeks of manual restarts and of steps taken back.

    The wall clock knows neither: it is a lower bound, near the 33 days of training alone. The rate of another fleet
    gives fewer restarts than the hundred that were seen.
    """
    answer = ask.planned(OPT)
    assert 25 * DAYS < answer["wallclock"] < 40 * DAYS
    assert answer.wallclock_interval().high < 60 * DAYS
    assert answer["reliability.interruptions"] < 105


def test_glm_130b(ask):
    """58 days were published, instabilities included; the wall clock is a lower bound."""
    answer = ask.planned(GLM)
    assert 30 * DAYS < answer["wallclock"] < 58 * DAYS
    assert answer["run.goodput"] > 0.85


# ------------------------------------------------------------------ money


def test_owned_machines(of):
    """35,000 dollars over 4 years at 80 %, 5 % upkeep a year, 1.73 kW all in at 10 cents."""
    cluster = PLAIN["cluster"] | {"region": "us"}
    answer = of(cluster=cluster | {"owned": {"purchase": "35000 USD"}})
    year = 365.25 * 24
    electricity = answer.given("cluster.electricity_price") * 3.6e6
    expected = (35000 / (4 * year) + 0.05 * 35000 / year) / 0.8 + 1.73 * electricity
    assert answer.given("cluster.price") * 3600 == pytest.approx(expected)
    longer = of(cluster=cluster | {"owned": {"purchase": "35000 USD", "lifetime": "6 years"}})
    assert longer.given("cluster.price") < answer.given("cluster.price")
    listed = of(cluster=cluster | {"owned": {}})
    assert 1.0 < listed.given("cluster.price") * 3600 < 4.0  # from the price of the node in the catalog
    assert "cluster.price" in {item.name for item in listed.assumptions()}


def test_a_discount_is_off_the_price(of):
    full, less = of(), of(cluster=PLAIN["cluster"] | {"discount": "40 %"})
    assert less["run.cost"] == pytest.approx(0.6 * full["run.cost"])
    assert "40 % off" in less.scenario.values["cluster.price"].origin.detail


def test_what_cannot_be_known_of_owned_machines_is_unknown(of):
    answer = of(cluster={"node": "dgx-h100", "nodes": 32, "owned": {"purchase": "35000 USD"}})  # no region, no price
    assert math.isnan(answer.given("cluster.price"))
    assert math.isnan(answer["run.cost"])


# ------------------------------------------------------------------ what is refused

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
    "incremental": ({"checkpoint": {"form": "incremental", "ratio": 0.1}}, "AIP340", "adam changes every byte"),
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
    assert any(text in fault.problem and fault.code == "AIP342" for fault, _ in found)
    assert not impossible(
        ask.resolved(RUN | {"storage": slow, "checkpoint": saves | {"interval": "5 h", "storage_interval": None}})[0]
    )


def test_sizes_beyond_what_was_published_are_warned_of(ask):
    large = LLAMA | {"reliability": {}}
    large["cluster"] = {"node": "dgx-h100", "nodes": 12544, "network": {"topology": "dragonfly"}}
    large["plan"] = {"tensor": 8, "pipeline": 16, "count_embedding_as_layer": True}
    large["workload"] = LLAMA["workload"] | {"global_batch": 784 * 16}
    scenario, _ = ask.resolved(large)
    assert [one.code for one in scenario.cautions] == ["AIP341"]
    steep = ask.planned(large | {"reliability": {"exponent": 1.92}})
    assert estimate([scenario])[0]["reliability.mtbf"] / steep["reliability.mtbf"] == pytest.approx(2.8, abs=0.1)


# ------------------------------------------------------------------ the answer for checkpoints


def test_checkpoint_answer(ask, tmp_path):
    scenario, _ = ask.resolved(RUN | {"reliability": {"mtbf": "3 h"}})
    source = Source("-", piped=_text(RUN | {"reliability": {"mtbf": "3 h"}}))
    answer = checkpoint_answer(scenario, source, Catalog(), target=0.03)
    best = min(answer.rules, key=lambda one: one.loss)
    assert best.name in {"exact optimum", "Daly, higher order"}
    assert all(one.goodput <= best.goodput + 1e-12 for one in (*answer.intervals, *answer.curve))
    assert answer.used.interval == pytest.approx(answer.rules[0].interval)
    assert {mode.name for mode in answer.modes} == {"sync", "async", "in-memory", "tiered"}
    ratios = [fleet.estimate["run.goodput"] for fleet in answer.fleets]
    assert ratios == sorted(ratios, reverse=True)
    assert answer.fits
    assert answer.met
    lost = answer.lost_node
    assert lost.spare < lost.shrink < lost.wait
    assert lost.spares == 14  # 32 + 14 nodes, each away for a sixth of the time


def test_nobody_waits_for_nodes_that_do_not_fail(ask):
    tree = RUN | {"reliability": "none"}
    scenario, _ = ask.resolved(tree)
    answer = checkpoint_answer(scenario, Source("-", piped=_text(tree)), Catalog())
    assert answer.lost_node is None
    assert answer.rules == ()


def test_the_bandwidth_needed_is_enough_and_no_more(ask):
    tree = RUN | {"checkpoint": {"mode": "sync"}, "reliability": {"mtbf": "12 h"}}
    scenario, _ = ask.resolved(tree)
    answer = checkpoint_answer(scenario, Source("-", piped=_text(tree)), Catalog(), target=0.02)
    for factor, enough in ((1.01, True), (0.9, False)):
        rate = f"{answer.needed * factor:.6g} B/s"
        use = {"read": "100 GB/s", "write": rate, "efficiency": 1.0, "network": "1 TB/s"}
        again = ask.planned(tree | {"storage": use})
        assert ((again["wallclock.saves"] + again["wallclock.lost"]) / again["wallclock"] <= 0.02) is enough


def test_no_storage_is_fast_enough(ask):
    tree = RUN | {"reliability": {"mtbf": "10 min"}}
    scenario, _ = ask.resolved(tree)
    assert math.isinf(checkpoint_answer(scenario, Source("-", piped=_text(tree)), Catalog(), target=0.001).needed)


def _text(tree):
    return json.dumps(tree).encode()


def test_every_name_stands_in_the_pages():
    pages = Path(__file__).resolve().parents[2] / "docs"
    words = "".join((pages / name).read_text(encoding="utf-8") for name in ("nomenclature.md", "scenario.md"))
    names = (*RUN_TREE, *RUN_RESULTS, *RUN_NAMES)
    assert [name for name in names if f"`{name}`" not in words] == []


def test_supply_names_every_stage(of):
    answer = of(storage=LUSTRE)
    narrowest = min(answer[f"storage.read.{stage}"] for stage in READ_STAGES)
    assert answer["storage.read"] == pytest.approx(0.8 * narrowest)
    assert np.isfinite(answer["storage.read"])


def below(one):
    yield one
    for argument in one.arguments:
        yield from below(argument)


TRACED = (
    "step.loading",
    "wallclock.steps",
    "wallclock.saves",
    "wallclock.restarts",
    "wallclock.nodes",
    "checkpoint.stall",
    "checkpoint.load",
    "checkpoint.storage_interval",
    "reliability.rate",
    "run.wallclock_high",
    "total.cost",
    "total.energy",
)


@pytest.mark.parametrize("term", TRACED)
def test_every_number_of_a_run_can_be_traced(term, ask):
    """Nothing in between is plain arithmetic that an explanation could not name."""
    blocks = {"checkpoint": {"mode": "in-memory"}, "reliability": {"spares": 1}}
    scenario, _ = ask.resolved(RUN | blocks)
    found = [one for one in below(explain(scenario, term, 5)) if one.kind == "arithmetic"]
    assert [one.name for one in found] == []
