"""Who writes a checkpoint, and who reads it back: what the layout decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.core import checkpoint, compose, elastic

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.inputs import Inputs
    from aiplan.engine.run_inputs import RunInputs


def writing_terms(values: Inputs, run: RunInputs) -> dict[str, Array]:
    """Return who writes in which nodes, how many replicas read their own weights, and the nodes of one."""
    saves, plan, cluster = run.checkpoint, values.plan, values.cluster
    replica = compose.product(plan.tensor, plan.pipeline, plan.context)
    everyone = compose.chosen(saves.by_layout, plan.zero, saves.all_ranks)
    several = compose.chosen(everyone, cluster.accelerators, replica)
    writers = compose.chosen(saves.one_rank, 1.0, several)
    return {
        "checkpoint.writers": writers,
        "checkpoint.writing_nodes": checkpoint.writing_nodes(writers, cluster.accelerators_per_node),
        "checkpoint.readers": compose.chosen(saves.all_read, plan.data, 1.0),
        "checkpoint.replica_nodes": elastic.replica_nodes(replica, cluster.accelerators_per_node, run.storage.nodes),
    }
