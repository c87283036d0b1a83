"""The interval beside a prediction: in `aiplan estimate`, in every format, and what it costs to start."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from aiplan.planning import evidence
from aiplan.report.schemas import schema_of

SCENARIO = """\
model: llama-3-8b
workload: {tokens: 100e9, sequence_length: 8192, global_batch: 128}
cluster: {node: dgx-a100-80gb, nodes: 4}
plan: {tensor: 2, pipeline: 2, recompute: full}
"""


@pytest.fixture
def estimated(run, folder):
    (folder / "mine.yaml").write_text(SCENARIO)

    def once(form, *more):
        return run("estimate", "mine.yaml", "--format", form, *more)

    return once


def test_the_document_has_intervals_and_where_they_come_from(estimated, fixed):
    content = json.loads(estimated("json").out)
    Draft7Validator(schema_of("result")).validate(content)
    result = content["result"]
    low, high = result["step_time_interval_s"]
    assert result["interval_evidence"] == "25 runs on A100, dense"
    # predicted over measured of the 25 runs: 0.8 to 1.28 in steps of 0.02, median 1.04
    assert low == pytest.approx(result["step_time_s"] / 1.04 * (1.04 / 1.275) ** 1.2, rel=0.01)
    assert high == pytest.approx(result["step_time_s"] / 1.04 * (1.04 / 0.806) ** 1.2, rel=0.01)
    for value, interval in (("time_to_train_s", "time_to_train_interval_s"), ("cost_usd", "cost_interval_usd")):
        ends = [end / result[value] for end in result[interval]]
        assert ends == pytest.approx([low / result["step_time_s"], high / result["step_time_s"]])


def test_people_see_interval_and_evidence(estimated, fixed):
    for form in ("table", "markdown"):
        text = " ".join(estimated(form, *(["--width", "200"] if form == "table" else [])).out.split())
        assert "90 %:" in text
        assert "from 25 runs on A100, dense" in text


def test_records_have_both_ends(estimated, fixed):
    rows = dict(line.split("\t")[:2] for line in estimated("plain").out.splitlines())
    interval = json.loads(estimated("json").out)["result"]["step_time_interval_s"]
    assert [float(rows["step_time_interval_s.low"]), float(rows["step_time_interval_s.high"])] == interval
    assert rows["step_time_interval_s.evidence"] == "25 runs on A100, dense"


def test_no_like_run_is_said(estimated, fixed):
    text = " ".join(estimated("table", "--set", "cluster.node=dgx-h100", "--width", "200").out.split())
    assert "all 25 runs; no like run published" in text


def test_no_interval_for_what_is_unknown(estimated, fixed, folder):
    (folder / "mine.yaml").write_text(SCENARIO.replace("tokens: 100e9, ", ""))
    result = json.loads(estimated("json").out)["result"]
    assert result["time_to_train_interval_s"] is None
    assert result["cost_interval_usd"] is None
    assert len(result["step_time_interval_s"]) == 2


def test_published_sources_are_no_evidence_for_their_own_runs():
    table = evidence.published()
    ident, source = table.ident[0], str(table.source[0])
    like = table.like(0)
    found = evidence.published_interval(like, frozenset({source}))
    everything = evidence.published_interval(like)
    assert ident
    assert found != everything
    assert math.isfinite(found.low)


def test_help_loads_nothing_heavy_and_estimate_no_runs(folder):
    root = str(Path(evidence.__file__).resolve().parents[2])
    (folder / "mine.yaml").write_text(SCENARIO)
    code = (
        "import sys\nfrom aiplan.cli.main import main\n"
        "main(sys.argv[1:])\nprint(' '.join(sorted(sys.modules)), file=sys.stderr)\n"
    )
    loaded = []
    for arguments in (["accuracy", "--help"], ["estimate", "mine.yaml", "--format", "json"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env=os.environ | {"PYTHONPATH": root},
            capture_output=True,
            text=True,
            check=True,
        )
        loaded.append(set(done.stderr.splitlines()[-1].split()))
    assert loaded[0].isdisjoint({"numpy", "pandas", "rich", "yaml"})
    assert loaded[1].isdisjoint({"pandas", "aiplan.planning.run_files", "aiplan.planning.accuracy", "aiplan.adapters"})
