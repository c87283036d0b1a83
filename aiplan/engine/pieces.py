"""Communication that goes in pieces beside computation: buckets of gradients, and layers that are gathered ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.core import compose, low_rank, overlap, sharding
from aiplan.engine.counts import parameters
from aiplan.engine.exchange import contention, exchanges, scatters
from aiplan.engine.layer import Pass

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.exchange import Exchange
    from aiplan.engine.footprint import Held
    from aiplan.engine.inputs import Inputs
    from aiplan.engine.wires import Wires


def in_buckets(values: Inputs, net: Wires, held: Held, backward: Array | float, *, inside: bool) -> Array:
    """Time that one reduction of gradients in buckets adds to the backward pass of a micro-batch.

    Gradients come from the head to the embedding, at an even pace but for that of the embedding, which comes at the
    end in no time. Dense gradients and those of experts go in buckets of their own, mixed evenly.
    """
    how, size = values.communication, values.workload.gradient_bytes
    matrix = compose.product(_mean_matrix(values), size)
    bucket = overlap.bucket_bytes(how.bucket, matrix)
    first = overlap.bucket_bytes(how.first_bucket, compose.largest(matrix, compose.product(held.head, size)))
    filling = compose.product(compose.summed(held.in_layers, held.head, held.expert_parameters), size)
    between = overlap.buckets_between(filling, first, bucket)
    last = overlap.last_bucket_bytes(filling, compose.product(held.embedding, size), first, bucket, between)
    share, filled = sharding.share(first, filling), sharding.share(bucket, filling)
    one, each, final = (_mean_bucket(values, net, held, nbytes, inside=inside) for nbytes in (first, bucket, last))
    added: Array = overlap.slowed_time(
        overlap.bucketed_time(one, each, final, share, between),
        overlap.bucketed_exposed_time(one, each, final, backward, share, filled, between),
        contention(values),
    )
    return added


def _mean_matrix(values: Inputs) -> Array:
    """Return the mean parameters of a matrix of a layer on a rank: tensors go into buckets as a whole."""
    model, count = values.model, parameters(values.model)
    mlp = compose.summed(count.dense_mlp, count.shared)
    matrices = low_rank.layer_matrices(model.gated, count.attention, mlp)
    mean: Array = sharding.share(compose.summed(count.attention, mlp), compose.product(matrices, values.plan.tensor))
    return mean


def _mean_bucket(values: Inputs, net: Wires, held: Held, nbytes: Array, *, inside: bool) -> Array:
    """Time to reduce a bucket of so many bytes, mean of those of dense gradients and those of experts."""
    count = sharding.share(nbytes, values.workload.gradient_bytes)
    scattered = scatters(values)

    def one(exchange: Exchange) -> Array:
        whole = exchange.reduce_inside if inside else exchange.reduce_all
        time: Array = compose.chosen(scattered, exchange.reduce_scatter, whole)
        return time

    dense, expert = (one(exchange) for exchange in exchanges(values, net, held, count, count))
    if not values.model.experts.any():
        return dense
    gradients = compose.summed(held.dense_parameters, held.expert_parameters)
    mean: Array = compose.summed(
        compose.product(sharding.share(held.dense_parameters, gradients), dense),
        compose.product(sharding.share(held.expert_parameters, gradients), expert),
    )
    return mean


def gathered_ahead(values: Inputs, net: Wires, held: Held, busy: Pass) -> Pass:
    """Time that gathering layer by layer, and scattering gradients so, adds to the passes of a micro-batch.

    Embedding and head are a unit of their own: gathered before the first layer, kept, and reduced after the last one.
    """
    ahead = values.communication.prefetch
    layer = exchanges(
        values,
        net,
        held,
        sharding.share(held.in_layers, held.layers),
        sharding.share(held.expert_parameters, held.layers),
    )
    parts = (layer.dense, layer.expert) if values.model.experts.any() else (layer.dense,)
    gather = compose.summed(*(part.gather for part in parts))
    scatter = compose.summed(*(part.reduce_scatter for part in parts))
    held_at_ends = compose.summed(held.embedding, held.head)
    ends = exchanges(values, net, held, held_at_ends, held.expert_parameters).dense
    ends_gather = compose.chosen(held_at_ends, ends.gather, 0.0)
    ends_scatter = compose.chosen(held_at_ends, ends.reduce_scatter, 0.0)

    def added(reduced: Array | float, computation: Array | float, at_end: Array) -> Array:
        one = sharding.share(computation, held.layers)
        exposed = overlap.prefetched_exposed_time(gather, reduced, one, held.layers, ahead)
        everything = compose.repeated(compose.summed(gather, reduced), held.layers)
        time: Array = overlap.slowed_time(
            compose.summed(at_end, everything), compose.summed(at_end, exposed), contention(values)
        )
        return time

    return Pass(added(0.0, busy.forward, ends_gather), added(scatter, busy.backward, ends_scatter))
