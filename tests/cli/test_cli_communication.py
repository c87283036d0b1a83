"""Compression of gradients and the environment of a job on the command line."""

import json
import subprocess

import pytest
import yaml
from jsonschema import Draft7Validator

from aiplan.report.schemas import schema_of

METHODS = "communication.compression=none,fp16,int8,topk-1%,powersgd-r4"
GOLDENS = {
    "compare compression": ["compare", "cluster-env.yaml", "--vary", METHODS],
    "compare local steps": ["compare", "cluster-env.yaml", "-q", "--vary", "communication.reduce_every=1,4"],
    "compare sharded": ["compare", "cluster-env.yaml", "-q", "--vary", METHODS, "--set", "plan.zero=2"],
    "explain compression": [
        "explain",
        "cluster-env.yaml",
        "step.data.compression",
        "-q",
        "--depth",
        "4",
        "--set",
        "communication.compression=int8",
    ],
    "explain memory": [
        "explain",
        "cluster-env.yaml",
        "memory.compression",
        "-q",
        "--set",
        "communication.compression=1bit",
    ],
    "break-even": ["estimate", "cluster-env.yaml", "-q", "--set", "communication.compression=topk-1%"],
    "break-even 80": ["estimate", "cluster-env.yaml", "-q", "--width", "80", "--set", "communication.compression=fp16"],
    "break-even csv": [
        "estimate",
        "cluster-env.yaml",
        "-q",
        "--format",
        "csv",
        "--set",
        "communication.compression=topk-10%",
    ],
    "bad compression": ["estimate", "cluster-env.yaml", "--set", "communication.compression=topk1"],
    "all that is wrong": ["estimate", "wrong-words.yaml"],
    "bad steps": ["estimate", "cluster-env.yaml", "--set", "communication.reduce_every=0"],
    "lint environment": ["export", "nccl-env", "cluster-env.yaml", "--format", "csv"],
    "export help": ["export", "nccl-env", "--help"],
    "export shell": ["export", "nccl-env", "cluster-env.yaml", "-q"],
    "export kubernetes": ["export", "nccl-env", "cluster-env.yaml", "-q", "--as", "kubernetes"],
    "export markdown": ["export", "nccl-env", "cluster-env.yaml", "-q", "--format", "markdown"],
    "export nothing": ["export"],
    "export bad name": ["export", "nccl-env", "cluster-env.yaml", "--set", "environment.A B=1"],
    "export TPU": ["export", "nccl-env", "tpu-v5p-slice"],
}


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens(name, run, folder, golden):
    assert run(*GOLDENS[name]).text == golden(name=name)


@pytest.mark.parametrize(
    "arguments",
    [
        ["export", "nccl-env", "cluster-env.yaml"],
        ["estimate", "cluster-env.yaml", "--set", "communication.compression=fp16"],
    ],
)
def test_documents_hold_the_warnings(arguments, run, folder):
    done = run(*arguments, "--format", "json")
    content = json.loads(done.out)
    Draft7Validator(schema_of("result")).validate(content)
    codes = {warning["code"] for warning in content["warnings"]}
    assert {"AIP330", "AIP331", "AIP332", "AIP333"} <= codes
    assert ("AIP321" in codes) == ("estimate" in arguments)
    assert ("compression" in content["result"]) == ("estimate" in arguments)
    assert {warning["input"] for warning in content["warnings"]} >= {"environment.NCCL_ALGO"}


@pytest.mark.parametrize("value", ["a b", "$(touch x)", "it's", '"; exit', "line\\nbreak"])
def test_a_shell_and_kubernetes_read_the_values_given(value, run, folder):
    """What is exported means what was given, whatever it holds."""
    text = f"environment.MY_VALUE={json.dumps(value)}"
    shell = run("export", "nccl-env", "cluster-env.yaml", "-q", "--set", text)
    assert shell.code == 0
    said = subprocess.run(
        ["sh", "-c", f'{shell.out}\nprintf %s "$MY_VALUE"'], capture_output=True, text=True, check=True, cwd=folder
    )
    listed = run("export", "nccl-env", "cluster-env.yaml", "-q", "--as", "kubernetes", "--set", text)
    named = {item["name"]: item["value"] for item in yaml.safe_load(listed.out)["env"]}
    assert said.stdout == value == named["MY_VALUE"]
    assert not (folder / "x").exists()


def test_every_value_for_kubernetes_is_text(run, folder):
    done = run("export", "nccl-env", "cluster-env.yaml", "-q", "--as", "kubernetes")
    assert all(isinstance(item["value"], str) for item in yaml.safe_load(done.out)["env"])
