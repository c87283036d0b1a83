"""`aiplan report`: the page is valid, can be read by everyone, says what the estimates say, and trusts no text."""

import json
import math
import re
from functools import cache

import pytest

from aiplan.catalog.load import Catalog
from aiplan.engine.tree import TREE
from aiplan.planning.overview import MOST, overview
from aiplan.planning.variants import Source, assignments
from aiplan.report.overview.page import page
from aiplan.units import duration, quantity

from .dom import SVG, contrast, over, parsed, problems, words

SMALL = b"""
name: small
model: {layers: 8, hidden: 1024, heads: 8, ffn: 4096, vocab: 32000}
workload: {sequence_length: 1024, global_batch: 32, tokens: 1e9}
cluster: {node: dgx-h100, nodes: 2}
plan: {tensor: 2, pipeline: 2}
"""
HOSTILE = (
    "</title><script>alert(\"1\")</script> & 'q' <b>x</b> \U0001f600 \u05e2\u05d1\u05e8\u05d9\u05ea \u202eback [/tmp]"
)
NAMED = SMALL.replace(b"name: small", f"name: {json.dumps(HOSTILE, ensure_ascii=False)}".encode())
RUN = ("reliability={}", "checkpoint={}", "storage=lustre-oss-modern")
CASES = {
    "one": (("gpt3-175b-a100",), (), ()),
    "a run": (("llama-3-70b-h100",), RUN, ()),
    "one node": (
        (SMALL,),
        ("cluster.nodes=1", "plan={tensor: 8}", "reliability={}", "checkpoint=none", "workload.tokens=null"),
        (),
    ),
    "does not fit": ((SMALL,), ("model.layers=96", "model.hidden=16384", "model.heads=128"), ()),
    "four": (("deepseek-v3-h800", "llama-3.1-405b-h100", "mixtral-8x7b-h100", "ascend-cluster"), RUN, ()),
    "varied": ((NAMED,), (), ("plan.tensor=1,2",)),
}


def source(text):
    return Source(text) if isinstance(text, str) else Source("-", text)


@cache
def asked(case):
    sources, settings, varied = CASES[case]
    return overview([source(one) for one in sources], Catalog(), assignments(settings), varied)


@cache
def text(case):
    return page(asked(case))


@cache
def root(case):
    return parsed(text(case))


def section(tree, ident):
    return next(node for node in tree.iter("section") if node.get("id") == ident)


def table(tree, caption):
    found = next(node for node in tree.iter("table") if words(node.find("caption")).startswith(caption))
    return [[words(cell) for cell in row] for row in found.iter("tr")]


@pytest.mark.parametrize("case", CASES)
def test_page_is_valid_and_can_be_read_by_everyone(case):
    assert list(problems(root(case))) == []


@pytest.mark.parametrize("case", CASES)
def test_every_picture_stands_as_text_beside_it(case):
    for figure in root(case).iter("figure"):
        around = next(node for node in root(case).iter("section") if figure in list(node.iter("figure")))
        assert list(around.iter("table")) or list(around.iter("dl"))
        assert words(figure.find("figcaption"))


@pytest.mark.parametrize("case", CASES)
def test_page_is_small(case):
    assert len(text(case).encode()) < 300_000


def test_numbers_stay_on_a_line_with_their_units():
    facts = [node for node in root("a run").iter("dl") if node.get("class") in {"tiles", "facts"}]
    told = "\n".join("".join(node.itertext()) for one in facts for node in one.iter("dd"))
    assert "90\N{NO-BREAK SPACE}%" in told
    assert not re.findall(r"\d (?:%|s|GiB|TFLOP/s|days)\b", told)


def test_formulas_are_folded_away():
    folded = section(root("one"), "formulas").find("details")
    count = sum(len(forms) for forms in asked("one").formulas.values())
    assert words(folded.find("summary")) == f"{count} closed forms by source"
    assert len(list(folded.iter("code"))) == count


def test_same_input_same_bytes():
    sources, settings, varied = CASES["one node"]
    again = overview([source(one) for one in sources], Catalog(), assignments(settings), varied)
    assert page(again) == text("one node")


def test_headline_is_that_of_the_estimate():
    one, tree = asked("one").sheets[0].estimate, root("one")
    tiles = words(next(node for node in tree.iter("dl") if node.get("class") == "tiles"))
    for told in (duration(one["run.time_to_train"]), quantity(one["step"], "s"), quantity(one.mfu, "%")):
        assert told in tiles
    assert words(next(tree.iter("h1"))) == one.scenario.name


def test_bars_of_a_step_are_as_long_as_its_parts():
    one, tree = asked("one").sheets[0].estimate, root("one")
    bars = list(section(tree, "step-a").iter(f"{SVG}rect"))
    widths = {words(node[0]).rpartition(": ")[0]: float(node.get("width")) for node in bars}
    whole = sum(float(node.get("width")) for node in bars if node.get("y") == bars[0].get("y"))
    for name, term in (("Computation", "step.compute"), ("Tensor", "step.tensor"), ("Bubble", "step.bubble")):
        assert widths[name] / whole == pytest.approx(one.share(term, "step"), abs=2e-3)


def test_scenarios_share_one_scale():
    answer, tree = asked("four"), root("four")
    figure = next(node for node in tree.iter("figure") if node.get("id") == "step-compared")
    spans = [node.get("d") for node in figure.iter(f"{SVG}path") if node.get("class") == "even"]
    ends = {}
    for bar in figure.iter(f"{SVG}rect"):
        ends[bar.get("y")] = max(ends.get(bar.get("y"), 0.0), float(bar.get("x")) + float(bar.get("width")))
    start = min(float(bar.get("x")) for bar in figure.iter(f"{SVG}rect"))
    steps = [sheet.estimate["step"] for sheet in answer.sheets]
    lengths = [end - start for _, end in sorted(ends.items(), key=lambda pair: float(pair[0]))]
    assert lengths == pytest.approx([lengths[0] * step / steps[0] for step in steps], abs=0.7)
    intervals = [sheet.estimate.interval("step") for sheet in answer.sheets]
    for drawn, interval in zip(spans, intervals, strict=True):
        low, high = (float(part) for part in re.match(r"M([\d.]+) [\d.]+H([\d.]+)", drawn).groups())
        told = [(end - start) / lengths[0] * steps[0] for end in (low, high)]
        assert told == pytest.approx([interval.low, interval.high], rel=0.02, abs=0.02 * max(steps))


def test_comparison_has_differences_first():
    captions = [words(node) for node in section(root("varied"), "side-by-side").iter("caption")]
    scroll = [
        words(node) for box in root("varied").iter("div") if box.get("class") == "wide" for node in box.iter("caption")
    ]
    assert set(captions[:2]) <= set(scroll), "names of users may be wider than a telephone"
    assert captions[:2] == ["What differs going in", "What comes out, and the change against the first"]
    rows = table(root("four"), "What comes out")
    times = [duration(sheet.estimate["run.time_to_train"]) for sheet in asked("four").sheets]
    assert all(cell.startswith(told) for cell, told in zip(rows[1][1:], times, strict=True))


def test_results_of_a_run_stand_beside_scenarios_that_have_none(run, folder):
    """A scenario that speaks of failures is compared with one that does not: its wall clock is there all the same."""
    (folder / "small.yaml").write_bytes(SMALL)
    (folder / "run.yaml").write_bytes(SMALL + b"reliability: {}\ncheckpoint: {}\nstorage: lustre-oss-modern\n")
    told = run("compare", "small.yaml", "run.yaml", "--width", "120").out.splitlines()
    whole = run("estimate", "run.yaml", "--format", "json").out
    clock = duration(json.loads(whole)["result"]["run"]["wallclock_s"])
    assert next(line for line in told if "wall clock" in line).split("wall clock")[1].strip() == clock
    rows = run("compare", "small.yaml", "run.yaml", "--format", "csv").out.splitlines()
    at = rows[0].split(",").index("wallclock_s")
    assert rows[1].split(",")[at] == ""
    assert float(rows[2].split(",")[at]) == json.loads(whole)["result"]["run"]["wallclock_s"]


@pytest.mark.parametrize("case", CASES)
def test_fullest_stage_is_the_memory_of_the_estimate(case):
    for sheet in asked(case).sheets:
        totals = [stage.total for stage in sheet.stages]
        assert max(totals) == pytest.approx(sheet.estimate["memory"], rel=1e-12)
        assert sheet.stages[totals.index(max(totals))].first == sheet.estimate.fullest_stage
        assert sum(stage.copies for stage in sheet.stages) == sheet.estimate.given("plan.pipeline")
        assert set(sheet.stages[0].memory) == set(TREE["memory"].children)


def test_scaling_passes_through_the_scenario_itself():
    sheet = asked("one").sheets[0]
    for curve in sheet.scaling.curves:
        own = next(size for size in curve.sizes if size.accelerators == sheet.estimate.scenario.accelerators)
        assert own.estimate["step"] == sheet.estimate["step"]


def test_what_is_not_there_says_why():
    assert "Not drawn: the scenario has one node" in words(section(root("one node"), "fabric-a"))
    assert "makes no checkpoints" in words(section(root("one node"), "checkpoints-a"))


def test_usual_checkpoints_are_told_from_given_ones():
    assert "The scenario says nothing of checkpoints" in words(section(root("one"), "checkpoints-a"))
    assert "The scenario says nothing" not in words(section(root("a run"), "checkpoints-a"))


def test_a_scenario_that_does_not_fit_shows_the_ways_out():
    result = words(section(root("does not fit"), "result-a"))
    assert "Does not fit" in result
    assert asked("does not fit").sheets[0].ways or "What makes it fit" not in result


def test_evidence_is_the_runs_of_the_interval():
    sheet = asked("one").sheets[0]
    interval = sheet.estimate.interval("step")
    assert len(sheet.runs) == interval.runs
    assert sheet.band == pytest.approx((sheet.estimate["step"] / interval.high, sheet.estimate["step"] / interval.low))
    inside = [sheet.band[0] <= run.ratio <= sheet.band[1] for run in sheet.runs]
    assert sum(inside) / len(inside) >= 0.88, "nine of ten, and wider for what nobody has looked at"
    dots = next(node for node in section(root("one"), "evidence-a").iter(f"{SVG}path") if "dots" in node.get("class"))
    heights = [int(y) for y in re.findall(r"M\d+ (\d+)h0", dots.get("d"))]
    assert len({(run.accelerators, round(run.ratio, 3)) for run in sheet.runs}) >= len(heights) > 0.5 * interval.runs
    best, worst = (min(run.ratio for run in sheet.runs), max(run.ratio for run in sheet.runs))
    even = next(node for node in section(root("one"), "evidence-a").iter(f"{SVG}path") if node.get("class") == "even")
    middle = float(re.search(r" ([\d.]+)H", even.get("d"))[1])
    assert (max(heights) - middle) / (middle - min(heights)) == pytest.approx(
        math.log(best) / -math.log(worst), rel=0.05
    )
    counted = sum(int(row[1].replace(",", "")) for row in table(root("one"), "Predicted over measured")[1:])
    assert counted == interval.runs


def test_sources_are_those_of_the_numbers():
    answer, told = asked("one"), words(section(root("one"), "sources"))
    assert {one.name for one in answer.entries} >= {"NVIDIA A100 SXM 80GB", "NVIDIA DGX A100 640GB"}
    assert all(address in told for one in answer.entries for address in one.sources)
    assert all(one.address.startswith("https://") and one.address in told for one in answer.origins)
    formulas = {one.name for some in answer.formulas.values() for one in some}
    assert {"compute.matmul_time", "training.time_to_train", "cost.rental_cost"} <= formulas


def test_text_of_users_is_text():
    assert [sheet.estimate.scenario.name for sheet in asked("varied").sheets] == [HOSTILE] * 2
    one = page(overview([Source("-", NAMED)], Catalog()))
    tree = parsed(one)
    assert list(problems(tree)) == []
    assert "<script" not in one + text("varied")
    shown = next(tree.iter("h1")).find("bdi")
    assert shown.text == HOSTILE == next(tree.iter("title")).text


COLOURS = {"ink": ("paper", "band"), "soft": ("paper", "band"), "good": ("paper", "band"), "bad": ("paper", "band")}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_colours_can_be_told_apart(dark):
    style = words(next(root("one").iter("style")))
    light, _, rest = style.partition("@media screen and (prefers-color-scheme: dark)")
    sheet = rest.partition("@media print")[0] if dark else light
    names = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", sheet))
    series = re.findall(r"\.c\d+ \{ color: (#[0-9a-f]{6})", sheet)
    assert len(series) == 12
    for text_colour, grounds in (COLOURS | {"accent": ("paper",)}).items():
        for ground in grounds:
            assert contrast(names[text_colour], names[ground]) >= 4.5, (text_colour, ground)
    for colour in series:
        assert contrast(colour, names["paper"]) >= 3.0, colour
        tint = over(colour, names["paper"], 0.32)
        assert contrast(names["ink"], tint) >= 4.5, colour


def test_contrast_is_that_of_the_guideline():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert over("#ff0000", "#ffffff", 0.5) == "#ff8080"


def test_paper_is_white_whatever_the_screen():
    assert "@media screen and (prefers-color-scheme: dark)" in text("one")
    assert "@media print" in text("one")


def test_command_writes_the_file_that_was_named(run, folder):
    (folder / "small.yaml").write_bytes(SMALL)
    done = run("report", "small.yaml", "-o", "out.html")
    assert (done.code, done.out, done.err) == (0, "", "wrote out.html\n")
    written = (folder / "out.html").read_text(encoding="utf-8")
    assert run("report", "small.yaml").out == written
    assert sorted(path.name for path in folder.iterdir()) == ["out.html", "small.yaml"]


def test_everything_that_is_wrong_is_told_and_nothing_written(run, folder):
    (folder / "small.yaml").write_bytes(SMALL)
    (folder / "broken.yaml").write_bytes(SMALL.replace(b"heads: 8", b"heads: 7").replace(b"layers", b"leyers"))
    done = run("report", "small.yaml", "broken.yaml", "nosuch", "-o", "out.html")
    assert done.code == 2
    assert all(part in done.err for part in ("AIP104", "broken.yaml:3", "no scenario 'nosuch'"))
    assert not (folder / "out.html").exists()


def test_too_many_scenarios(run, folder):
    (folder / "small.yaml").write_bytes(SMALL)
    done = run("report", "small.yaml", "--vary", f"workload.tokens=1e9..{MOST + 1}e9:+1e9", "-o", "out.html")
    assert (done.code, done.out) == (2, "")
    assert "AIP115" in done.err
    assert not (folder / "out.html").exists()


def test_what_cannot_be_written_is_an_error(run, folder):
    (folder / "small.yaml").write_bytes(SMALL)
    done = run("report", "small.yaml", "-o", "nowhere/out.html")
    assert done.code == 2
    assert "AIP113" in done.err


def test_a_saved_result_is_no_scenario(run, folder):
    """Curves need the scenario; the error says which one that is."""
    (folder / "small.yaml").write_bytes(SMALL)
    run("estimate", "small.yaml", "--format", "json", "-o", "saved.json", "--set", "name=a b")
    done = run("report", "saved.json", "-o", "out.html")
    assert done.code == 2
    assert done.err == (
        "error[AIP116]: 'saved.json' is a saved result, and not a scenario\n"
        "hint: give the scenario itself, small.yaml with --set 'name=a b'; 'aiplan diff' and 'aiplan check' take saved "
        "results\n\n1 error\n"
    )
    (folder / "odd.json").write_text('{"schema": "aiplan.search/1", "inputs": {"settings": 3}}', encoding="utf-8")
    assert "hint: give the scenario itself; 'aiplan diff'" in run("estimate", "odd.json").err


def test_exit_code_says_that_one_does_not_fit(run, folder):
    (folder / "small.yaml").write_bytes(SMALL)
    changes = [part for text in CASES["does not fit"][1] for part in ("--set", text)]
    done = run("report", "small.yaml", *changes, "-o", "out.html")
    assert done.code == 1
    assert "does not fit" in done.err
    assert (folder / "out.html").exists()


def test_standard_input_is_read_once(run):
    assert run("report", "-", "-").code == 2
    assert "<h1><bdi>small</bdi></h1>" in run("report", "-", "-o", "-", stdin=SMALL).out


def test_numbers_of_the_page_are_finite_or_unknown():
    shown = words(next(root("one node").iter("main")))
    assert not re.search(r"\bnan\b|\binf\b", shown)
    assert "unknown" in shown
    assert math.isnan(asked("one node").sheets[0].estimate["run.time_to_train"])
