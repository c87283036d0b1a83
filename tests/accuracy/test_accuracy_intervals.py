"""Intervals from residuals, against a second implementation, and against runs that were left out."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import aiplan
from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.planning import evidence
from aiplan.planning.intervals import (
    ENDS,
    UNFITTED,
    UNSEEN,
    Like,
    coverage,
    fitted_stretch,
    generation,
    interval,
    residuals,
    scale_of,
)
from aiplan.scenario.resolve import MATMUL_FRACTION, usual_matmul_fraction

ROOT = Path(__file__).resolve().parents[2]
LIKE = Like("A100", "dense", "1 to 8")
RATIOS = st.floats(0.2, 5.0)
ROWS = st.lists(
    st.tuples(
        st.just("x"),
        st.sampled_from("abcd"),
        st.builds(
            Like,
            st.sampled_from(["A100", "H100"]),
            st.sampled_from(["dense", "mixture of experts"]),
            st.sampled_from(["1 to 8", "9 to 64"]),
            st.sampled_from(["", "megatron", "megatron", "nanotron"]),
        ),
        RATIOS,
    ),
    max_size=90,
)


def quantile(values, share):
    """Value that `share` of n + 1 equally likely gaps lie below, on a line between neighbours."""
    ordered = sorted(values)
    place = min(max(share * (len(ordered) + 1), 1), len(ordered))
    below = math.floor(place)
    above = min(below + 1, len(ordered))
    return ordered[below - 1] + (place - below) * (ordered[above - 1] - ordered[below - 1])


def pools(rows, like):
    """Runs that are alike with how many there must be, the most alike first."""
    same = [row for row in rows if like.software and row[2].software == like.software]
    return [
        ([row for row in same if row[2] == like], 20),
        ([row for row in same if row[2][:2] == like[:2]], 20),
        ([row for row in same if row[2].family == like.family], 20),
        ([row for row in rows if row[2][:3] == like[:3]], 20),
        ([row for row in rows if row[2][:2] == like[:2]], 20),
        ([row for row in rows if row[2].accelerator == like.accelerator], 8),
        (rows, 8),
    ]


def step_by_step(rows, like, stretch=1.0):
    """Low, high and how many runs, with lists and loops."""
    for chosen, least in pools(rows, like):
        if len(chosen) >= least:
            logs = [-math.log(row[3]) for row in chosen]
            low, middle, high = (quantile(logs, share) for share in (0.05, 0.5, 0.95))
            ends = (middle + stretch * (low - middle), middle + stretch * (high - middle))
            return math.exp(ends[0]), math.exp(ends[1]), len(chosen)
    return None


def stretch_step_by_step(rows):
    needed = []
    for ident, source, like, ratio in rows:
        rest = [row for row in rows if row[1] != source]
        found = step_by_step(rest, like)
        if found is None:
            continue
        low, high, count = found
        log = -math.log(ratio)
        pool = next(chosen for chosen, least in pools(rest, like) if len(chosen) >= least)
        assert (len(pool), ident) == (count, "x")
        middle = quantile([-math.log(row[3]) for row in pool], 0.5)
        end = middle - math.log(low) if log < middle else math.log(high) - middle
        needed.append(abs(log - middle) / max(end, 1e-12))
    if not needed:
        return 1.0
    ordered, place = sorted(needed), 0.9 * (len(needed) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return max(1.0, ordered[below] + (place - below) * (ordered[above] - ordered[below]))


@settings(max_examples=150, deadline=None)
@given(rows=ROWS, stretch=st.floats(1.0, 3.0), software=st.sampled_from(["", "megatron"]))
def test_against_a_second_implementation(rows, stretch, software):
    like = LIKE._replace(software=software)
    found, expected = interval(residuals(rows, stretch), like), step_by_step(rows, like, stretch)
    if expected is None:
        assert found is None
    else:
        assert (found.low, found.high) == pytest.approx(expected[:2], rel=1e-9)
        assert f"{expected[2]} runs" in found.evidence


@settings(max_examples=40, deadline=None)
@given(rows=ROWS)
def test_the_stretch_against_a_second_implementation(rows):
    spread = [(*row[:3], row[3] * (1 + 1e-6 * index)) for index, row in enumerate(rows)]
    assert fitted_stretch(residuals(spread)) == pytest.approx(stretch_step_by_step(spread), rel=1e-6)


@given(ratios=st.lists(RATIOS, min_size=20, max_size=40), factor=st.floats(0.1, 10.0), seed=st.randoms())
def test_a_common_factor_moves_both_ends_and_order_does_not_matter(ratios, factor, seed):
    plain = interval(residuals(("x", "a", LIKE, ratio) for ratio in ratios), LIKE)
    shuffled = sorted(ratios, key=lambda _: seed.random())
    moved = interval(residuals(("x", "a", LIKE, ratio * factor) for ratio in shuffled), LIKE)
    assert (moved.low * factor, moved.high * factor) == pytest.approx((plain.low, plain.high))
    assert plain.low <= plain.high


@pytest.mark.parametrize(
    ("like", "other", "level", "words"),
    [
        (20, 0, "scale", "20 runs on A100, dense, 1 to 8 accelerators"),
        (19, 5, "family", "24 runs on A100, dense"),
        (15, 0, "accelerator", "15 runs on A100"),
        (8, 0, "accelerator", "8 runs on A100"),
        (7, 0, "all", "all 37 runs; no like run published"),
    ],
)
def test_the_most_alike_that_are_enough(like, other, level, words):
    rows = [("x", "a", LIKE, 1.0 + 0.01 * index) for index in range(like)]
    rows += [("x", "a", LIKE._replace(scale="9 to 64"), 1.0 + 0.01 * index) for index in range(other)]
    rows += [("x", "b", Like("H100", "dense", "1 to 8"), 2.0)] * 30
    found = interval(residuals(rows), LIKE)
    assert (found.level, found.evidence) == (level, words)
    # measured over predicted: none of the A100 runs was slower than predicted
    assert (found.low >= 1 / 1.2) == (level != "all")
    assert interval(residuals(rows[:7]), LIKE) is None


@given(
    spread=st.floats(0.01, 0.5),
    unknown=st.floats(0.0, 0.5),
)
@settings(max_examples=10, deadline=None)
def test_what_no_run_shows_widens_as_an_independent_error_does(spread, unknown):
    random = np.random.default_rng(9)
    ratios = np.exp(random.normal(0.1, spread, 20_000))
    plain = interval(residuals(("x", "a", LIKE, 1 / ratio) for ratio in ratios), LIKE)
    wide = interval(residuals(("x", "a", LIKE, 1 / ratio) for ratio in ratios), LIKE, unknown)
    both = ratios * np.exp(random.normal(0, unknown, len(ratios)))
    assert np.log((wide.low, wide.high)) == pytest.approx(np.log(np.quantile(both, (0.05, 0.95))), abs=0.05)
    assert wide.low <= plain.low <= plain.high <= wide.high


def test_how_far_apart_fitted_accelerators_are():
    """The constant against the catalog: share of the peak fitted, over what is assumed for accelerators without one."""
    catalog, logs = Catalog(), []
    for ident in catalog.ids("accelerators"):
        device = catalog.accelerator(ident, Diagnostics())[0]
        if device.fitted and not device.fitted.shared_with:
            assumed = usual_matmul_fraction(device, "bf16") or MATMUL_FRACTION
            logs.append(math.log(device.fitted.matmul_fraction / assumed))
    assert len(logs) > 5
    assert float(np.std(logs)) == pytest.approx(UNFITTED, abs=0.04)
    assert abs(np.mean(logs)) < 0.1
    assert math.erf(ENDS / math.sqrt(2)) == pytest.approx(0.9, abs=1e-3)


@pytest.mark.parametrize(
    ("accelerator", "guessed", "unseen"),
    [("a100-sxm-80gb", False, False), ("h200", False, False), ("gaudi3", True, True), ("l40s", True, True)],
)
def test_an_accelerator_without_fitted_figures_has_a_wider_interval_and_says_so(accelerator, guessed, unseen):
    cluster = {"accelerator": accelerator, "accelerators_per_node": 8, "nodes": 8, "network": {"fabric": "ib-ndr"}}
    workload = {"sequence_length": 8192, "global_batch": 1024, "tokens": 1e12}
    scenario = aiplan.load(
        {"model": "llama-3-8b", "workload": workload, "cluster": cluster, "software": "megatron-core"}
    )
    found = evidence.step_interval(scenario)
    alike = interval(evidence.published(), evidence.like(scenario))
    assert (found.high / found.low > 1.05 * alike.high / alike.low) == guessed
    assert found.evidence.endswith(f"none on {accelerator.upper()}") == unseen


def test_presets_of_unknown_software_have_the_mean_of_the_fitted_ones_and_their_spread():
    """One value a fit: presets that share constants count once, and Megatron-Core is 1 by definition."""
    shares, unknown = {"megatron-core": 1.0}, {}
    for path in sorted((ROOT / "scenarios" / "software").glob("*.yaml")):
        preset = yaml.safe_load(path.read_text(encoding="utf-8"))
        if "kernel_share" in preset.get("fitted", ()):
            shares[preset.get("fitted_with", path.stem)] = preset["kernel_share"]
        elif "kernel_share" in preset:
            unknown[path.stem] = preset["kernel_share"]
    logs = np.log(list(shares.values()))
    assert set(unknown) == {"other", "pytorch-fsdp", "deepspeed"}
    assert list(unknown.values()) == pytest.approx(3 * [float(np.exp(np.mean(logs)))], abs=0.02)
    assert float(np.std(logs)) == pytest.approx(UNSEEN, abs=0.02)


@pytest.mark.parametrize(("software", "wider"), [("megatron-core", False), ("other", True), ("pytorch-fsdp", True)])
def test_software_without_runs_has_a_wider_interval_and_says_so(software, wider):
    cluster = {"accelerator": "h100-sxm", "accelerators_per_node": 8, "nodes": 8, "network": {"fabric": "ib-ndr"}}
    workload = {"sequence_length": 8192, "global_batch": 1024, "tokens": 1e12}
    scenario = aiplan.load({"model": "llama-3-8b", "workload": workload, "cluster": cluster, "software": software})
    found = evidence.step_interval(scenario)
    alike = interval(evidence.published(), evidence.like(scenario))
    assert (found.high / found.low > 1.05 * alike.high / alike.low) == wider
    assert found.evidence.endswith(f"none with {software}") == wider


def test_sources_that_agree_need_no_stretch_and_are_covered():
    random = np.random.default_rng(7)
    rows = [("x", f"s{index % 20}", LIKE, float(ratio)) for index, ratio in enumerate(random.lognormal(0, 0.1, 2000))]
    table = residuals(rows)
    assert fitted_stretch(table) == pytest.approx(1.0, abs=0.05)
    share, count = coverage(table)
    assert count == 2000
    assert share == pytest.approx(0.9, abs=0.015)


def test_sources_that_differ_are_covered_thanks_to_the_stretch():
    random = np.random.default_rng(8)
    biases = random.normal(0, 0.2, 30)
    rows = [
        ("x", f"s{source}", LIKE, math.exp(bias + random.normal(0, 0.05)))
        for source, bias in enumerate(biases)
        for _ in range(30)
    ]
    assert coverage(residuals(rows))[0] == pytest.approx(0.9, abs=0.06)


def test_the_interval_of_published_runs_covers_sources_it_has_not_seen(record_property):
    """Nominal: 90 %."""
    share, count = coverage(evidence.published())
    record_property("coverage", share)
    assert count > 900
    assert 0.80 <= share <= 0.97


def test_the_table_of_residuals_is_what_is_predicted_today():
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "residuals.py"), "--check"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stderr}run: python docs/residuals.py"


def test_names_of_generations_and_scales():
    names = {
        "a100-sxm-40gb": "A100",
        "a100-pcie-80gb": "A100",
        "h100-sxm": "H100",
        "gb200": "GB200",
        "tpu-v5p": "TPU v5p",
        "ascend-910b1": "ASCEND 910b1",
        "mi300x": "MI300X",
    }
    assert {ident: generation(ident) for ident in names} == names
    assert [scale_of(count) for count in (1, 8, 9, 512, 513, 4097, 10**6)] == [
        "1 to 8",
        "1 to 8",
        "9 to 64",
        "65 to 512",
        "513 to 4,096",
        "4,097 and more",
        "4,097 and more",
    ]
