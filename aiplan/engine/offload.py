"""States in the memory of the host: the update there, and what crosses the link beside computation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core import collectives, compose, offload, overlap, traffic, zero

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.footprint import Held
    from aiplan.engine.inputs import Inputs
    from aiplan.engine.layer import Pass


def offload_time(values: Inputs, held: Held, count: Array, busy: Pass) -> Array:
    """Return what states on the host add to a step; 0 if all lie on the device.

    Their update, beside which weights that are done go back; and what computation does not cover of gradients that
    go there and, where weights lie there, of weights that come back for use.
    """
    plan, work, cluster = values.plan, values.workload, values.cluster
    if not np.any(plan.offload_optimizer):
        none: Array = compose.repeated(count, 0.0)
        return none
    moved = traffic.optimizer_traffic(
        held.optimizer_parameters, work.optimizer_bytes, work.gradient_bytes, work.weight_bytes
    )
    update = offload.host_update_time(moved, _ranks(values), cluster.host_update_rate)
    weights = _copied(values, held, work.weight_bytes)
    gradients = overlap.exposed_time(_copied(values, held, work.gradient_bytes), busy.backward, 1.0)
    fetched = compose.summed(
        overlap.exposed_time(weights, busy.forward, 1.0), overlap.exposed_time(weights, busy.backward, 1.0)
    )
    states = compose.summed(
        compose.largest(update, weights), compose.repeated(gradients, zero.reductions_per_step(plan.zero, count))
    )
    time: Array = compose.summed(
        compose.repeated(states, plan.offload_optimizer),
        compose.repeated(compose.repeated(fetched, count), plan.offload_weights),
    )
    return time


def host_memory(values: Inputs, held: Held) -> Array:
    """Return the bytes of states on the host of a node; 0 if all lie on the device."""
    plan, work = values.plan, values.workload
    if not np.any(plan.offload_optimizer):
        none: Array = compose.repeated(held.optimizer_parameters, 0.0)
        return none
    gradients = compose.repeated(work.gradient_bytes, zero.reaches(plan.zero, 2))
    each = compose.summed(work.optimizer_bytes, gradients, work.weight_bytes)
    needed: Array = compose.repeated(
        offload.host_bytes(held.optimizer_parameters, each, _ranks(values)), plan.offload_optimizer
    )
    return needed


def _ranks(values: Inputs) -> Array:
    """Return the ranks of a node."""
    ranks: Array = compose.least(values.cluster.accelerators_per_node, values.cluster.accelerators)
    return ranks


def _copied(values: Inputs, held: Held, bytes_each: Array) -> Array:
    """Return the time to copy a rank's share of weights or gradients over its link to the host."""
    nbytes = compose.product(held.optimizer_parameters, bytes_each)
    time: Array = collectives.send_time(nbytes, values.cluster.host_link, 0.0)
    return time
