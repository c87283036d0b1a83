"""Scaling: made-up groups whose efficiency was worked out by hand."""

from fractions import Fraction

import numpy as np
import pytest

from aiplan.planning.scaling import attainable, efficiency, scaled


def at(nodes, batch, predicted, measured, more=""):
    return (f"cluster.nodes: {nodes}, workload.global_batch: {batch}{more}", predicted, measured)


def test_efficiency_is_a_ratio_of_rates():
    assert efficiency(900.0, 1000.0) == pytest.approx(0.9)


def test_weak_scaling(compared):
    """Batch per accelerator is 2 throughout: at eight times the accelerators the step should take as long."""
    (found,) = scaled(compared([at(2, 32, 9.5, 10.0), at(16, 256, 10.0, 12.5), at(4, 64, 9.0, 10.0)])).groups
    assert (found.kind, found.batch, found.runs) == ("weak", Fraction(2), 3)
    assert [size.accelerators for size in found.sizes] == [16, 32, 128]
    # 32 sequences of 1,000 tokens on 16 accelerators in 10 s
    assert found.smallest.measured == pytest.approx(32 * 1000 / (10 * 16))
    assert found.measured_efficiency == pytest.approx(10 / 12.5)
    assert found.predicted_efficiency == pytest.approx(9.5 / 10)
    assert found.difference == pytest.approx(0.95 - 0.8)


def test_strong_scaling(compared):
    """The batch stays: at four times the accelerators the step should take a quarter; micro-batches become fewer."""
    (found,) = scaled(compared([at(1, 64, 40.0, 40.0), at(4, 64, 12.5, 16.0)])).groups
    assert (found.kind, found.batch) == ("strong", Fraction(64))
    assert found.measured_efficiency == pytest.approx(10 / 16)
    assert found.predicted_efficiency == pytest.approx(10 / 12.5)


def test_repeats_count_once(compared):
    rows = [at(1, 16, 1.0, 2.0), at(1, 16, 1.0, 4.0), at(1, 16, 1.0, 100.0), at(2, 32, 1.0, 4.0)]
    (found,) = scaled(compared(rows)).groups
    assert (found.runs, found.smallest.idents) == (4, ("lab-0", "lab-1", "lab-2"))
    assert found.measured_efficiency == pytest.approx(1.0)


@pytest.mark.parametrize(
    "other",
    [
        "plan.tensor: 2",
        "plan.micro_batch: 2",
        "plan.recompute: full",
        "plan.zero: 3",
        "workload.precision: fp16",
        "workload.sequence_length: 2000",
        "cluster.network.fabric: ib-ndr",
        "software: nanotron",
        "model.layers: 32",
        "measured.source: https://example.org/lab/round/2/of/it/all",
    ],
)
def test_everything_else_is_the_same(compared, other):
    assert scaled(compared([at(1, 16, 1.0, 1.0), at(2, 32, 1.0, 1.0)])).groups
    assert not scaled(compared([at(1, 16, 1.0, 1.0), at(2, 32, 1.0, 1.0, f", {other}")])).groups


def test_a_batch_in_between_is_neither(compared):
    assert not scaled(compared([at(1, 16, 1.0, 1.0), at(4, 32, 1.0, 1.0)])).groups


def test_a_plan_that_names_its_replicas_is_the_same_plan(compared):
    rows = [at(1, 16, 1.0, 1.0, ", plan.data: 8"), at(2, 32, 1.0, 1.0, ", plan.data: 16")]
    assert len(scaled(compared(rows)).groups) == 1


def test_groups_together(compared):
    weak = compared([at(2, 32, 10.0, 10.0), at(16, 256, 10.0, 10.4)])
    strong = compared([at(1, 64, 40.0, 40.0), at(4, 64, 16.0, 10.0)], "hall")
    scaling = scaled([*strong, *weak])
    whole, (first, second) = scaling.overall(), scaling.by_kind()
    differences = 1 - 10 / 10.4, 10 / 16 - 1
    assert (first.name, second.name) == ("weak", "strong")
    assert (first.worst_size, second.bias) == (pytest.approx(differences[0]), pytest.approx(differences[1]))
    assert (whole.groups, whole.near_share) == (2, 0.5)
    assert whole.worst_size == pytest.approx(-differences[1])
    assert whole.median_size == pytest.approx((differences[0] - differences[1]) / 2)
    assert [group.kind for group in scaling.worst_first()] == ["strong", "weak"]
    assert [group.largest.accelerators for group in scaling.groups] == [128, 32]


def test_nothing_to_scale():
    assert scaled([]).overall() is None


@pytest.mark.parametrize(("measured", "deviation"), [(1.0, 0.03), (0.6, 0.03), (0.03, 0.05), (1.1, 0.005)])
def test_what_a_perfect_prediction_could_have_within_five_points(measured, deviation):
    """Against draws: a true efficiency, measured with both step times off."""
    noise = np.random.default_rng(1).standard_normal((2, 200_000))
    again = measured * np.exp(deviation * (noise[0] - noise[1]))
    assert attainable(measured, deviation) == pytest.approx(np.mean(np.abs(again - measured) <= 0.05), abs=0.005)
