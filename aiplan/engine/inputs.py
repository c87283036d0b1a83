"""The numbers an estimate is made from, as columns: one row a plan.

Every field is a float64 array of shape (plans, 1), in SI units; a flag is 0 or 1. The dotted name of a field
(`plan.tensor`) is the name under which a scenario resolves the value and an explanation shows it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from aiplan.core.arrays import Array  # noqa: TC001  read at run time by `fields`

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class ModelInputs:
    """Shape of the network."""

    layers: Array
    hidden: Array
    heads: Array
    kv_heads: Array
    head_dim: Array
    ffn: Array
    gated: Array
    vocab: Array
    positions: Array
    tied: Array
    norm_vectors: Array
    norms_per_layer: Array
    embedding_norm: Array
    final_norm: Array
    qk_norm_head: Array
    qk_norm_full: Array
    qkv_bias: Array
    output_bias: Array
    mlp_bias: Array
    head_bias: Array
    sinks: Array
    parallel_block: Array
    window: Array
    window_layers: Array
    experts: Array
    top_k: Array
    expert_ffn: Array
    moe_layers: Array
    shared_ffn: Array
    router_bias: Array
    shared_gate: Array
    latent: Array
    query_rank: Array
    key_value_rank: Array
    nope_dim: Array
    rope_dim: Array
    value_dim: Array
    mtp_layers: Array


@dataclass(frozen=True, slots=True)
class WorkloadInputs:
    """What is trained, and the bytes its data types take."""

    tokens: Array
    sequence: Array
    global_batch: Array
    weight_bytes: Array
    activation_bytes: Array
    matmul_bytes: Array
    gradient_bytes: Array
    optimizer_bytes: Array
    dropout: Array


@dataclass(frozen=True, slots=True)
class ClusterInputs:
    """What it runs on: rates per accelerator, one way."""

    accelerators: Array
    accelerators_per_node: Array
    domain: Array
    matmul_peak: Array
    attention_peak: Array
    matmul_fraction: Array
    matmul_depth: Array
    kernel_share: Array
    expert_share: Array
    attention_fraction: Array
    multiprocessors: Array
    memory_capacity: Array
    memory_bandwidth: Array
    memory_fraction: Array
    launch: Array
    host_time: Array
    host_time_experts: Array
    link_bandwidth: Array
    link_fraction: Array
    link_latency: Array
    network_ports: Array
    network_bandwidth: Array
    network_fraction: Array
    network_latency: Array
    oversubscription: Array
    reserved_memory: Array
    fragmentation: Array
    power: Array
    pue: Array
    carbon_intensity: Array
    electricity_price: Array
    price: Array


@dataclass(frozen=True, slots=True)
class PlanInputs:
    """The parallel layout."""

    tensor: Array
    sequence_parallel: Array
    pipeline: Array
    interleave: Array
    context: Array
    expert: Array
    expert_tensor: Array
    data: Array
    micro_batch: Array
    zero: Array
    recompute_selective: Array
    recompute_full: Array
    flash: Array
    score_passes: Array
    fused_elementwise: Array
    separate_casts: Array
    separate_accumulation: Array
    hidden_gradients: Array
    hidden_parameters: Array
    hidden_tensor: Array
    hidden_pipeline: Array
    hidden_expert: Array
    two_level_dispatch: Array


@dataclass(frozen=True, slots=True)
class StageInputs:
    """Pipeline stages that differ: shape (plans, stages)."""

    index: Array
    dense_layers: Array
    moe_layers: Array
    has_embedding: Array
    has_head: Array
    copies: Array


@dataclass(frozen=True, slots=True)
class Inputs:
    """All inputs of a batch of plans."""

    model: ModelInputs
    workload: WorkloadInputs
    cluster: ClusterInputs
    plan: PlanInputs
    stages: StageInputs

    def named(self) -> Iterator[tuple[str, Array]]:
        """Yield every column with its dotted name."""
        for group in fields(self):
            record = getattr(self, group.name)
            for field in fields(record):
                yield f"{group.name}.{field.name}", getattr(record, field.name)


SCALAR_GROUPS = {
    "model": ModelInputs,
    "workload": WorkloadInputs,
    "cluster": ClusterInputs,
    "plan": PlanInputs,
}
SCALAR_NAMES = tuple(f"{group}.{field.name}" for group, record in SCALAR_GROUPS.items() for field in fields(record))
STAGE_NAMES = tuple(field.name for field in fields(StageInputs))


def inputs(rows: Sequence[Mapping[str, float]], stages: Sequence[Mapping[str, Sequence[float]]]) -> Inputs:
    """Stack the resolved values of several plans into columns.

    Parameters
    ----------
    rows : sequence of mapping
        One mapping of dotted name to SI number per plan; unknown numbers are NaN.
    stages : sequence of mapping
        One mapping of stage field to values per plan; shorter pipelines are filled up with stages of zero copies.
    """
    groups = {
        group: record(
            **{
                field.name: np.array([[row[f"{group}.{field.name}"]] for row in rows], dtype=float)
                for field in fields(record)
            }
        )
        for group, record in SCALAR_GROUPS.items()
    }
    width = max(len(table["copies"]) for table in stages)
    stage_columns = {
        name: np.array([[*table[name], *[0.0] * (width - len(table[name]))] for table in stages], dtype=float)
        for name in STAGE_NAMES
    }
    return Inputs(stages=StageInputs(**stage_columns), **groups)
