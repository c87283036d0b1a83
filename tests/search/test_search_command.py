"""`aiplan search`, `plan: auto` and the question without a file: what they print and refuse."""

import json

import pytest
from jsonschema import Draft7Validator

from aiplan.report.schemas import schema_of

SMALL = """\
schema_version: 1
name: Small
model: llama-3.2-1b
workload: {tokens: 100B, sequence_length: 4096, global_batch: 64}
cluster: {node: dgx-h100, nodes: 2}
plan: {tensor: 2, micro_batch: 2}
"""
AUTO = SMALL.replace("{tensor: 2, micro_batch: 2}", "auto")
WORDS = ("estimate", "--model", "llama-3.2-1b", "--gpu", "h100-sxm", "--gpus", "16", "--tokens", "100B")
PLAIN = ("search", "small.yaml", "--top", "3")
WHOLE_RUN = ("--set", "reliability={fleet: new-cluster, spares: 1}", "--set", "storage={read: 2 GB/s, write: 1 GB/s}")
GOLDENS = {
    "help": ["search", "--help"],
    "table": [*PLAIN],
    "narrow": [*PLAIN, "--width", "80"],
    "wide": [*PLAIN, "--width", "200"],
    "conditions": [*PLAIN, "--where", "tensor <= 2", "--where", "memory <= 50 %", "--where", "mfu >= 30 %"],
    "varied": [*PLAIN, "--vary", "cluster.nodes=1,2,4", "--objective", "cost"],
    "auto": ["search", "auto.yaml", "--top", "2"],
    "experts": ["search", "mixtral-8x7b-h100", "--top", "2", "--where", "context = 1", "--where", "expert_tensor = 1"],
    "whole run": [*PLAIN, *WHOLE_RUN, "--objective", "cost", "--where", "goodput >= 80 %", "--where", "power <= 1 MW"],
    "goodput of steps": [*PLAIN, "--objective", "goodput"],
    "markdown": [*PLAIN, "--format", "markdown"],
    "csv": [*PLAIN, "--format", "csv"],
    "plain": [*PLAIN, "--format", "plain"],
    "json": [*PLAIN, "--top", "1", "--format", "json"],
    "none fits": ["search", "gpt3-175b-a100", "--set", "cluster.nodes=1"],
    "own plan illegal": [*PLAIN, "--set", "plan.tensor=3"],
    "nothing meets the conditions": [*PLAIN, "--where", "tensor > 4096"],
    "bad conditions": [*PLAIN, "--where", "tensr <= 2", "--where", "memory <= 5 days", "--where", "mfu"],
    "bad choice": [*PLAIN, "--where", "recompute = some"],
    "bad objective": [*PLAIN, "--objective", "speed"],
    "two engines": [*PLAIN, "--workers", "2", "--dask", "tcp://127.0.0.1:1"],
    "estimate auto": ["estimate", "auto.yaml"],
    "estimate auto does not fit": ["estimate", "auto.yaml", "--set", "model=gpt3-175b"],
    "estimate auto never ends": ["estimate", "auto.yaml", "--set", "reliability={warm_up: 3e13 days}"],
    "words": [*WORDS],
    "words with all": [*WORDS, "--sequence", "8192", "--batch", "128", "--format", "plain"],
    "words and file": [*WORDS, "--set", "plan.tensor=1", "small.yaml"],
    "words missing": ["estimate", "--model", "llama-3.2-1b"],
    "words unknown": ["estimate", "--model", "llama", "--gpu", "h100-sxm", "--gpus", "8"],
    "words unknown gpu": ["estimate", "--model", "llama-3.2-1b", "--gpu", "h100", "--gpus", "8"],
}


@pytest.fixture
def folder(folder, monkeypatch):
    (folder / "small.yaml").write_text(SMALL, encoding="utf-8")
    (folder / "auto.yaml").write_text(AUTO, encoding="utf-8")
    monkeypatch.setenv("COLUMNS", "110")
    return folder


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens(name, run, golden):
    assert run(*GOLDENS[name]).text == golden(name=name)


def test_document(run):
    done = run(*PLAIN, "--format", "json", "--vary", "cluster.nodes=1,2")
    content = json.loads(done.out)
    Draft7Validator(schema_of("result")).validate(content)
    steps = [item["step_time_s"] for item in content["result"]["best"]]
    assert steps == sorted(steps)
    assert content["inputs"]["variants"] == ["nodes=1", "nodes=2"]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_what_is_found_is_what_an_estimate_says(run, folder, width):
    """Also if the plan is copied from a narrow terminal, where it takes several lines."""
    found = json.loads(run(*PLAIN, "--format", "json").out)["result"]["best"][0]
    estimate = json.loads(run("estimate", "auto.yaml", "--format", "json").out)["result"]
    assert estimate["step_time_s"] == found["step_time_s"]
    shown = run(*PLAIN, "--width", str(width)).out.partition("plan as it goes into a scenario\n")[2]
    copied = "\n".join(line.removeprefix("  ") for line in shown.splitlines())
    assert copied.startswith("plan:")
    (folder / "best.yaml").write_text(AUTO.replace("plan: auto", copied), encoding="utf-8")
    again = json.loads(run("estimate", "best.yaml", "--format", "json").out)["result"]
    assert again["step_time_s"] == found["step_time_s"]
    assert again["cost_usd"] == found["cost_usd"]


def test_what_is_saved_gives_the_same_answer(run, folder):
    first = run(*WORDS, "--save", "saved.yaml", "--format", "json")
    assert "wrote saved.yaml" in first.err
    text = (folder / "saved.yaml").read_text(encoding="utf-8")
    assert "# assumed: node dgx-h100" in text
    again = run("estimate", "saved.yaml", "--format", "json")
    assert json.loads(again.out)["result"]["step_time_s"] == json.loads(first.out)["result"]["step_time_s"]


def test_nothing_is_written_where_it_cannot_be(run):
    done = run(*WORDS, "--save", "nowhere/saved.yaml")
    assert done.code == 2
    assert "AIP113" in done.err
