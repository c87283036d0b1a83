"""A batch of plans in, named arrays out. The names are the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core import buffers, compose, cost, training
from aiplan.engine.counts import CONVENTIONS, flops_per_token, parameters
from aiplan.engine.footprint import held, memory_terms
from aiplan.engine.offload import host_memory
from aiplan.engine.power import energy_terms
from aiplan.engine.step import step_terms
from aiplan.engine.supply import loading_terms, supply_terms
from aiplan.engine.tree import add_up
from aiplan.engine.wallclock import wallclock_terms

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.inputs import Inputs
    from aiplan.engine.run_inputs import RunInputs


def evaluate(values: Inputs, run: RunInputs | None = None) -> dict[str, Array]:
    """Estimate a batch of plans.

    Parameters
    ----------
    values : Inputs
        The plans.
    run : RunInputs, optional
        Storage, checkpoints and failures of each, for the terms of the run as a whole.

    Returns
    -------
    dict
        Dotted name to array of shape (1, plans), SI units. Parents of the tree are the sums of their children.
        Unknown is NaN.
    """
    return whole_terms(values, run, step_and_memory(values, run))


def step_and_memory(values: Inputs, run: RunInputs | None = None) -> dict[str, Array]:
    """Return the tree of a batch alone: what a search compares plans by; with a run, what its storage gives too."""
    holds = held(values)
    leaves = step_terms(values, holds)
    memory, fullest = memory_terms(values, holds)
    leaves |= memory | {"step.loading": compose.repeated(values.cluster.step_overhead, 0.0)}
    terms = add_up(leaves)
    if run is not None:
        terms |= supply_terms(values, run)
        terms |= at_step(values, run, terms, terms["step"])
    terms["memory.stage"] = compose.at_stage(values.stages.index, fullest)
    terms["memory.capacity"] = values.cluster.memory_capacity
    terms["host.memory"] = host_memory(values, holds)
    terms["memory.needed"] = buffers.bytes_beyond(terms["memory"], terms["memory.cached"])
    return terms


def at_step(values: Inputs, run: RunInputs | None, terms: dict[str, Array], busy: Array) -> dict[str, Array]:
    """Return the terms of a batch as if its steps took so long, waiting for data not counted."""
    if run is None:
        return {"step": busy}
    waits = loading_terms(values, run, terms, busy)
    return terms | waits | {"step": compose.summed(busy, waits["step.loading"])}


def whole_terms(values: Inputs, run: RunInputs | None, terms: dict[str, Array]) -> dict[str, Array]:
    """Return the terms of a step, and all that follows from them."""
    terms = timed_terms(values, run, terms)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        return terms | energy_terms(values, run, terms)


def timed_terms(values: Inputs, run: RunInputs | None, terms: dict[str, Array]) -> dict[str, Array]:
    """Return the terms of a step, and what follows from its time alone, whatever it consists of: all but energy."""
    terms = terms | run_terms(values, terms["step"])
    if run is None:
        return terms
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a run that never ends is infinite
        return terms | wallclock_terms(values, run, terms)


def run_terms(values: Inputs, step_time: Array) -> dict[str, Array]:
    """Return what follows from the time of a step: rate, duration, cost, operations and utilisation."""
    work, cluster = values.workload, values.cluster
    count = parameters(values.model)
    rate = training.tokens_per_second(work.global_batch, work.sequence, step_time, cluster.accelerators)
    steps = training.step_count(work.tokens, work.global_batch, work.sequence)
    duration = training.time_to_train(steps, step_time)
    named = {
        "parameters.total": count.total,
        "parameters.active": count.active,
        "run.tokens_per_s_per_gpu": rate,
        "run.steps": steps,
        "run.time_to_train": duration,
        "run.cost": cost.rental_cost(cluster.accelerators, duration, cluster.price),
    }
    for convention in CONVENTIONS:
        per_token = flops_per_token(values, convention)
        flops = training.model_flops_rate(per_token, rate)
        named[f"flops_per_token.{convention}"] = per_token
        named[f"flops_per_s.{convention}"] = flops
        named[f"utilisation.{convention}"] = training.utilisation(flops, cluster.matmul_peak)
    return named
