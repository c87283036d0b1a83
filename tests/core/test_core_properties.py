"""What must hold for any input: broadcasting, monotony, bounds, units, and that one rank costs nothing."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aiplan.core
from aiplan.core import collectives, compute, memory, overlap, pipeline, topology
from aiplan.core.net import Net

quick = settings(max_examples=60, deadline=None)

SAFE = 1 + 1e-12
"""Room for rounding where two different sums are compared."""

bytes_ = st.floats(1.0, 1e13)
bandwidths = st.floats(1e6, 1e13)
latencies = st.floats(0.0, 1e-2)
ranks_ = st.integers(1, 4096)
sizes = st.integers(1, 60_000)
factors = st.floats(1.0, 1e3)
shares = st.floats(0.0, 1.0)

RINGS = {
    "ring_all_reduce": collectives.ring_all_reduce_time,
    "ring_all_gather": collectives.ring_all_gather_time,
}


# ------------------------------------------------------------------ broadcasting


ALONG_AN_AXIS = {
    "placement.weighted_score",
    "placement.binpack_score",
    "placement.too_small",
    "placement.fragment",
    "placement.blocking",
    "quotas.real_capability",
    "quotas.deserved",
    "quotas.tightest_domains",
    "quotas.fullest_domains",
    "resizing.resizing_goodput",
    "spread.combined_deviation",
    "storage.narrowest",
}
"""Forms that take resources, kinds of jobs, domains or stages along an axis of their own."""
WITH_A_POLE = {"sensitivity.elasticity"}
"""Forms that have no value at some of the small whole numbers that are tried here."""


def elementwise():
    """All closed forms that are defined number by number."""
    modules = [
        importlib.import_module(f"aiplan.core.{found.name}")
        for found in pkgutil.iter_modules(aiplan.core.__path__)
        if found.name
        not in {"algorithms", "arrays", "busbw", "choices", "compose", "formula", "nccl_tables", "net", "topologies"}
    ]
    return [
        pytest.param(function, id=f"{module.__name__.rpartition('.')[2]}.{name}")
        for module in modules
        for name, function in vars(module).items()
        if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
        if f"{module.__name__.rpartition('.')[2]}.{name}" not in ALONG_AN_AXIS | WITH_A_POLE
    ]


@pytest.mark.parametrize("function", elementwise())
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_arrays_give_what_element_wise_calls_give(function, seed):
    takes = list(inspect.signature(function).parameters)
    names = [name for name in takes if name != "net"] + (list(Net._fields) if "net" in takes else [])

    def result(values):
        """Call the function, the fields of a network put together first."""
        if "net" in takes:
            fields = {name: values.pop(name) for name in Net._fields}
            values |= {"net": Net(**fields)}
        return function(**values)

    random = np.random.default_rng(seed)
    most = {"protocol": 3}
    columns = {name: random.integers(1, most.get(name, 9), size=(5, 1)).astype(float) for name in names}
    rows = {name: columns[name] if index % 2 else columns[name].reshape(1, 5) for index, name in enumerate(names)}
    whole = np.broadcast_to(result(dict(rows)), np.broadcast_shapes(*(value.shape for value in rows.values())))
    for index in np.ndindex(whole.shape):
        one = {name: float(np.broadcast_to(value, whole.shape)[index]) for name, value in rows.items()}
        # a power of a number and of an array may round the last bit another way
        assert float(result(one)) == pytest.approx(whole[index], rel=1e-14, abs=0.0)


# ------------------------------------------------------------------ collectives


@quick
@given(bytes_, bandwidths, latencies)
def test_one_rank_is_free(nbytes, bandwidth, latency):
    for function in RINGS.values():
        assert function(nbytes, 1, bandwidth, latency) == 0.0
    assert collectives.all_to_all_time(nbytes, 1, 1, bandwidth, bandwidth, latency) == 0.0
    assert collectives.broadcast_volume(nbytes, 1) == 0.0
    assert collectives.ring_all_reduce_volume(nbytes, 1) == 0.0
    assert collectives.binomial_tree_depth(1) == 0.0


@quick
@given(bytes_, ranks_, bandwidths, latencies, factors)
def test_more_bandwidth_is_never_slower(nbytes, ranks, bandwidth, latency, factor):
    for function in RINGS.values():
        slow, fast = (function(nbytes, ranks, b, latency) for b in (bandwidth, bandwidth * factor))
        assert fast <= slow


@quick
@given(bytes_, ranks_, bandwidths, latencies, factors)
def test_more_latency_is_never_faster(nbytes, ranks, bandwidth, latency, factor):
    for function in RINGS.values():
        assert function(nbytes, ranks, bandwidth, latency) <= function(nbytes, ranks, bandwidth, latency * factor)


@quick
@given(bytes_, ranks_, bandwidths, latencies, factors)
def test_more_bytes_are_never_faster(nbytes, ranks, bandwidth, latency, factor):
    for function in RINGS.values():
        assert function(nbytes, ranks, bandwidth, latency) <= function(nbytes * factor, ranks, bandwidth, latency)


@quick
@given(bytes_, ranks_, bandwidths, latencies)
def test_no_all_reduce_beats_the_bandwidth_bound(nbytes, ranks, bandwidth, latency):
    bound = 2 * (ranks - 1) / ranks * nbytes / bandwidth
    assert collectives.ring_all_reduce_time(nbytes, ranks, bandwidth, latency) * SAFE >= bound
    assert collectives.ring_all_reduce_volume(nbytes, ranks) == pytest.approx(bound * bandwidth, rel=1e-12)


@quick
@given(bytes_, ranks_, bandwidths)
def test_an_all_reduce_is_a_reduce_scatter_and_an_all_gather(nbytes, ranks, bandwidth):
    half = collectives.ring_all_gather_time(nbytes, ranks, bandwidth, 1e-6)
    assert collectives.ring_all_reduce_time(nbytes, ranks, bandwidth, 1e-6) == pytest.approx(2 * half, rel=1e-12)


@quick
@given(bytes_, st.integers(1, 64), st.integers(1, 16), bandwidths, bandwidths, latencies)
def test_no_all_to_all_beats_the_ports_of_a_rank(nbytes, nodes, local, inside, outside, latency):
    ranks = nodes * local
    time = float(collectives.all_to_all_time(nbytes, ranks, local, inside, outside, latency))
    leaves_the_rank = nbytes * (ranks - 1) / ranks
    assert time * SAFE >= leaves_the_rank / (inside + outside)
    assert time * SAFE >= nbytes * (ranks - local) / ranks / outside
    assert time * SAFE >= (ranks - 1) * latency


# ------------------------------------------------------------------ units are homogeneous


@quick
@given(bytes_, ranks_, bandwidths, latencies, factors)
def test_scaling_bytes_and_bandwidth_together_changes_nothing(nbytes, ranks, bandwidth, latency, factor):
    for function in RINGS.values():
        scaled = function(nbytes * factor, ranks, bandwidth * factor, latency)
        assert scaled == pytest.approx(function(nbytes, ranks, bandwidth, latency), rel=1e-12)


@quick
@given(bytes_, ranks_, bandwidths, latencies, factors)
def test_times_scale_with_the_clock(nbytes, ranks, bandwidth, latency, factor):
    """Seconds appear once on each side: a clock that runs f times faster prints f times more."""
    for function in RINGS.values():
        scaled = function(nbytes, ranks, bandwidth / factor, latency * factor)
        assert scaled == pytest.approx(factor * function(nbytes, ranks, bandwidth, latency), rel=1e-12)


@quick
@given(sizes, sizes, sizes, factors)
def test_kernel_times_are_homogeneous(rows, columns, inner, factor):
    shape = {"rows": rows, "columns": columns, "inner": inner, "fraction": 0.7, "utilisation": 0.9}
    seconds = compute.matmul_time(**shape, peak=1e14, element_bytes=2, bandwidth=1e12, launch=1e-6)
    slower = compute.matmul_time(
        **shape, peak=1e14 / factor, element_bytes=2, bandwidth=1e12 / factor, launch=1e-6 * factor
    )
    assert slower == pytest.approx(factor * seconds, rel=1e-12)
    wider = compute.matmul_time(**shape, peak=1e14, element_bytes=2 * factor, bandwidth=1e12 * factor, launch=1e-6)
    assert wider == pytest.approx(float(seconds), rel=1e-12)


# ------------------------------------------------------------------ kernels


@quick
@given(sizes, sizes, sizes, st.floats(1e12, 1e16), st.floats(0.05, 1.0), st.floats(0.01, 1.0), st.floats(1e11, 1e14))
def test_matmul_is_above_both_roofs_and_reaches_one(rows, columns, inner, peak, fraction, useful, bandwidth):
    arithmetic = 2 * rows * columns * inner / (peak * fraction * useful)
    traffic = 2 * (rows * inner + inner * columns + rows * columns) / bandwidth
    time = float(compute.matmul_time(rows, columns, inner, peak, fraction, useful, 2, bandwidth, 0.0))
    assert time == pytest.approx(max(arithmetic, traffic), rel=1e-12)
    launched = float(compute.matmul_time(rows, columns, inner, peak, fraction, useful, 2, bandwidth, 4e-6))
    assert launched == pytest.approx(time + 4e-6, rel=1e-12)


@quick
@given(st.floats(0, 1e16), st.floats(0, 1e12), st.floats(1e12, 1e16), st.floats(1e11, 1e14))
def test_attention_is_above_both_roofs(flops, nbytes, peak, bandwidth):
    time = compute.attention_time(flops, peak, 0.5, nbytes, bandwidth, 0.0)
    assert time >= flops / (0.5 * peak)
    assert time >= nbytes / bandwidth


def test_a_matmul_without_work_is_not_launched():
    assert compute.matmul_time(0, 8, 8, 1e14, 0.7, 1.0, 2, 1e12, 1e-6) == 0.0


@quick
@given(sizes, sizes, st.integers(0, 200), st.integers(1, 128))
def test_tile_utilisation_is_a_share(rows, columns, multiprocessors, groups):
    assert 0.0 < compute.tile_utilisation(rows, columns, multiprocessors, groups) <= 1.0


# ------------------------------------------------------------------ overlap, pipeline, memory


@quick
@given(st.floats(0, 1e3), st.floats(0, 1e3), shares, shares)
def test_exposed_is_at_most_the_communication(communication, computation, share, more):
    exposed = overlap.exposed_time(communication, computation, share)
    assert 0.0 <= exposed <= communication
    assert overlap.exposed_time(communication, computation, 0.0) == communication
    assert overlap.exposed_time(communication, computation, max(share, more)) <= exposed
    assert 0.0 <= overlap.share_exposed(communication, share) <= communication


@quick
@given(st.integers(1, 64), st.integers(1, 512), st.integers(1, 8))
def test_bubble_of_equal_stages_is_the_published_share(stages, micro_batches, interleave):
    """(p - 1) / (m v + p - 1). https://arxiv.org/abs/2104.04473, section 2.2"""
    busy = 3.0 * micro_batches
    bubble = pipeline.bubble_time(3.0 * stages, 3.0, interleave)
    share = (stages - 1) / (micro_batches * interleave + stages - 1)
    assert bubble / (bubble + busy) == pytest.approx(share, rel=1e-12)
    assert pipeline.bubble_time(3.0, 3.0, interleave) == 0.0


@quick
@given(st.integers(1, 64), st.data(), st.integers(1, 256))
def test_micro_batches_in_flight_are_at_least_one_and_at_most_all(stages, data, micro_batches):
    stage = data.draw(st.integers(0, stages - 1))
    flying = pipeline.micro_batches_in_flight(stages, stage, 1, micro_batches)
    assert 1 <= flying <= micro_batches
    assert pipeline.micro_batches_in_flight(stages, 0, 1, micro_batches) >= flying


@quick
@given(st.integers(1, 128), st.integers(1, 16), st.integers(1, 8), st.booleans())
def test_activations_split_no_further_than_their_ranks(heads, tensor, gated, sequence_parallel):
    width = 128 * heads
    shards = tensor if sequence_parallel else 1
    whole = memory.layer_activation_bytes(width, width, width, 4 * gated * width, 1, 1, 1, 2, 1, 0)
    split = memory.layer_activation_bytes(width, width, width, 4 * gated * width, tensor, shards, shards, 2, 1, 0)
    assert whole / tensor <= split * SAFE
    assert split <= whole * SAFE
    if sequence_parallel:
        assert split == pytest.approx(whole / tensor, rel=1e-12)


@quick
@given(st.floats(1e6, 1e12), st.integers(1, 4096))
def test_sharding_states_divides_them(parameters, shards):
    assert shards * memory.state_bytes(parameters, 12, shards) == pytest.approx(12 * parameters, rel=1e-12)


# ------------------------------------------------------------------ placement


@quick
@given(ranks_, st.integers(1, 512), st.integers(1, 72))
def test_ranks_of_a_domain(group, stride, domain):
    """Counted one by one: rank k of a group sits at position k x stride, a domain holds `domain` positions."""
    counted = sum(1 for k in range(group) if k * stride < domain) if domain % stride == 0 else None
    local = topology.ranks_per_domain(group, stride, domain)
    assert 1 <= local <= min(group, max(1, domain))
    if counted is not None:
        assert local == counted


@quick
@given(st.integers(1, 64), st.integers(1, 8), bandwidths, bandwidths)
def test_a_ring_is_no_faster_than_its_links(group, local, inside, outside):
    local = min(local, group)
    across = topology.ring_bandwidth(group, local, inside, outside)
    assert across <= inside
    if group > local:
        assert across <= local * outside
    assert topology.ring_bandwidth(local, local, inside, outside) == inside


@quick
@given(st.integers(1, 16), bandwidths, st.integers(1, 16), st.floats(1, 16))
def test_ports_are_shared_evenly(ports, bandwidth, ranks, oversubscription):
    each = topology.ports_per_rank(ports, bandwidth, 1.0, ranks, oversubscription)
    assert each * ranks * oversubscription == pytest.approx(ports * bandwidth, rel=1e-12)
