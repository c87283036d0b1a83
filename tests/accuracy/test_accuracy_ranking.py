"""The order of plans: made-up groups whose correlation and regret were worked out by hand."""

import math
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiplan.planning.ranking import GOOD_SPEARMAN, ranked, ranks, regret, repeatable, spearman

PLANS = ("plan.tensor: 1", "plan.tensor: 2", "plan.tensor: 4", "plan.tensor: 8", "plan.pipeline: 2")
TIMES = st.lists(st.integers(1, 1000).map(float), min_size=2, max_size=12)


@pytest.fixture
def group(compared):
    """Plans of one group, with predicted and measured step times."""

    def compare(predicted, measured, plans=PLANS, name="lab", more=""):
        return compared([(plan + more, *ts) for plan, *ts in zip(plans, predicted, measured, strict=True)], name)

    return compare


def test_ties_share_the_mean_of_their_ranks():
    assert ranks([5.0, 1.0, 5.0, 5.0, 9.0]).tolist() == [3, 1, 3, 3, 5]


@pytest.mark.parametrize(
    ("one", "other", "rho"),
    [
        # no ties: 1 - 6 sum(d^2) / (n (n^2 - 1)); d = 1, -1, 0, 1, -1 and n = 5
        ((2, 1, 3, 5, 4), (1, 2, 3, 4, 5), 1 - 6 * 4 / (5 * 24)),
        ((1, 2, 3, 4, 5), (50, 40, 30, 20, 10), -1.0),
        # ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: cov 4.5, spreads 4.5 and 5
        ((1, 2, 2, 3), (1, 2, 3, 4), 4.5 / math.sqrt(4.5 * 5)),
        ((7, 7, 7), (1, 2, 3), 0.0),
    ],
)
def test_spearman_by_hand(one, other, rho):
    assert spearman(one, other) == pytest.approx(rho)
    assert spearman(other, one) == pytest.approx(rho)


def test_spearman_against_scipy():
    stats = pytest.importorskip("scipy.stats")
    one, other = [3.0, 1.0, 2.0, 2.0, 8.0, 5.0], [2.0, 2.0, 1.0, 4.0, 9.0, 4.0]
    assert spearman(one, other) == pytest.approx(stats.spearmanr(one, other).statistic)


@given(TIMES)
def test_only_the_order_counts(times):
    """A prediction that is wrong by a factor, or by any rising curve, loses nothing."""
    bent = [math.log(time) for time in times]
    assert spearman(bent, times) == pytest.approx(spearman(times, times))
    assert regret(times, times) == 0.0
    assert regret([-time for time in times], times) == pytest.approx(max(times) / min(times) - 1)


def test_regret_of_plans_that_tie_is_that_of_the_slowest():
    assert regret([1.0, 1.0, 2.0], [4.0, 5.0, 3.0]) == pytest.approx(5 / 3 - 1)


def test_a_group(group):
    (found,) = ranked(group((2, 1, 3, 5, 4), (10, 12, 15, 20, 25))).groups
    assert (found.runs, len(found.plans), found.accelerators, found.global_batch) == (5, 5, 32, 64)
    assert found.spearman == pytest.approx(0.8)
    # the second plan would be picked, at 12 s; the first took 10 s
    assert found.regret == pytest.approx(0.2)


def test_repeats_are_one_plan_with_the_median(group):
    """Noise between runs of one layout, written in two ways, is neither ours nor the plan's."""
    plans = (*PLANS, "plan.tensor: 8, plan.data: 4, plan.zero: 1", "plan.tensor: 8")
    (found,) = ranked(group((1, 2, 3, 4, 5, 4, 4), (10, 11, 12, 9.0, 14, 13, 30), plans)).groups
    assert (found.runs, len(found.plans)) == (7, 5)
    (plan,) = [plan for plan in found.plans if len(plan.idents) == 3]
    assert plan.measured == median((9.0, 13, 30)) == 13
    assert (found.spearman, found.regret) == (pytest.approx(1.0), 0.0)


def test_four_plans_are_no_group_and_a_repeat_is_no_plan(group):
    assert not ranked(group((1, 2, 3, 4), (1, 2, 3, 4), PLANS[:4])).groups
    assert not ranked(group((1, 2, 3, 4, 4), (1, 2, 3, 4, 5), (*PLANS[:4], PLANS[3]))).groups
    assert ranked(group((1, 2, 3, 4), (1, 2, 3, 4), PLANS[:4]), least=4).groups


@pytest.mark.parametrize(
    "other",
    [
        "workload.global_batch: 128",
        "workload.sequence_length: 2000",
        "workload.precision: fp16",
        "workload.optimizer: sgd",
        "cluster.accelerator: a100-sxm-40gb",
        "cluster.nodes: 2",
        "cluster.network.fabric: ib-ndr",
        "software: nanotron",
        "model.layers: 32",
        "measured.source: https://example.org/lab/round/2/of/it/all",
    ],
)
def test_what_keeps_plans_apart(compared, other):
    """Two groups of four that would be one of eight if a difference did not matter."""
    rows = [(f"{plan}{more}", 1, 1) for more in ("", f", {other}") for plan in PLANS[:4]]
    assert not ranked(compared(rows)).groups


def test_groups_together(group):
    good = group((1, 2, 3, 4, 5), (1, 2, 3, 4, 5))
    poor = group((2, 1, 3, 5, 4), (10, 12, 15, 20, 25), more=", workload.global_batch: 128")
    other = group((5, 4, 3, 2, 1), (1, 2, 3, 4, 5), name="hall")
    ranking = ranked([*good, *poor, *other])
    whole, (lab, hall) = ranking.overall(), ranking.by_source()
    assert (whole.groups, whole.plans, whole.good_share) == (3, 15, pytest.approx(1 / 3))
    assert (whole.median_spearman, whole.worst_spearman) == (pytest.approx(0.8), pytest.approx(-1))
    assert (whole.median_regret, whole.worst_regret) == (pytest.approx(0.2), pytest.approx(4.0))
    assert whole.small_regret_share == pytest.approx(1 / 3)
    assert (lab.name, lab.groups, lab.plans, lab.median_spearman) == ("lab", 2, 10, pytest.approx(0.9))
    assert (hall.name, hall.worst_regret, hall.pooled_spearman) == ("hall", pytest.approx(4.0), pytest.approx(-1))
    assert [found.spearman for found in ranking.worst_first()] == pytest.approx([-1, 0.8, 1])


def test_a_factor_between_groups_does_not_flatter_the_pool(group):
    """Groups of slow and of fast runs, each in reverse: the pool is in reverse too."""
    fast = group((5, 4, 3, 2, 1), (1, 2, 3, 4, 5))
    slow = group((500, 400, 300, 200, 100), (100, 200, 300, 400, 500), more=", workload.global_batch: 128")
    assert ranked([*fast, *slow]).overall().pooled_spearman < -0.9


def test_nothing_to_rank():
    assert ranked([]).overall() is None
    assert ranked([]).by_source() == []


def test_a_second_measurement_keeps_an_order_that_noise_is_small_against():
    """Times 2 apart stay in order at 5 % of noise; times that are equal but for it are in any order."""
    assert repeatable([1.0, 2.0, 4.0, 8.0, 16.0, 32.0], 0.05) == 1.0
    assert repeatable([1.0, 1.0001, 1.0002, 1.0003, 1.0004, 1.0005], 0.05) < 0.2


def test_how_often_an_order_repeats_agrees_with_plain_draws():
    """A second way: ranks and correlation of every draw on its own."""
    measured, deviation = [1.0, 1.05, 1.07, 1.2, 1.22, 1.4], 0.04
    noise = np.random.default_rng(123).normal(0.0, deviation, (4000, len(measured)))
    hits = [spearman(measured, list(measured * np.exp(row))) >= GOOD_SPEARMAN for row in noise]
    assert repeatable(measured, deviation, draws=4000) == pytest.approx(np.mean(hits), abs=0.03)
