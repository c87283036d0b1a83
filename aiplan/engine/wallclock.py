"""From steps to wall clock: data, checkpoints, failures, restarts, and what the whole run costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.core import compose, cost, elastic, goodput, reliability, spread, storage, training
from aiplan.engine.saving import Level, failure_terms, levels, ratio, saving_terms
from aiplan.engine.tree import RUN_TREE, add_up

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.inputs import Inputs
    from aiplan.engine.run_inputs import RunInputs

RESTARTS = ("detect", "replace", "start", "initialise", "load", "warm_up")
NINETY_PERCENT = 1.6448536269514722
"""Standard deviations on each side of a mean that hold 90 % of a normal distribution."""


def wallclock_terms(values: Inputs, run: RunInputs, terms: dict[str, Array]) -> dict[str, Array]:
    """Time and cost of a whole run; parents of the tree are the sums of their children.

    Parameters
    ----------
    values : Inputs
        The plans.
    run : RunInputs
        Storage, checkpoints and failures.
    terms : dict
        Terms of the step, of the ideal run, and rates of storage.
    """
    found = saving_terms(values, run, terms) | failure_terms(values, run)
    steps, waits = terms["run.steps"], terms["step.loading"]
    useful = compose.product(steps, terms["loading.busy"])
    loading = compose.product(steps, waits)
    forward = training.evaluation_time(
        run.reliability.evaluation_sequences, values.workload.global_batch, terms["loading.busy"]
    )
    each = compose.summed(run.reliability.evaluation_time, forward)
    pauses = compose.product(compose.quotient(steps, run.reliability.evaluation_every), each)
    work = compose.summed(useful, loading, pauses)
    near, far = levels(run, found, work, terms["step"])
    stretched = far._replace(interval=compose.quotient(far.interval, ratio(near)))
    first = _overheads(near, work, run)
    second = _overheads(stretched, compose.summed(work, *first.values()), run)
    leaves = {name: compose.summed(first[name], second[name]) for name in first}
    leaves |= {"wallclock.steps": useful, "wallclock.loading": loading, "wallclock.evaluation": pauses}
    leaves["wallclock.startup"] = _startup(run)
    running = compose.summed(work, *(leaves[name] for name in first))
    interruptions = reliability.expected_interruptions(found["reliability.rate"], running)
    rates = found | {"checkpoint.replica_nodes": terms["checkpoint.replica_nodes"]}
    leaves["wallclock.maintenance"] = goodput.planned_stops(
        running, run.reliability.maintenance_every, run.reliability.maintenance_time
    )
    leaves["wallclock.nodes"] = _without_spares(run, rates, far, interruptions)
    wall = add_up(leaves, {name: branch for name, branch in RUN_TREE.items() if name.startswith("wallclock")})
    after = compose.summed(work, *first.values())
    deviation = spread.combined_deviation(_deviation(near, work), _deviation(stretched, after))
    whole = wall["wallclock"]
    return (
        found
        | wall
        | {
            "checkpoint.interval": compose.chosen(run.checkpoint.near, near.interval, far.interval),
            "checkpoint.storage_interval": far.interval,
            "reliability.restart": far.restart,
            "reliability.near_restart": near.restart,
            "reliability.ettr": goodput.two_level_ettr(ratio(near), ratio(stretched)),
            "reliability.interruptions": interruptions,
            "run.goodput": goodput.goodput(useful, whole),
            "run.wallclock_low": spread.quantile(whole, deviation, -NINETY_PERCENT),
            "run.wallclock_high": spread.quantile(whole, deviation, NINETY_PERCENT),
        }
        | _totals(values, run, found, wall)
    )


def _overheads(level: Level, work: Array, run: RunInputs) -> dict[str, Array]:
    """Stalls, lost work and restarts of one level of saves, around an amount of work."""
    running = goodput.interruptions_in_training(work, level.rate, level.interval, level.stall, level.drain)
    parts = {name: getattr(run.reliability, name) for name in RESTARTS if name not in {"replace", "load"}}
    parts |= {"replace": level.replace, "load": level.load}
    return {
        "wallclock.saves": goodput.save_stalls(work, level.interval, level.stall),
        "wallclock.lost": goodput.lost_time(work, level.rate, level.interval, level.stall, level.drain),
        **{
            f"wallclock.restarts.{name}": compose.product(
                running, goodput.restart_part(level.rate, level.restart, parts[name])
            )
            for name in RESTARTS
        },
    }


def _startup(run: RunInputs) -> Array:
    fails = run.reliability
    started: Array = compose.product(fails.starts, compose.summed(fails.start, fails.initialise, fails.warm_up))
    return started


def _deviation(level: Level, work: Array) -> Array:
    deviation: Array = spread.wall_time_deviation(
        work, level.rate, level.interval, level.stall, level.restart, level.drain
    )
    return deviation


def _without_spares(run: RunInputs, found: dict[str, Array], far: Level, interruptions: Array) -> Array:
    """Time that a run waits for nodes, or goes on with fewer of them if it is elastic."""
    fails, nodes = run.reliability, run.storage.nodes
    rate = compose.product(found["reliability.rate"], fails.node_share)
    lost = compose.product(interruptions, fails.node_share)
    wait = reliability.spare_wait(fails.spares, rate, fails.repair)
    alone = reliability.blocking(fails.spares, compose.product(rate, fails.repair))
    speed = elastic.replicas_left(nodes, 1.0, found["checkpoint.replica_nodes"])
    shrinks = compose.product(fails.elastic, speed)
    again = compose.product(alone, elastic.spare_loss(far.restart, far.interval))
    smaller = compose.summed(again, compose.product(wait, compose.rest(speed)))
    each = compose.chosen(fails.limited, compose.chosen(shrinks, smaller, wait), 0.0)
    time: Array = compose.chosen(each, compose.product(lost, compose.chosen(each, each, 1.0)), 0.0)
    return time


def _totals(values: Inputs, run: RunInputs, found: dict[str, Array], wall: dict[str, Array]) -> dict[str, Array]:
    """Cost of the whole run."""
    cluster, store, fails = values.cluster, run.storage, run.reliability
    whole = wall["wallclock"]
    spares = compose.product(fails.spares, cluster.accelerators_per_node)
    kept = storage.kept_bytes(
        store.dataset, compose.product(run.checkpoint.keep, run.checkpoint.made), found["checkpoint.bytes"]
    )
    billed = compose.chosen(store.capacity, store.capacity, kept)
    stored = storage.storage_cost(billed, store.price, whole)
    leaves = {
        "total.cost.accelerators": cost.rental_cost(cluster.accelerators, whole, cluster.price),
        "total.cost.spares": cost.rental_cost(spares, whole, cluster.price),
        "total.cost.storage": compose.chosen(store.price, stored, 0.0),
    }
    totals = add_up(leaves, {name: branch for name, branch in RUN_TREE.items() if name.startswith("total.cost")})
    return totals | {
        "storage.kept": kept,
        "total.cost_per_trillion_tokens": cost.per_trillion_tokens(totals["total.cost"], values.workload.tokens),
    }
