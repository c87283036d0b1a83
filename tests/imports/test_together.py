"""Several files of other programs where a command takes a scenario: `a b`, or `a+b` where there may be several."""

import json
import shutil
from pathlib import Path

import pytest

FILES = Path(__file__).parent / "files"
HUB = json.loads((Path(__file__).parents[1] / "data" / "hub_configs.json").read_text(encoding="utf-8"))
DEEPSPEED = {"train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4, "bf16": {"enabled": True}}
NODES = ("--set", "cluster.node=dgx-h100", "--set", "cluster.nodes=2", "--quiet")


@pytest.fixture
def folder(folder):
    shutil.copytree(FILES, folder, dirs_exist_ok=True)
    (folder / "config.json").write_text(json.dumps(HUB["llama-3.1-8b"]["config"]), encoding="utf-8")
    for stage in (2, 3):
        held = DEEPSPEED | {"zero_optimization": {"stage": stage}}
        (folder / f"ds{stage}.json").write_text(json.dumps(held), encoding="utf-8")
    return folder


def answer(done):
    assert done.code in {0, 1}, done.err
    return json.loads(done.out)


def test_the_model_of_one_and_the_plan_of_the_other(run):
    """Replicas times micro-batch times accumulation is the batch, once the machine is known."""
    found = answer(run("estimate", "config.json", "ds3.json", *NODES, "--format", "json"))
    values = {name: entry["value"] for name, entry in found["inputs"]["values"].items()}
    assert found["result"]["parameters_total"] == 8030261248
    assert (values["plan.zero"], values["plan.data"], values["plan.micro_batch"]) == (3, 16, 2)
    assert values["workload.global_batch"] == 2 * 4 * 16


def test_files_together_are_the_scenario_that_import_writes(run):
    together = answer(run("estimate", "config.json", "ds3.json", *NODES, "--format", "json"))["result"]
    assert run("import", "config.json", "ds3.json", "-o", "both.yaml", "--quiet").code == 0
    batch = ("--set", "workload.global_batch=128", "--set", "workload.sequence_length=8192")
    written = answer(run("estimate", "both.yaml", *NODES, *batch, "--format", "json"))["result"]
    assert together["step_time_s"] == written["step_time_s"]
    assert together["memory_bytes_per_gpu"] == written["memory_bytes_per_gpu"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "config.json", "ds3.json", "--top", "2"],
        ["scale", "config.json", "ds3.json", "--gpus", "16,32"],
        ["size", "config.json", "ds3.json", "--deadline", "60 days", "--set", "workload.tokens=100e9"],
        ["storage", "config.json", "ds3.json", "--set", "storage=s3-standard"],
        ["export", "deepspeed", "config.json", "ds3.json"],
        ["explain", "config.json+ds3.json", "step.optimizer"],
        ["check", "config.json+ds2.json", "config.json+ds3.json", "--exit-zero"],
        ["diff", "config.json+ds2.json", "config.json+ds3.json"],
    ],
    ids=lambda words: words[0],
)
def test_every_command_takes_them(arguments, run):
    found = answer(run(*arguments, *NODES, "--format", "json"))
    assert "ds3.json" in json.dumps(found["inputs"])


def test_several_beside_each_other(run):
    names = ("config.json+ds2.json", "config.json+ds3.json")
    found = answer(run("compare", *names, *NODES, "--format", "json"))
    assert [one["source"] for one in found["inputs"]] == list(names)
    assert found["result"]["differences"]["plan.zero"] == ["2", "3"]
    second, third = (one["memory_bytes_per_gpu"] for one in found["result"]["variants"])
    assert second > third


def test_a_node_through_a_pipe(run):
    """Accelerators of a node come from the matrix, four here; what they are is set."""
    matrix = (FILES / "matrix.txt").read_bytes()
    words = ("--set", "cluster.accelerator=h100-sxm", "--set", "cluster.nodes=1", "--quiet", "--format", "json")
    found = answer(run("estimate", "config.json", "-", *words, stdin=matrix))
    assert found["inputs"]["values"]["cluster.accelerators"]["value"] == 4


def test_a_setting_of_the_batch_takes_the_place_of_all_that_follows_from_it(run, folder):
    (folder / "ds.json").write_text(json.dumps(DEEPSPEED | {"train_batch_size": 256}), encoding="utf-8")
    words = ("estimate", "config.json", "ds.json", *NODES, "--format", "json")
    assert "AIP301" in run(*words).err, "256 / (2 x 4) are 32 replicas, and there are 16 accelerators"
    found = answer(run(*words, "--set", "workload.global_batch=64"))
    assert found["inputs"]["values"]["plan.data"]["value"] == 16


def test_a_plus_in_a_name_is_no_join(run, folder):
    shutil.copy(folder / "config.json", folder / "a+b.json")
    assert "a+b" in run("estimate", "a+b.json", *NODES).out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["gpt3-175b-a100", "ds3.json"], "'gpt3-175b-a100' is a scenario of its own"),
        (["own.yaml", "ds3.json"], "'own.yaml' is a scenario of its own"),
        (["config.json", "missing.json"], "cannot read 'missing.json'"),
        (["config.json+missing.json"], "cannot read 'missing.json'"),
        (["config.json", "nano.yaml"], "and "),
    ],
)
def test_what_does_not_go_together(arguments, problem, run, folder):
    (folder / "own.yaml").write_text("workload: {}\ncluster: {}\n", encoding="utf-8")
    done = run("estimate", *arguments, *NODES)
    assert done.code == 2
    assert problem in done.err
    assert not done.out
