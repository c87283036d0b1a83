"""Buffers and what an allocator keeps: figures worked out by hand."""

import numpy as np
import pytest

from aiplan.core import buffers, memory, widths

MIB = 2**20


def test_whole_inputs():
    # 4 tensors of 8,192 tokens x 4,096 wide x 2 bytes are 256 MiB, and none without sequence parallelism
    assert buffers.whole_input_bytes(8192, 4096, 2, 4, 1) == 256 * MIB
    assert buffers.whole_input_bytes(8192, 4096, 2, 4, 0) == 0


def test_gather_buffers_are_counted_where_activations_leave_no_room():
    whole = buffers.gather_buffer_bytes(1e9, 2, 8, 1)
    assert whole == 2.25e9
    assert buffers.bytes_beyond(whole, 2e9) == 0.25e9
    assert buffers.bytes_beyond(whole, 3e9) == 0


@pytest.mark.parametrize(
    ("wanted", "needed", "kept"), [(10, 50, 10), (10, 75, 5), (10, 80, 0), (10, 90, 0), (0, 20, 0)]
)
def test_an_allocator_caches_what_there_is_room_for(wanted, needed, kept):
    assert buffers.cached_bytes(wanted, needed, 80) == kept


def test_gathered_stage():
    # 405e9 parameters over 8 tensor parallel ranks and 8 stages: 2 bytes of weights and 4 of gradients each
    assert buffers.gathered_stage_bytes(405e9 / 64, 2, 4, 1) == pytest.approx(37.97e9, rel=1e-3)
    assert buffers.gathered_stage_bytes(405e9 / 64, 2, 4, 0) == 0


@pytest.mark.parametrize(("in_flight", "waiting"), [(1, 0), (2, 0), (4, 2), (8, 6)])
def test_results_that_wait(in_flight, waiting):
    """Results of attention and feed-forward, 16 MiB each, of three layers, for all micro-batches but the last two."""
    found = buffers.run_ahead_bytes(4096, 2048, 2, 3, in_flight, 1.0, 2, 1)
    assert found == waiting * 3 * 2 * 16 * MIB
    assert buffers.run_ahead_bytes(4096, 2048, 2, 3, in_flight, 0.5, 2, 1) == found / 2
    assert buffers.run_ahead_bytes(4096, 2048, 2, 3, in_flight, 1.0, 2, 0) == 0
    assert buffers.run_ahead_bytes(4096, 2048, 2, 3, in_flight, 1.0, 0, 1) == in_flight * 3 * 2 * 16 * MIB


def test_operations_that_are_kept():
    # Llama 3 8B, elements a token: input 4,096, queries 4,096, values 1,024, attention 4,096, gate 14,336, output 4,096
    kept = 4096 + 4096 + 1024 + 4096 + 14336 + 4096
    assert memory.kept_operations_bytes(4096, 4096, 1024, 14336, 1, 1, 2) == 2 * kept
    # of 8 tensor parallel ranks, each keeps an eighth; without sequence parallelism its input and output whole
    assert memory.kept_operations_bytes(4096, 4096, 1024, 14336, 8, 8, 2) == 2 * kept / 8
    whole = 2 * (2 * 4096 + (kept - 2 * 4096) / 8)
    assert memory.kept_operations_bytes(4096, 4096, 1024, 14336, 8, 1, 2) == whole


@pytest.mark.parametrize(("gated", "fused", "kept"), [(0, 0, 2), (0, 1, 2), (1, 1, 3), (1, 0, 4)])
def test_a_gated_unit_in_two_kernels_keeps_its_activation(gated, fused, kept):
    """Gate, other half and product are inputs of something; the activation is an input of the product."""
    assert widths.stored_ffn_width(1000.0, gated, fused, 10.0, 0.0, 4, 0) == kept * 1000


def test_forms_broadcast():
    needed = np.array([[10.0], [79.0]])
    assert buffers.cached_bytes(np.array([[5.0], [5.0]]), needed, 80.0).tolist() == [[5.0], [1.0]]
