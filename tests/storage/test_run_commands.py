"""`aiplan storage`, `aiplan checkpoint`, and the run as a whole in the other commands: goldens, documents, pictures."""

import json
import xml.etree.ElementTree as ET

import pytest
from jsonschema import Draft7Validator

from aiplan.report.schemas import schema_of

SCENARIO = """\
schema_version: 1
name: 256 H100
model: llama-3-70b
workload: {tokens: 2T, sequence_length: 8192, global_batch: 512}
cluster: {node: dgx-h100, nodes: 32, price: 2.50 USD/h, region: us}
plan: {tensor: 8, pipeline: 4}
storage: {system: lustre-oss-modern, servers: 4, price: 0.02 USD/GB/month}
checkpoint: {mode: async}
reliability: {fleet: rsc-1, spares: 2}
"""
S3 = ("--set", "storage=s3-standard")
STARVED = ("--set", "storage={system: orangefs-pvfs, servers: 1, sample: 100 MB}")
GOLDENS = {
    "storage help": ["storage", "--help"],
    "storage lustre": ["storage", "run.yaml"],
    "storage s3": ["storage", "run.yaml", *S3],
    "storage starved": ["storage", "run.yaml", *STARVED],
    "storage gfs": ["storage", "run.yaml", "--set", "storage=gfs-2003"],
    "storage narrow": ["storage", "run.yaml", "--width", "60"],
    "storage cached": [
        "storage",
        "run.yaml",
        "--set",
        "storage={system: aliyun-oss, sample: 20 MB, dataset: 100 TB, cache: {capacity: 1 TB, partitioned: true}}",
    ],
    "storage markdown": ["storage", "run.yaml", "--format", "markdown"],
    "storage csv": ["storage", "run.yaml", "--format", "csv"],
    "storage plain": ["storage", "run.yaml", *S3, "--format", "plain"],
    "storage unsaid": ["storage", "llama-3-8b-h100"],
    "checkpoint help": ["checkpoint", "--help"],
    "checkpoint lustre": ["checkpoint", "run.yaml"],
    "checkpoint s3": ["checkpoint", "run.yaml", *S3],
    "checkpoint starved": ["checkpoint", "run.yaml", *STARVED],
    "checkpoint sync": ["checkpoint", "run.yaml", "--set", "checkpoint.mode=sync", "--width", "150"],
    "checkpoint in memory": ["checkpoint", "run.yaml", "--set", "checkpoint={mode: in-memory, storage_interval: 2 h}"],
    "checkpoint without failures": ["checkpoint", "run.yaml", "--set", "reliability=none"],
    "checkpoint target": ["checkpoint", "run.yaml", "--target", "0.0001"],
    "checkpoint markdown": ["checkpoint", "run.yaml", "--format", "markdown"],
    "checkpoint csv": ["checkpoint", "run.yaml", "--format", "csv"],
    "checkpoint unsaid": ["checkpoint", "llama-3-8b-h100"],
    "interval too short": ["checkpoint", "run.yaml", "--set", "checkpoint.interval=10 s"],
    "interval too long": ["estimate", "run.yaml", "--set", "checkpoint.interval=1 year"],
    "many mistakes": [
        "estimate",
        "run.yaml",
        "--set",
        "storage.servers=0",
        "--set",
        "reliability={mtbf: -3 h, spares: 64}",
        "--set",
        "checkpoint.mode=asynchronous",
    ],
    "estimate": ["estimate", "run.yaml"],
    "estimate starved": ["estimate", "run.yaml", *STARVED],
    "estimate markdown": ["estimate", "run.yaml", "--format", "markdown"],
    "estimate plain": ["estimate", "run.yaml", "--format", "plain"],
    "compare": [
        "compare",
        "run.yaml",
        "--vary",
        "checkpoint.mode=sync,async",
        "--vary",
        "reliability.fleet=best,rsc-1",
    ],
    "compare csv": ["compare", "run.yaml", "--vary", "storage=none,s3-standard", "--format", "csv"],
    "explain": ["explain", "run.yaml", "wallclock.lost", "--depth", "2"],
}


@pytest.fixture
def folder(folder, monkeypatch):
    (folder / "run.yaml").write_text(SCENARIO, encoding="utf-8")
    monkeypatch.setenv("COLUMNS", "100")
    return folder


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens(name, run, golden):
    assert run(*GOLDENS[name]).text == golden(name=name)


@pytest.mark.parametrize(
    "arguments",
    [
        ("estimate", "run.yaml"),
        ("estimate", "run.yaml", *STARVED),
        ("compare", "run.yaml", "--vary", "checkpoint.mode=sync,async"),
        ("storage", "run.yaml"),
        ("storage", "run.yaml", *S3),
        ("storage", "run.yaml", *STARVED),
        ("checkpoint", "run.yaml"),
        ("checkpoint", "run.yaml", "--set", "reliability=none"),
        ("checkpoint", "run.yaml", "--set", "reliability.mtbf=1 s"),
        ("explain", "run.yaml", "total.cost"),
    ],
    ids=" ".join,
)
def test_documents(arguments, run):
    done = run(*arguments, "--format", "json")
    content = json.loads(done.out)
    Draft7Validator(schema_of("result")).validate(content)


def test_the_document_of_storage_says_the_same_as_the_exit_code(run):
    for changes, code in (((), 0), (STARVED, 1)):
        done = run("storage", "run.yaml", *changes, "--format", "json")
        assert done.code == code
        assert json.loads(done.out)["result"]["met"] is (code == 0)


def test_the_document_adds_up(run):
    result = json.loads(run("estimate", "run.yaml", "--format", "json").out)["result"]["run"]

    def check(branch, key):
        if branch["children"]:
            assert sum(child[key] for child in branch["children"]) == pytest.approx(branch[key], rel=1e-12)
        for child in branch["children"]:
            check(child, key)

    check(result["wallclock"], "value_s")
    check(result["total_cost"], "value_usd")
    check(result["total_energy"], "value_j")
    assert result["goodput"] == pytest.approx(result["wallclock"]["children"][0]["value_s"] / result["wallclock_s"])


def test_chart(run, folder):
    done = run("checkpoint", "run.yaml", "--svg", "loss.svg")
    assert done.code == 0
    assert done.err == "wrote loss.svg\n"
    root = ET.fromstring((folder / "loss.svg").read_text(encoding="utf-8"))  # noqa: S314  our own text
    lines = [item for item in root.iter() if item.tag.endswith("polyline")]
    assert len(lines) == 2 * 3, "a line and a key for each curve"
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    for line in lines:
        for point in line.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= width
            assert 0 <= y <= height


def test_a_chart_that_cannot_be_written_is_an_error(run):
    done = run("checkpoint", "run.yaml", "--svg", "nowhere/loss.svg")
    assert done.code == 2
    assert "AIP113" in done.err


def test_standard_input_is_read_once_for_all_modes(run, folder):
    text = (folder / "run.yaml").read_bytes()
    done = run("checkpoint", "-", "--format", "json", stdin=text)
    assert done.code == 0
    assert len(json.loads(done.out)["result"]["modes"]) == 4
