"""Manifests of Kubernetes carry the plan: as arguments of Megatron, or as the file of settings of other programs."""

import json
import shlex

import pytest
import yaml
from jsonschema import Draft7Validator

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.planning.imports import import_files
from aiplan.planning.variants import Source, load_source
from aiplan.report.schemas import schema_of

CATALOG = Catalog()


def containers(node):
    """Yield whatever has a command, in whatever kind of job."""
    if isinstance(node, dict):
        if "command" in node:
            yield node
        for value in node.values():
            yield from containers(value)
    elif isinstance(node, list):
        for value in node:
            yield from containers(value)


def written(run, *words):
    done = run("export", "k8s", *words)
    assert done.code == 0, done.err
    assert run("check", "-", stdin=done.out.encode()).code == 0
    return list(yaml.safe_load_all(done.out)), done.err


@pytest.mark.parametrize("flavor", ["pod", "job", "pytorchjob", "trainjob", "jobset", "volcano", "kueue"])
def test_arguments_of_megatron_give_the_plan_again(flavor, run):
    manifests, _ = written(run, "llama-3-70b-h100", "--flavor", flavor)
    scenario = load_source(Source("llama-3-70b-h100"), CATALOG).scenario
    found = [one for manifest in manifests for one in containers(manifest)]
    assert found
    for one in found:
        assert one["command"][-1] == "pretrain_gpt.py"
        text = f"{shlex.join(one['args'])} --world-size {scenario.accelerators}"
        facts = import_files([("train.args", text.encode())], Diagnostics()).facts
        for name in ("tensor", "pipeline", "interleave", "context", "micro_batch"):
            fact = facts.get(f"plan.{name}")
            assert (fact.value if fact else 1) == getattr(scenario.file.plan, name), name
        assert facts["plan.zero"].value == scenario.values["plan.zero"].number
        assert facts["workload.global_batch"].value == scenario.file.workload.global_batch


@pytest.mark.parametrize(
    ("software", "file", "kind", "script"),
    [
        ("torchtitan", "job.toml", "torchtitan-toml", "torchtitan/train.py"),
        ("deepspeed", "ds_config.json", "deepspeed-json", "train.py"),
    ],
)
@pytest.mark.parametrize("flavor", ["job", "jobset", "pytorchjob", "volcano"])
def test_a_file_of_settings_is_mounted(software, file, kind, script, flavor, run, folder):
    (folder / "case.yaml").write_text(
        f"model: llama-3.1-8b\nworkload: {{sequence_length: 8192, global_batch: 64}}\n"
        f"cluster: {{node: dgx-h100, nodes: 4}}\nplan: {{zero: 3, shards: 8}}\nsoftware: {software}\n",
        encoding="utf-8",
    )
    manifests, _ = written(run, "case.yaml", "--flavor", flavor)
    settings = next(one for one in manifests if one["kind"] == "ConfigMap")
    for one in (each for manifest in manifests for each in containers(manifest)):
        mount = next(mount for mount in one["volumeMounts"] if mount["name"] == "settings")
        assert one["command"][-1] == script
        assert one["args"][-1].endswith(f"{mount['mountPath']}/{file}")
    found = import_files([(file, settings["data"][file].encode())], Diagnostics())
    assert found.kinds[0].name == kind
    assert found.facts["plan.shards"].value == 8
    assert found.facts["workload.global_batch"].value == 64


def test_what_a_manifest_does_not_say_is_said(run, folder):
    case = "model: llama-3.1-8b\nworkload: {sequence_length: 8192, global_batch: 64}\ncluster: {node: dgx-h100, nodes: 4}\n"
    for software, flavor, said in (
        ("torchtitan", "trainjob", "a TrainJob mounts no job.toml"),
        ("nanotron", "job", "arguments of nanotron are not written"),
    ):
        (folder / "case.yaml").write_text(f"{case}software: {software}\nplan: {{zero: 1}}\n", encoding="utf-8")
        manifests, told = written(run, "case.yaml", "--flavor", flavor)
        assert said in told
        assert not [one for manifest in manifests for one in containers(manifest) if "args" in one]


def test_the_plan_of_another_size_is_not_written(run, folder):
    (folder / "jobs.yaml").write_text(
        "pools: [{name: h100, node: dgx-h100, nodes: 4}]\n"
        "jobs: [{name: llm, scenario: llama-3-8b-h100, replicas: 2, duration: 1 h}]\n",
        encoding="utf-8",
    )
    manifests, told = written(run, "jobs.yaml", "--flavor", "job")
    assert "it is for 64 GPUs, and the job has 16" in told
    assert not [one for manifest in manifests for one in containers(manifest) if "args" in one]


def test_a_script_of_ones_own(run):
    manifests, _ = written(run, "llama-3-8b-h100", "--script", "mine.py")
    assert {one["command"][-1] for manifest in manifests for one in containers(manifest)} == {"mine.py"}


def test_document(run):
    content = json.loads(run("export", "k8s", "llama-3-8b-h100", "--format", "json").out)
    Draft7Validator(schema_of("result")).validate(content)
