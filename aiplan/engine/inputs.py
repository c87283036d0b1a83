"""The numbers an estimate is made from: arrays whose last axis is the plans.

Every field is a float64 array of shape (1, plans), in SI units; a flag is 0 or 1. The axis before the plans is that of
the stages of a pipeline. Axes before that one are options that are crossed with all plans: a field has length 1 along
those that it does not depend on, and so has every term that is made from such fields alone. The dotted name of a field
(`plan.tensor`) is the name under which a scenario resolves the value and an explanation shows it.
"""

from __future__ import annotations

from inspect import get_annotations
from typing import TYPE_CHECKING, Any, dataclass_transform

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from aiplan.core.arrays import Array


@dataclass_transform(kw_only_default=True, frozen_default=True)
class _Named:
    """Holds what a class below it annotates. A dataclass would compile methods for each when the program starts."""

    def __init__(self, **values: Any) -> None:
        vars(self).update((name, values[name]) for name in get_annotations(type(self)))


class ModelInputs(_Named):
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


class WorkloadInputs(_Named):
    """What is trained, and the bytes its data types take."""

    tokens: Array
    sequence: Array
    global_batch: Array
    weight_bytes: Array
    activation_bytes: Array
    matmul_bytes: Array
    gradient_bytes: Array
    kept_gradient_bytes: Array
    shard_gradient_bytes: Array
    loss_bytes: Array
    optimizer_bytes: Array
    dropout: Array


class ClusterInputs(_Named):
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
    expert_lost_work: Array
    expert_passes: Array
    attention_fraction: Array
    attention_share: Array
    attention_ramp: Array
    multiprocessors: Array
    memory_capacity: Array
    memory_bandwidth: Array
    memory_fraction: Array
    launch: Array
    host_time: Array
    host_time_experts: Array
    host_link: Array
    host_update_rate: Array
    host_memory: Array
    late_host: Array
    late_reduction: Array
    straggling: Array
    step_overhead: Array
    link_bandwidth: Array
    link_fraction: Array
    link_latency: Array
    network_ports: Array
    network_bandwidth: Array
    network_fraction: Array
    network_latency: Array
    oversubscription: Array
    leaf_accelerators: Array
    leaf_ring: Array
    leaf_send: Array
    leaf_uniform: Array
    pod_accelerators: Array
    pod_ring: Array
    pod_send: Array
    pod_uniform: Array
    path_latency: Array
    reserved_memory: Array
    fragmentation: Array
    power: Array
    device_power: Array
    node_power: Array
    network_power: Array
    waiting_share: Array
    idle_share: Array
    pue: Array
    carbon_intensity: Array
    electricity_price: Array
    price: Array


class PlanInputs(_Named):
    """The parallel layout."""

    tensor: Array
    sequence_parallel: Array
    inputs_split: Array
    pipeline: Array
    interleave: Array
    context: Array
    expert: Array
    expert_tensor: Array
    data: Array
    micro_batch: Array
    zero: Array
    copies: Array
    offload_optimizer: Array
    offload_weights: Array
    gather_copy: Array
    reduces_after: Array
    stays_gathered: Array
    kv_copies: Array
    whole_inputs: Array
    run_ahead: Array
    run_ahead_behind: Array
    recompute_selective: Array
    recompute_full: Array
    recompute_operations: Array
    flash: Array
    score_passes: Array
    fused_elementwise: Array
    separate_casts: Array
    separate_accumulation: Array
    cast_gradients: Array
    contention: Array
    channels: Array
    hidden_gradients: Array
    hidden_parameters: Array
    hidden_tensor: Array
    hidden_pipeline: Array
    hidden_expert: Array
    two_level_dispatch: Array
    hidden_dispatch: Array


class CommunicationInputs(_Named):
    """How gradients are reduced: compressed or not, how often, by which of `choices.ALL_REDUCES`, in which pieces.

    0 for `bucket`, `tensor_pieces` and `inside_every` is none of these; `in_units` says that `prefetch` decides.
    """

    all_reduce: Array
    value_bytes: Array
    index_bytes: Array
    density: Array
    rank: Array
    gathers: Array
    exchanges: Array
    whole: Array
    passes: Array
    feedback: Array
    compresses: Array
    coding_rate: Array
    reduce_every: Array
    inside_every: Array
    bucket: Array
    first_bucket: Array
    in_units: Array
    prefetch: Array
    tensor_pieces: Array
    late_share: Array


class StageInputs(_Named):
    """Pipeline stages that differ: shape (stages, plans)."""

    index: Array
    dense_layers: Array
    moe_layers: Array
    has_embedding: Array
    has_head: Array
    copies: Array


class Inputs(_Named):
    """All inputs of a batch of plans; `late` is the communication of the last part of a training, if it differs."""

    model: ModelInputs
    workload: WorkloadInputs
    cluster: ClusterInputs
    plan: PlanInputs
    communication: CommunicationInputs
    stages: StageInputs
    late: CommunicationInputs | None

    def named(self) -> Iterator[tuple[str, Array]]:
        """Yield every column with its dotted name."""
        for group, record in vars(self).items():
            for name, column in vars(record).items() if record is not None else ():
                yield f"{group}.{name}", column

    def last_part(self) -> Inputs | None:
        """Return the inputs of the last part of the trainings; None if no training has one that differs."""
        return None if self.late is None else Inputs(**vars(self) | {"communication": self.late, "late": None})


SCALAR_GROUPS = {
    "model": ModelInputs,
    "workload": WorkloadInputs,
    "cluster": ClusterInputs,
    "plan": PlanInputs,
    "communication": CommunicationInputs,
}
SCALAR_NAMES = tuple(f"{group}.{name}" for group, record in SCALAR_GROUPS.items() for name in get_annotations(record))
LATE = "late.value_bytes"
"""A column that is there if the last part of a training communicates in another way."""
STAGE_NAMES = tuple(get_annotations(StageInputs))


def inputs(rows: Sequence[Mapping[str, float]], stages: Sequence[Mapping[str, Sequence[float]]]) -> Inputs:
    """Stack the resolved values of several plans into columns.

    Parameters
    ----------
    rows : sequence of mapping
        One mapping of dotted name to SI number per plan; unknown numbers are NaN.
    stages : sequence of mapping
        One mapping of stage field to values per plan.
    """
    columns = {name: np.array([[row[name] for row in rows]], dtype=float) for name in SCALAR_NAMES}
    if any(LATE in row for row in rows):  # a training without a last part goes on as before
        columns |= {
            f"late.{name}": np.array([[row.get(f"late.{name}", row[f"communication.{name}"]) for row in rows]], float)
            for name in get_annotations(CommunicationInputs)
        }
    return assembled(columns, stage_inputs(stages))


def stage_inputs(stages: Sequence[Mapping[str, Sequence[float]]]) -> StageInputs:
    """Stack the stages of several pipelines; shorter ones are filled up with stages of zero copies."""
    width = max(len(table["copies"]) for table in stages)
    return StageInputs(
        **{
            name: np.array([[*table[name], *[0.0] * (width - len(table[name]))] for table in stages], float).T.copy()
            for name in STAGE_NAMES
        }
    )


def assembled(columns: Mapping[str, Array], stages: StageInputs) -> Inputs:
    """Return inputs from columns by dotted name; those that no group knows are left out."""
    groups = {
        group: record(**{name: columns[f"{group}.{name}"] for name in get_annotations(record)})
        for group, record in SCALAR_GROUPS.items()
    }
    late = {name: columns[f"late.{name}"] for name in get_annotations(CommunicationInputs) if LATE in columns}
    return Inputs(stages=stages, late=CommunicationInputs(**late) if late else None, **groups)
