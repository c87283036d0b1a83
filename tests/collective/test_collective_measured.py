"""`aiplan collective --measured LOG`: is my bandwidth normal?

The logs are written here: what the program predicts for the machine, made slower in a known way.
"""

import json
import re

import pytest
from jsonschema import Draft7Validator

from aiplan.catalog.load import Catalog
from aiplan.catalog.nccl import variables
from aiplan.declare import Diagnostics
from aiplan.planning.collective import AUTO, predict
from aiplan.planning.machine import Wanted, machine_of_node
from aiplan.planning.shortfall_causes import CAUSES, causes_of
from aiplan.report.schemas import schema_of

SIZES = [8, 1024, 65536, 2**20, 2**25, 2**29, 2**30, 2**33]
HEADING = "#       size         count      type   redop    root     time   algbw   busbw #wrong"
NODES = {8: 1, 16: 2, 32: 4}


def machine(ranks, node="dgx-h100"):
    return machine_of_node(Wanted(node, None, ranks), Catalog(), Diagnostics())


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Write a log whose times are `slower(size)` times those predicted; return its name."""
    monkeypatch.chdir(tmp_path)

    def write(slower, ranks=16, name="run.log", label=None):
        answer = predict("all-reduce", machine(ranks), SIZES, (AUTO,))
        lines = ["# nThread 1 nGpus 1 minBytes 8", "# Using devices"]
        lines += [
            f"#  Rank {at:2} Group  0 Pid  {at + 1} on host-{at // 8} device  {at % 8} [0x07] GPU"
            for at in range(ranks)
        ]
        lines += [HEADING]
        for size, time in zip(SIZES, answer.choice.time, strict=True):
            measured = float(time) * slower(size)
            algbw = size / measured / 1e9
            busbw = algbw * 2 * (ranks - 1) / ranks
            lines.append(f"{size} {size // 4} float sum -1 {measured * 1e6:.6g} {algbw:.2f} {busbw:.2f} 0")
        (tmp_path / (label or name)).write_text("\n".join(lines) + "\n")
        return name

    return write


def held(run, log, *more):
    return run("collective", "all-reduce", "--measured", log, *more)


def answer(run, log, *more):
    done = held(run, log, *more, "--format", "json")
    return done.code, json.loads(done.out)["result"]


def test_as_predicted_is_normal(run, log):
    code, found = answer(run, log(lambda _: 1.0))
    assert code == 0
    assert found["normal"]
    assert not found["shortfalls"]
    assert not found["causes"]
    assert {row["verdict"] for row in found["rows"]} == {"as predicted"}
    assert [row["size_bytes"] for row in found["rows"]] == SIZES


def test_one_outlier_is_told_but_is_no_shortfall(run, log):
    code, found = answer(run, log(lambda size: 1.3 if size == 2**29 else 1.0))
    assert code == 0
    assert [row["verdict"] for row in found["rows"]].count("slower") == 1
    assert found["normal"]


@pytest.mark.parametrize(
    ("part", "slower"),
    [
        ("small", lambda size: 3.0 if size < 4096 else 1.0),
        ("middle", lambda size: 3.0 if 4096 <= size <= 2**25 else 1.0),
        ("large", lambda size: 3.0 if size > 2**25 else 1.0),
    ],
)
def test_where_it_falls_short_is_said(run, log, part, slower):
    code, found = answer(run, log(slower))
    assert code == 1
    assert [one["part"] for one in found["shortfalls"]] == [part]
    assert found["shortfalls"][0]["worst_ratio"] == pytest.approx(3.0, rel=1e-4)
    assert found["causes"]


@pytest.mark.parametrize(("ports", "seen"), [(4, 4), (2, 2), (6, 6), (4.5, None)])
def test_bandwidth_of_fewer_ports_is_recognised(run, log, ports, seen):
    _, found = answer(run, log(lambda size: 8 / ports if size > 2**25 else 1.0))
    assert found["as_if_ports"] == seen


def test_faster_than_the_band_is_said_too(run, log):
    code, found = answer(run, log(lambda _: 0.4))
    assert code == 0
    assert {row["verdict"] for row in found["rows"]} == {"faster"}


def test_ranks_of_the_log_are_those_of_the_prediction(run, log):
    done = held(run, log(lambda _: 1.0, ranks=32))
    assert "32 GPUs, 4 x dgx-h100" in done.out


def test_other_ranks_are_remarked(run, log):
    done = held(run, log(lambda _: 1.0), "--nodes", "4")
    assert "the log has 16 ranks, the prediction is for 32" in " ".join(done.out.split())


GOLDENS = {
    "short 80": (lambda size: 2.0 if size > 2**25 else 1.0, ["--width", "80"]),
    "short 200": (lambda size: 2.0 if size > 2**25 else 1.0, ["--width", "200"]),
    "markdown": (lambda _: 2.5, ["--format", "markdown"]),
    "csv": (lambda _: 1.0, ["--format", "csv"]),
    "normal": (lambda _: 1.0, []),
}


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens(name, run, golden, log):
    slower, more = GOLDENS[name]
    done = held(run, log(slower), *more)
    assert done.text == golden(name=name)


def test_json_keeps_to_the_schema(run, log):
    document = json.loads(held(run, log(lambda _: 2.0), "--format", "json").out)
    assert document["schema"] == "aiplan.collective-measured/1"
    assert not list(Draft7Validator(schema_of("result")).iter_errors(document))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["all-gather", "--measured", "run.log"], "has no table of all-gather"),
        (["all-reduce", "--measured", "none.log"], "cannot read 'none.log'"),
        (["all-reduce", "--measured", "run.log", "--size", "1MiB"], "not together with --size"),
    ],
)
def test_what_cannot_be_held_is_refused(run, log, arguments, told):
    log(lambda _: 1.0)
    done = run("collective", *arguments)
    assert done.code == 2
    assert told in " ".join(done.err.split())
    assert not done.out


def test_logs_of_several_numbers_of_ranks_are_refused(run, log, tmp_path):
    text = "".join((tmp_path / log(lambda _: 1.0, ranks=ranks, name=f"{ranks}.log")).read_text() for ranks in NODES)
    (tmp_path / "all.log").write_text(text)
    done = held(run, "all.log")
    assert done.code == 2
    assert "has tables of 8, 16, 32 ranks" in done.err


def test_variables_of_the_causes_are_known():
    named = {name for cause in CAUSES for name in re.findall(r"NCCL_[A-Z0-9_]+", cause.look)}
    assert named
    assert named <= set(variables()) | {"NCCL_DEBUG"}


@pytest.mark.parametrize("ranks", [8, 16])
@pytest.mark.parametrize("part", ["small", "middle", "large"])
def test_there_is_a_cause_for_every_part(part, ranks):
    found = causes_of([part], machine(ranks))
    assert found
    assert all(part in cause.parts and cause.source.startswith("https://") for cause in found)
