"""Gradient compression: published figures, real codes, and what must always hold."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiplan.core import adaptive, collectives, compression, low_rank, overlap
from aiplan.core.compression import ALL_GATHER, ALL_TO_ALL, METHODS

DATA = Path(__file__).resolve().parents[1] / "data" / "compression_oracles.csv"
with DATA.open(encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))
PUBLISHED = {row["key"]: float(row["value"]) for row in ROWS}
FP32 = 4.0
RESNET50 = 25_557_032
V100_MEMORY = 900e9

# Convolutions of ResNet-18 for images of 32 x 32 as (output channels, input channels x kernel), and the classifier.
RESNET18 = [(64, 27), *[(64, 576)] * 4]
for width in (128, 256, 512):
    RESNET18 += [(width, width // 2 * 9), *[(width, width * 9)] * 3, (width, width // 2)]
RESNET18 += [(10, 512)]
RESNET18_VECTORS = 2 * sum(5 * width for width in (64, 128, 256, 512)) + 10

counts = st.integers(1, 10**12).map(float)
ranks = st.integers(1, 4096).map(float)
parts = st.floats(1e-6, 1.0)
times = st.floats(1e-6, 1e3)


def bytes_of(name, values, share=1.0):
    method = METHODS[name]
    width = FP32 if method.value_bytes is None else method.value_bytes
    return compression.compressed_bytes(values, share, width, method.index_bytes)


def volume(name, nbytes, size):
    """Bytes a rank sends: the definition of each collective."""
    if METHODS[name].collective == ALL_GATHER:
        return compression.gathered_volume(nbytes, size)
    return collectives.ring_all_reduce_volume(nbytes, size)  # an exchange and a gather send as much


def test_every_row_is_used_or_says_why_not():
    for row in ROWS:
        assert row["source"].startswith("https://"), row
        assert row["use"].startswith("unused: ") or row["use"] in globals(), row


@pytest.mark.parametrize("name", ["fp16", "int8", "1bit"])
def test_ratio_by_definition(name):
    assert FP32 / bytes_of(name, 1.0) == pytest.approx(PUBLISHED[f"ratio.{name}"], rel=0.02)  # int8 has scales


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_powersgd_on_resnet18(rank):
    shapes = np.array(RESNET18, dtype=float)
    whole = shapes.prod(axis=1)
    sent = (low_rank.factor_share(rank, shapes[:, 0], shapes[:, 1]) * whole).sum() + RESNET18_VECTORS
    ratio = (whole.sum() + RESNET18_VECTORS) / sent
    assert ratio == pytest.approx(PUBLISHED[f"powersgd_resnet18.rank{rank}"], rel=0.005)


def test_mean_volume_of_one_bit_adam():
    """The warm-up of 1-bit Adam is about 15 % of the steps, in fp16."""
    mean = adaptive.phased_mean(bytes_of("1bit", 1.0), 2.0, 0.15)
    assert 2.0 / mean == pytest.approx(PUBLISHED["onebit_adam.volume_reduction"], rel=0.05)


@pytest.mark.parametrize(
    "key", [key.removeprefix("resnet50_coding.") for key in PUBLISHED if key.startswith("resnet50_coding.")]
)
def test_coding_is_a_lower_bound(key):
    name = key.partition("-")[0]
    share = float(key.partition("-")[2].rstrip("%")) / 100.0 if name == "topk" else 1.0
    if name == "powersgd":
        share = low_rank.factor_share(float(key.partition("-r")[2]), 512.0, 1152.0)
    sent = bytes_of(name, RESNET50, share)
    received = compression.received_bytes(sent, 16.0, METHODS[name].collective == ALL_GATHER, 0.0)
    traffic = compression.coding_traffic(RESNET50, FP32, METHODS[name].passes, sent, received)
    assert 0.0 < 1e3 * traffic / V100_MEMORY < PUBLISHED[f"resnet50_coding.{key}"]


@given(times, counts, st.floats(1e3, 1e12))
def test_coding_is_never_faster_than_memory_nor_than_measured(at_memory, nbytes, rate):
    time = compression.coding_time(at_memory, nbytes, rate)
    assert time == max(at_memory, nbytes / rate)
    assert compression.coding_time(at_memory, nbytes, np.inf) == at_memory


def test_slowdown_lies_between_the_closed_forms():
    """Devices of that study have 108 to 132 multiprocessors; NCCL takes 16 to 24 of them."""
    least, most = overlap.contention_slowdown(132, 132 - 16), overlap.contention_slowdown(108, 108 - 24)
    assert least < PUBLISHED["slowdown.mean"] / 100 < most
    assert most < PUBLISHED["slowdown.most"] / 100 < overlap.wave_slowdown(108, 108, 108 - 24)


def test_slowdown_of_a_full_matmul():
    """24 blocks of an all-gather beside a matmul on all 132 multiprocessors of an H100."""
    slower = PUBLISHED["matmul_utilisation.alone"] / PUBLISHED["matmul_utilisation.beside_all_gather"] - 1
    assert overlap.contention_slowdown(132, 108) < slower < overlap.wave_slowdown(132, 132, 108)


def test_bucket():
    assert PUBLISHED["bucket"] * 2**20 == compression.BUCKET_BYTES


def test_real_codes_have_the_bytes_of_the_closed_form():
    """Codes made with numpy, counted."""
    gradient = np.random.default_rng(1).normal(size=(256, 512)).astype(np.float32)
    size = float(gradient.size)
    kept = np.argsort(-np.abs(gradient), axis=None)[: gradient.size // 100].astype(np.int32)
    blocks = np.abs(gradient).reshape(-1, compression.INT8_BLOCK).max(axis=1)
    codes = np.round(gradient.reshape(blocks.size, -1) / blocks[:, None] * 127).astype(np.int8)
    left, _, right = np.linalg.svd(gradient, full_matrices=False)
    made = {
        "fp16": (gradient.astype(np.float16).nbytes, 1.0),
        "topk": (kept.nbytes + gradient.ravel()[kept].nbytes, kept.size / size),
        "int8": (codes.nbytes + blocks.nbytes, 1.0),
        "1bit": (np.packbits(gradient > 0).nbytes, 1.0),
        "powersgd": (left[:, :4].nbytes + right[:4].nbytes, low_rank.factor_share(4.0, 256.0, 512.0)),
    }
    for name, (nbytes, share) in made.items():
        assert bytes_of(name, size, share) == nbytes, name


def test_break_even_density_is_one_over_the_ranks():
    size = np.arange(2, 2049).astype(float)
    assert compression.break_even_density(size, 4.0, 4.0, 4.0) == pytest.approx(1.0 / size)


def test_signs_of_more_than_64_ranks_are_more_than_fp32():
    size = np.arange(2.0, 129.0)
    signs = compression.gathered_volume(bytes_of("signsgd", 1.0), size)
    more = signs > collectives.ring_all_reduce_volume(FP32, size)
    assert not more[size <= 64].any()
    assert more[size > 64].all()


@given(counts, st.integers(2, 4096).map(float), parts)
def test_gathering_sends_less_exactly_below_the_break_even_density(values, size, share):
    sent = compression.gathered_volume(bytes_of("topk", values, share), size)
    whole = collectives.ring_all_reduce_volume(values * FP32, size)
    edge = compression.break_even_density(size, FP32, FP32, 4.0)
    if share < edge * (1 - 1e-9):
        assert sent < whole
    elif share > edge * (1 + 1e-9):
        assert sent > whole


@given(
    counts,
    st.integers(2, 4096).map(float),
    st.floats(1e-9, 10.0),
    st.floats(1e6, 1e12),
    st.sampled_from(sorted(METHODS)),
)
def test_break_even_bandwidth_agrees_with_the_times(values, size, coding, bandwidth, name):
    whole, sent = volume("none", values * FP32, size), volume(name, bytes_of(name, values, 0.01), size)
    edge = compression.break_even_bandwidth(whole, sent, coding)
    saved = whole / bandwidth - (sent / bandwidth + coding)
    if bandwidth < edge * (1 - 1e-6):
        assert saved > 0.0
    elif bandwidth > edge * (1 + 1e-6):
        assert saved < 0.0


@given(counts, parts, parts, st.floats(0.1, 8.0), st.floats(0.0, 8.0))
def test_a_smaller_share_is_never_more_bytes(values, one, other, width, index):
    less, more = sorted((one, other))
    small = compression.compressed_bytes(values, less, width, index)
    assert small <= compression.compressed_bytes(values, more, width, index)


@given(st.integers(1, 512), st.integers(1, 512), st.integers(1, 20_000), st.integers(1, 20_000))
def test_a_higher_rank_is_never_less_and_never_more_than_the_matrix(one, other, rows, columns):
    low, high = sorted((one, other))
    assert low_rank.factor_share(low, rows, columns) <= low_rank.factor_share(high, rows, columns) <= 1.0


@given(st.integers(1, 8), st.integers(1, 64), st.lists(st.integers(1, 4096), min_size=1, max_size=6))
def test_mean_width_gives_the_factors_of_all_matrices(rank, hidden, widths):
    share = low_rank.factor_share(
        float(rank),
        10.0 * hidden,
        low_rank.mean_matrix_width(10.0 * hidden * sum(widths), len(widths), 10.0 * hidden, 1.0),
    )
    factors = sum(rank * (10.0 * hidden + width) for width in widths)
    assert share == pytest.approx(min(factors / (10.0 * hidden * sum(widths)), 1.0))


@given(counts, ranks, st.sampled_from([name for name in METHODS if name != "none"]), parts)
def test_memory_is_at_least_the_feedback_and_at_most_all_buffers(values, size, name, share):
    method = METHODS[name]
    sent = bytes_of(name, values, share)
    gathers, exchanges = method.collective == ALL_GATHER, method.collective == ALL_TO_ALL
    received = compression.received_bytes(sent, size, gathers, exchanges)
    needed = compression.coding_memory(values, FP32, 1.0, method.feedback, sent, received)
    kept = values * FP32 * method.feedback
    assert kept <= needed <= kept + sent + received + 1e-6 * (sent + received)


def test_no_passes_is_no_traffic():
    assert compression.coding_traffic(1e9, 4.0, 0.0, 1e9, 1e9) == 0.0


@given(st.integers(1, 16), st.integers(1, 16), st.integers(1, 1000), st.floats(1e6, 1e12), st.floats(1e6, 1e12))
def test_two_hop_exchange_against_messages(local, nodes, values, inside, outside):
    """Every rank sends a part to each peer of its node, then of its sum to each peer in other nodes, in turn."""
    nbytes, size = float(values * local * nodes), local * nodes
    first = sum(nbytes / local / inside + 1e-6 for _ in range(local - 1))
    second = sum(nbytes / local / nodes / outside + 5e-6 for _ in range(nodes - 1))
    time = adaptive.two_hop_exchange_time(nbytes, float(size), float(local), inside, outside, 1e-6, 5e-6)
    assert time == pytest.approx(first + second)


@given(times, times, st.floats(0.0, 1.0))
def test_phases_lie_between_their_ends(first, last, share):
    mean = adaptive.phased_mean(first, last, share)
    assert min(first, last) * (1 - 1e-12) <= mean <= max(first, last) * (1 + 1e-12)


@given(times, times, st.floats(0.0, 2.0), st.floats(0.0, 2.0))
def test_contention_is_never_faster_than_either_alone(communication, computation, slower, delayed):
    time = overlap.contended_time(communication, computation, slower, delayed)
    assert max(communication, computation) <= time <= max(communication, computation) * 3.0
