"""Files of runs whose model is a file of another program beside them."""

import json
from pathlib import Path

import pytest

HUB = json.loads((Path(__file__).parents[1] / "data" / "hub_configs.json").read_text(encoding="utf-8"))
RUNS = """
name: My runs
source: https://example.com/runs
base:
  model: {model}
  workload: {{sequence_length: 8192, global_batch: 128}}
  cluster: {{node: dgx-h100, nodes: 2}}
  plan: {{zero: 3}}
  measured: {{step_time: 10 s, source: https://example.com/runs}}
rows:
  - {{id: one}}
  - {{id: other, model: models/{other}}}
"""


@pytest.fixture
def folder(folder):
    (folder / "models").mkdir()
    for name in ("llama-3.1-8b", "qwen2.5-7b"):
        (folder / "models" / f"{name}.json").write_text(json.dumps(HUB[name]["config"]), encoding="utf-8")
    (folder / "models" / "bert.json").write_text('{"model_type": "bert", "hidden_size": 768}', encoding="utf-8")
    return folder


def rows(run, folder, model, other):
    (folder / "runs.yaml").write_text(RUNS.format(model=model, other=other), encoding="utf-8")
    done = run("accuracy", "runs.yaml", "--format", "json")
    assert done.code == 0, done.err
    return {row["id"]: row for row in json.loads(done.out)["result"]["rows"]}


def test_a_config_of_the_hub_is_as_good_as_the_library(run, folder):
    own = rows(run, folder, "models/llama-3.1-8b.json", "qwen2.5-7b.json")
    library = rows(run, folder, "llama-3.1-8b", "llama-3.1-8b.json")
    assert (
        own["one"]["predicted_step_time_s"]
        == library["one"]["predicted_step_time_s"]
        == library["other"]["predicted_step_time_s"]
    )
    assert own["other"]["predicted_step_time_s"] != own["one"]["predicted_step_time_s"]


def test_a_network_without_a_model_is_no_fault_of_the_other_runs(run, folder):
    (folder / "runs.yaml").write_text(
        RUNS.format(model="models/llama-3.1-8b.json", other="bert.json"), encoding="utf-8"
    )
    done = run("accuracy", "runs.yaml", "--format", "json")
    assert done.code == 0, done.err
    assert "decoder-only transformers are supported" in done.out + done.err


def test_compare_takes_a_scenario_with_such_a_model(run, folder):
    """The same shape under two names: nothing differs."""
    text = RUNS.format(model="models/llama-3.1-8b.json", other="")
    base = "\n".join(line.removeprefix("  ") for line in text.split("base:\n")[1].split("rows:")[0].splitlines())
    (folder / "a.yaml").write_text(base, encoding="utf-8")
    (folder / "b.yaml").write_text(base.replace("models/llama-3.1-8b.json", "llama-3.1-8b"), encoding="utf-8")
    variants = json.loads(run("compare", "a.yaml", "b.yaml", "--format", "json").out)["result"]["variants"]
    assert variants[0]["step_time_s"] == variants[1]["step_time_s"]
