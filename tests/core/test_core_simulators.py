"""Second implementations, step by step, that hold the closed forms to account."""

from collections import deque
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiplan.core import collectives, compute, pipeline

LATENCY = 3.0
ODD_SIZES = (1, 7, 101, 1000, 4099)

# ------------------------------------------------------------------ rings


def run_ring(nbytes, ranks, *, reduce_first):
    """Pass chunks round a ring at one byte per second and return when the last rank is done.

    Every rank sends to its right neighbour. A message of c bytes takes c + LATENCY seconds; a rank starts one when it
    has what it sends and its last send is over. All data are followed: `parts[rank][chunk]` is the set of ranks whose
    contribution the rank holds.
    """
    chunks = [nbytes // ranks + (index < nbytes % ranks) for index in range(ranks)]
    everyone = set(range(ranks))
    if reduce_first:
        parts = [[{rank} for _ in chunks] for rank in range(ranks)]
    else:
        parts = [[set(everyone) if chunk == rank else set() for chunk in range(ranks)] for rank in range(ranks)]
    has = [[0.0] * ranks for _ in range(ranks)]
    free = [0.0] * ranks
    phases = ((0, set.union), (1, lambda _, new: new)) if reduce_first else ((0, lambda _, new: new),)
    for shift, combine in phases:
        for step in range(ranks - 1):
            messages = []
            for rank in range(ranks):
                chunk = (rank - step + shift) % ranks
                start = max(free[rank], has[rank][chunk])
                free[rank] = start + chunks[chunk] + LATENCY
                messages.append(((rank + 1) % ranks, chunk, set(parts[rank][chunk]), free[rank]))
            for receiver, chunk, content, arrival in messages:
                parts[receiver][chunk] = combine(parts[receiver][chunk], content)
                has[receiver][chunk] = arrival
    assert all(part == everyone for rank in parts for part in rank), "the collective is complete on every rank"
    return max(max(row) for row in has)


@pytest.mark.parametrize("ranks", range(1, 65))
def test_ring_all_reduce(ranks):
    even = 12 * ranks
    assert run_ring(even, ranks, reduce_first=True) == collectives.ring_all_reduce_time(even, ranks, 1.0, LATENCY)
    for nbytes in ODD_SIZES:
        closed = collectives.ring_all_reduce_time(nbytes, ranks, 1.0, LATENCY)
        simulated = run_ring(nbytes, ranks, reduce_first=True)
        assert closed * (1 - 1e-12) <= simulated <= closed + 2 * (ranks - 1), "at most a byte a step more"


@pytest.mark.parametrize("ranks", range(1, 65))
def test_ring_all_gather(ranks):
    even = 12 * ranks
    assert run_ring(even, ranks, reduce_first=False) == collectives.ring_all_gather_time(even, ranks, 1.0, LATENCY)
    for nbytes in ODD_SIZES:
        closed = collectives.ring_all_gather_time(nbytes, ranks, 1.0, LATENCY)
        simulated = run_ring(nbytes, ranks, reduce_first=False)
        assert closed * (1 - 1e-12) <= simulated <= closed + ranks - 1


# ------------------------------------------------------------------ trees and exchanges


@pytest.mark.parametrize("ranks", range(1, 130))
def test_binomial_tree(ranks):
    """Whoever has the message sends it to one that does not, until all have it."""
    having, rounds = 1, 0
    while having < ranks:
        having, rounds = min(ranks, 2 * having), rounds + 1
    assert collectives.binomial_tree_depth(ranks) == rounds
    assert collectives.broadcast_volume(5.0, ranks) == 5.0 * len(range(1, ranks)), "all but the root receive it once"


@pytest.mark.parametrize(("nodes", "local"), [(1, 1), (1, 8), (2, 1), (2, 8), (3, 4), (5, 2)])
def test_all_to_all_message_by_message(nodes, local):
    """Rank 0 sends to every other rank through the port that leads there; both ports work side by side."""
    ranks, each, inside, outside = nodes * local, 24.0, 4.0, 1.0
    ports = {"inside": 0.0, "outside": 0.0}
    for other in range(1, ranks):
        ports["inside" if other // local == 0 else "outside"] += each / (inside if other < local else outside)
    time = collectives.all_to_all_time(each * ranks, ranks, local, inside, outside, LATENCY)
    assert time == max(ports.values()) + (ranks - 1) * LATENCY


# ------------------------------------------------------------------ pipelines


def plain_order(stages, stage, micro_batches):
    """Operations of a stage in one-forward-one-backward order: (is forward, micro-batch, chunk)."""
    ahead = min(stages - stage - 1, micro_batches)
    order = [(True, m, 0) for m in range(ahead)]
    for m in range(micro_batches - ahead):
        order += [(True, m + ahead, 0), (False, m, 0)]
    return order + [(False, m, 0) for m in range(micro_batches - ahead, micro_batches)]


def interleaved_order(stages, stage, micro_batches, chunks):
    """Operations of a stage in interleaved order: p micro-batches pass a chunk before the next chunk starts."""
    total = micro_batches * chunks
    group = stages * chunks

    def forward(k):
        return True, k // group * stages + k % stages, k % group // stages

    def backward(k):
        return False, k // group * stages + k % stages, chunks - 1 - k % group // stages

    ahead = min(2 * (stages - stage - 1) + (chunks - 1) * stages, total)
    order = [forward(k) for k in range(ahead)]
    for k in range(total - ahead):
        order += [forward(k + ahead), backward(k)]
    return order + [backward(k) for k in range(total - ahead, total)]


def run_pipeline(forward, backward, micro_batches, chunks=1):
    """Return the end of the last operation, and the most chunks of activations that each stage ever held.

    `forward[i]` and `backward[i]` are the times of a micro-batch on the whole of stage i; a chunk takes its share.
    """
    stages, last = len(forward), len(forward) * chunks - 1
    if chunks == 1:
        orders = [deque(plain_order(stages, i, micro_batches)) for i in range(stages)]
    else:
        orders = [deque(interleaved_order(stages, i, micro_batches, chunks)) for i in range(stages)]
    done, free = {}, [0.0] * stages
    held, most = [0] * stages, [0] * stages
    while any(orders):
        before = len(done)
        for i, order in enumerate(orders):
            while order:
                is_forward, m, chunk = order[0]
                position = chunk * stages + i
                if is_forward:
                    needs = (True, m, position - 1) if position else None
                else:
                    needs = (False, m, position + 1) if position < last else (True, m, last)
                if needs is not None and needs not in done:
                    break
                start = max(free[i], done[needs] if needs else 0.0)
                free[i] = start + (forward[i] if is_forward else backward[i]) / chunks
                done[is_forward, m, position] = free[i]
                held[i] += 1 if is_forward else -1
                most[i] = max(most[i], held[i])
                order.popleft()
        assert len(done) > before, "the schedule does not deadlock"
    return max(free), most


@cache
def equal_stages(stages, micro_batches, chunks):
    return run_pipeline([4.0] * stages, [8.0] * stages, micro_batches, chunks)


PLAIN = [(p, m, 1) for p, m in product((1, 2, 3, 4, 7, 8, 16), (1, 2, 3, 5, 8, 16, 40))]
INTERLEAVED = [(p, p * rounds, v) for p, rounds, v in product((2, 3, 4, 8), (1, 2, 3, 5), (2, 4))]


@pytest.mark.parametrize(("stages", "micro_batches", "chunks"), PLAIN + INTERLEAVED)
def test_bubble_of_equal_stages(stages, micro_batches, chunks):
    """Forward 4 s, backward 8 s: what the schedule takes beyond the work of one stage is the bubble."""
    end, _ = equal_stages(stages, micro_batches, chunks)
    idle = end - 12.0 * micro_batches
    assert idle == pytest.approx(pipeline.bubble_time(12.0 * stages, 12.0, chunks), abs=1e-9)


@pytest.mark.parametrize(("stages", "micro_batches", "chunks"), PLAIN + INTERLEAVED)
def test_micro_batches_in_flight(stages, micro_batches, chunks):
    _, most = equal_stages(stages, micro_batches, chunks)
    for stage in range(stages):
        closed = float(pipeline.micro_batches_in_flight(stages, stage, chunks, micro_batches))
        assert most[stage] / chunks == pytest.approx(closed, abs=1e-12)
    if chunks == 1:
        assert most[0] == min(stages, micro_batches)


@pytest.mark.parametrize(("stages", "micro_batches", "chunks"), [(8, 16, 2), (4, 8, 4)])
def test_first_stage_of_an_interleaved_schedule(stages, micro_batches, chunks):
    """Section 4.2.3 of https://arxiv.org/abs/2205.05198: the factor is 1 + (p - 1) / (p v)."""
    published = stages * (1 + (stages - 1) / (stages * chunks))
    assert pipeline.micro_batches_in_flight(stages, 0, chunks, micro_batches) == pytest.approx(published, rel=1e-12)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.floats(1.0, 3.0), min_size=1, max_size=8), st.integers(1, 24))
def test_bubble_of_unequal_stages(times, micro_batches):
    """Backward takes twice the forward, plain schedule.

    The closed form is never less than the schedule needs. It is more by at most one pass of the stages behind the
    busiest one, which may hide their work under its warm-up.
    """
    forward = [time / 3 for time in times]
    backward = [2 * time / 3 for time in times]
    busiest = int(np.argmax(times))
    end, _ = run_pipeline(forward, backward, micro_batches)
    closed = micro_batches * times[busiest] + float(pipeline.bubble_time(sum(times), times[busiest], 1))
    assert end <= closed * (1 + 1e-9)
    assert end * (1 + 1e-9) >= closed - sum(times[busiest + 1 :])


@settings(max_examples=80, deadline=None)
@given(st.integers(2, 6), st.floats(1.0, 2.0), st.integers(1, 25))
def test_bubble_with_a_busy_last_stage_is_exact(stages, extra, micro_batches):
    """An output head on the last stage is the common case of unequal stages."""
    times = [3.0] * (stages - 1) + [3.0 * extra]
    end, _ = run_pipeline([t / 3 for t in times], [2 * t / 3 for t in times], micro_batches)
    closed = micro_batches * times[-1] + float(pipeline.bubble_time(sum(times), times[-1], 1))
    assert end == pytest.approx(closed, rel=1e-9)


# ------------------------------------------------------------------ tiles and waves


def brute_force_utilisation(rows, columns, multiprocessors, groups):
    """Cut the result into tiles, hand each to the first processor that is free, and compare useful with spent cells."""
    best = 0.0
    for height, width in ((256, 128), (128, 256), (128, 128)):
        load = [0] * multiprocessors
        for tile, _ in enumerate(product(range(groups), range(0, rows, height), range(0, columns, width))):
            load[tile % multiprocessors] += 1
        as_run, ideal = max(load), sum(load) / multiprocessors
        spent = (as_run + ideal) / 2 * multiprocessors * height * width
        best = max(best, groups * rows * columns / spent)
    return best


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3000), st.integers(1, 3000), st.sampled_from((1, 7, 108, 132)), st.integers(1, 5))
def test_tile_utilisation(rows, columns, multiprocessors, groups):
    closed = float(compute.tile_utilisation(rows, columns, multiprocessors, groups))
    assert closed == pytest.approx(brute_force_utilisation(rows, columns, multiprocessors, groups), rel=1e-12)


def test_tile_utilisation_without_waves():
    """One tile of 128 x 128 that is a quarter full, on a device of unknown width."""
    assert compute.tile_utilisation(64, 64, 0) == pytest.approx(0.25, rel=1e-12)
    assert compute.tile_utilisation(256, 512, 0) == 1.0
