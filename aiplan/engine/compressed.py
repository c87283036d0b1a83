"""Gradients in compressed form: what a rank sends and receives, the work of coding, and the memory for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.core import collectives, compose, compression, compute, low_rank, zero
from aiplan.engine.counts import parameters

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.footprint import Held
    from aiplan.engine.inputs import Inputs


class Coded(NamedTuple):
    """Gradients of a rank in compressed form: bytes it sends, and bytes it decodes."""

    sent: Array
    received: Array


class BreakEven(NamedTuple):
    """Where compression stops to pay: bandwidth of a rank, and share of values where they are gathered."""

    bandwidth: Array
    density: Array


class Shares(NamedTuple):
    """Share of the values that is sent, of dense gradients and of those of experts."""

    dense: Array
    expert: Array


def shares(values: Inputs) -> Shares:
    """Return the share of gradients that is sent: the density, or that of the factors of mean matrices."""
    model, plan, how = values.model, values.plan, values.communication
    count = parameters(model)
    mlp = compose.summed(count.dense_mlp, count.shared)
    dense = low_rank.mean_matrix_width(
        compose.summed(count.attention, mlp),
        low_rank.layer_matrices(model.gated, count.attention, mlp),
        model.hidden,
        plan.tensor,
    )
    expert = low_rank.mean_matrix_width(
        count.expert, low_rank.layer_matrices(model.gated, 0.0, count.expert), model.hidden, plan.expert_tensor
    )
    return Shares(
        *(
            compose.chosen(how.rank, low_rank.factor_share(how.rank, model.hidden, width), how.density)
            for width in (dense, expert)
        )
    )


def coded(values: Inputs, count: Array, share: Array, ranks: Array) -> Coded:
    """Return the compressed form of so many gradients, summed over so many ranks."""
    how = values.communication
    sent = compression.compressed_bytes(count, share, how.value_bytes, how.index_bytes)
    return Coded(sent, compression.received_bytes(sent, ranks, how.gathers, how.exchanges))


def coding_time(values: Inputs, count: Array, codes: Coded, rounds: Array | float) -> Array:
    """Time to encode and decode the gradients of a step; each (1, plans)."""
    how, cluster = values.communication, values.cluster
    rate = compute.achieved(cluster.memory_bandwidth, cluster.memory_fraction)
    traffic = compression.coding_traffic(count, values.workload.gradient_bytes, how.passes, codes.sent, codes.received)
    once = compression.coding_time(
        compute.memory_bound_time(traffic, rate, compose.repeated(how.compresses, 2.0), cluster.launch),
        compose.product(count, values.workload.gradient_bytes),
        how.coding_rate,
    )
    coding: Array = compose.repeated(once, rounds)
    return coding


def coding_memory(values: Inputs, holds: Held, dense_ranks: Array) -> Array:
    """Bytes of error feedback and codes, each (stages, plans); 0 without compression."""
    how, share = values.communication, shares(values)
    dense = coded(values, holds.dense, share.dense, dense_ranks)
    expert = coded(values, holds.experts, share.expert, holds.expert_shards)
    bucket = compose.chosen(how.bucket, how.bucket, compression.BUCKET_BYTES)
    needed: Array = compression.coding_memory(
        compose.summed(holds.dense, holds.experts),
        values.workload.gradient_bytes,
        how.compresses,
        how.feedback,
        compose.summed(dense.sent, expert.sent),
        compose.summed(dense.received, expert.received),
        bucket,
    )
    late = values.last_part()
    return needed if late is None else compose.largest(needed, coding_memory(late, holds, dense_ranks))


def break_even(values: Inputs, holds: Held) -> BreakEven:
    """Bandwidth below which the compression saves time, and density below which it sends less; each (1, plans)."""
    plan, how, share, width = values.plan, values.communication, shares(values), values.workload.gradient_bytes
    sharded = zero.reaches(plan.zero, 1)
    whole = compose.chosen(sharded, 0.5, 1.0)  # a reduce-scatter is half an all-reduce
    part = compose.chosen(how.whole, 1.0, whole)
    ranks = zero.gradient_ranks(plan.data, plan.context)
    volumes, sent, codes = [], [], []
    for count, density, group in (
        (holds.dense_parameters, share.dense, ranks),
        (holds.expert_parameters, share.expert, holds.expert_shards),
    ):
        code = coded(values, count, density, group)
        codes.append(code)
        volumes.append(collectives.ring_all_reduce_volume(compose.product(count, width), group))
        sent.append(
            compose.chosen(
                how.gathers,
                compression.gathered_volume(code.sent, group),
                compose.repeated(collectives.ring_all_reduce_volume(code.sent, group), part),
            )
        )
    coding = coding_time(
        values,
        compose.summed(holds.dense_parameters, holds.expert_parameters),
        Coded(compose.summed(*(code.sent for code in codes)), compose.summed(*(code.received for code in codes))),
        1.0,
    )
    return BreakEven(
        compression.break_even_bandwidth(
            compose.repeated(compose.summed(*volumes), whole), compose.summed(*sent), coding
        ),
        compose.repeated(compression.break_even_density(ranks, width, how.value_bytes, how.index_bytes), whole),
    )
