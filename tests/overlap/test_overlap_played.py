"""The closed forms of overlap against passes that are played event by event."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aiplan.core import adaptive, overlap

sys.path.insert(0, str(Path(__file__).parent))
import timeline

sys.path.pop(0)

times = st.floats(1e-6, 1e3)
small = st.integers(0, 40)


def near(value, scale):
    return pytest.approx(value, rel=1e-9, abs=1e-9 * scale)


@given(times, times, times, times, st.floats(0.01, 1.0), st.floats(0.01, 1.0), small)
def test_buckets_against_a_played_pass(first_time, each, last, computation, first, filled, between):
    """Any time for any bucket: neither bandwidth nor latency is assumed."""
    whole = first + filled * (between + 1)
    first, filled = first / whole, filled / whole
    exposed = overlap.bucketed_exposed_time(first_time, each, last, computation, first, filled, float(between))
    shares = [first, *[filled] * between, 1.0 - first - between * filled]
    took = dict(enumerate([first_time, *[each] * between, last]))
    order = iter(range(between + 2))
    played, alone = timeline.bucketed([[(0.0, share * computation)] for share in shares], lambda _: took[next(order)])
    assert exposed == near(played, alone + computation)
    assert overlap.bucketed_time(first_time, each, last, first, float(between)) == near(alone, alone + computation)
    assert last * (1 - 1e-12) <= exposed <= alone * (1 + 1e-9)


@given(times, times)
def test_one_bucket_hides_nothing(last, computation):
    assert overlap.bucketed_exposed_time(5.0, 7.0, last, computation, 1.0, 0.1, 0.0) == last
    assert overlap.bucketed_time(5.0, 7.0, last, 1.0, 0.0) == last


@given(st.integers(1, 400), st.integers(1, 50), st.integers(1, 50), st.integers(0, 300))
def test_bytes_of_buckets_against_tensors_put_into_them(tensors, size, first, embedding):
    """Equal tensors, and one at the end that takes no time, as that of an embedding."""
    filling, grains = float(tensors), [(1.0, 1.0)] * tensors
    between = float(overlap.buckets_between(filling, float(first), float(size)))
    last = float(overlap.last_bucket_bytes(filling, float(embedding), float(first), float(size), between))
    expected = [float(first)] * (first < tensors) + [float(size)] * int(between) + [last]
    played = timeline.buckets_of([*grains, *[(float(embedding), 0.0)] * (embedding > 0)], size, first)
    filled = [sum(nbytes for nbytes, _ in bucket) for bucket in played]
    # A bucket that is full just before the embedding is one with it: where the last one begins is a matter of taste.
    if embedding and filled[-1] == embedding and len(filled) > 1:
        filled[-2:] = [filled[-2] + embedding]
    assert filled == expected


@given(times, times, st.floats(0.0, 10.0), st.floats(0.0, 0.2), st.integers(2, 200), st.integers(1, 60), st.booleans())
def test_bucketed_pass_of_real_tensors(rate, computation, embedding, latency, tensors, size, faster):
    """Sizes, times and what is left, together, of a pass whose tensors go into buckets one by one."""
    filling = float(tensors)

    def reduce(nbytes):
        return latency + nbytes / rate

    between = overlap.buckets_between(filling, float(size), float(size))
    last = overlap.last_bucket_bytes(filling, embedding, float(size), float(size), between)
    assume(last > 0.5 + embedding or not embedding)

    def left(speed):
        return overlap.bucketed_exposed_time(
            latency + size / speed,
            latency + size / speed,
            latency + last / speed,
            computation,
            size / filling,
            size / filling,
            between,
        )

    grains = [(1.0, computation / tensors)] * tensors
    buckets = timeline.buckets_of(grains, size)
    if embedding:
        buckets[-1] = [*buckets[-1], (embedding, 0.0)]
    played, alone = timeline.bucketed(buckets, reduce)
    assert left(rate) == near(played, alone + computation)
    if faster:
        assert left(rate * 1.5) <= left(rate) * (1 + 1e-9)


def test_the_best_bucket_is_neither_the_smallest_nor_the_largest():
    """Latency makes small buckets slow; the last one of a few large ones is not hidden."""
    sizes = 2.0 ** np.arange(0, 11)
    between = overlap.buckets_between(1024.0, sizes, sizes)
    last = overlap.last_bucket_bytes(1024.0, 0.0, sizes, sizes, between)
    each, tail = 0.05 + sizes / 100.0, 0.05 + last / 100.0
    exposed = overlap.bucketed_exposed_time(each, each, tail, 12.0, sizes / 1024.0, sizes / 1024.0, between)
    best = int(np.argmin(exposed))
    assert 0 < best < len(sizes) - 1
    assert (np.diff(exposed[: best + 1]) <= 0).all()
    assert (np.diff(exposed[best:]) >= 0).all()
    assert exposed[-1] == tail[-1] == 0.05 + 10.24


@given(times, st.floats(0.0, 1e3), times, st.integers(1, 60), st.integers(0, 4))
def test_prefetch_against_a_played_pass(gather, scatter, computation, units, ahead):
    exposed = overlap.prefetched_exposed_time(gather, scatter, computation, float(units), float(ahead))
    played = timeline.fully_sharded([gather] * units, [scatter] * units, [computation] * units, ahead)
    scale = units * (gather + scatter + computation)
    if ahead <= 1 or not scatter:
        assert exposed == near(played, scale)
    else:
        assert played <= exposed + 1e-9 * scale
        assert exposed <= played + gather + scatter + 1e-9 * scale
    assert 0.0 < exposed <= units * (gather + scatter) * (1 + 1e-9)


@given(times, st.floats(0.0, 1e3), times, st.integers(1, 60), st.floats(1.0, 10.0))
def test_prefetch_moves_the_right_way(gather, scatter, computation, units, factor):
    def left(gather, scatter, computation, ahead=1.0):
        return overlap.prefetched_exposed_time(gather, scatter, computation, float(units), ahead)

    one = left(gather, scatter, computation)
    assert one <= left(gather, scatter, computation, 0.0) * (1 + 1e-12)
    assert left(gather / factor, scatter / factor, computation) <= one * (1 + 1e-12)
    assert left(gather, scatter, computation * factor) <= one * (1 + 1e-12)


@given(times, times, st.integers(1, 64), st.booleans())
def test_tensor_parallel_pieces_against_a_played_matmul(each, computation, pieces, feeds):
    share = 1.0 / pieces
    exposed = overlap.bucketed_exposed_time(each, each, each, computation, share, share, pieces - 2.0)
    played = timeline.in_pieces(pieces, each, computation, feeds=feeds)
    assert exposed == near(played, pieces * each + computation)
    assert each * (1 - 1e-9) <= exposed <= pieces * each * (1 + 1e-9)


@given(times, st.floats(0.0, 1.0), st.floats(0.0, 1.0), times, st.floats(0.0, 1.0))
def test_contention_lies_between_all_hidden_and_nothing_hidden(communication, left, contention, computation, share):
    exposed = left * communication
    added = overlap.slowed_time(communication, exposed, contention)
    assert exposed * (1 - 1e-12) <= added <= communication * (1 + 1e-12)
    by_share = overlap.exposed_time(communication, computation, share, 0.0)
    whole = overlap.exposed_time(communication, computation, share, contention)
    assert overlap.slowed_time(communication, by_share, contention) == near(whole, communication)


@given(times, times, st.integers(1, 20), st.integers(1, 20))
def test_levels_against_steps_that_are_counted(inside, outside, often, times_more):
    """Every few steps inside the nodes, every few of those between them as well."""
    seldom = often * times_more
    mean = adaptive.hierarchical_mean_time(inside, inside + outside, float(often), float(seldom))
    played = sum(inside * (step % often == 0) + outside * (step % seldom == 0) for step in range(1, seldom + 1))
    assert mean == pytest.approx(played / seldom)
