"""Roofline: the kernels are those that were timed, they add up to the step, and none is above a roof."""

import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings

from aiplan.catalog.load import Catalog
from aiplan.core.formula import recording
from aiplan.engine.evaluate import evaluate
from aiplan.planning.estimate import columns, estimate
from aiplan.planning.kernels import MATMUL, MEMORY, kernels
from aiplan.planning.roofline import PARTS, roofline
from aiplan.planning.variants import Source, load_source
from aiplan.report.console import Look
from aiplan.report.picture import svg
from aiplan.report.roofline import render
from aiplan.report.roofline.chart import chart
from aiplan.report.roofline.plot import plot
from aiplan.scenario.files import library_ids

sys.path.insert(0, str(Path(__file__).parent))
from whatif_cases import SCENARIOS, any_plan, loaded

sys.path.pop(0)

SVG = "{http://www.w3.org/2000/svg}"
COMPUTE = [name for name in {part.term for part in PARTS} if name != "step.optimizer"]
FASTER = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def by_name(answer):
    return {one.name: one for one in answer.classes}


def check_times(scenario):
    """Check that the kernels of the classes add up to the terms of the step that they are part of."""
    answer, one = roofline(scenario), estimate([scenario])[0]
    times = defaultdict(float)
    for found in answer.classes:
        times[next(part.term for part in PARTS if part.name == found.name)] += found.time
    for term in {part.term for part in PARTS}:
        assert times[term] == pytest.approx(one[term], rel=1e-12, abs=1e-15), term
    assert sum(times[term] for term in COMPUTE) == pytest.approx(one["step.compute"], rel=1e-12)
    assert answer.step == one["step"]


@pytest.mark.parametrize("ident", library_ids(""))
def test_kernels_of_the_library_add_up_to_the_step(ident):
    check_times(load_source(Source(ident), Catalog([])).scenario)


@FASTER
@given(plan=any_plan())
def test_kernels_of_any_plan_add_up_to_the_step(plan):
    scenario = loaded(*plan)
    assume(scenario is not None)
    check_times(scenario)


@FASTER
@given(plan=any_plan())
def test_no_kernel_is_above_its_roof(plan):
    scenario = loaded(*plan)
    assume(scenario is not None)
    answer = roofline(scenario)
    for found in answer.classes:
        assert 0 <= found.launching <= 1
        for kernel in found.kernels:
            assert kernel.nbytes / kernel.time <= kernel.bandwidth * (1 + 1e-12)
            assert kernel.bandwidth < answer.roofs.bandwidth
            if kernel.flops:
                assert kernel.flops / kernel.time <= kernel.sustained * (1 + 1e-12)
                assert kernel.sustained <= kernel.peak
        if found.intensity is not None:
            highest = max(answer.roofs.matmul_peak, answer.roofs.attention_peak)
            assert found.rate <= min(highest, found.intensity * answer.roofs.bandwidth) * (1 + 1e-12)


def gpt(ask, **plan):
    """Return the roofline of a small GPT on one accelerator, with its shape."""
    layers, hidden, sequence, batch, vocab = 4, 2048, 1024, 8, 51200
    tree = {
        "model": ask.gpt(layers, hidden, 16),
        "workload": {"sequence_length": sequence, "global_batch": batch},
        "cluster": {"accelerator": "a100-sxm-80gb", "accelerators_per_node": 1, "nodes": 1},
        "plan": plan,
    }
    found, diagnostics = ask.resolved(tree)
    diagnostics.raise_if_errors()
    return by_name(roofline(found)), layers, hidden, sequence * batch, vocab


def test_operations_are_six_for_each_parameter_and_token(ask):
    """Kaplan et al. 2020: a forward and a backward pass take 2 + 4 operations for each weight and token."""
    classes, layers, hidden, tokens, vocab = gpt(ask, micro_batch=2)
    assert classes["projections"].flops == pytest.approx(6 * layers * 4 * hidden**2 * tokens, rel=1e-12)
    assert classes["feed_forward"].flops == pytest.approx(6 * layers * 8 * hidden**2 * tokens, rel=1e-12)
    assert classes["logits"].flops == pytest.approx(6 * hidden * vocab * tokens, rel=1e-12)


def test_operations_of_attention_are_those_of_the_score_matrix(ask):
    """Two products of n x n x h forward; stored scores are computed whole, twice as much backward."""
    classes, layers, hidden, tokens, _ = gpt(ask, attention="unfused")
    assert classes["attention"].flops == pytest.approx(3 * layers * 4 * tokens * 1024 * hidden, rel=1e-12)
    fused, *_ = gpt(ask, attention="flash")
    # Half of the square is behind the causal mask; a fused kernel computes scores again: 2 products, then 5.
    assert fused["attention"].flops == pytest.approx((1 + 2.5) / 2 * layers * 4 * tokens * 1024 * hidden, rel=1e-2)


def test_bytes_of_a_matmul_are_its_operands_and_its_result(ask):
    classes, _, hidden, _, _ = gpt(ask, micro_batch=2)
    rows = 2 * 1024
    sizes = sorted({kernel.nbytes for kernel in classes["feed_forward"].kernels})
    assert sizes == pytest.approx([2.0 * (rows * hidden + 4 * hidden**2 + rows * 4 * hidden)])


def test_full_recomputation_is_one_more_forward_pass(ask):
    classes, *_ = gpt(ask, recompute="full")
    forward = sum(classes[name].flops for name in ("projections", "feed_forward")) / 3
    again = sum(kernel.times * kernel.flops for kernel in classes["recompute"].kernels if kernel.form == MATMUL)
    assert again == pytest.approx(forward, rel=1e-12)


def test_what_limits_a_kernel_changes_with_the_memory(ask):
    classes, *_ = gpt(ask, micro_batch=4)
    assert classes["feed_forward"].memory_bound == 0
    assert classes["elementwise"].memory_bound == 1
    assert classes["elementwise"].intensity is None
    scenario = loaded("dense")
    slow = scenario.values["cluster.memory_bandwidth"]._replace(number=1e10)
    answer = by_name(roofline(scenario._replace(values=scenario.values | {"cluster.memory_bandwidth": slow})))
    assert answer["feed_forward"].memory_bound == 1
    reached = answer["feed_forward"].bandwidth / (1e10 * scenario.values["cluster.memory_fraction"].number)
    assert reached == pytest.approx(1.0, rel=1e-2)


def test_kernels_are_found_at_the_stage_that_is_meant(ask):
    """Stages of 3 and 5 layers: gradients added up are those of the busiest one, not of the largest by chance."""
    tree = {
        "model": ask.gpt(8, 1024, 16),
        "workload": {"sequence_length": 1024, "global_batch": 16},
        "cluster": {"node": "dgx-h100", "nodes": 1},
        "plan": {"tensor": 2, "pipeline": 2, "stage_layers": [5, 3]},
        "software": "megatron-lm-2021",
    }
    found, diagnostics = ask.resolved(tree)
    diagnostics.raise_if_errors()
    values = columns([found])
    with recording() as calls:
        terms = evaluate(values)
    [kernel] = kernels(terms["step.compute.accumulation"], calls)
    assert kernel.form == MEMORY
    assert kernel.time * kernel.times == pytest.approx(terms["step.compute.accumulation"].item(), rel=1e-12)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("name", SCENARIOS)
def test_plot_stays_within_the_width_and_shows_every_class(name, width):
    answer = roofline(loaded(name))
    drawn = plot(answer, Look(width=width)).splitlines()
    assert max(map(len, drawn)) <= width
    body = "".join(line.partition("|")[2] for line in drawn)
    counted = sum(one.intensity is not None for one in answer.classes)
    assert sum(body.count(mark) for mark in "ABCDEFGHIJ") + body.count("*") >= counted - body.count("*")
    text = render(answer, "table", Look(width=width))
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("name", SCENARIOS)
def test_picture_has_a_dot_for_every_class_below_the_roofs(name):
    answer = roofline(loaded(name))
    root = ET.fromstring(svg(chart(answer)))  # noqa: S314  our own text
    dots = [one for one in root.iter(f"{SVG}circle") if one.find(f"{SVG}title") is not None]
    assert len(dots) == sum(one.intensity is not None for one in answer.classes)
    roof = next(one for one in root.iter(f"{SVG}polyline") if one.get("class") == "curve even")
    top = min(float(point.split(",")[1]) for point in roof.get("points").split())
    assert all(float(dot.get("cy")) >= top for dot in dots)
    width, height = (float(root.get(name)) for name in ("width", "height"))
    for text in root.iter(f"{SVG}text"):
        assert 0 <= float(text.get("x")) <= width
        assert 0 <= float(text.get("y")) <= height
