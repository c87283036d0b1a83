"""`communication.all_reduce` in a scenario: its effect on an estimate, what is told, what is explained."""

import json

import pytest

SCENARIO = "gpt3-175b-a100"


def estimate(run, *settings):
    done = run("estimate", SCENARIO, "--format", "json", *(part for one in settings for part in ("--set", one)))
    return json.loads(done.out), done


def test_an_algorithm_changes_the_gradients_and_nothing_else(run):
    usual, _ = estimate(run)
    other, done = estimate(run, "communication.all_reduce=binomial")
    changed = {name for name, term in usual["result"].items() if other["result"][name] != term}
    assert "step_time_s" in changed
    assert done.code == 0
    assert not any("memory" in name for name in changed)


def test_automatic_is_the_default(run):
    assert estimate(run)[0]["result"] == estimate(run, "communication.all_reduce=auto")[0]["result"]


def test_without_halves_under_zero_it_is_told_that_there_is_no_effect(run):
    usual, _ = estimate(run, "plan.zero=1")
    other, done = estimate(run, "plan.zero=1", "communication.all_reduce=tree")
    assert "AIP322" in done.err
    assert other["result"]["step_time_s"] == usual["result"]["step_time_s"]


def test_hierarchical_goes_with_zero(run):
    _, done = estimate(run, "plan.zero=1", "communication.all_reduce=hierarchical")
    assert "AIP322" not in done.err


def test_unknown_algorithms_are_refused_with_the_nearest(run):
    done = run("estimate", SCENARIO, "--set", "communication.all_reduce=hierarchal")
    assert done.code == 2
    assert "hierarchical" in done.err


@pytest.mark.parametrize("name", ["hierarchical", "rabenseifner"])
def test_links_and_ports_are_explained(run, name):
    done = run(
        "explain", SCENARIO, "step.data.gradients", "--depth", "9", "--set", f"communication.all_reduce={name}",
        "--format", "plain",
    )  # fmt: skip
    assert "outside_bandwidth" in done.out
    assert "local_ranks" in done.out
