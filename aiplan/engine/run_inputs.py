"""The numbers a run as a whole is made from, as columns: storage, checkpoints, failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from aiplan.core.arrays import Array


class StorageInputs(NamedTuple):
    """Stages that bytes pass, caches, and what data looks like."""

    nodes: Array
    read_system: Array
    write_system: Array
    read_requests: Array
    write_requests: Array
    read_client: Array
    write_client: Array
    network: Array
    core: Array
    targets: Array
    target: Array
    stripe: Array
    read_efficiency: Array
    read_efficiency_low: Array
    read_efficiency_high: Array
    write_efficiency: Array
    write_efficiency_low: Array
    write_efficiency_high: Array
    latency: Array
    file_rate: Array
    record: Array
    record_requests: Array
    dataset: Array
    prefetch: Array
    cache: Array
    cache_rate: Array
    cache_servers: Array
    lru_weight: Array
    capacity: Array
    price: Array


class CheckpointInputs(NamedTuple):
    """What is saved, how and when."""

    made: Array
    asynchronous: Array
    near: Array
    in_memory: Array
    weight_bytes: Array
    state_bytes: Array
    ratio: Array
    by_layout: Array
    all_ranks: Array
    one_rank: Array
    gathers: Array
    writer_rate: Array
    host_rate: Array
    planning: Array
    given: Array
    by_young: Array
    by_daly: Array
    interval: Array
    stores_apart: Array
    storage_interval: Array
    near_write: Array
    near_read: Array
    joint_loss: Array
    keep: Array
    all_read: Array
    broadcasts: Array
    copies: Array


class ReliabilityInputs(NamedTuple):
    """What fails, and what a restart takes."""

    accelerator_mtbf: Array
    exponent: Array
    linear_up_to: Array
    detect: Array
    replace: Array
    start: Array
    initialise: Array
    warm_up: Array
    node_share: Array
    repair: Array
    limited: Array
    spares: Array
    elastic: Array
    evaluation_every: Array
    evaluation_time: Array
    evaluation_sequences: Array
    maintenance_every: Array
    maintenance_time: Array
    starts: Array


class RunInputs(NamedTuple):
    """All inputs of a batch of runs."""

    storage: StorageInputs
    checkpoint: CheckpointInputs
    reliability: ReliabilityInputs

    def named(self) -> Iterator[tuple[str, Array]]:
        """Yield every column with its dotted name."""
        for group, record in self._asdict().items():
            for name, column in record._asdict().items():
                yield f"{group}.{name}", column


RUN_NAMES = tuple(
    f"{group}.{name}"
    for group, record in (
        ("storage", StorageInputs),
        ("checkpoint", CheckpointInputs),
        ("reliability", ReliabilityInputs),
    )
    for name in record._fields
)


def run_inputs(rows: Sequence[Mapping[str, float]], shape: tuple[int, ...]) -> RunInputs:
    """Stack the resolved values of several runs into columns.

    Parameters
    ----------
    rows : sequence of mapping
        One mapping of dotted name to SI number per run; unknown numbers are NaN.
    shape : tuple of int
        Shape of the columns of their plans.
    """
    columns = {name: np.array([row[name] for row in rows], dtype=float).reshape(shape) for name in RUN_NAMES}
    return RunInputs(
        StorageInputs(*(columns[f"storage.{name}"] for name in StorageInputs._fields)),
        CheckpointInputs(*(columns[f"checkpoint.{name}"] for name in CheckpointInputs._fields)),
        ReliabilityInputs(*(columns[f"reliability.{name}"] for name in ReliabilityInputs._fields)),
    )
