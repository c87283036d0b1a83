"""`expect:` of a scenario and the conditions behind it: read with places, judged as the estimate says."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiplan.declare import Diagnostics, read
from aiplan.planning.check import judge, margin
from aiplan.scenario.conditions import CHOICES, FIELDS, WORDS, Condition, expectations, read_condition

TREE = {
    "model": "llama-3-8b",
    "workload": {"tokens": 1e11, "sequence_length": 8192, "global_batch": 128},
    "cluster": {"node": "dgx-h100", "nodes": 4},
    "plan": {"tensor": 2, "recompute": "selective"},
}


@pytest.fixture(scope="module")
def one(ask):
    return ask.planned(TREE)


def test_places_are_those_of_the_file():
    diagnostics = Diagnostics()
    text = 'expect:\n  - fits\n  - "mfu >= 40 %"\n'
    found = expectations(read(text, "a.yaml"), diagnostics)
    assert [(item.mark.line, item.mark.column) for item in found] == [(2, 5), (3, 5)]
    assert [item.condition.name for item in found] == ["fits", "mfu"]
    assert not diagnostics.items


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("expect: [fitz]", 1, 10),
        ("expect:\n  - mfu >= 3 days", 2, 5),
        ("expect:\n  - fits\n  - cost <= 5 GB", 3, 5),
        ("expect: [mfu]", 1, 10),
        ("expect: [nothing <= 3]", 1, 10),
        ("expect: [recompute >= full]", 1, 10),
    ],
)
def test_a_bad_one_is_told_at_its_place(text, line, column):
    diagnostics = Diagnostics()
    found = expectations(read(text, "a.yaml"), diagnostics)
    assert [item.condition.name for item in found] == ["fits"] * ("- fits" in text)
    [item] = diagnostics.items
    assert (item.code, item.mark.line, item.mark.column) == ("AIP210", line, column)
    assert item.hint


@pytest.mark.parametrize("expect", [[3], [["fits"]], "fits", [None], [{"fits": True}]])
def test_other_forms_are_refused(ask, expect):
    assert "AIP103" in ask.refused(TREE | {"expect": expect})


def test_all_faults_are_told_at_once(ask):
    told = ask.refused(TREE | {"expect": ["fitz", "mfu >= 3 days"], "plan": {"tensr": 2}})
    assert told.count("AIP210") == 2
    assert "AIP104" in told


def test_fits_is_what_the_estimate_says(ask):
    for batch in (1, 2, 3, 4, 8):
        tree = TREE | {
            "plan": {"tensor": 2, "micro_batch": batch},
            "workload": TREE["workload"] | {"global_batch": 384},
        }
        found = ask.planned(tree)
        assert judge(read_condition("fits"), found)[1] is found.fits


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mfu", lambda one: one.mfu),
        ("hfu", lambda one: one.hfu),
        ("step_time", lambda one: one["step"]),
        ("accelerators", lambda _: 32.0),
        ("tensor", lambda _: 2.0),
        ("data", lambda _: 16.0),
        ("micro_batch", lambda _: 1.0),
        ("recompute", lambda _: 1.0),
        ("sequence_parallel", lambda _: 1.0),
        ("time_to_train", lambda one: one["run.time_to_train"]),
        ("cost", lambda one: one["run.cost"]),
    ],
)
def test_what_is_asked(one, name, expected):
    field = FIELDS[name]
    condition = Condition(name, name, field.term, None, "=", expected(one), field.dimension)
    found, holds = judge(condition, one)
    assert found == expected(one)
    assert holds


def test_every_name_can_be_asked(one):
    for name, field in FIELDS.items():
        value = (
            CHOICES[name][0]
            if name in CHOICES
            else {"time": "1 s", "money": "1 USD", "energy": "1 kWh"}.get(
                field.dimension,
                {"carbon": "1 kg", "power": "1 kW", "data": "1 GB", "fraction": "1 %"}.get(field.dimension, "1"),
            )
        )
        found, _ = judge(read_condition(f"{name} != {value}" if name in CHOICES else f"{name} >= {value}"), one)
        assert math.isfinite(found) or name == "goodput", name  # which steps alone do not have


def test_words_are_conditions():
    assert [read_condition(word).text for word in WORDS] == list(WORDS)


def test_an_unknown_result_holds_nothing(ask):
    one = ask.planned(TREE | {"workload": {"sequence_length": 8192, "global_batch": 128}})
    for sign in ("<=", ">=", "<", ">", "=", "!="):
        assert judge(read_condition(f"time_to_train {sign} 5 days"), one)[1] is False


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.sampled_from(["<=", "<", ">=", ">"]))
def test_margin_is_negative_where_a_rule_is_broken(found, bound, sign):
    condition = Condition("x", "x", "step", None, sign, bound, "time")
    room = margin(condition, found)
    holds = bool(condition.holds(lambda _: found))
    assert (room > 0) <= holds <= (room >= 0)


def test_a_condition_can_be_searched_for(run, folder):
    (folder / "a.yaml").write_text(json.dumps(TREE), encoding="utf-8")
    done = run("search", "a.yaml", "--where", "fits", "--top", "1", "--where", "tensor = 2", "--format", "json")
    assert done.code == 0
    assert json.loads(done.out)["inputs"]["conditions"] == ["fits", "tensor = 2"]


def test_the_wall_clock_can_be_expected(run, folder, ask):
    done = run("check", "whole.yaml", "--format", "json")
    assert done.code == 0
    [first, *_] = json.loads(done.out)["result"]["files"][0]["verdicts"]
    whole = json.loads(run("estimate", "whole.yaml", "--format", "json").out)["result"]
    assert first["found"] == whole["run"]["wallclock_s"] > whole["time_to_train_s"]
    failing = ask.planned(TREE | {"reliability": {"mtbf": "9 h"}})
    for name, term in (("cost", "total.cost"), ("energy", "total.energy"), ("goodput", "run.goodput")):
        value = {"cost": "1 USD", "energy": "1 kWh", "goodput": "1 %"}[name]
        assert judge(read_condition(f"{name} >= {value}"), failing)[0] == failing[term]
    one = ask.planned(TREE)
    assert judge(read_condition("wallclock >= 1 s"), one)[0] == one["run.time_to_train"]
