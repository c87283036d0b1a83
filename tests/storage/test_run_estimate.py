"""Storage, checkpoints and failures in the estimate: sums, parts, money, names."""

import math
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiplan.engine.evaluate import evaluate
from aiplan.engine.run_inputs import RUN_NAMES
from aiplan.engine.tree import RUN_ROOTS, RUN_TREE, TREE
from aiplan.planning.estimate import columns, estimate, run_columns
from aiplan.planning.explain import explain
from aiplan.planning.run_names import RUN_RESULTS
from aiplan.scenario.resolve_run import FLEET_RATES
from aiplan.scenario.run_records import FLEETS, IDEAL

from .cases import HOURS, LUSTRE, PLAIN, RUN

quick = settings(max_examples=12, deadline=None)


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
                {
                    "maintenance": {"every": "7 d", "time": "6 h"},
                    "evaluation": {"every_sequences": 9999, "sequences": 99},
                },
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
    running = answer["wallclock"] - sum(answer[f"wallclock.{part}"] for part in ("nodes", "maintenance", "startup"))
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
    assert of(checkpoint={})["checkpoint.writers"] == 256
    whole = PLAIN["plan"] | {"zero": 0}
    assert of(plan=whole, checkpoint={})["checkpoint.writers"] == 32
    assert of(plan=whole, checkpoint={"writers": "sharded"})["checkpoint.writers"] == 256


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


def test_evaluations_by_sequences_go_forward_only(of):
    """Every 46,080 sequences of training, 5,760 others without their backward pass: a third of an eighth."""
    answer = of(reliability={"fleet": "ideal", "evaluation": {"every_sequences": 46080, "sequences": 5760}})
    assert answer["wallclock.evaluation"] / answer["wallclock.steps"] == pytest.approx(1 / 24)
    assert answer["reliability.interruptions"] == 0
    assert answer["wallclock.startup"] == 0


def test_planned_stops(of):
    """One of six hours in each week of running; nothing is lost, and nobody pays less."""
    plain, stopped = of(reliability={}), of(reliability={"maintenance": {"every": "7 d", "time": "6 h"}})
    running = plain["wallclock"] - plain["wallclock.startup"]
    assert stopped["wallclock.maintenance"] == pytest.approx(running / 28)
    assert stopped["wallclock.lost"] == plain["wallclock.lost"]
    assert stopped["total.cost"] > plain["total.cost"]
    assert plain["wallclock.maintenance"] == 0


def test_fleets_are_those_with_a_rate():
    assert set(FLEETS) == {*FLEET_RATES, IDEAL}


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


# ------------------------------------------------------------------ money


def test_owned_machines(of):
    """35,000 dollars over 4 years at 80 %, 5 % upkeep a year, and the draw of training at the price of the region."""
    cluster = PLAIN["cluster"] | {"region": "us"}
    answer = of(cluster=cluster | {"owned": {"purchase": "35000 USD"}})
    year = 365.25 * 24
    electricity = answer.given("cluster.electricity_price") * 3.6e6
    drawn = sum(answer.given(f"cluster.{name}_power") for name in ("device", "node", "network")) / 1e3
    expected = (35000 / (4 * year) + 0.05 * 35000 / year) / 0.8 + drawn * answer.given("cluster.pue") * electricity
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
    assert [(one.problem, one.hint) for one in answer.unknowns()] == [
        (
            "no price of electricity for World average in the catalog",
            "give cluster.electricity, e.g. 0.08 USD/kWh",
        )
    ], "not the price of an accelerator: that is made of others"


def test_electricity_at_a_price_of_ones_own(of):
    bought = {"node": "dgx-h100", "nodes": 32, "owned": {"purchase": "35000 USD"}}
    cheap, dear = (of(cluster=bought | {"electricity": price}) for price in ("0.05 USD/kWh", "0.15 USD/kWh"))
    drawn = sum(cheap.given(f"cluster.{name}_power") for name in ("device", "node", "network")) / 1e3
    more = (dear.given("cluster.price") - cheap.given("cluster.price")) * 3600
    assert more == pytest.approx(0.10 * drawn * cheap.given("cluster.pue"))
    assert cheap.scenario.values["cluster.electricity_price"].origin.kind == "given"
    assert dear["run.electricity"] == pytest.approx(3.0 * cheap["run.electricity"])
    region = of(cluster=bought | {"region": "us", "electricity": "0.05 USD/kWh"})
    assert region.given("cluster.price") == cheap.given("cluster.price")


# ------------------------------------------------------------------ names and explanations


def test_every_closed_form_is_used():
    """A form that only its test calls would say nothing to anyone."""
    root = Path(__file__).resolve().parents[2] / "aiplan"
    modules = (
        "checkpoint",
        "cost",
        "elastic",
        "energy",
        "goodput",
        "loading",
        "reliability",
        "save_intervals",
        "spread",
    )
    files = {path: path.read_text(encoding="utf-8") for path in root.rglob("*.py")}
    calls = "\n".join(text for path, text in files.items() if path.parent.name != "core")
    for name in (*modules, "storage"):
        own = files[root / "core" / f"{name}.py"]
        for form in re.findall(r"^def ([a-z]\w*)", own, re.MULTILINE):
            inside = len(re.findall(rf"\b{form}\(", own)) > 1
            assert inside or re.search(rf"\b{name}\.{form}\b|import .*\b{form}\b", calls), f"{name}.{form}"


def test_every_name_stands_in_the_pages():
    pages = Path(__file__).resolve().parents[2] / "docs"
    words = "".join((pages / name).read_text(encoding="utf-8") for name in ("nomenclature.md", "scenario.md"))
    names = (*RUN_TREE, *RUN_RESULTS, *RUN_NAMES)
    assert [name for name in names if f"`{name}`" not in words] == []


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
