"""`aiplan calibrate LOG`: what it prints, writes and refuses."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from aiplan.catalog.lint import lint
from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.declare.docs import rows
from aiplan.report.schemas import schema_of

GOLDENS = {
    "help of the group": ["calibrate", "--help"],
    "help": ["calibrate", "log", "--help"],
    "table": ["calibrate", "sweep.txt"],
    "narrow": ["calibrate", "sweep.txt", "--width", "60"],
    "markdown": ["calibrate", "sweep.txt", "--format", "markdown"],
    "csv": ["calibrate", "several-programs.txt", "--format", "csv"],
    "plain": ["calibrate", "old-reduce-scatter.txt", "--format", "plain"],
    "remarks": ["calibrate", "devices-cut.txt", "called-wrong.txt"],
    "impossible": ["calibrate", "one-rank.txt"],
    "unhealthy": ["calibrate", "sweep.txt", "--network", "ib-ndr", "--ports", "8", "--share", "0.99"],
    "no table": ["calibrate", "no-table.txt"],
    "no table in one of two": ["calibrate", "plain.txt", "nothing.txt"],
    "missing": ["calibrate", "missing.log"],
    "unknown network": ["calibrate", "plain.txt", "--network", "ib-nrd"],
    "unknown link": ["calibrate", "plain.txt", "--link", "nvlink44"],
    "ports unknown": ["calibrate", "plain.txt", "--network", "ib-ndr"],
    "entry without network": ["calibrate", "plain.txt", "-o", "mine/networks/fabric.yaml"],
    "entry from one node": ["calibrate", "plain.txt", "--network", "efa-p5", "-o", "fabric.yaml"],
    "more nodes than ranks": ["calibrate", "plain.txt", "--nodes", "16"],
    "no argument": ["calibrate", "log"],
}


@pytest.fixture
def folder(folder):
    """The logs, and one with more sizes."""
    (folder / "sweep.txt").write_text(sweep(), encoding="utf-8")
    return folder


def sweep(ranks=16, busbw=350.0, latency=30.0):
    """A log over two nodes: a low-latency protocol, then one that loses some time to filling a pipeline."""
    factor = 2 * (ranks - 1) / ranks
    lines = [
        f"#  Rank {rank:2d} Group  0 Pid {rank + 100} on host-{rank // 8} device {rank % 8} [0000:07:00] Any"
        for rank in range(ranks)
    ]
    lines.append("#       size         count      type   redop    root     time   algbw   busbw #wrong")
    for power in range(3, 34):
        size = 2**power
        time = min(latency + size / 5e3, 1.4 * latency + size * factor / busbw / 1e3 + 0.012 * size**0.5)
        algbw = size / time / 1e3
        lines.append(f"{size} {size // 4} float sum -1 {time:.2f} {algbw:.2f} {algbw * factor:.2f} 0")
    return "# Collective test starting: all_reduce_perf\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens(name, run, golden):
    assert run(*GOLDENS[name]).text == golden(name=name)


def test_the_word_log_may_be_left_out(run):
    assert run("calibrate", "sweep.txt") == run("calibrate", "log", "sweep.txt")
    assert run("calibrate", "--share", "0.5", "sweep.txt") == run("calibrate", "sweep.txt", "--share", "0.5")


def test_a_log_may_come_through_a_pipe(run):
    piped = run("calibrate", "-", "--format", "json", stdin=sweep().encode())
    read = run("calibrate", "sweep.txt", "--format", "json")
    assert json.loads(piped.out)["result"]["tables"][0]["rows"] == json.loads(read.out)["result"]["tables"][0]["rows"]


def test_bytes_that_are_no_text_do_no_harm(run):
    done = run("calibrate", "-", "--format", "csv", stdin=b"\xff\xfe\x00 noise\n" + sweep().encode())
    assert (done.code, done.out.count("\n")) == (0, 32)


def test_document(run):
    done = run("calibrate", "sweep.txt", "several-programs.txt", "one-rank.txt", "--format", "json")
    content = json.loads(done.out)
    Draft7Validator(schema_of("result")).validate(content)
    tables = content["result"]["tables"]
    assert [(one["operation"], one["ranks"]) for one in tables] == [
        ("all_reduce", 16),
        ("all_reduce", 8),
        ("all_gather", 8),
        ("all_to_all", 1),
    ]
    first = tables[0]
    assert first["fit"] == first["fits"][0]
    assert first["fit"]["kind"] == "calibrated"
    assert first["fit"]["errors"]["median_abs_error"] < 0.01
    assert first["rows"][0] == {
        "size_bytes": 8,
        "time_s": 30.0 / 1e6,
        "algbw_bytes_per_s": 0.0,
        "busbw_bytes_per_s": 0.0,
        "out_of_place": {"time_s": 30.0 / 1e6, "algbw_bytes_per_s": 0.0, "busbw_bytes_per_s": 0.0, "wrong": 0.0},
        "in_place": None,
    }
    assert sum(part["n"] for part in first["errors_by_size"]) == len(first["rows"])
    assert tables[3]["flags"][0]["kind"] == "impossible"


def test_nothing_is_written_unless_asked(run, folder):
    before = sorted(folder.rglob("*"))
    assert run("calibrate", "sweep.txt", "--network", "ib-ndr", "--ports", "8").code == 0
    assert sorted(folder.rglob("*")) == before


def test_a_result_may_go_to_a_file(run, folder):
    assert run("calibrate", "sweep.txt", "--format", "json", "-o", "fit.json").out == ""
    assert json.loads((folder / "fit.json").read_text())["schema"] == "aiplan.calibrate-log/1"


@pytest.fixture
def entry(run, folder):
    """Write an entry of a network, and return what the catalog then says of it."""

    def written(ident, network, *options):
        (folder / "mine" / "networks").mkdir(parents=True, exist_ok=True)
        target = f"mine/networks/{ident}.yaml"
        done = run("calibrate", "sweep.txt", "--network", network, *options, "-o", target)
        assert (done.code, done.err) == (0, f"wrote {target}\n")
        assert "all-reduce, 16 ranks" in done.out
        diagnostics = Diagnostics()
        found = Catalog([Path("mine")]).network(ident, diagnostics)
        diagnostics.raise_if_errors()
        return found[0]

    return written


@pytest.mark.parametrize("ident", ["my-fabric", "ib-ndr"])
def test_entry_has_what_was_measured_and_keeps_the_rest(entry, ident):
    found = entry(ident, "ib-ndr", "--ports", "8")
    ours = Catalog().network("ib-ndr", Diagnostics())[0]
    assert found.achieved.bandwidth_one_way == pytest.approx(350e9 / 8, rel=0.03)
    assert found.collective_latency == pytest.approx(30e-6 / 2, rel=0.05)
    assert found.achieved.fitted_on == "all-reduce over 16 ranks on 2 nodes at 8.00 GiB, 31 sizes"
    assert found.achieved.source == "sweep.txt"
    changed = {"achieved", "collective_latency"}
    for name in {row.path for row in rows(type(ours)) if "." not in row.path} - changed:
        assert getattr(found, name) == getattr(ours, name), name


def test_entry_passes_the_lint(entry):
    entry("my-fabric", "ib-ndr", "--ports", "8")
    diagnostics = Diagnostics()
    lint(Catalog([Path("mine")]), diagnostics)
    assert [str(item) for item in diagnostics.items if "my-fabric" in str(item)] == []


def test_entry_never_passes_the_rate_of_a_port(entry):
    """Two nodes joined by trees reach more busbw than their ports carry."""
    found = entry("my-fabric", "ib-ndr", "--ports", "6")
    assert found.achieved.bandwidth_one_way == found.bandwidth_one_way == 50e9


def test_an_estimate_uses_the_entry(run, entry, folder):
    entry("ib-ndr", "ib-ndr", "--ports", "8")
    scenario = {
        "schema_version": 1,
        "model": "llama-3-70b",
        "workload": {"tokens": "1T", "sequence_length": 8192, "global_batch": 512, "precision": "bf16"},
        "cluster": {"node": "dgx-h100", "nodes": 16},
        "plan": {"tensor": 8, "pipeline": 4, "micro_batch": 1},
        "software": "megatron-core",
    }
    (folder / "job.yaml").write_text(json.dumps(scenario), encoding="utf-8")
    told = run("explain", "job.yaml", "cluster.network_latency", "--catalog", "mine", "--format", "json")
    assert json.loads(told.out)["result"]["term"]["value"] == pytest.approx(15e-6, rel=0.05)


def test_an_impossible_log_writes_no_entry(run, folder):
    done = run("calibrate", "sweep.txt", "--network", "ib-ndr", "--ports", "1", "-o", "fabric.yaml")
    assert done.code == 2
    assert "impossible" in done.err
    assert not (folder / "fabric.yaml").exists()
