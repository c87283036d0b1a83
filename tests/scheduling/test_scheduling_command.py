"""`aiplan schedule`: what it prints, and what it refuses."""

import csv
import gzip
import io
import json

import pytest
from jsonschema import Draft7Validator

from aiplan.planning.scheduling import strategies
from aiplan.report.schemas import schema_of
from aiplan.scenario.job_records import STRATEGIES

PHILLY = "timestamp,duration,num_gpus,gpu_time,cluster\n" + "".join(
    f"2017-10-09 0{hour}:01:55,{600 * (hour + 1)}.0,{gpus},0,{cluster}\n"
    for hour, gpus, cluster in [(7, 1, "a"), (6, 16, "b"), (8, 8, "a"), (8, 12, "b"), (9, 2, "c")]
)
NODES = "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,8,G1\nn1,64000,262144,0,\nn2,32000,131072,4,T4\n"
PODS = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"
    "p0,4000,8192,1,500,\np1,4000,8192,1,1000,T4\np2,8000,8192,4,1000,\np3,2000,1024,0,0,\np4,4000,8192,1,1000,G9\n"
)
FILES = {
    "philly.csv": PHILLY,
    "philly.yaml": "pools: [{name: a, gpus: 8, nodes: 2}]\ntrace: {format: philly, jobs: philly.csv, queue_quotas: yes}\n",
    "nodes.csv": NODES,
    "pods.csv": PODS,
    "openb.yaml": "trace: {format: openb, nodes: nodes.csv, jobs: pods.csv, arrivals: 60 %}\nrules: {strategy: fgd}\n",
    "listed.yaml": "trace: {format: openb, nodes: nodes.csv, jobs: pods.csv}\n",
    "bad.csv": "timestamp,duration,num_gpus,cluster\n2017-10-09 07:01:55,soon,1,a\nyesterday,60,0,b\n",
    "bad-trace.yaml": "pools: [{name: a, gpus: 8, nodes: 2}]\ntrace: {format: philly, jobs: bad.csv}\n",
    "no-columns.yaml": "pools: [{name: a, gpus: 8, nodes: 2}]\ntrace: {format: openb, jobs: philly.csv, nodes: no.csv}\n",
    "stuck.yaml": "pools: [{name: a, gpus: 8, nodes: 2}]\njobs: [{name: big, replicas: 3, gpus: 8, duration: 1 h}, "
    "{name: ok, gpus: 1, duration: 1 h}]\n",
    "wrong.yaml": """pools:
  - {name: h100, node: dgx-h10, nodes: 4}
  - {name: h100, nodes: 2}
queues:
  - {name: a, kind: resource-quota, cohort: x, quota: {gpus: 8}}
  - {name: b, lending_limit: {gpus: 4}}
  - {name: c, cohort: x, quota: {gpus: 4}, lending_limit: {gpus: 8}}
priorities: [{name: high, value: 10}]
jobs:
  - {name: one, queue: aa, priority: hihg, pools: [h200], gpus: 1, duration: 1 h}
  - {name: two, queue: a, replicas: 2, min_replicas: 4, gpus: 1}
  - {name: three, gpus: 2, gpu_share: 0.5, duration: 1 h, queue: b}
""",
    "wrong-forms.yaml": """pools: [{name: a, gpus: 8, nodes: 1, sharing: maybe}]
jobs:
  - {name: Four, gpus: 1.5, duration: 3, queue: b, gang: sure, replica: 2}
""",
    "wrong-cohorts.yaml": """pools: [{name: a, gpus: 8, nodes: 1}]
queues: [{name: a, cohort: left}]
cohorts:
  - {name: left, parent: right}
  - {name: right, parent: left}
  - {name: top, lending_limit: {gpus: 2}}
  - {name: top}
jobs: [{name: one, gpus: 1, duration: 1 h, count: 2, min_available: 3}]
""",
    "wrong-kinds.yaml": """pools: [{name: a, gpus: 8, nodes: 1, taints: [gpu]}]
queues: [{name: a}, {name: b}]
priorities: [{name: high, value: 20}]
jobs:
  - {name: one, gpus: 1, duration: 1 h}
  - {name: two, queue: a, gpus: 1, gpu_share: 0.5, duration: 1 h, tolerations: [gpu]}
  - {name: three, queue: a, scenario: no-such, gpus: 1}
trace: {format: philly, jobs: x.csv}
""",
}
SEEN = {
    "help": ["schedule", "--help"],
    "gang": ["schedule", "gang-deadlock", "--compare", "gang", "--width", "80"],
    "research 80": ["schedule", "research-cluster", "--width", "80"],
    "research 200": ["schedule", "research-cluster", "--width", "200"],
    "fair": ["schedule", "two-labs", "--compare", "fair", "--width", "80"],
    "elastic": ["schedule", "elastic-training", "--compare", "elastic", "--width", "100"],
    "markdown": ["schedule", "research-cluster", "--format", "markdown", "--at", "3 h"],
    "strategies": ["schedule", "research-cluster", "--compare-strategies", "--width", "80"],
    "csv": ["schedule", "gang-deadlock", "--format", "csv"],
    "runs": ["schedule", "gang-deadlock", "--compare", "gang", "--format", "csv"],
    "philly": ["schedule", "philly.yaml", "--width", "80"],
    "openb": ["schedule", "openb.yaml", "--compare", "ties", "--seeds", "3", "--width", "80"],
    "listed": ["schedule", "listed.yaml", "--format", "plain"],
    "stuck": ["schedule", "stuck.yaml", "--width", "80"],
    "wrong": ["schedule", "wrong.yaml"],
    "wrong forms": ["schedule", "wrong-forms.yaml"],
    "wrong kinds": ["schedule", "wrong-kinds.yaml"],
    "wrong cohorts": ["schedule", "wrong-cohorts.yaml"],
    "bad trace": ["schedule", "bad-trace.yaml"],
    "no columns": ["schedule", "no-columns.yaml"],
    "no file": ["schedule", "research-clutser"],
    "bad time": ["schedule", "gang-deadlock", "--at", "soon"],
    "set": [
        "schedule",
        "gang-deadlock",
        "--set",
        "rules.horizon=1 h",
        "--set",
        "rules.strategy=spread",
        "--width",
        "80",
    ],
    "bad set": ["schedule", "gang-deadlock", "--set", "rules.stratgy=spread", "--set", "rules.horizon=soon"],
    "table": ["schedule", "pods.csv", "--nodes", "nodes.csv", "--set", "trace.arrivals=60 %", "--width", "80"],
    "table without nodes": ["schedule", "philly.csv"],
    "unknown table": ["schedule", "nodes.csv", "--pools", "gang-deadlock"],
    "no table": ["schedule", "gone.csv", "--pools", "gang-deadlock"],
    "table on no pools": ["schedule", "philly.csv", "--pools", "gone.yaml"],
    "table on a table": ["schedule", "philly.csv", "--pools", "philly.csv"],
    "pools without a table": ["schedule", "gang-deadlock", "--pools", "philly.yaml"],
    "two comparisons": ["schedule", "gang-deadlock", "--compare", "gang", "--compare-strategies"],
}
CODES = {"stuck": 1} | dict.fromkeys(
    (
        "bad set",
        "wrong",
        "wrong forms",
        "wrong kinds",
        "wrong cohorts",
        "table without nodes",
        "unknown table",
        "no table",
        "table on no pools",
        "table on a table",
        "pools without a table",
        "bad trace",
        "no columns",
        "no file",
        "bad time",
        "two comparisons",
    ),
    2,
)


@pytest.fixture
def files(folder):
    for name, text in FILES.items():
        (folder / name).write_text(text.replace("yes}", "true}"))
    return folder


@pytest.mark.parametrize("name", SEEN)
def test_goldens(name, run, files, golden):
    done = run(*SEEN[name])
    assert done.code == CODES.get(name, 0)
    assert done.text == golden(name=name)


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("name", ["research-cluster", "two-labs", "openb.yaml", "philly.yaml"])
def test_lines_fit_the_width(run, files, name, width):
    done = run("schedule", name, "--width", width)
    assert max(map(len, done.out.splitlines())) <= width
    assert done.out.isascii()


@pytest.mark.parametrize(
    "arguments",
    [
        ["research-cluster"],
        ["two-labs"],
        ["gang-deadlock", "--compare", "gang"],
        ["openb.yaml", "--seeds", "2"],
        ["stuck.yaml"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_document(run, files, arguments):
    content = json.loads(run("schedule", *arguments, "--format", "json").out)
    Draft7Validator(schema_of("result")).validate(content)
    result = content["result"]
    for one in result["runs"]:
        if "jobs" in one:
            assert one["finished"] + one["waiting"] + one["never"] == one["jobs"]
            assert sum(row["jobs"] for row in one["waits_by_class"]) == one["jobs"]
            assert sum(row["jobs"] for row in one["waits_by_size"]) == one["jobs"]
            assert sum(row["jobs"] for row in one["waits_by_queue"]) == one["jobs"]
    if result["timeline"]:
        area = sum(
            busy * (after - time)
            for (time, busy), (after, _) in zip(result["timeline"], result["timeline"][1:], strict=False)
        )
        first = result["runs"][0]
        assert area == pytest.approx(first["utilisation"] * result["cluster"]["gpus"] * first["span_s"])


def test_same_seed_same_bytes(run):
    first = run("schedule", "research-cluster", "--strategy", "random", "--seed", "3", "--format", "json").out
    assert run("schedule", "research-cluster", "--strategy", "random", "--seed", "3", "--format", "json").out == first
    assert run("schedule", "research-cluster", "--strategy", "random", "--seed", "4", "--format", "json").out != first


def test_csv_has_every_job(run):
    rows = list(csv.DictReader(io.StringIO(run("schedule", "research-cluster", "--format", "csv").out)))
    assert len(rows) == 73
    assert all(float(row["ended_s"]) > float(row["started_s"]) >= float(row["submitted_s"]) for row in rows)


def test_a_table_is_read_as_if_a_jobs_file_named_it(run, files):
    """Also packed, from another folder, with the pools of a file that has jobs of its own."""
    named = json.loads(run("schedule", "philly.yaml", "--format", "json").out)["result"]
    (files / "in").mkdir()
    (files / "in" / "my jobs.csv.gz").write_bytes(gzip.compress((files / "philly.csv").read_bytes()))
    (files / "pools.yaml").write_text(
        "pools: [{name: a, gpus: 8, nodes: 2}]\njobs: [{name: x, gpus: 1, duration: 1 h}]\n", encoding="utf-8"
    )
    quotas = ("--set", "trace.queue_quotas=true")
    done = run("schedule", "in/my jobs.csv.gz", "--pools", "pools.yaml", *quotas, "--format", "json")
    assert json.loads(done.out)["result"] == named


def test_room_now_is_what_could_start(run):
    """Six of eight GPUs are taken: two pods more, and no part of a gang of six."""
    result = json.loads(run("schedule", "gang-deadlock", "--format", "json").out)["result"]
    assert [(row["most"], row["most_now"]) for row in result["fits"]] == [(8, 2), (8, 2)]


def test_names_of_strategies_are_those_that_are_known():
    assert set(STRATEGIES) == set(strategies.NAMES)


def test_an_oversized_gang_is_a_no_and_its_neighbour_runs(run, files):
    done = run("schedule", "stuck.yaml", "--format", "csv")
    assert done.code == 1
    assert "its pools take 2 such pods, and it needs 3" in done.out
    assert "ok,1.0,0.0,0.0,3600.0" in done.out
