"""Waiting for the slowest of several hosts, against draws of what it averages over."""

from __future__ import annotations

import numpy as np
import pytest

from aiplan.core import host

DRAWS = 200_000


@pytest.fixture(scope="module")
def delays():
    """Exponential delays of mean one: draws by ranks."""
    return np.random.default_rng(7).exponential(size=(DRAWS, 8))


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_ranks_wait_for_the_mean_of_the_largest_delay(delays, ranks):
    starts, delay = 5.0, 2.0
    slowest = starts - delay + delay * delays[:, :ranks].max(axis=1)  # `starts` holds the mean delay of one host
    assert host.waiting_for_slowest(starts, delay, ranks, 0.0) == pytest.approx(slowest.mean(), rel=0.01)


def test_nothing_waits_where_kernels_run_longer_than_any_host():
    waits = host.waiting_for_slowest(1.0, 2.0, np.array([1, 8]), np.array([0.4, 50.0]))
    np.testing.assert_allclose(waits, [0.6, 0.0])


def test_a_step_waits_for_the_slowest_node(delays):
    step, share, nodes = 10.0, 0.01, np.array([[1.0, 2.0, 8.0]])
    longer = host.straggling_time(step, share, nodes)
    expected = [step * share * (delays[:, : int(count)].max(axis=1).mean() - 1.0) for count in nodes[0]]
    np.testing.assert_allclose(longer[0], expected, rtol=0.02, atol=1e-3)


def test_a_part_of_a_node_is_one_node_and_growth_is_that_of_the_logarithm():
    few, many = host.straggling_time(1.0, 1.0, np.array([0.25, 1.0])), host.straggling_time(1.0, 1.0, 4096.0)
    assert few.tolist() == [0.0, 0.0]
    assert many == pytest.approx(np.log(4096.0) + np.euler_gamma - 1.0, rel=1e-3)
