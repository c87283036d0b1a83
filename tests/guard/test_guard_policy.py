"""Policies: patterns, levels, exemptions, and everything that can be wrong with one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiplan.declare import CODES, Diagnostics
from aiplan.scenario.policy import CODE_OF, LINTS, NO_POLICY, matches, read_policy


def policy(folder, text):
    (folder / "p.yaml").write_text(text, encoding="utf-8")
    diagnostics = Diagnostics()
    return read_policy("p.yaml", diagnostics), diagnostics


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("a.yaml", "*.yaml", True),
        ("x/a.yaml", "*.yaml", False),
        ("x/a.yaml", "**/*.yaml", True),
        ("a.yaml", "**/*.yaml", True),
        ("x/y/a.yaml", "x/**", True),
        ("xx/a.yaml", "x/**", False),
        ("./x/a.yaml", "x/*.yaml", True),
        ("x/a.yaml", "./x/?.yaml", True),
        ("x/ab.yaml", "x/?.yaml", False),
        ("x/a+b.yaml", "x/a+b.yaml", True),
        ("x/axb.yaml", "x/a.b.yaml", False),
        ("x/y/z/a.yaml", "x/**/a.yaml", True),
    ],
)
def test_patterns(path, pattern, expected):
    assert matches(path, [pattern]) is expected


@given(st.text(alphabet="ab/.*?[](){}+^$\\|", max_size=12), st.text(alphabet="ab/.", max_size=12))
def test_any_pattern_is_one(pattern, path):
    assert matches(path, [pattern]) in {True, False}
    if not re.search(r"[*?]", pattern):
        assert matches(path, [pattern]) == (path.removeprefix("./") == pattern.removeprefix("./"))


def test_rules_keep_their_order_and_level(folder):
    found, _ = policy(
        folder, "rules: [{require: fits}, {require: mfu >= 40 %, level: off}, {require: tensor <= 8, level: note}]"
    )
    assert [(rule.name, rule.level) for rule in found.asked("a.yaml")] == [("fits", "error"), ("tensor", "note")]


def test_rules_hold_for_some_files(folder):
    found, _ = policy(folder, 'rules: [{require: fits, paths: ["prod/**"]}]')
    assert found.asked("prod/x/a.yaml")
    assert not found.asked("dev/a.yaml")


def test_exemptions(folder):
    found, _ = policy(
        folder,
        'rules: [{require: fits}]\nexempt: [{paths: ["dev/**"], rules: [fits, large-bubble], why: trial}, {paths: [x.yaml], why: all}]',
    )
    assert found.exempts("dev/a.yaml", "fits") == "trial"
    assert found.exempts("dev/a.yaml", "few-micro-batches") is None
    assert found.exempts("x.yaml", "few-micro-batches") == "all"
    assert found.exempts("prod/a.yaml", "fits") is None


def test_levels(folder):
    found, _ = policy(folder, "lints: {large-bubble: error, unverified-entry: off}")
    assert [found.level(name) for name in ("large-bubble", "unverified-entry", "does-not-fit")] == [
        "error",
        "off",
        "error",
    ]
    assert {name: NO_POLICY.level(name) for name in LINTS} == LINTS


def test_lints_are_codes():
    assert LINTS.keys() <= CODE_OF.keys()
    assert {name for name in CODE_OF if CODE_OF[name] >= "AIP404"} <= LINTS.keys()
    assert len(CODE_OF) == len(CODES)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "AIP114"),
        ("[]", "AIP103"),
        ("rules: fits", "AIP103"),
        ("rules: [fits]", "AIP103"),
        ("rules: [{require: fitz}]", "AIP210"),
        ("rules: [{require: 3}]", "AIP103"),
        ("rules: [{require: [fits]}]", "AIP103"),
        ("rules: [{require: fits, id: a b}]", "AIP103"),
        ("rules: [{require: fits, level: fatal}]", "AIP108"),
        ("rules: [{level: error}]", "AIP106"),
        ("rules: [{require: fits}, {require: fits}]", "AIP403"),
        ("exempt: [{paths: [a], rules: [room], why: x}]", "AIP403"),
        ("exempt: [{paths: [a], rules: [], why: x}, {paths: [a], rules: [room], why: x}]", "AIP403"),
        ("exempt: [{paths: [a]}]", "AIP106"),
        ("exempt: {paths: a}", "AIP103"),
        ("lints: {nonsense: error}", "AIP104"),
        ("lints: {large-bubble: loud}", "AIP108"),
        ("limits: {bubble: 3 GB}", "AIP102"),
        ("schema_version: 9", "AIP116"),
        ("rulez: []", "AIP104"),
    ],
)
def test_what_is_refused(text, code, folder, run):
    (folder / "p.yaml").write_text(text, encoding="utf-8")
    done = run("check", "gpt3-175b-a100", "--policy", "p.yaml")
    assert done.code == 2
    assert done.out == ""
    assert f"[{code}]" in done.err
    assert "Traceback" not in done.err


def test_a_policy_that_is_not_there(run):
    done = run("check", "gpt3-175b-a100", "--policy", "none.yaml")
    assert (done.code, done.out) == (2, "")
    assert "AIP113" in done.err


def test_rules_may_be_empty(folder):
    found, diagnostics = policy(folder, "rules: []\nexempt: []\nlints: {}\n")
    assert found is not None
    assert not diagnostics.items
