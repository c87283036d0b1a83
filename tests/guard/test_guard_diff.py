"""`aiplan diff`: goldens of every format, causes that add up to effects, saved results, revisions of git."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from aiplan.planning.diff import diff
from aiplan.planning.saved import results
from aiplan.report.schemas import schema_of

SAVED = Path(__file__).parent / "saved"
TWO = ("diff", "clusters/good.yaml", "grown.yaml")
GOLDENS = {
    "help": ["diff", "--help"],
    "table": [*TWO],
    "narrow": [*TWO, "--width", "60"],
    "wide": [*TWO, "--width", "200"],
    "threshold": [*TWO, "--threshold", "40%", "--exit-code"],
    "markdown": [*TWO, "--format", "markdown"],
    "plain": [*TWO, "--format", "plain"],
    "csv": [*TWO, "--format", "csv"],
    "json": [*TWO, "--format", "json", "--threshold", "20 %"],
    "another machine": ["diff", "clusters/good.yaml", "saved/odd.json"],
    "saved without fields": ["diff", "saved/before-fields.json", "grown.yaml"],
    "the run as a whole": ["diff", "saved/whole.json", "whole.yaml", "--set", "checkpoint.interval=10 min"],
    "unknown results": ["diff", "clusters/late.yaml", "saved/unknown.json"],
    "names with markup": ["diff", "clusters/good.yaml", "clusters/late.yaml", "--format", "markdown"],
    "the same": ["diff", "clusters/good.yaml", "clusters/good.yaml", "--exit-code"],
    "the same as saved": ["diff", "clusters/good.yaml", "saved/good.json"],
    "broken": ["diff", "clusters/good.yaml", "clusters/broken.yaml"],
    "one alone": ["diff", "clusters/good.yaml"],
    "three": ["diff", "clusters/good.yaml", "grown.yaml", "--against-git", "HEAD"],
    "bad threshold": [*TWO, "--threshold", "5"],
    "threshold of a time": [*TWO, "--threshold", "5 s"],
    "another document": ["diff", "clusters/good.yaml", "check.json"],
    "cut off": ["diff", "clusters/good.yaml", "cut.json"],
    "no git": ["diff", "clusters/good.yaml", "--against-git", "HEAD"],
}


@pytest.fixture
def folder(folder, monkeypatch):
    shutil.copytree(SAVED, folder / "saved")
    (folder / "check.json").write_text('{"schema": "aiplan.check/1"}', encoding="utf-8")
    (folder / "cut.json").write_text('{"schema": "aiplan.estimate/1", "inputs": {}, "result": {}}', encoding="utf-8")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(folder.parent))
    return folder


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens(name, run, golden):
    assert run(*GOLDENS[name]).text == golden(name=name)


def document(run, *arguments):
    done = run("diff", *arguments, "--format", "json")
    content = json.loads(done.out)
    Draft7Validator(schema_of("result")).validate(content)
    return content["result"]


def estimate(run, *arguments):
    return json.loads(run("estimate", *arguments, "--format", "json").out)


@pytest.mark.parametrize("change", ["plan.tensor=4", "cluster.nodes=8", "plan.recompute=full", "model=llama-2-7b"])
def test_causes_add_up_to_effects(change, run):
    old, new = estimate(run, "clusters/good.yaml"), estimate(run, "clusters/good.yaml", "--set", change)
    found = diff(old, new)
    for tree, key in (("step", "value_s"), ("memory", "value_bytes")):
        before, after = old["result"][tree][key], new["result"][tree][key]
        terms = [term for term in found.terms if term.tree == tree]
        assert sum(term.change for term in terms) == pytest.approx(after - before, rel=1e-9, abs=1e-9 * before)
        assert sum(term.share for term in terms) == pytest.approx(after / before - 1, abs=1e-9)
        sizes = [abs(term.change) for term in terms]
        assert sizes == sorted(sizes, reverse=True)


def test_the_way_back_is_the_opposite(run):
    there, back = document(run, *TWO[1:]), document(run, *reversed(TWO[1:]))
    assert {one["name"]: (one["old"], one["new"]) for one in there["results"]} == {
        one["name"]: (one["new"], one["old"]) for one in back["results"]
    }
    assert {(one["name"], one["old"], one["new_where"]) for one in there["fields"]} == {
        (one["name"], one["new"], one["old_where"]) for one in back["fields"]
    }


def test_one_field_changed_names_the_field_and_its_places(run, folder):
    text = (folder / "clusters" / "good.yaml").read_text(encoding="utf-8")
    (folder / "new.yaml").write_text(text.replace("recompute: selective", "recompute: full"), encoding="utf-8")
    found = document(run, "clusters/good.yaml", "new.yaml")
    assert found["fields"] == [
        {
            "name": "plan.recompute",
            "old": "selective",
            "new": "full",
            "old_where": "clusters/good.yaml:6",
            "new_where": "new.yaml:6",
        }
    ]
    assert found["terms"][0]["name"] == "step.compute.recompute"


def test_fields_that_come_and_go(run, folder):
    text = (folder / "clusters" / "good.yaml").read_text(encoding="utf-8")
    (folder / "new.yaml").write_text(text.replace(", recompute: selective", ", zero: 1"), encoding="utf-8")
    found = {one["name"]: one for one in document(run, "clusters/good.yaml", "new.yaml")["fields"]}
    assert (found["plan.recompute"]["new"], found["plan.recompute"]["new_where"]) == (None, "")
    assert (found["plan.zero"]["old"], found["plan.zero"]["new"]) == (None, "1")


def test_thresholds(run):
    whole = document(run, *TWO[1:])
    for share in (0.0, 0.05, 0.2, 0.5):
        part = document(run, *TWO[1:], "--threshold", f"{share * 100} %")
        kept = [one for one in whole["results"] if one["change"] is None or abs(one["change"]) > share]
        assert part["results"] == kept
        assert part["results_within_threshold"] == len(whole["results"]) - len(kept)
        assert part["terms"] == [one for one in whole["terms"] if abs(one["share_of_whole"]) > share]
        assert part["fields"] == whole["fields"]


def test_exit_codes(run):
    assert run(*TWO).code == 0
    assert run(*TWO, "--exit-code").code == 1
    assert run(*TWO, "--exit-code", "--threshold", "100%").code == 0
    assert run("diff", "clusters/good.yaml", "clusters/good.yaml", "--exit-code").code == 0
    assert run("diff", "clusters/good.yaml", "nothing.yaml", "--exit-code").code == 2


def test_a_plan_that_fits_no_more_is_never_within_a_threshold(run, folder):
    text = (folder / "clusters" / "good.yaml").read_text(encoding="utf-8")
    (folder / "new.yaml").write_text(text.replace("tensor: 2", "tensor: 2, micro_batch: 4"), encoding="utf-8")
    done = run("diff", "clusters/good.yaml", "new.yaml", "--threshold", "100%", "--exit-code")
    assert done.code == 1
    assert "does not fit any more" in done.out


def test_saved_and_computed_are_the_same(run, folder):
    assert run("estimate", "clusters/good.yaml", "--format", "json", "-o", "good.json").code == 0
    for pair in (("good.json", "clusters/good.yaml"), ("clusters/good.yaml", "good.json"), ("good.json", "good.json")):
        found = document(run, *pair)
        assert (found["changed"], found["fields"], found["values"], found["terms"]) == (False, [], [], [])


def test_a_result_through_a_pipe(run, folder):
    text = (folder / "saved" / "good.json").read_bytes()
    done = run("diff", "-", "grown.yaml", "--format", "json", stdin=text)
    assert json.loads(done.out)["result"]["fields"]


def test_a_scenario_written_as_json_is_one(run, folder):
    content = {
        "model": "llama-3-8b",
        "workload": {"tokens": 1e11, "sequence_length": 8192, "global_batch": 128},
        "cluster": {"node": "dgx-h100", "nodes": 4},
        "plan": {"tensor": 2, "recompute": "selective"},
    }
    (folder / "as.json").write_text(json.dumps(content), encoding="utf-8")
    assert document(run, "clusters/good.yaml", "as.json")["results"] == []


@pytest.mark.parametrize("path", sorted(SAVED.glob("*.json")), ids=lambda path: path.stem)
def test_saved_results_still_load(path, run, folder):
    content = json.loads(path.read_text(encoding="utf-8"))
    Draft7Validator(schema_of("result")).validate(content)
    done = run("diff", f"saved/{path.name}", "clusters/good.yaml", "--format", "json")
    assert done.code == 0, done.err
    found = json.loads(done.out)["result"]
    assert {one["name"] for one in found["results"]} <= results(content).keys()
    same = document(run, f"saved/{path.name}", f"saved/{path.name}")
    assert (same["changed"], same["fields"], same["remarks"], same["values"], same["terms"]) == (False, [], [], [], [])
    checked = run("check", f"saved/{path.name}", "--exit-zero", "--format", "json")
    assert (checked.code, checked.err) == (0, "")


FORMS = {
    "before fields were listed": lambda d: "fields" not in d["inputs"],
    "of steps alone": lambda d: "run" not in d["result"],
    "of the run as a whole": lambda d: "run" in d["result"],
    "with unknown results": lambda d: d["result"]["cost_usd"] is None,
    "with a measured run beside": lambda d: "measured" in d["result"],
    "with compressed gradients": lambda d: "compression" in d["result"],
    "with experts": lambda d: d["inputs"]["values"]["plan.expert"]["value"] > 1,
    "with expectations": lambda d: "expect[0]" in d["inputs"].get("fields", {}),
}
"""Forms that results have had since the first version; a saved file of each is kept for ever."""


@pytest.mark.parametrize("form", FORMS)
def test_a_saved_result_of_each_form_is_kept(form):
    """They are never written anew: what a later version cannot read any more shows here."""
    kept = [json.loads(path.read_text(encoding="utf-8")) for path in SAVED.glob("*.json")]
    assert any(FORMS[form](content) for content in kept)
    assert {content["schema"] for content in kept} == {"aiplan.estimate/1"}


def mangled():
    whole = json.loads((SAVED / "good.json").read_text(encoding="utf-8"))
    changes = {
        "no inputs": lambda d: d.pop("inputs"),
        "inputs a list": lambda d: d.update(inputs=[]),
        "no source": lambda d: d["inputs"].pop("source"),
        "a value a number": lambda d: d["inputs"]["values"].update({"plan.tensor": 3}),
        "a value in words": lambda d: d["inputs"]["values"]["plan.tensor"].update(value="two"),
        "a value true": lambda d: d["inputs"]["values"]["plan.tensor"].update(value=True),
        "a place no text": lambda d: d["inputs"]["values"]["plan.tensor"].update(where={"a": 1}),
        "a text no text": lambda d: d["inputs"].update(fields={"a": {"text": [1], "where": ""}}),
        "fields a list": lambda d: d["inputs"].update(fields=[]),
        "a field without text": lambda d: d["inputs"].update(fields={"a": {"where": ""}}),
        "no tree": lambda d: d["result"].pop("step"),
        "a tree of words": lambda d: d["result"].update(memory="much"),
        "a term without value": lambda d: d["result"]["step"].pop("value_s"),
        "children a number": lambda d: d["result"]["step"].update(children=3),
        "a child null": lambda d: d["result"]["step"]["children"].append(None),
        "a name a number": lambda d: d["result"]["step"].update(name=3),
        "a result without end": lambda d: d["result"].update(mfu=float("inf")),
        "a result that is none": lambda d: d["result"].update(mfu=float("nan")),
        "a result too large": lambda d: d["result"].update(mfu=10**400),
        "a term too large": lambda d: d["result"]["step"].update(value_s=10**400),
        "a value without end": lambda d: d["inputs"]["values"]["plan.tensor"].update(value=float("inf")),
        "run a list": lambda d: d["result"].update(run=[]),
        "wall clock a number": lambda d: d["result"].update(run={"wallclock": 3}),
        "result null": lambda d: d.update(result=None),
        "another kind": lambda d: d.update(schema="aiplan.search/1"),
        "a later version": lambda d: d.update(schema="aiplan.estimate/2"),
    }
    for name, change in changes.items():
        content = json.loads(json.dumps(whole))
        change(content)
        yield pytest.param(content, id=name)


@pytest.mark.parametrize("content", list(mangled()))
def test_a_saved_result_that_was_changed_is_refused_in_words(content, run, folder):
    (folder / "x.json").write_text(json.dumps(content), encoding="utf-8")
    done = run("diff", "clusters/good.yaml", "x.json")
    assert (done.code, done.out) == (2, "")
    assert "error[AIP1" in done.err
    assert "internal error" not in done.err


def git(folder, *arguments):
    who = {f"GIT_{role}_{what}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    nothing = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", *arguments], cwd=folder, env=os.environ | who | nothing, check=True, capture_output=True)


@pytest.fixture
def repository(folder):
    """A repository with a scenario and the model it names, both changed since."""
    model = "layers: 4\nhidden: 768\nheads: 12\nffn: 3072\nvocab: 32000\n"
    (folder / "models").mkdir()
    (folder / "models" / "own.yaml").write_text(model, encoding="utf-8")
    own = folder / "clusters" / "own.yaml"
    text = (folder / "clusters" / "good.yaml").read_text(encoding="utf-8").replace("llama-3-8b", "../models/own.yaml")
    own.write_text(text, encoding="utf-8")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    (folder / "models" / "own.yaml").write_text(model.replace("layers: 4", "layers: 8"), encoding="utf-8")
    own.write_text(text.replace("tensor: 2", "tensor: 4"), encoding="utf-8")
    return folder


def test_against_git(repository, run, golden):
    done = run("diff", "clusters/own.yaml", "--against-git", "HEAD", "--format", "markdown")
    assert done.text == golden
    found = document(run, "clusters/own.yaml", "--against-git", "main")
    assert [(one["name"], one["old_where"], one["new_where"]) for one in found["fields"]] == [
        ("plan.tensor", "main:clusters/own.yaml:6", "clusters/own.yaml:6")
    ]
    assert {"name": "model.layers", "old": 4.0, "new": 8.0, "change": 1.0} in found["values"]


def test_against_git_from_below(repository, run, monkeypatch):
    whole = document(run, "clusters/own.yaml", "--against-git", "HEAD")
    monkeypatch.chdir(repository / "clusters")
    assert document(run, "own.yaml", "--against-git", "HEAD")["results"] == whole["results"]


@pytest.mark.parametrize(
    ("path", "revision"),
    [
        ("clusters/own.yaml", "nowhere"),
        ("clusters/own.yaml", "--output=x"),
        ("clusters/own.yaml", ""),
        ("clusters/new.yaml", "HEAD"),
        ("nowhere/new.yaml", "HEAD"),
    ],
)
def test_against_git_what_is_not_there(repository, run, path, revision):
    (repository / "clusters" / "new.yaml").write_text("model: llama-3-8b\n", encoding="utf-8")
    done = run("diff", path, f"--against-git={revision}")
    assert (done.code, done.out) == (2, "")
    assert "error[AIP113]: " in done.err
    assert not (repository / "x").exists()


def test_a_pull_request(repository, run):
    """Change one field, and see cause and effect in the comment."""
    done = run("diff", "clusters/own.yaml", "--against-git", "HEAD", "--format", "markdown", "--exit-code")
    lines = done.out.splitlines()
    assert done.code == 1
    assert lines[0] == "<!-- aiplan:diff:clusters/own.yaml -->"
    assert lines[1].startswith("**step ")
    assert any(line.startswith("| `~` | plan.tensor | 2 | 4 |") for line in lines)
    assert done.out.index("plan.tensor") < done.out.index("time to train")
