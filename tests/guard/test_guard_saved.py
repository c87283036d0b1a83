"""`aiplan check` of saved results: the same verdicts on the same numbers as the scenario itself, without the scenario."""

import json
import shutil

import pytest

from tests.guard.test_guard_check import document
from tests.guard.test_guard_diff import SAVED

RULES = """
rules:
  - {require: memory <= 70 %}
  - {require: memory <= 40 GiB, id: room}
  - {require: mfu >= 40 %}
  - {require: hfu >= 90 %}
  - {require: cost <= 1 USD}
  - {require: energy <= 1 GWh}
  - {require: carbon <= 1 kg}
  - {require: step_time <= 1 s}
  - {require: step.tensor <= 2 %}
  - {require: step.bubble <= 1 %}
  - {require: tensor <= 1, level: note}
  - {require: data <= 64}
  - {require: recompute = selective}
  - {require: sequence_parallel = true}
  - {require: accelerators <= 31}
  - {require: tokens_per_s_per_gpu >= 1}
  - {require: wallclock <= 4 days}
  - {require: goodput >= 99 %}
"""


@pytest.fixture
def policy(folder):
    (folder / "p.yaml").write_text(RULES, encoding="utf-8")
    return ("--policy", "p.yaml")


def asked(run, path, *more):
    """Return the verdicts on rules, without places."""
    [file] = document(run, path, *more)["files"]
    ruled = [one for one in file["verdicts"] if one["state"] == "ok" or one["code"] in {"AIP401", "AIP402", "AIP404"}]
    kept = ("rule", "state", "code", "text", "found", "bound", "unit", "margin")
    return file["scenario"], [{key: one[key] for key in kept} for one in ruled]


@pytest.mark.parametrize(
    "name", ["clusters/good.yaml", "clusters/late.yaml", "clusters/research/odd.yaml", "whole.yaml"]
)
def test_the_same_verdicts_as_the_scenario(name, run, folder, policy):
    run("estimate", name, "--format", "json", "-o", "saved.json")
    (scenario, own), (again, saved) = (asked(run, path, *policy) for path in (name, "saved.json"))
    assert scenario == again
    assert [one["rule"] for one in own] == [one["rule"] for one in saved]
    for one, other in zip(own, saved, strict=True):
        assert (other["found"] is None) == (one["found"] is None)
        assert other["found"] is None or other["found"] == pytest.approx(one["found"], rel=1e-12)
        assert (other["margin"] is None) == (one["margin"] is None)
        assert other["margin"] is None or other["margin"] == pytest.approx(one["margin"], rel=1e-9, abs=1e-12)
        same = ("rule", "state", "code", "text", "bound", "unit")
        assert {key: one[key] for key in same} == {key: other[key] for key in same}


def test_unknown_results(run, folder, policy):
    run("estimate", "clusters/late.yaml", "--set", "workload.tokens=null", "--format", "json", "-o", "saved.json")
    _, saved = asked(run, "saved.json", *policy)
    assert next(one for one in saved if one["rule"] == "cost")["code"] == "AIP402"


def test_a_share_of_nothing_is_unknown(run, folder, policy):
    content = json.loads((SAVED / "good.json").read_text(encoding="utf-8"))
    content["result"] |= {"memory_capacity_bytes": 0, "step_time_s": 0.0}
    (folder / "x.json").write_text(json.dumps(content), encoding="utf-8")
    found = {one["rule"]: one for one in asked(run, "x.json", *policy)[1]}
    assert found["memory"]["code"] == found["step.bubble"]["code"] == "AIP402"


def test_what_does_not_fit(run, folder):
    run(
        "estimate",
        "clusters/good.yaml",
        "--set",
        "plan.micro_batch=8",
        "--set",
        "expect=[]",
        "--format",
        "json",
        "-o",
        "s.json",
    )
    done = run("check", "s.json")
    assert done.code == 1
    assert "does-not-fit AIP404" in done.out


def test_a_folder_of_both(run, folder):
    """Saved results stand beside scenarios; other JSON is nobody's business, and broken results are told."""
    shutil.copytree(SAVED, folder / "clusters" / "saved")
    (folder / "clusters" / "package.json").write_text('{"name": "web"}', encoding="utf-8")
    (folder / "clusters" / "later.json").write_text('{\n  "schema": "aiplan.estimate/2"\n}', encoding="utf-8")
    found = document(run, "clusters", code=2)
    states = {file["file"]: file["state"] for file in found["files"]}
    assert {name for name in states if name.endswith(".json")} == {
        *(f"clusters/saved/{path.name}" for path in SAVED.glob("*.json")),
        "clusters/later.json",
    }
    assert states["clusters/later.json"] == states["clusters/broken.yaml"] == "broken"
    assert [one["file"] for one in found["skipped"]] == ["clusters/service.yaml"]
    for form in ("github", "junit", "sarif", "markdown", "csv", "table"):
        assert run("check", "clusters", "--format", form).code == 2


def test_through_a_pipe_and_by_name(run, folder):
    content = (SAVED / "good.json").read_bytes()
    (folder / "x.json").write_bytes(content)
    piped, named = run("check", "-", "--format", "json", stdin=content), run("check", "x.json", "--format", "json")
    assert piped.code == named.code == 0
    first, second = (json.loads(done.out)["result"]["files"][0] for done in (piped, named))
    assert [one["found"] for one in first["verdicts"]] == [one["found"] for one in second["verdicts"]]


def test_a_condition_of_another_version_is_refused_in_words(run, folder):
    content = json.loads((SAVED / "good.json").read_text(encoding="utf-8"))
    content["inputs"]["fields"]["expect[0]"] = {"text": "beauty >= 3", "where": "old.yaml:7"}
    (folder / "x.json").write_text(json.dumps(content), encoding="utf-8")
    done = run("check", "x.json")
    assert done.code == 2
    assert "error[AIP210]: no result or size 'beauty'" in done.err


def test_a_config_of_the_hub_is_a_scenario(run, folder):
    """What it leaves open is given on the command line, as for an estimate."""
    config = {"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
              "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256}  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    settings = ("--set", "cluster.node=dgx-h100", "--set", "cluster.nodes=4", "--set", "expect=[fits]")
    [file] = document(run, "config.json", *settings, code=0)["files"]
    assert next(one for one in file["verdicts"] if one["rule"] == "fits")["state"] == "ok"
