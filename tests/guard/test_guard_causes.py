"""What each change does alone, against estimates with that change made on the command line."""

import json

import pytest

from tests.guard.test_guard_diff import document, estimate, folder, git, repository

__all__ = ["folder", "repository"]

GOOD = "clusters/good.yaml"
CASES = {
    "two fields": ({"tensor: 2": "tensor: 4", "nodes: 4": "nodes: 8"}, {"plan.tensor": "4", "cluster.nodes": "8"}),
    "a field more": (
        {"recompute: selective": "recompute: full, zero: 3"},
        {"plan.recompute": "full", "plan.zero": "3"},
    ),
    "a field less": (
        {", recompute: selective": "", "tokens: 100B": "tokens: 50B"},
        {"plan.recompute": "none", "workload.tokens": "50B"},
    ),
    "a block more": (
        {"plan:": "reliability: {fleet: llama-3, detect: 5 min}\nplan:", "tensor: 2": "tensor: 4"},
        {"reliability": "{fleet: llama-3, detect: 5 min}", "plan.tensor": "4"},
    ),
    "another model": (
        {"llama-3-8b": "llama-2-7b", "nodes: 4": "nodes: 2"},
        {"model": "llama-2-7b", "cluster.nodes": "2"},
    ),
    "a shape for a name": (
        {
            "model: llama-3-8b": "model: {layers: 4, hidden: 768, heads: 12, ffn: 3072, vocab: 32000}",
            "nodes: 4": "nodes: 2",
        },
        {"model": "{layers: 4, hidden: 768, heads: 12, ffn: 3072, vocab: 32000}", "cluster.nodes": "2"},
    ),
    "searched": ({"plan: {tensor: 2, recompute: selective}": "plan: auto", "nodes: 4": "nodes: 2"}, None),
}


def changed(folder, pairs):
    text = (folder / GOOD).read_text(encoding="utf-8")
    for old, new in pairs.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "new.yaml").write_text(text, encoding="utf-8")
    return "new.yaml"


def numbers(content):
    found = content["result"]
    run = found.get("run", {})
    return {
        "step_time_s": found["step_time_s"],
        "memory_bytes_per_gpu": found["memory_bytes_per_gpu"],
        "whole_time_s": run.get("wallclock_s", found["time_to_train_s"]),
        "cost_usd": run.get("whole_run_cost_usd", found["cost_usd"]),
    }


@pytest.mark.parametrize("name", CASES)
def test_each_change_alone_is_an_estimate_of_its_own(name, run, folder):
    pairs, settings = CASES[name]
    found = {one["name"]: one for one in document(run, GOOD, changed(folder, pairs))["alone"]}
    settings = settings or {"plan": "auto", "cluster.nodes": "2"}
    assert found.keys() == settings.keys()
    start = numbers(estimate(run, GOOD))
    for path, value in settings.items():
        end = numbers(estimate(run, GOOD, "--set", f"{path}={value}"))
        assert found[path]["problem"] == ""
        for result, change in found[path]["changes"].items():
            assert change == pytest.approx(end[result] / start[result] - 1, abs=1e-12), (path, result)


def test_a_single_change_is_the_cause_of_all(run, folder):
    found = document(run, GOOD, changed(folder, {"tensor: 2": "tensor: 4"}))
    assert (found["alone"], [one["name"] for one in found["fields"]]) == ([], ["plan.tensor"])


def test_a_change_that_is_not_possible_alone(run, folder):
    new = changed(folder, {"tensor: 2": "tensor: 2, pipeline: 3, stage_layers: [10, 11, 11]", "nodes: 4": "nodes: 3",
                           "global_batch: 128": "global_batch: 120"})  # fmt: skip
    found = {one["name"]: one for one in document(run, GOOD, new)["alone"]}
    assert found.keys() == {"plan.pipeline", "plan.stage_layers", "cluster.nodes", "workload.global_batch"}
    assert "32 accelerators are not a multiple" in found["plan.pipeline"]["problem"]
    assert set(found["plan.pipeline"]["changes"].values()) == {None}


def test_what_was_measured_is_no_cause(run, folder):
    more = "measured: {step_time: 3 s, source: https://example.org}\nnotes: x\nname: Another\nexpect: [fits]\n"
    text = (folder / GOOD).read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if not line.startswith(("name:", "expect:"))]
    (folder / "new.yaml").write_text("\n".join(kept) + "\n" + more, encoding="utf-8")
    found = document(run, GOOD, "new.yaml")
    assert (found["changed"], found["fields"], found["alone"]) == (False, [], [])
    names = {one["name"].partition(".")[0].partition("[")[0] for one in found["remarks"]}
    assert names == {"measured", "notes", "name", "expect"}


def test_another_model_file_is_told_apart_from_fields(run, repository):
    """The scenario and the file of its model have both changed since the revision."""
    found = {one["name"]: one for one in document(run, "clusters/own.yaml", "--against-git", "HEAD")["alone"]}
    assert found.keys() == {"plan.tensor", "other files"}
    assert found["other files"]["changes"]["step_time_s"] > 0.2
    whole = document(run, "clusters/own.yaml", "--against-git", "HEAD")
    total = next(one["change"] for one in whole["results"] if one["name"] == "step_time_s")
    parts = [one["changes"]["step_time_s"] for one in found.values()]
    assert (1 + parts[0]) * (1 + parts[1]) == pytest.approx(1 + total, rel=1e-9)


def test_saved_results_have_no_scenario_to_try(run, folder):
    assert document(run, "saved/good.json", "grown.yaml")["alone"] == []


def test_an_empty_block_is_a_change(run, folder):
    """`reliability: {}` switches failures on."""
    found = document(run, GOOD, changed(folder, {"plan:": "reliability: {}\nplan:"}))
    assert [(one["name"], one["old"], one["new"]) for one in found["fields"]] == [("reliability", None, "{}")]


def test_a_pull_request(run, folder):
    """One field is changed in a repository; the comment names the cause, the effect, and only these."""
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    git(folder, "switch", "-q", "-c", "change")
    text = (folder / GOOD).read_text(encoding="utf-8").replace("recompute: selective", "recompute: full")
    (folder / GOOD).write_text(text, encoding="utf-8")
    git(folder, "commit", "-q", "-a", "-m", "two")
    found = document(run, GOOD, "--against-git", "main")
    assert [(one["name"], one["old"], one["new"]) for one in found["fields"]] == [
        ("plan.recompute", "selective", "full")
    ]
    assert next(one["name"] for one in found["terms"] if one["tree"] == "step") == "step.compute.recompute"
    before = estimate(run, GOOD, "--set", "plan.recompute=selective")["result"]["step_time_s"]
    after = estimate(run, GOOD)["result"]["step_time_s"]
    step = next(one for one in found["results"] if one["name"] == "step_time_s")
    assert (step["old"], step["new"]) == (before, after)

    page = run("diff", "--against-git", "main", GOOD, "--format", "markdown", "--exit-code")
    lines = page.out.splitlines()
    assert page.code == 1
    assert lines[0] == f"<!-- aiplan:diff:{GOOD} -->"
    assert lines[1].startswith(f"**step +{after / before - 1:.1%}".replace("%", " %"))
    assert f"| `~` | plan.recompute | selective | full | main:{GOOD}:6 -\\> {GOOD}:6 |" in lines
    tables = [line.count("|") - line.count("\\|") for line in lines if line.startswith("|")]
    assert set(tables) == {6}
    assert page.out.count("<details>") == page.out.count("</details>")
    assert run("diff", GOOD, "--against-git", "change", "--exit-code").code == 0
    json.loads(run("diff", GOOD, "--against-git", "main", "--format", "json").out)
