"""`aiplan scale`: against estimates one by one, against made-up sizes, and against published runs."""

import json
import math
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from aiplan.catalog.load import Catalog
from aiplan.declare import InputError, parse_counts
from aiplan.planning.estimate import estimate
from aiplan.planning.scale import PARTS, Request, scale
from aiplan.planning.search import question_of, search
from aiplan.planning.variants import Source, load_source, load_written
from aiplan.report.schemas import schema_of
from aiplan.units import duration

GPT3 = "gpt3-175b-a100"
SMALL = b"""
model: {layers: 8, hidden: 1024, heads: 8, ffn: 4096, vocab: 32000}
workload: {sequence_length: 1024, global_batch: 32, tokens: 1e9}
cluster: {node: dgx-h100, nodes: 2}
plan: {tensor: 2, data: 8, cuda_graphs: full}
"""
GOLDENS = {
    "help": ["scale", "--help"],
    "80 columns": ["scale", GPT3, "--gpus", "64..16384", "--plot", "--width", "80"],
    "200 columns": ["scale", GPT3, "--gpus", "64..16384", "--plot", "--width", "200"],
    "whole run": [
        "scale",
        GPT3,
        "--gpus",
        "512..8192:x4",
        "--scaling",
        "strong",
        "--set",
        "reliability={}",
        "--width",
        "80",
    ],
    "some not possible": ["scale", GPT3, "--gpus", "32,64,96,2048", "--scaling", "weak", "--width", "80"],
    "replan": ["scale", "small.yaml", "--gpus", "4,8..32", "--replan", "--scaling", "strong", "--width", "80"],
    "does not fit": ["scale", GPT3, "--gpus", "8,16", "--set", "plan={tensor: 8}", "--scaling", "strong"],
    "markdown": ["scale", "small.yaml", "--gpus", "8..64:+8", "--format", "markdown", "--holds", "95 %"],
    "csv": ["scale", "small.yaml", "--gpus", "8,12,64", "--format", "csv"],
    "plain": ["scale", "small.yaml", "--gpus", "8,64", "--format", "plain"],
    "no size": ["scale", GPT3, "--gpus", "3,5"],
    "bad sizes": ["scale", GPT3, "--gpus", "64..x"],
    "half a gpu": ["scale", GPT3, "--gpus", "64,0.5"],
    "bad share": ["scale", GPT3, "--gpus", "64", "--holds", "3 m", "--where", "foo < 3"],
    "bad kind": ["scale", GPT3, "--gpus", "64", "--scaling", "medium"],
    "no gpus": ["scale", GPT3],
}


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens(name, run, folder, golden):
    (folder / "small.yaml").write_bytes(SMALL)
    done = run(*GOLDENS[name])
    assert done.code == (1 if name == "does not fit" else 2 if name[:2] in {"no", "ba", "ha"} else 0)
    assert done.text == golden(name=name)


def small(*gpus, **asked):
    return scale(Source("", SMALL), Catalog([]), (), Request(gpus, **asked))


def same(one, other):
    """Whether two estimates are equal to the last bit; unknown is unknown."""
    return {name: repr(value) for name, value in one.terms.items()} == {
        name: repr(value) for name, value in other.terms.items()
    }


@pytest.mark.parametrize(
    ("text", "means"),
    [
        ("64..512", [64, 128, 256, 512]),
        ("64..500:x2", [64, 128, 256]),
        ("64..256:+64", [64, 128, 192, 256]),
        ("96, 64,64", [64, 96]),
        ("8,16..64,24", [8, 16, 24, 32, 64]),
        ("1_024", [1024]),
    ],
)
def test_counts(text, means):
    assert parse_counts(text, "--gpus") == means


@pytest.mark.parametrize("text", ["", "0", "-8", "8..4", "a", "8..x", "1.5", "8..64:x1", "8,,16"])
def test_counts_that_are_none(text):
    with pytest.raises(InputError) as raised:
        parse_counts(text, "--gpus")
    assert "nodes=" not in str(raised.value), "the way out is one for this option"


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=20))
def test_any_list_of_counts_is_read_back(counts):
    assert parse_counts(",".join(map(str, counts)), "--gpus") == sorted(set(counts))


def test_each_size_is_the_estimate_of_that_scenario():
    """Loaded one by one with the settings a person would write, and compared to the last bit."""
    for curve in small(16, 32, 64).curves:
        for size in curve.sizes:
            batch = 2 * size.accelerators if curve.kind == "weak" else 32
            changes = {"cluster.nodes": size.accelerators // 8, "workload.global_batch": batch, "plan.data": "null"}
            asked = [(path, str(value), "--set") for path, value in changes.items()]
            scenario = load_source(Source("", SMALL), Catalog([]), asked).scenario
            assert same(size.estimate, estimate([scenario])[0])


def test_more_accelerators_are_interrupted_more_often(run):
    """Each row has the wall clock of an estimate of that size; without a word on failures, the time of steps."""
    asked = ("scale", "llama-3-70b-h100", "--gpus", "256,1024", "--scaling", "weak")
    whole = ("--set", "reliability={}", "--set", "checkpoint={}")
    sizes = json.loads(run(*asked, *whole, "--format", "json").out)["result"]["curves"][0]["sizes"]
    assert sizes[1]["goodput"] < sizes[0]["goodput"] < 1.0
    shown = run(*asked, *whole, "--width", "120").out
    assert all(duration(size["wallclock_s"]) in shown for size in sizes)
    assert "time to" not in shown
    plain = run(*asked, "--width", "200").out
    assert all(duration(size["time_to_train_s"]) in plain for size in sizes)
    assert "Time to train is that of steps alone" in plain


@given(st.sets(st.sampled_from([2, 4, 8, 16, 32, 64]), min_size=2))
@settings(max_examples=15, deadline=None)
def test_efficiency_is_what_its_definition_says(gpus):
    for curve in small(*sorted(gpus)).curves:
        first = curve.reference
        assert curve.efficiency(first) == 1.0
        for size in curve.sizes:
            steps = first.estimate["step"] / size.estimate["step"]
            gain = steps if curve.kind == "weak" else steps * first.accelerators / size.accelerators
            assert curve.efficiency(size) == pytest.approx(gain, rel=1e-12)
            assert sum(map(size.share, PARTS)) == pytest.approx(1.0)
            grown = curve.grown(size)
            if grown is not None:
                gains = {part: size.share(part) - first.share(part) for part in PARTS}
                assert grown.after - grown.before == max(gains.values()) > 0


def test_strong_scaling_breaks_where_efficiency_first_falls_too_low():
    _, strong = small(8, 16, 32, 64, holds=0.9).curves
    below = [size.accelerators for size in strong.sizes if strong.efficiency(size) < 0.9]
    assert strong.breaks.accelerators == below[0]
    assert strong.last_good.accelerators == below[0] // 2
    assert strong.grown(strong.breaks).part == "step.data"


def test_a_plan_that_does_not_fit_is_no_reference():
    """With the optimizer sharded over replicas, fewer replicas need more memory."""
    wide = SMALL.replace(b"hidden: 1024, heads: 8, ffn: 4096", b"hidden: 8192, heads: 64, ffn: 32768")
    changes = tuple((path, value, "--set") for path, value in (("plan.zero", "1"), ("plan.tensor", "1")))
    [curve] = scale(Source("", wide), Catalog([]), changes, Request((4, 8, 16, 32), ("strong",))).curves
    fits = {size.accelerators: size.fits for size in curve.sizes}
    assert set(fits.values()) == {True, False}
    assert curve.reference.accelerators == min(count for count, fit in fits.items() if fit)


def test_sizes_that_are_not_possible_say_why():
    weak, strong = small(3, 12, 64).curves
    assert [size.estimate is None for size in weak.sizes] == [True, False, False]
    assert "tensor 2" in weak.sizes[0].fault
    assert [size.estimate is None for size in strong.sizes] == [True, True, False], "32 does not divide over 6"
    assert strong.sizes[1].fault
    assert math.isnan(strong.efficiency(strong.sizes[0]))


def test_a_batch_that_is_not_whole_is_said():
    odd = SMALL.replace(b"nodes: 2", b"nodes: 4").replace(b"data: 8", b"data: 16").replace(b"batch: 32", b"batch: 48")
    answer = scale(Source("", odd), Catalog([]), (), Request((3, 8), ("weak",)))
    assert "4.50 sequences" in answer.curves[0].sizes[0].fault
    assert answer.curves[0].sizes[1].batch == 12


def test_replanned_sizes_have_the_plan_that_a_search_finds():
    answer = small(4, 16, kinds=("strong",), replan=True)
    for size in answer.curves[0].sizes:
        changes = [("cluster.nodes", str(-(-size.accelerators // 8)), "--set")]
        changes += [("cluster.accelerators", str(size.accelerators), "--set")]
        scenario = load_written(Source("", SMALL), Catalog([]), changes, searched=True).scenario
        best = search([scenario], question_of(scenario, "time", shown=1)).best[0].estimate
        assert same(size.estimate, best)
    kept = small(4, 16, kinds=("strong",)).curves[0]
    for free, bound in zip(answer.curves[0].sizes, kept.sizes, strict=True):
        assert free.estimate["step"] <= bound.estimate["step"]


def test_plan_auto_is_chosen_at_every_size():
    plain = SMALL.replace(b", cuda_graphs: full", b"")
    text = plain.replace(b"{tensor: 2, data: 8}", b"auto")
    answer = scale(Source("", text), Catalog([]), (), Request((4, 16), ("strong",)))
    assert answer.replanned
    again = Request((4, 16), ("strong",), replan=True)
    searched = scale(Source("", plain), Catalog([]), (), again).curves[0]
    found = [size.estimate["step"] for size in answer.curves[0].sizes]
    assert found == [size.estimate["step"] for size in searched.sizes]


def test_document(run):
    done = run("scale", GPT3, "--gpus", "32..8192:x4", "--format", "json")
    content = json.loads(done.out)
    Draft7Validator(schema_of("result")).validate(content)
    weak, strong = content["result"]["curves"]
    assert (weak["reference_gpus"], strong["reference_gpus"]) == (128, 128)
    assert weak["breaks_at_gpus"] is None
    below = [size["gpus"] for size in strong["sizes"] if (size["efficiency"] or 1.0) < 0.8]
    assert strong["breaks_at_gpus"] == below[0]
    for curve in (weak, strong):
        for size in curve["sizes"]:
            if size["not_possible"] is None:
                parts = sum(value for key, value in size.items() if key.startswith("step_") and key != "step_time_s")
                assert parts == pytest.approx(size["step_time_s"])


def test_plot_and_svg(run, folder):
    done = run("scale", GPT3, "--gpus", "64..1024", "--svg", "plot.svg", "--plot", "--width", "60")
    assert (done.code, done.err) == (0, "wrote plot.svg\n")
    assert max(map(len, done.out.splitlines())) <= 60
    assert done.out.isascii()
    root = ET.fromstring((folder / "plot.svg").read_text(encoding="utf-8"))  # noqa: S314  our own file
    lines = [item for item in root.iter() if item.tag.endswith("polyline")]
    assert len(lines) == 2 * 3, "a line and a key for weak, strong and none lost"


def test_the_scenario_of_standard_input(run):
    assert run("scale", "-", "--gpus", "8,16", stdin=SMALL).code == 0
