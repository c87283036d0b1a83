"""Checkpoints of a run: bytes, stalls, writes in the background, reading them back, and the time between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.core import checkpoint, compose, goodput, reliability, save_intervals, storage, topology
from aiplan.engine.counts import parameters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aiplan.core.arrays import Array
    from aiplan.engine.inputs import Inputs
    from aiplan.engine.run_inputs import CheckpointInputs, RunInputs


class Level(NamedTuple):
    """Saves to one place, and the interruptions that need them; each one column a run."""

    rate: Array
    interval: Array
    stall: Array
    drain: Array
    load: Array
    replace: Array
    restart: Array


def saving_terms(values: Inputs, run: RunInputs, supply: dict[str, Array]) -> dict[str, Array]:
    """Bytes and times of one checkpoint."""
    saves, store, cluster = run.checkpoint, run.storage, values.cluster
    writers, writing = supply["checkpoint.writers"], supply["checkpoint.writing_nodes"]
    count = parameters(values.model).total
    size = checkpoint.checkpoint_bytes(count, compose.summed(saves.weight_bytes, saves.state_bytes), saves.ratio)
    weights = checkpoint.checkpoint_bytes(count, saves.weight_bytes, saves.ratio)
    states = checkpoint.checkpoint_bytes(count, saves.state_bytes, saves.ratio)
    rank = topology.ports_per_rank(
        cluster.network_ports, cluster.network_bandwidth, cluster.network_fraction, cluster.accelerators_per_node, 1.0
    )
    whole_node = compose.product(rank, cluster.accelerators_per_node)
    gathered = compose.product(saves.gathers, size)
    metadata = storage.transfer_time(gathered, whole_node, 1.0, writers, store.file_rate)
    node = storage.narrowest(store.network, store.write_client)
    write = checkpoint.save_time(size, writers, saves.writer_rate, writing, node, supply["storage.write"], metadata)
    snapshot = checkpoint.snapshot_time(size, writers, saves.host_rate, saves.planning)
    drives = compose.summed(checkpoint.replica_time(size, writing, saves.near_write), saves.planning)
    tiered = compose.product(saves.near, compose.rest(saves.in_memory))
    copied = compose.chosen(tiered, save_intervals.not_before(snapshot, drives, 0.0), snapshot)
    read = checkpoint.read_bytes(states, 1.0, weights, supply["checkpoint.readers"])
    several = compose.chosen(compose.summed(values.plan.data, -1.0), saves.broadcasts, 0.0)
    handed = compose.product(weights, several)
    shards = compose.product(values.plan.tensor, values.plan.pipeline)
    made = saves.made
    return {
        "checkpoint.bytes": size,
        "checkpoint.write": write,
        "checkpoint.stall": compose.product(
            made, compose.chosen(saves.asynchronous, copied, compose.summed(write, saves.planning))
        ),
        "checkpoint.drain": compose.product(made, compose.chosen(saves.asynchronous, write, 0.0)),
        "checkpoint.replica": compose.product(
            saves.in_memory, checkpoint.replica_time(size, writing, saves.near_write)
        ),
        "checkpoint.host_memory": checkpoint.host_memory(size, writing, saves.copies),
        "checkpoint.restore_bytes": read,
        "checkpoint.load": compose.product(
            made, checkpoint.restore_time(read, supply["storage.read"], handed, shards, rank)
        ),
        "checkpoint.load_near": compose.product(saves.near, checkpoint.replica_time(size, writing, saves.near_read)),
    }


def failure_terms(values: Inputs, run: RunInputs) -> dict[str, Array]:
    """Rates of interruptions: of the job, and of those that a copy close by survives."""
    fails, saves, cluster = run.reliability, run.checkpoint, values.cluster
    rate = reliability.job_rate(
        cluster.accelerators, reliability.rate(fails.accelerator_mtbf), fails.exponent, fails.linear_up_to
    )
    together = checkpoint.peer_loss_share(run.storage.nodes, saves.joint_loss)
    survived = compose.chosen(saves.in_memory, compose.rest(together), compose.rest(fails.node_share))
    near = compose.chosen(saves.near, survived, 0.0)
    return {
        "reliability.rate": rate,
        "reliability.mtbf": reliability.time_between(rate),
        "reliability.near_share": near,
    }


def levels(run: RunInputs, terms: dict[str, Array], work: Array, step: Array) -> tuple[Level, Level]:
    """Return the saves close by and those on storage; without the former nothing strikes them."""
    saves, fails = run.checkpoint, run.reliability
    rate, share = terms["reliability.rate"], terms["reliability.near_share"]
    taken = compose.product(fails.node_share, fails.replace)
    tiered = compose.product(saves.near, compose.rest(saves.in_memory))
    near_replace = compose.chosen(tiered, 0.0, taken)
    far_replace = compose.chosen(tiered, fails.replace, taken)
    far_rate, near_rate = compose.product(rate, compose.rest(share)), compose.product(rate, share)
    stall, drain = terms["checkpoint.stall"], terms["checkpoint.drain"]
    far_stall = compose.chosen(saves.near, 0.0, stall)
    near_stall = compose.chosen(saves.near, stall, 0.0)
    replica = terms["checkpoint.replica"]
    load, load_near = terms["checkpoint.load"], terms["checkpoint.load_near"]
    far_restart, near_restart = _restart(run, far_replace, load), _restart(run, near_replace, load_near)
    # A copy close by is what goes to storage: all saves are made at the pace of the frequent ones, which lose least
    # against interruptions of every kind, and storage takes as many of them as it can.
    wanted = _by_rule(saves, stall, rate, far_restart)
    least = save_intervals.not_before(save_intervals.not_before(wanted, replica, stall), step, 0.0)
    pace = compose.chosen(saves.made, save_intervals.at_most(least, work), work)
    stored = compose.chosen(saves.stores_apart, saves.storage_interval, pace)
    drained = save_intervals.not_before(save_intervals.not_before(stored, pace, 0.0), drain, far_stall)
    far = compose.chosen(saves.made, save_intervals.at_most(drained, work), work)
    return (
        Level(near_rate, pace, near_stall, replica, load_near, near_replace, near_restart),
        Level(far_rate, far, far_stall, drain, load, far_replace, far_restart),
    )


def intervals_kept(run: RunInputs, terms: dict[str, Array]) -> NDArray[np.bool_]:
    """Whether the intervals that are given can be held: saves are durable before the next, and some are made."""
    saves = run.checkpoint
    kept: NDArray[np.bool_] = (saves.given == 0) | (terms["checkpoint.interval"] == saves.interval)
    stored: NDArray[np.bool_] = terms["checkpoint.storage_interval"] == saves.storage_interval
    both: NDArray[np.bool_] = kept & ((saves.stores_apart == 0) | stored)
    return both


def _restart(run: RunInputs, replace: Array, load: Array) -> Array:
    fails = run.reliability
    restart: Array = compose.summed(fails.detect, replace, fails.start, fails.initialise, load, fails.warm_up)
    return restart


def _by_rule(saves: CheckpointInputs, stall: Array, rate: Array, restart: Array) -> Array:
    """Return the interval that is given, or that a rule says; infinite where nothing fails."""
    mtbf = reliability.time_between(compose.chosen(rate, rate, 1.0))
    young, daly = save_intervals.young(stall, mtbf, restart), save_intervals.daly(stall, mtbf, restart)
    best = save_intervals.exact(stall, mtbf, restart)
    ruled = compose.chosen(saves.by_young, young, compose.chosen(saves.by_daly, daly, best))
    interval: Array = compose.chosen(saves.given, saves.interval, compose.chosen(rate, ruled, float("inf")))
    return interval


def ratio(level: Level) -> Array:
    """Return the effective training time ratio of one level of saves alone."""
    share: Array = goodput.ettr(level.rate, level.interval, level.stall, level.restart, level.drain)
    return share
