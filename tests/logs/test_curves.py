"""Curves over message size: forms against each other, fits that find what made the points, and the bands they earn.

The bands are derived again from what public logs measured (tests/data/collectives.csv).
"""

from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from aiplan.core import collectives, curves
from aiplan.planning import curves as fits
from aiplan.planning.health import Limits
from aiplan.planning.health import _breaks as breaks
from aiplan.planning.health import _falls as falls

PAGE = Path(__file__).parents[2] / "docs" / "collectives-measured.md"
SIZES = np.array([2.0**power for power in range(3, 33)])
TRUE = {
    "short_latency": 15e-6,
    "short_bandwidth": 2e9,
    "long_latency": 40e-6,
    "long_bandwidth": 200e9,
    "root": 12e-9,
}
UNHEALTHY = {"log-11": "breaks in", "log-13": "not monotone", "log-17": "not monotone"}
"""Logs whose own page or figures say that something was wrong: a dip, spikes and a collapse, noise."""
MOST = 20
"""Sizes from which on a log counts."""

positive = st.floats(1e-6, 1e-3)
rates = st.floats(1e8, 1e12)
sizes = st.floats(1.0, 1e11)


@pytest.fixture(scope="module")
def clean(published):
    """The logs of healthy systems, by the rules that the command applies."""
    return {
        name: (nbytes, times)
        for name, (nbytes, times) in published.items()
        if len(nbytes) >= MOST and not [*falls(nbytes, times), *breaks(nbytes, times)]
    }


@pytest.fixture(scope="module")
def unseen(clean):
    """Errors on sizes a curve was not fitted on: of the calibrated one, and of two anchors."""
    return {
        "calibrated": np.concatenate([fits.held_out(*points) for points in clean.values()]),
        "anchors": np.concatenate([fits.anchors_without_each(*points) for points in clean.values()]),
    }


def test_which_logs_are_healthy(published, clean):
    assert set(published) - set(clean) == set(UNHEALTHY)
    for name, word in UNHEALTHY.items():
        assert word in " ".join(flag.text for flag in (*falls(*published[name]), *breaks(*published[name])))


def test_calibrated_curve_on_sizes_it_has_not_seen(unseen):
    """Fitted on every other size: median error at most 2.5 %, at least 88 % of the rest within 10 %."""
    found = fits.summed_up(unseen["calibrated"])
    assert found.points > 200
    assert found.median <= 0.025
    assert found.within_10 >= 0.88
    assert found.p90 == pytest.approx(fits.BANDS["calibrated"], abs=0.03)


def test_two_anchors_on_sizes_they_were_not_taken_from(unseen):
    """Each size with anchors from all others: median error at most 6 %, at least 65 % within 10 %."""
    assert np.isfinite(unseen["anchors"]).all()
    found = fits.summed_up(unseen["anchors"])
    assert found.median <= 0.06
    assert found.within_10 >= 0.65
    assert found.p90 == pytest.approx(fits.BANDS["anchors"], abs=0.03)


def test_a_line_alone(clean):
    """Hockney's model, fitted: the band beside its name is what nine sizes in ten stay within."""
    found = fits.summed_up(np.concatenate([np.abs(fits.hockney(n, t).time(n) / t - 1) for n, t in clean.values()]))
    assert found.p90 == pytest.approx(fits.BANDS["hockney"], abs=0.03)


def test_the_root_is_worth_its_place(clean):
    """Without it the worst tenth of the errors starts much higher."""
    errors = {share: [] for share in (0.0, curves.FILL_SHARE)}
    for nbytes, times in clean.values():
        found = fits.anchors(nbytes, times)
        for share, all_errors in errors.items():
            bandwidth = curves.anchor_bandwidth(nbytes[-1], times[-1], found.constants["latency"], share)
            predicted = curves.anchored_time(nbytes, found.constants["latency"], bandwidth, share)
            all_errors.append(np.abs(predicted / times - 1))
    hockney, rooted = (np.quantile(np.concatenate(each), 0.9) for each in errors.values())
    assert rooted < 0.9 * hockney


def test_more_constants_fit_better(clean):
    for nbytes, times in clean.values():
        line, curve = fits.hockney(nbytes, times), fits.calibrated(nbytes, times)
        assert damped(curve, nbytes, times) <= damped(line, nbytes, times) + 1e-6


def damped(curve, nbytes, times):
    return np.sum(np.log1p((np.log(curve.time(nbytes) / times) / fits.DAMPING) ** 2))


def test_the_curve_that_made_the_points_is_found_again():
    times = curves.two_branch_time(SIZES, *TRUE.values())
    found = fits.calibrated(SIZES, times)
    assert found.time(SIZES) == pytest.approx(times, rel=1e-3)
    assert found.constants["short_latency"] == pytest.approx(TRUE["short_latency"], rel=1e-2)
    assert found.constants["long_bandwidth"] == pytest.approx(TRUE["long_bandwidth"], rel=1e-2)


def test_one_spike_moves_the_curve_little():
    times = curves.two_branch_time(SIZES, *TRUE.values())
    spiked = times.copy()
    spiked[12] *= 20
    found = fits.calibrated(SIZES, spiked)
    others = np.arange(len(SIZES)) != 12
    assert found.time(SIZES)[others] == pytest.approx(times[others], rel=0.05)


def test_a_line_is_found_again():
    found = fits.hockney(SIZES, 20e-6 + SIZES / 150e9)
    assert found.constants == pytest.approx({"latency": 20e-6, "bandwidth": 150e9}, rel=1e-6)


def test_anchors_pass_through_both():
    times = 20e-6 + SIZES / 150e9
    found = fits.anchors(SIZES, times)
    assert found.constants["latency"] == pytest.approx(20e-6, rel=1e-2)
    assert found.time(SIZES)[-1] == pytest.approx(times[-1])


@pytest.mark.parametrize("part", [SIZES[:5], SIZES[20:], SIZES[:0]])
def test_no_anchors_where_one_end_is_missing(part):
    assert fits.anchors(part, 20e-6 + part / 150e9) is None


def test_few_sizes_get_no_calibrated_curve():
    few = SIZES[: fits.LEAST_POINTS - 1]
    assert fits.calibrated(few, 20e-6 + few / 150e9) is None


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(1e-6, 1.0), min_size=8, max_size=14))
def test_any_times_are_fitted(times):
    """Whatever a log says, the fit comes to an end with times above nothing."""
    nbytes = SIZES[: len(times)]
    found = fits.calibrated(nbytes, np.array(times))
    assert np.isfinite(found.time(nbytes)).all()
    assert (found.time(nbytes) > 0).all()


@given(sizes, positive, rates)
def test_without_a_root_anchors_are_hockney(nbytes, latency, bandwidth):
    assert curves.anchored_time(nbytes, latency, bandwidth, 0.0) == pytest.approx(
        float(collectives.send_time(nbytes, bandwidth, latency))
    )


@given(st.floats(1e6, 1e11), positive, rates, st.floats(0.0, 1.0))
def test_bandwidth_of_anchors_is_the_inverse(nbytes, latency, bandwidth, share):
    time = curves.anchored_time(nbytes, latency, bandwidth, share)
    # What is lost when the latency is taken off the time is lost for good.
    digits = 1e-15 * float(time) / (nbytes / bandwidth)
    found = float(curves.anchor_bandwidth(nbytes, time, latency, share))
    assert found == pytest.approx(bandwidth, rel=max(1e-6, 1e4 * digits))


@given(sizes, sizes, positive, rates, positive, rates, st.floats(0.0, 1e-6))
def test_the_curve_grows_and_is_no_slower_than_a_branch(one, other, a1, b1, a2, b2, root):
    small, large = sorted((one, other))
    constants = (a1, b1, a2, b2, root)
    assert curves.two_branch_time(small, *constants) <= curves.two_branch_time(large, *constants)
    assert curves.two_branch_time(large, *constants) <= collectives.send_time(large, b1, a1)


@given(st.integers(2, 100_000), st.sampled_from([1.0, 2.0]))
def test_ranks_come_back_from_the_factor(ranks, passes):
    assert float(curves.ranks_of_bus_factor(curves.bus_factor(ranks, passes), passes)) == pytest.approx(ranks, rel=1e-6)


@pytest.mark.parametrize(("ranks", "passes", "factor"), [(2, 2.0, 1.0), (8, 2.0, 1.75), (16, 1.0, 0.9375), (1, 2.0, 0)])
def test_factors_of_the_page_on_performance(ranks, passes, factor):
    assert curves.bus_factor(ranks, passes) == factor


def test_limits_are_none_unless_named():
    assert Limits()[:8] == (None,) * 8


def test_the_page_says_what_all_logs_give(published):
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    for errors_of, words in (
        (fits.held_out, "median error of {} and {} of sizes within 10 %"),
        (fits.anchors_without_each, "the anchors {} and {}."),
    ):
        found = fits.summed_up(np.concatenate([errors_of(*points) for points in published.values()]))
        assert words.format(f"{found.median * 100:.1f} %", f"{found.within_10 * 100:.1f} %") in page


def test_the_page_says_what_was_measured(clean, unseen):
    """The table of docs/collectives-measured.md, computed again."""
    page = PAGE.read_text(encoding="utf-8")
    points = sum(len(nbytes) for nbytes, _ in clean.values())
    assert f"{points} sizes of {len(clean)} public logs" in page
    measured = {
        "`a + n / B`": np.concatenate([np.abs(fits.hockney(n, t).time(n) / t - 1) for n, t in clean.values()]),
        "`a + n / B + 2 sqrt(0.235 a n / B)`": unseen["anchors"],
        "`min(a1 + n / B1, a2 + n / B2 + c sqrt(n))`": unseen["calibrated"],
    }
    for formula, errors in measured.items():
        found = fits.summed_up(errors)
        cells = " | ".join(f"{share * 100:.1f} %" for share in (found.median, found.p90, found.within_10))
        assert f"{formula} | {cells} |" in page
