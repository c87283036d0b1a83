"""`aiplan schedule --html`: the page is valid, can be read by everyone, and its pictures say what the results say."""

import csv
import io
import json
import re
from collections import Counter
from itertools import pairwise

import pytest

from tests.page.dom import SVG, parsed, problems, words

FRAME = 352.0
"""Width of what goes over time."""
HOSTILE = "name: <b>&co\npools: [{name: a, gpus: 8, nodes: 2}]\njobs: [{name: x, gpus: 8, duration: 1 h}]\n"
OPENB = {
    "nodes.csv": "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,8,G1\nn1,64000,262144,0,\n",
    "pods.csv": "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np0,4000,8192,1,500,\np1,4000,8192,4,1000,\n",
    "jobs.yaml": "trace: {format: openb, nodes: nodes.csv, jobs: pods.csv}\nrules: {strategy: fgd}\n",
}
MANY = "pools: [{name: a, gpus: 1, nodes: 1001}]\njobs: [{name: x, gpus: 1, duration: 1 h, count: 401}]\n"
CASES = {
    "mix": ({}, ("research-cluster",)),
    "side by side": ({"jobs.yaml": HOSTILE}, ("jobs.yaml", "--compare-strategies")),
    "deadlock": ({}, ("gang-deadlock", "--compare", "gang")),
    "arrivals": (OPENB, ("jobs.yaml",)),
    "large": ({"jobs.yaml": MANY}, ("jobs.yaml",)),
}


@pytest.fixture(params=CASES)
def case(request, run, folder):
    files, arguments = CASES[request.param]
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    run("schedule", *arguments, "--html", "t.html", "--quiet")
    return (folder / "t.html").read_text(encoding="utf-8")


@pytest.fixture
def mix(run, folder):
    text = run("schedule", "research-cluster", "--html", "t.html", "--quiet", "--format", "json").out
    return parsed((folder / "t.html").read_text(encoding="utf-8")), json.loads(text)["result"]


def test_page_is_valid_and_can_be_read_by_everyone(case):
    assert list(problems(parsed(case))) == []
    assert len(case.encode()) < 300_000


def test_names_are_no_markup(run, folder):
    (folder / "jobs.yaml").write_text(HOSTILE)
    run("schedule", "jobs.yaml", "--html", "t.html", "--quiet")
    tree = parsed((folder / "t.html").read_text(encoding="utf-8"))
    assert words(next(tree.iter("h1"))) == "<b>&co"
    assert words(next(tree.iter("title"))).startswith("<b>&co: binpack")


def test_too_much_is_cut_and_said(run, folder):
    (folder / "jobs.yaml").write_text(MANY)
    run("schedule", "jobs.yaml", "--html", "t.html", "--quiet")
    told = words(parsed((folder / "t.html").read_text(encoding="utf-8")).find("body"))
    assert "Jobs over time, the first 400 of 401" in told
    assert "The cluster at the start: 40.1 % of the GPUs allocated" in told


def figure(tree, name):
    return next(node for node in tree.iter("figure") if node.get("id") == name)


def rectangles(node, kind):
    return [one for one in node.iter(f"{SVG}rect") if (one.get("class") or "").startswith(kind)]


def number(node, name):
    return float(node.get(name))


def test_area_is_gpu_time(mix):
    tree, result = mix
    path = next(node.get("d") for node in figure(tree, "use-picture").iter(f"{SVG}path") if "area" in node.get("class"))
    steps = [(float(x), float(y)) for x, y in re.findall(r"H([\d.]+)V([\d.]+)", path)]
    floor = steps[-1][1]
    drawn = sum((floor - y) * (after - x) for (x, y), (after, _) in pairwise(steps))
    line = result["timeline"]
    times = [*(time for time, _ in line[1:]), result["runs"][0]["span_s"]]
    used = sum(gpus * (after - time) for (time, gpus), after in zip(line, times, strict=True))
    whole = 144 * result["runs"][0]["span_s"]
    assert drawn / (FRAME * 150.0) == pytest.approx(used / whole, abs=2e-3)


def test_bars_and_lines_are_as_long_as_jobs_run_and_wait(run, folder):
    out = run("schedule", "research-cluster", "--html", "t.html", "--quiet", "--format", "csv").out
    drawing = figure(parsed((folder / "t.html").read_text(encoding="utf-8")), "jobs-picture")
    rows = list(csv.DictReader(io.StringIO(out)))
    span = max(float(row["ended_s"]) for row in rows)
    lines = next(node.get("d") for node in drawing.iter(f"{SVG}path") if "curve" in (node.get("class") or ""))
    waits = Counter()
    for start, y, end in re.findall(r"M([\d.]+) ([\d.]+)H([\d.]+)", lines):
        waits[float(y)] += float(end) - float(start)
    bars = Counter()
    for bar in rectangles(drawing, "area"):
        bars[number(bar, "y") + number(bar, "height") / 2] += number(bar, "width")
    for place, row in enumerate(rows):
        middle = 14.0 + 14.0 * (place + 0.5)
        there = float(row["ended_s"]) - float(row["submitted_s"])
        ran = sum(length for y, length in bars.items() if abs(y - middle) < 1.0)
        assert (ran + waits[middle]) * span / FRAME == pytest.approx(there, abs=1.5 * span / FRAME)
        if row["preempted"] == row["failed"] == row["resized"] == "0":
            assert waits[middle] * span / FRAME == pytest.approx(float(row["waited_s"]), abs=span * 1e-3)


def test_map_has_every_gpu(mix):
    tree, result = mix
    drawing = figure(tree, "cluster-picture")
    boxes = [one for one in rectangles(drawing, "box") if not len(one)]
    gpus = sum(number(box, "width") for box in boxes) / 11.0
    assert (len(boxes), gpus) == (20, 16 * 8 + 4 * 4)
    taken = sum(number(one, "width") for one in rectangles(drawing, "area")) / 11.0
    assert taken / gpus == pytest.approx(result["snapshot"]["allocated"], abs=1e-9)
    letters = [words(node) for node in drawing.iter(f"{SVG}text") if node.get("class") == "label m"]
    assert len(letters) == taken
    for one in rectangles(drawing, "area"):
        job = words(one[0]).rpartition(": ")[2]
        assert f" {job}" in words(tree.find("body"))
