"""Closed forms against slow simulators, seeded."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiplan.core import elastic, goodput, loading, reliability, save_intervals, spread, storage

from . import simulators

quick = settings(max_examples=25, deadline=None)
MINUTE = 60.0
GRID = [
    (mtbf * MINUTE, interval * MINUTE, stall * MINUTE, restart * MINUTE, drain * MINUTE)
    for mtbf, interval, stall, restart, drain in (
        (1440, 117, 5, 10, 0),
        (360, 57, 5, 10, 0),
        (180, 30, 0.1, 9, 0),
        (180, 30, 0.1, 9, 20),
        (60, 20, 1, 10, 0),
        (60, 10, 0.2, 5, 9),
        (15, 9.1, 5, 10, 0),
        (18, 5, 0, 10, 0),
        (30, 10, 0.5, 20, 5),
        (600, 60, 0.05, 15, 45),
    )
]


@pytest.mark.parametrize("case", GRID, ids=lambda case: "/".join(f"{value / MINUTE:g}" for value in case))
def test_ettr_within_half_a_point(case):
    mtbf, interval, stall, restart, drain = case
    expected = float(goodput.ettr(1 / mtbf, interval, stall, restart, drain))
    played = [simulators.job(400 * mtbf * expected, 1 / mtbf, interval, stall, restart, drain, s) for s in range(60)]
    ratio = sum(one.useful for one in played) / sum(one.wall for one in played)
    assert ratio == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("case", GRID[:6], ids=lambda case: "/".join(f"{value / MINUTE:g}" for value in case))
def test_parts_of_the_wall_clock(case):
    mtbf, interval, stall, restart, drain = case
    work = round(300 * mtbf / interval) * interval
    played = [simulators.job(work, 1 / mtbf, interval, stall, restart, drain, 100 + s) for s in range(20)]
    mean = {key: np.mean([getattr(one, key) for one in played]) for key in (*played[0]._fields, "wall")}
    running = goodput.interruptions_in_training(work, 1 / mtbf, interval, stall, drain)
    wall = work / float(goodput.ettr(1 / mtbf, interval, stall, restart, drain))
    assert mean["stalls"] == pytest.approx(float(goodput.save_stalls(work, interval, stall)))
    assert mean["lost"] == pytest.approx(float(goodput.lost_time(work, 1 / mtbf, interval, stall, drain)), rel=0.05)
    restarts = float(running * goodput.restart_part(1 / mtbf, restart, restart))
    assert mean["restarts"] == pytest.approx(restarts, rel=0.05)
    assert mean["interruptions"] == pytest.approx(float(reliability.expected_interruptions(1 / mtbf, wall)), rel=0.05)
    assert mean["wall"] == pytest.approx(wall, rel=0.02)


@pytest.mark.parametrize("case", GRID[:6], ids=lambda case: "/".join(f"{value / MINUTE:g}" for value in case))
def test_spread_of_the_wall_clock(case):
    mtbf, interval, stall, restart, drain = case
    work = round(60 * mtbf / interval) * interval
    walls = [simulators.job(work, 1 / mtbf, interval, stall, restart, drain, 500 + s).wall for s in range(250)]
    expected = float(spread.wall_time_deviation(work, 1 / mtbf, interval, stall, restart, drain))
    assert np.std(walls) == pytest.approx(expected, rel=0.15)
    wall = work / float(goodput.ettr(1 / mtbf, interval, stall, restart, drain))
    inside = np.mean(np.abs(np.array(walls) - wall) <= 1.645 * expected)
    assert 0.83 <= inside <= 0.96


def test_two_levels():
    near = (1 / (120 * MINUTE), 5 * MINUTE, 0.1 * MINUTE, 4 * MINUTE)
    for far in (
        (1 / (900 * MINUTE), 60 * MINUTE, 1 * MINUTE, 12 * MINUTE),
        (1 / (300 * MINUTE), 30 * MINUTE, 0.5 * MINUTE, 15 * MINUTE),
    ):
        closer = float(goodput.ettr(near[0], *near[1:], 0.0))
        farther = float(goodput.ettr(far[0], far[1] / closer, far[2], far[3], 0.0))
        found = np.mean([simulators.two_levels(150 * 900 * MINUTE, near, far, seed) for seed in range(6)])
        assert found == pytest.approx(float(goodput.two_level_ettr(closer, farther)), abs=0.005)


@pytest.mark.parametrize("share", [0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95])
def test_hit_rates_within_a_hundredth(share):
    assert simulators.lru_hits(share, 1500, 6, 1) == pytest.approx(float(loading.lru_hit_rate(share)), abs=0.01)
    assert simulators.kept_hits(share, 1500, 4, 1) == pytest.approx(float(loading.kept_hit_rate(share)), abs=0.01)


@pytest.mark.parametrize(
    ("step", "fetch", "latency", "depth"),
    list(itertools.product((1.0, 3.0), (0.2, 2.0), (0.1, 5.0), (0, 1, 2, 4, 8))),
)
def test_waiting_for_data(step, fetch, latency, depth):
    expected = float(loading.exposed_loading(step, fetch, latency, depth))
    assert simulators.loader(step, fetch, latency, depth) == pytest.approx(expected, abs=0.05 * step)


@pytest.mark.parametrize(("spares", "load"), [(0, 0.5), (1, 0.5), (2, 3.0), (4, 3.0)])
def test_waiting_for_a_node(spares, load):
    rate, repair = 1 / 3600.0, load * 3600.0
    expected = float(reliability.spare_wait(spares, rate, repair))
    found = np.mean([simulators.repairs(spares, rate, repair, 8000, seed) for seed in range(4)])
    assert found == pytest.approx(expected, rel=0.05)


# ------------------------------------------------------------------ what must hold everywhere

times = st.floats(1.0, 1e6)


@quick
@given(stall=st.floats(0.01, 1e4), mtbf=st.floats(10.0, 1e8))
def test_no_interval_beats_the_exact_one(stall, mtbf):
    best = float(save_intervals.exact(stall, mtbf, 0.0))
    top = float(goodput.ettr(1 / mtbf, best, stall, 0.0, 0.0))
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert float(goodput.ettr(1 / mtbf, factor * best, stall, 0.0, 0.0)) <= top * (1 + 1e-9)
    if stall < mtbf / 3:
        assert float(save_intervals.daly(stall, mtbf, 0.0)) == pytest.approx(best, rel=0.003)


@quick
@given(
    work=times,
    rate=st.floats(1e-9, 1e-3),
    interval=st.floats(10, 1e4),
    stall=st.floats(0, 100),
    restart=st.floats(0, 2000),
    drain=st.floats(0, 1000),
)
def test_parts_add_up(work, rate, interval, stall, restart, drain):
    running = goodput.interruptions_in_training(work, rate, interval, stall, drain)
    parts = (
        work
        + goodput.save_stalls(work, interval, stall)
        + goodput.lost_time(work, rate, interval, stall, drain)
        + running * goodput.restart_part(rate, restart, restart)
    )
    assert work / parts == pytest.approx(float(goodput.ettr(rate, interval, stall, restart, drain)), rel=1e-9)


def test_without_failures_only_stalls_are_left():
    assert float(goodput.ettr(0.0, 100.0, 25.0, 1e6, 1e6)) == pytest.approx(0.8)
    assert float(goodput.lost_time(1000.0, 0.0, 100.0, 25.0, 50.0)) == 0.0
    assert float(spread.wall_time_deviation(1000.0, 0.0, 100.0, 25.0, 60.0, 0.0)) == 0.0
    assert math.isinf(float(save_intervals.exact(5.0, math.inf, 0.0)))


def test_a_job_that_never_reaches_a_save_takes_for_ever():
    assert math.isinf(float(goodput.lost_time(1.0, 1.0, 1e4, 0.0, 0.0)))
    assert float(goodput.ettr(1.0, 1e4, 0.0, 0.0, 0.0)) == 0.0


@quick
@given(rates=st.lists(st.floats(1.0, 1e12), min_size=1, max_size=6))
def test_no_stage_is_narrower_than_the_narrowest(rates):
    assert storage.narrowest(*rates) == min(rates)


def test_elastic():
    """Shrinking beats waiting above the break-even, and a spare beats both."""
    restart, interval, speed = 600.0, 1800.0, 63 / 64
    even = float(elastic.break_even_repair(restart, interval, speed))
    for repair, better in ((0.5 * even, False), (2 * even, True)):
        waits = elastic.waiting_loss(repair, restart, interval)
        shrinks = elastic.shrinking_loss(repair, restart, interval, speed)
        assert bool(shrinks < waits) == better
        assert elastic.spare_loss(restart, interval) < min(waits, shrinks)
    assert elastic.waiting_loss(even, restart, interval) == pytest.approx(
        elastic.shrinking_loss(even, restart, interval, speed)
    )
    assert float(elastic.replicas_left(64, 1, 4)) == 60 / 64
