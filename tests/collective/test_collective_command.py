"""`aiplan collective`: what it prints, draws and refuses."""

import json
import xml.etree.ElementTree as ET

import pytest
from jsonschema import Draft7Validator

from aiplan.report.schemas import schema_of

H100 = ["collective", "all-reduce", "--node", "dgx-h100"]
SOME = ["--size", "8B,64KiB,1MiB,32MiB,1GiB,8GiB"]
GOLDENS = {
    "help": ["collective", "--help"],
    "all sizes": [*H100, "--nodes", "4"],
    "one node": [*H100, *SOME, "--algorithm", "all", "--width", "80"],
    "thousand gpus": ["collective", "all-reduce", "--gpus", "1024", *SOME, "--algorithm", "all", "--width", "80"],
    "plot 80": [*H100, "--gpus", "32", "--plot", "--algorithm", "all", "--size", "1KiB..8GiB", "--width", "80"],
    "plot 200": [*H100, "--gpus", "32", "--plot", "--width", "200", "--size", "1KiB..8GiB"],
    "markdown": [*H100, "--nodes", "2", *SOME, "--algorithm", "all", "--format", "markdown"],
    "csv": [*H100, "--nodes", "2", "--size", "1MiB,1GiB", "--algorithm", "ring,tree", "--format", "csv"],
    "plain": [*H100, "--size", "1MiB", "--format", "plain"],
    "forced": [*H100, "--nodes", "2", *SOME, "--algorithm", "ring", "--protocol", "ll128", "--nccl", "2.18"],
    "sharp": [*H100, "--nodes", "16", *SOME, "--algorithm", "collnet,ring", "--sharp"],
    "efa": ["collective", "allreduce", "--node", "aws-p5.48xlarge", "--nodes", "2", *SOME],
    "other maker": ["collective", "all_to_all", "--node", "hgx-mi300x", "--nodes", "2", *SOME],
    "scenario": ["collective", "all-gather", "--cluster", "gpt3-175b-a100", *SOME],
    "one gpu": [*H100, "--gpus", "1", "--size", "1MiB,1GiB"],
    "bad words": ["collective", "allreduc", "--size", "8X", "--protocol", "foo", "--nccl", "3.1"],
    "bad algorithm": [*H100, "--algorithm", "rings"],
    "bad size": [*H100, "--size", "0B..1GiB"],
    "too many sizes": [*H100, "--size", ",".join(f"{size}B" for size in range(1, 300))],
    "half a node": [*H100, "--gpus", "12"],
    "no such node": ["collective", "all-reduce", "--node", "dgx-h10"],
    "no such scenario": ["collective", "all-reduce", "--cluster", "gpt3-175b-a10"],
    "not here": ["collective", "all-reduce", "--node", "dgx-a100-80gb", "--algorithm", "nvls"],
    "not with this protocol": [*H100, "--algorithm", "nvls", "--protocol", "ll"],
    "two clusters": ["collective", "all-reduce", "--cluster", "x.yaml", "--gpus", "8"],
    "nodes and gpus": [*H100, "--nodes", "2", "--gpus", "16"],
}


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens(name, run, golden):
    done = run(*GOLDENS[name])
    assert done.code in {0, 2}
    assert done.text == golden(name=name)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_lines_fit_the_width(run, width):
    done = run(*H100, "--gpus", "1024", "--algorithm", "all", "--plot", "--width", width)
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= width
    assert done.out.isascii()


@pytest.mark.parametrize(
    "arguments",
    [
        [*H100, "--nodes", "4", "--algorithm", "all"],
        [*H100, "--gpus", "1"],
        ["collective", "send-recv", "--node", "aws-p4d.24xlarge", "--nodes", "2"],
        ["collective", "broadcast", "--cluster", "mi300x-llama-3-70b"],
    ],
    ids=["all", "one gpu", "efa", "scenario"],
)
def test_document(run, arguments):
    done = run(*arguments, "--format", "json")
    content = json.loads(done.out)
    Draft7Validator(schema_of("result")).validate(content)
    result = content["result"]
    assert done.code == 0
    for row in result["rows"]:
        if row["time_s"]:
            assert row["algbw_bytes_per_s"] == pytest.approx(row["size_bytes"] / row["time_s"])
            assert row["busbw_bytes_per_s"] == pytest.approx(row["algbw_bytes_per_s"] * result["busbw_factor"])
    for size in result["sizes"]:
        rows = [row for row in result["rows"] if row["size_bytes"] == size["size_bytes"]]
        assert size["time_s"] == min(row["time_s"] for row in rows if row["in_nccl"])
        assert [row["algorithm"] for row in rows if row["nccl_choice"]] == [size["nccl_choice"]["algorithm"]]
    assert done.out == run(*arguments, "--format", "json").out


def test_svg(run, folder):
    done = run(*H100, "--nodes", "4", "--algorithm", "all", "--svg", "plot.svg")
    assert (done.code, done.err) == (0, "wrote plot.svg\n")
    root = ET.fromstring((folder / "plot.svg").read_text(encoding="utf-8"))  # noqa: S314  our own file
    lines = [item for item in root.iter() if item.tag.endswith("polyline")]
    curves = json.loads(run(*H100, "--nodes", "4", "--algorithm", "all", "--format", "json").out)["result"]["rows"]
    assert len(lines) == 2 * (len({row["algorithm"] for row in curves}) + 2), "a line and a key for each"
    for line in lines:
        assert all(0 <= float(number) <= 960 for pair in line.attrib["points"].split() for number in pair.split(","))


def test_a_scenario_and_its_node_agree(run):
    one = json.loads(run("collective", "all-reduce", "--cluster", "gpt3-175b-a100", "--format", "json").out)
    other = json.loads(
        run("collective", "all-reduce", "--node", "dgx-a100-80gb", "--nodes", "128", "--format", "json").out
    )
    assert one["result"] == other["result"]


def test_oversubscription_of_a_scenario_counts(run, folder):
    text = (
        "schema_version: 1\nmodel: llama-3-8b\n"
        "workload: {sequence_length: 8192, global_batch: 1024, precision: bf16}\n"
        "cluster: {node: dgx-h100, nodes: 4, network: {oversubscription: 2}}\n"
    )
    (folder / "thin.yaml").write_text(text, encoding="utf-8")
    ask = ["collective", "all-reduce", "--size", "8GiB", "--format", "json"]
    thin, full = (
        json.loads(run(*ask, *more).out)["result"]["sizes"][0]["busbw_bytes_per_s"]
        for more in (["--cluster", "thin.yaml"], ["--node", "dgx-h100", "--nodes", "4"])
    )
    assert thin == pytest.approx(full / 2, rel=0.05)
