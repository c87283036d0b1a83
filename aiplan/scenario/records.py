"""What a scenario file holds: workload, cluster, plan, and the run that was measured."""

from __future__ import annotations

from aiplan.core.choices import ALL_REDUCES, AUTO
from aiplan.declare import Declared, choice, either, flag, integer, listing, mapping, number, quantity, record, text
from aiplan.scenario.model import Model
from aiplan.scenario.run_records import NONE, Checkpoint, Ownership, Reliability, StorageUse
from aiplan.scenario.software import DISPATCHES, GRAPHS

SCHEMA_VERSION = 1
AUTO_PLAN = "auto"
"""What stands in place of a plan that is to be searched."""
PRECISIONS = ("bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32", "tf32")
OPTIMIZERS = ("adam", "adam-bf16-states", "adam-8bit", "sgd", "sgd-momentum")
HOSTS = ("prompt", "late")
PLACEMENTS = ("ordered", "scattered")
OFFLOADS = ("none", "optimizer", "all")
TOPOLOGIES = (
    "fat-tree",
    "leaf-spine",
    "three-tier",
    "rail-optimized",
    "rail-only",
    "dragonfly",
    "dragonfly-plus",
    "torus-3d",
    "nvlink-domains",
)
"""Kinds of fabrics in the registry of core/topologies, which would load numpy: a test holds the two together."""


class Workload(Declared):
    """What is trained, and on how much."""

    tokens: float | None = quantity("count", doc="Tokens to train on", default=None, above=0)
    sequence_length: int = integer(doc="Tokens in a sequence", minimum=1)
    global_batch: int = integer(doc="Sequences per optimizer step", minimum=1)
    precision: str = choice(PRECISIONS, doc="Data type of the matmuls", default="bf16")
    optimizer: str = choice(OPTIMIZERS, doc="Optimizer and its states", default="adam")


class NetworkUse(Declared):
    """The fabric between the nodes."""

    fabric: str | None = text(doc="Id of a network; the node's own ports if not given", default=None)
    ports: int | None = integer(doc="Ports per node for accelerator traffic", default=None, minimum=1)
    topology: str = choice(TOPOLOGIES, doc="Wiring of the switches", default="fat-tree")
    oversubscription: float | None = number(
        doc="Edge bandwidth over core bandwidth; what is usual for the topology if not given",
        default=None,
        minimum=1,
        maximum=1000,
    )
    switch: str | None = text(doc="Id of the switches; of 64 ports if not given", default=None)
    nodes_per_leaf: int | None = integer(
        doc="Nodes below one leaf switch, router or rail leaf; from the ports of the switches if not given",
        default=None,
        minimum=1,
    )
    nodes_per_pod: int | None = integer(
        doc="Nodes of one pod or group; from the ports of the switches if not given", default=None, minimum=1
    )
    placement: str = choice(
        PLACEMENTS, doc="Whether ranks follow the order of nodes in the fabric, or lie anywhere", default="ordered"
    )
    efficiency: float | None = quantity(
        "fraction", doc="Share of the data rate that long messages reach", default=None, above=0, maximum=1
    )


class Cluster(Declared):
    """What it runs on."""

    node: str | None = text(doc="Id of a node in the catalog", default=None)
    accelerator: str | None = text(doc="Id of an accelerator, for a node that is not in the catalog", default=None)
    accelerators_per_node: int = integer(doc="Accelerators in such a node", default=8, minimum=1)
    nodes: int = integer(doc="Nodes of the job", minimum=1)
    accelerators: int | None = integer(doc="Accelerators of the job, if not all of its nodes", default=None, minimum=1)
    domain: int | None = integer(
        doc="Accelerators in one scale-up network, if not those of a node", default=None, minimum=1
    )
    network: NetworkUse = record(NetworkUse, doc="Fabric between the nodes", default="empty")
    host_update_rate: float | None = quantity(
        "data rate",
        doc="Rate at which the host of a node passes over optimizer states in its memory, for plan.offload",
        default=None,
        above=0,
    )
    hosts: str = choice(
        HOSTS,
        doc="Whether hosts start kernels in time, or are held up by something else, so that tensor parallel ranks wait "
        "for the slowest",
        default="prompt",
    )
    region: str | None = text(doc="Id of a region: electricity, carbon", default=None)
    electricity: float | None = quantity(
        "energy price", doc="Price of electricity, if not that of the region", default=None, above=0
    )
    price: float | None = quantity("money rate", doc="Price per accelerator-hour", default=None, above=0)
    discount: float = quantity(
        "fraction", doc="Off the price: reserved or negotiated", default=0.0, default_text="0 %", minimum=0, maximum=1
    )
    owned: Ownership | None = record(Ownership, doc="Bought instead of rented", default=None)
    power: float | None = quantity("power", doc="All-in draw per accelerator", default=None, above=0)
    pue: float | None = number(doc="Facility power over IT power", default=None, minimum=1)


class Overlap(Declared):
    """Which communication runs beside computation."""

    gradients: bool | None = flag(doc="Gradient reduction beside the backward pass", default=None)
    parameters: bool | None = flag(doc="Parameter gathering beside the forward pass", default=None)
    tensor: bool | None = flag(doc="Tensor parallel communication beside its matmuls", default=None)
    pipeline: bool | None = flag(doc="Sends between stages beside computation", default=None)
    expert: bool | None = flag(doc="Exchange of tokens between experts beside computation", default=None)
    contention: float | None = quantity(
        "fraction",
        doc="Share of hidden data parallel communication by which it slows the computation beside it",
        default=None,
        minimum=0,
        maximum=1,
    )
    channels: int | None = integer(
        doc="Multiprocessors that collectives take while they run, from which that share follows (NCCL_MAX_CTAS)",
        default=None,
        minimum=1,
    )


class Plan(Declared):
    """The parallel layout. What is not given comes from the software preset."""

    tensor: int = integer(doc="Tensor parallel ranks", default=1, minimum=1)
    sequence_parallel: bool | None = flag(doc="Split norms and residuals over tensor parallel ranks", default=None)
    pipeline: int = integer(doc="Pipeline stages", default=1, minimum=1)
    interleave: int = integer(doc="Model chunks per stage", default=1, minimum=1)
    stage_layers: tuple[int, ...] = listing(
        integer(doc="Layers", minimum=0), doc="Layers of each stage, if not the same for all", default=()
    )
    count_embedding_as_layer: bool = flag(
        doc="Embedding and head take the place of one layer each in the first and last stage", default=False
    )
    context: int = integer(doc="Context parallel ranks", default=1, minimum=1)
    expert: int = integer(doc="Expert parallel ranks", default=1, minimum=1)
    expert_tensor: int = integer(doc="Tensor parallel ranks inside an expert", default=1, minimum=1)
    data: int | None = integer(doc="Data parallel ranks; derived if not given", default=None, minimum=1)
    micro_batch: int = integer(doc="Sequences per micro-batch", default=1, minimum=1)
    zero: int | None = integer(
        doc="ZeRO stage: 0 none, 1 optimizer, 2 and gradients, 3 and parameters (FSDP)",
        default=None,
        minimum=0,
        maximum=3,
    )
    shards: int | None = integer(
        doc="Ranks that share a copy of what ZeRO shards (HSDP, MiCS); all that hold the same parameters if not given",
        default=None,
        minimum=1,
    )
    offload: str = choice(
        OFFLOADS,
        doc="What lies in the memory of the host: optimizer states, updated there (ZeRO-Offload), or weights too",
        default="none",
    )
    recompute: str = choice(("none", "selective", "full"), doc="Activations computed again", default="none")
    recompute_layers: int | None = integer(
        doc="Layers of each stage that full recomputation covers, if not all of them", default=None, minimum=1
    )
    attention: str | None = choice(("flash", "fused-softmax", "unfused"), doc="Attention kernel", default=None)
    gradient_precision: str | None = choice(
        ("fp32", "bf16"), doc="Data type gradients are kept and reduced in", default=None
    )
    cuda_graphs: str = choice(
        GRAPHS,
        doc="Kernels started as a graph: none, partial (layers but for their experts), full (whole steps)",
        default="none",
    )
    dispatch: str | None = choice(
        DISPATCHES,
        doc="How tokens get to their experts: a message per copy, one per node and token, or that in one kernel",
        default=None,
    )
    overlap: Overlap = record(Overlap, doc="Which communication is hidden", default="empty")


class LatePrecision(Declared):
    """How gradients are sent in the last part of a training."""

    compression: str = text(doc="Form of gradients on the wire from then on, as in communication.compression")
    after: float = quantity("fraction", doc="Share of the steps after which that part begins", minimum=0, maximum=1)


class Communication(Declared):
    """How gradients are communicated, and in which pieces communication runs beside computation."""

    all_reduce: str = choice(
        ALL_REDUCES, doc="Algorithm that reduces gradients; auto is the faster of ring and tree", default=AUTO
    )
    compression: str = text(
        doc="Form of gradients on the wire: none, fp16, bf16, fp8, int8, topk-1%, randomk-1%, powersgd-r4, 1bit",
        default="none",
    )
    coding_rate: float | None = quantity(
        "data rate",
        doc="Gradient over the time to encode and decode it, as measured; the rate of memory if not given",
        default=None,
        above=0,
    )
    reduce_every: int = integer(doc="Steps from one reduction of gradients to the next", default=1, minimum=1)
    reduce_inside_every: int | None = integer(
        doc="Steps from one reduction inside the nodes to the next, if that is more often than between them",
        default=None,
        minimum=1,
    )
    late_precision: LatePrecision | None = record(
        LatePrecision, doc="Another form of gradients in the last part of a training", default=None
    )
    bucket: float | None = quantity(
        "data",
        doc="Gradients reduced at a time beside the backward pass (bucket_cap_mb); the preset's share if not given",
        default=None,
        above=0,
    )
    first_bucket: float | None = quantity(
        "data", doc="Gradients in the first bucket; as in the others if not given", default=None, above=0
    )
    prefetch: int | None = integer(
        doc="Layers whose weights FSDP gathers ahead of the one in use; the preset's share if not given",
        default=None,
        minimum=0,
    )
    tensor_pieces: int | None = integer(
        doc="Pieces in which tensor parallel communication runs beside its matmuls; the preset's share if not given",
        default=None,
        minimum=1,
    )


class Measured(Declared):
    """What a published run measured; compared with, never used to predict."""

    step_time: float | None = quantity("time", doc="One optimizer step", default=None, above=0)
    tokens_per_s_per_gpu: float | None = number(doc="Tokens per second and accelerator", default=None, above=0)
    tflops_per_gpu: float | None = number(doc="TFLOP/s per accelerator as published", default=None, above=0)
    time_to_train: float | None = quantity("time", doc="Whole training", default=None, above=0)
    accelerator_time: float | None = quantity(
        "time",
        doc="Whole training, times accelerators: GPU-hours, where only these are published",
        default=None,
        above=0,
    )
    time_counts: str = choice(
        ("wall clock", "steps"),
        doc="What the time of a whole training counts: the job with its pauses and restarts, or steps and evaluations",
        default="wall clock",
    )
    memory: float | None = quantity("data", doc="Peak memory per accelerator", default=None, above=0)
    memory_kind: str = choice(
        ("device", "reserved", "allocated"),
        doc="What the memory counts: all of the device, what the allocator holds, or what tensors take",
        default="device",
    )
    memory_stage: str = choice(("fullest", "first"), doc="Pipeline stage whose memory was measured", default="fullest")
    fits: bool | None = flag(doc="Whether the plan fitted into memory; it did if its memory was measured", default=None)
    convention: str | None = text(doc="How the published TFLOP/s counts", default=None)
    source: str = text(doc="Public address")


class ScenarioFile(Declared):
    """One scenario: model, workload, cluster, plan."""

    schema_version: int = integer(doc="Version of this format", default=SCHEMA_VERSION)
    name: str | None = text(doc="Name of the scenario", default=None)
    model: str | Model = either(
        text(doc="Name of a model of the library, or path of a model file"),
        record(Model, doc="Shape"),
        doc="Name of a model of the library, path of a model file, or the shape itself",
    )
    workload: Workload = record(Workload, doc="What is trained, and on how much")
    cluster: Cluster = record(Cluster, doc="What it runs on")
    plan: Plan = either(
        choice((AUTO_PLAN,), doc="The best layout"),
        record(Plan, doc="Layout"),
        doc="Parallel layout; auto is the fastest that fits",
        default="empty",
    )
    communication: Communication = record(
        Communication, doc="How gradients are communicated, in which pieces", default="empty"
    )
    environment: dict[str, str | int] = mapping(
        either(text(doc="Value"), integer(doc="Value"), doc="Value"),
        doc="Environment variables of the job; those of NCCL are checked",
        default="empty",
    )
    storage: str | StorageUse | None = either(
        text(doc="Id of a storage system in the catalog, or none"),
        record(StorageUse, doc="Where data comes from and checkpoints go"),
        doc="Where data comes from and checkpoints go; without it reading takes no time",
        default=None,
    )
    checkpoint: str | Checkpoint | None = either(
        choice((NONE,), doc="No checkpoints"),
        record(Checkpoint, doc="What is saved, how and when"),
        doc="What is saved, how and when; without it saving takes no time",
        default=None,
    )
    reliability: str | Reliability | None = either(
        choice((NONE,), doc="No failures"),
        record(Reliability, doc="What fails, and how long it takes to train again"),
        doc="What fails, and how long it takes to train again; without it nothing fails",
        default=None,
    )
    software: str = text(doc="Preset of kernels, overlap and optimizer", default="megatron-core")
    expect: tuple[str, ...] = listing(
        text(doc="Condition"),
        doc="What `aiplan check` holds the estimate to: fits, 'mfu >= 40 %', 'time_to_train <= 30 days'",
        default=(),
    )
    measured: Measured | None = record(Measured, doc="What a published run measured", default=None)
    notes: str | None = text(doc="What a reader should know", default=None)
