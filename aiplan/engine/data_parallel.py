"""Communication of data parallel ranks: gradients reduced, sharded parameters gathered again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import adaptive, collectives, compose, host, memory, overlap, sharding, topology, transformer, zero
from aiplan.engine import wires
from aiplan.engine.compressed import Coded, coding_time
from aiplan.engine.exchange import contention, exchanges, hidden_gradients, scatters, stage_of_a_step
from aiplan.engine.pieces import gathered_ahead, in_buckets

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.exchange import Exchanges
    from aiplan.engine.footprint import Held
    from aiplan.engine.inputs import Inputs
    from aiplan.engine.layer import Pass
    from aiplan.engine.wires import Wires


class Rounds(NamedTuple):
    """Mean number of times per step that gradients are reduced, and that whole weights are gathered before a pass."""

    reductions: Array
    before_forward: Array
    before_backward: Array


def data_parallel_terms(values: Inputs, net: Wires, held: Held, count: Array, busy: Pass) -> dict[str, Array]:
    """Time what is exposed of it; each (1, plans), the mean over the steps of a training.

    Parameters
    ----------
    values : Inputs
        The batch.
    net : Wires
        Bandwidths and latencies.
    held : Held
        Parameters per rank.
    count : array
        Micro-batches per step. [-]
    busy : Pass
        Forward and backward time of a micro-batch on the busiest stage. [s]
    """
    terms = _terms(values, net, held, count, busy)
    late = values.last_part()
    if late is None:
        return terms
    at_last = _terms(late, net, held, count, busy)
    share = values.communication.late_share
    return {name: adaptive.phased_mean(term, at_last[name], share) for name, term in terms.items()}


def _terms(values: Inputs, net: Wires, held: Held, count: Array, busy: Pass) -> dict[str, Array]:
    plan, how = values.plan, values.communication
    whole = exchanges(values, net, held, held.dense_parameters, held.expert_parameters)
    stage = stage_of_a_step(values)
    sharded = zero.reaches(stage, 1)
    times = adaptive.mean_reductions(zero.reductions_per_step(stage, count), how.reduce_every)
    rounds = Rounds(times, compose.product(sharded, times), compose.product(zero.reaches(stage, 3), times))
    gather = compose.summed(whole.dense.gather, whole.expert.gather)
    # What runs beside the backward pass shares its time: gradients, and weights that are gathered once more.
    gradients = overlap.exposed_time(
        compose.summed(
            compose.repeated(_reduction(values, whole, inside=False), rounds.reductions),
            compose.repeated(gather, rounds.before_backward),
        ),
        compose.repeated(busy.backward, rounds.reductions),
        hidden_gradients(values),
        contention(values),
    )
    gathered = overlap.exposed_time(
        compose.repeated(gather, rounds.before_forward),
        compose.repeated(busy.forward, rounds.reductions),
        plan.hidden_parameters,
        contention(values),
    )
    if np.any(how.bucket):
        bucketed = compose.repeated(in_buckets(values, net, held, busy.backward, inside=False), rounds.reductions)
        gradients = _where(how.bucket, bucketed, gradients)
    if np.any(how.inside_every):
        gradients = _where(how.inside_every, _in_levels(values, net, held, whole, busy.backward), gradients)
    if np.any(how.in_units):
        added = gathered_ahead(values, net, held, busy)
        gradients = _where(how.in_units, compose.repeated(added.backward, rounds.reductions), gradients)
        gathered = _where(how.in_units, compose.repeated(added.forward, rounds.reductions), gathered)
    if np.any(values.cluster.late_reduction):
        gradients = compose.summed(gradients, compose.repeated(_held_up(values), rounds.reductions))
    return {
        "step.data.gradients": gradients,
        "step.data.parameters": gathered,
        "step.data.embedding": _tied_embedding(values, net),
        "step.data.compression": _coding(values, held, whole, rounds.reductions),
    }


def _where(condition: Array, then: Array, otherwise: Array) -> Array:
    """Return one of two terms for each plan; the very term if all plans take it, so that it explains itself."""
    chosen: Array = then if np.all(condition) else compose.chosen(condition, then, otherwise)
    return chosen


def _reduction(values: Inputs, whole: Exchanges, *, inside: bool) -> Array:
    """Time to reduce all gradients of a rank, nothing hidden."""
    everywhere = compose.summed(whole.dense.reduce_all, whole.expert.reduce_all)
    near = compose.summed(whole.dense.reduce_inside, whole.expert.reduce_inside) if inside else everywhere
    reduction: Array = compose.chosen(
        scatters(values), compose.summed(whole.dense.reduce_scatter, whole.expert.reduce_scatter), near
    )
    return reduction


def _held_up(values: Inputs) -> Array:
    """Time by which late hosts hold up reductions between nodes that run beside the backward pass."""
    cluster, plan = values.cluster, values.plan
    stride = compose.product(plan.tensor, plan.context)
    crosses = topology.crosses(plan.data, topology.ranks_per_domain(plan.data, stride, cluster.accelerators_per_node))
    beside = compose.chosen(plan.reduces_after, 0.0, compose.product(crosses, cluster.accelerators))
    time: Array = host.late_reduction_time(cluster.late_reduction, beside)
    return time


def _in_levels(values: Inputs, net: Wires, held: Held, whole: Exchanges, backward: Array | float) -> Array:
    """Mean time per step that is added where nodes reduce more often than all of them together."""
    how = values.communication

    def added(*, inside: bool) -> Array:
        time: Array = overlap.exposed_time(
            _reduction(values, whole, inside=inside), backward, hidden_gradients(values), contention(values)
        )
        if np.any(how.bucket):
            time = _where(how.bucket, in_buckets(values, net, held, backward, inside=inside), time)
        return time

    mean: Array = adaptive.hierarchical_mean_time(
        added(inside=True), added(inside=False), _inside_every(values), how.reduce_every
    )
    return mean


def _inside_every(values: Inputs) -> Array:
    """Return the steps between reductions inside the nodes; 1 for plans that have none of their own."""
    every = values.communication.inside_every
    return every if np.all(every) else compose.largest(every, 1.0)


def _coding(values: Inputs, held: Held, whole: Exchanges, rounds: Array) -> Array:
    """Time to encode and decode what is reduced in a step."""
    inside = values.communication.inside_every
    if np.any(inside):
        rounds = _where(inside, adaptive.mean_reductions(1.0, _inside_every(values)), rounds)
    return coding_time(
        values,
        compose.summed(held.dense_parameters, held.expert_parameters),
        Coded(
            compose.summed(whole.dense.codes.sent, whole.expert.codes.sent),
            compose.summed(whole.dense.codes.received, whole.expert.codes.received),
        ),
        rounds,
    )


def _tied_embedding(values: Inputs, net: Wires) -> Array:
    """First and last stage hold a copy each of a tied table and add up their gradients."""
    model, plan = values.model, values.plan
    parameters = transformer.embedding_parameters(model.vocab, model.hidden)
    table = memory.state_bytes(parameters, values.workload.gradient_bytes, plan.tensor)
    stride = compose.product(plan.tensor, plan.context, plan.data)
    one = collectives.ring_all_reduce_time(table, 2.0, *wires.send(net, plan.pipeline, stride))
    exchanged: Array = compose.repeated(one, sharding.tied_copies(model.tied, plan.pipeline))
    return exchanged
