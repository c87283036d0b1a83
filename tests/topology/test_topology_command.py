"""`aiplan topology`: what it prints, draws and refuses."""

import json
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft7Validator

from aiplan.core.topologies.registry import KINDS
from aiplan.report.schemas import schema_of

SCENARIO = """\
schema_version: 1
name: Experts in pods
model: mixtral-8x7b
workload: {tokens: 1T, sequence_length: 4096, global_batch: 2048}
cluster: {node: dgx-h100, nodes: 128, network: {topology: three-tier, oversubscription: 7, switch: qm9700-ndr}}
plan: {tensor: 2, pipeline: 4, expert: 8, micro_batch: 1}
software: megatron-core
"""
PLAIN = ("topology", "--gpus", "2048")
GOLDENS = {
    "help": ["topology", "--help"],
    "table": [*PLAIN],
    "narrow": [*PLAIN, "--kinds", "fat-tree,dragonfly", "--width", "60"],
    "large": ["topology", "--gpus", "16384", "--width", "150"],
    "oversubscribed": [*PLAIN, "--kinds", "fat-tree,three-tier,dragonfly", "--oversubscription", "3"],
    "racks": ["topology", "--gpus", "4608", "--nodes-of", "gb200-nvl72", "--kinds", "nvlink-domains,rail-only"],
    "hdr": ["topology", "--gpus", "1120", "--nodes-of", "dgx-a100-80gb", "--kinds", "rail-optimized,leaf-spine"],
    "split ports": [*PLAIN, "--kinds", "leaf-spine", "--switch", "sn5600-spectrum4"],
    "markdown": [*PLAIN, "--format", "markdown"],
    "csv": [*PLAIN, "--format", "csv"],
    "plain": [*PLAIN, "--kinds", "leaf-spine,torus-3d", "--format", "plain"],
    "json": [*PLAIN, "--kinds", "dragonfly-plus", "--format", "json"],
    "scenario": ["topology", "pods.yaml", "--kinds", "fat-tree,three-tier"],
    "scenario markdown": ["topology", "pods.yaml", "--kinds", "three-tier", "--format", "markdown"],
    "scenario changed": [
        "topology",
        "pods.yaml",
        "--set",
        "cluster.network.placement=scattered",
        "--kinds",
        "fat-tree",
    ],
    "none fits": ["topology", "--gpus", "16384", "--kinds", "leaf-spine"],
    "nothing asked": ["topology"],
    "both asked": ["topology", "pods.yaml", "--gpus", "8"],
    "unknown kind": [*PLAIN, "--kinds", "fat-tre"],
    "unknown node": [*PLAIN, "--nodes-of", "dgx-h10"],
    "unknown switch": [*PLAIN, "--switch", "qm9700"],
    "slow switch": [*PLAIN, "--switch", "qm8700-hdr"],
    "no switch": [*PLAIN, "--nodes-of", "aws-p5.48xlarge"],
    "not whole": ["topology", "--gpus", "1001"],
    "one node": ["topology", "pods.yaml", "--set", "cluster.nodes=1", "--set", "plan={tensor: 8}"],
    "draw without file": [*PLAIN, "--draw", "fat-tree"],
    "draw what does not fit": [*PLAIN, "--draw", "nvlink-domains", "--svg", "x.svg"],
    "set without scenario": [*PLAIN, "--set", "cluster.nodes=4"],
}


@pytest.fixture
def folder(folder, monkeypatch):
    (folder / "pods.yaml").write_text(SCENARIO, encoding="utf-8")
    monkeypatch.setenv("COLUMNS", "100")
    return folder


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens(name, run, golden):
    assert run(*GOLDENS[name]).text == golden(name=name)


@pytest.mark.parametrize("arguments", [PLAIN, ("topology", "pods.yaml")], ids=["gpus", "scenario"])
def test_document(arguments, run):
    done = run(*arguments, "--format", "json")
    content = json.loads(done.out)
    Draft7Validator(schema_of("result")).validate(content)
    fabrics = {item["topology"]: item for item in content["result"]["fabrics"]}
    assert fabrics.keys() == KINDS.keys()
    for item in fabrics.values():
        assert item["fits"] == (item["reason"] == "")
        if item["fits"]:
            tiers = ("first_tier", "second_tier", "third_tier")
            assert item["switches"] == sum(item[f"switches_{tier}"] for tier in tiers)
            assert item["hops_min"] <= item["hops_mean"] <= item["hops_max"]
            assert item["latency_mean_s"] <= item["latency_max_s"]
    assert bool(content["result"]["placement"]) == ("pods.yaml" in arguments)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"nvlink-domains"}))
def test_drawing(kind, run, folder):
    done = run(*PLAIN, "--kinds", "fat-tree", "--draw", kind, "--svg", "fabric.svg")
    assert (done.code, done.err) == (0, "wrote fabric.svg\n")
    text = (folder / "fabric.svg").read_text(encoding="utf-8")
    root = ET.fromstring(text)  # noqa: S314  our own text
    assert root.tag.endswith("svg")
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    for box in root.iter("{http://www.w3.org/2000/svg}rect"):
        assert 0 <= float(box.attrib["x"]) <= width - float(box.attrib["width"])
        assert 0 <= float(box.attrib["y"]) <= height - float(box.attrib["height"])
    assert len(list(root.iter("{http://www.w3.org/2000/svg}rect"))) <= 40  # a sample, not every switch
    assert "2,048 x NVIDIA H100" in text


def test_a_drawing_that_cannot_be_written_is_an_error(run):
    done = run(*PLAIN, "--draw", "fat-tree", "--svg", "nowhere/fabric.svg")
    assert done.code == 2
    assert "AIP113" in done.err


def test_compare_shows_the_difference(run):
    done = run(
        "compare", "pods.yaml", "--vary", "cluster.network.topology=fat-tree,dragonfly,three-tier", "--format", "csv"
    )
    assert done.code == 0
    header, *lines = done.out.splitlines()
    at = header.split(",").index("step_time_s")
    assert len({line.split(",")[at] for line in lines}) == 3
