"""Software presets: kernels, overlap and optimizer defaults of a training framework."""

from __future__ import annotations

from aiplan.declare import Declared, choice, flag, integer, listing, number, quantity, record, text

DISPATCHES = ("all-to-all", "deepep", "hybridep")
"""One message per copy of a token; one per node and token; the same inside one kernel."""
FITTED = (
    "kernel_share",
    "attention_share",
    "host_time",
    "host_time_experts",
    "step_overhead",
    "expert_share",
    "expert_passes",
    "hidden_by_hybridep",
    "contention",
    "overlap.pipeline.share",
    "overlap.expert.share",
)
"""Constants of a preset that can be fitted."""
GRAPHS = ("none", "partial", "full")
"""What is started as a graph: nothing, layers without their experts, whole steps."""


class OverlapDefault(Declared):
    """One kind of communication: hidden by default or not, and how well when it is."""

    hidden: bool = flag(doc="Hidden by default", default=False)
    share: float = number(
        doc="How well when it is hidden: of the computation beside it (gradients, parameters), "
        "or of the communication itself (tensor, pipeline)",
        default=0.0,
        minimum=0,
        maximum=1,
    )


class OverlapDefaults(Declared):
    """Which communication runs beside computation."""

    gradients: OverlapDefault = record(OverlapDefault, doc="Gradient reduction", default="empty")
    parameters: OverlapDefault = record(OverlapDefault, doc="Parameter gathering", default="empty")
    tensor: OverlapDefault = record(OverlapDefault, doc="Tensor parallel communication", default="empty")
    pipeline: OverlapDefault = record(OverlapDefault, doc="Sends between stages", default="empty")
    expert: OverlapDefault = record(OverlapDefault, doc="Exchange of tokens between experts", default="empty")


class Software(Declared):
    """A preset; every value but the fitted shares can be set by hand in `plan`."""

    schema_version: int = integer(doc="Version of this format", default=1)
    name: str = text(doc="Framework and time")
    attention: str = choice(("flash", "fused-softmax", "unfused"), doc="Attention kernel")
    sequence_parallel: bool = flag(doc="Norms and residuals split over tensor parallel ranks")
    zero: int = integer(doc="ZeRO stage", minimum=0, maximum=3)
    zero_with_pipeline: int = integer(
        doc="Highest ZeRO stage that the framework offers together with pipeline stages; a search goes no further",
        default=1,
        minimum=0,
        maximum=3,
    )
    gradient_precision: str = choice(("fp32", "bf16"), doc="Data type gradients are kept and reduced in")
    raw_gradients: bool = flag(doc="Gradients as computed are kept beside those they are added up in", default=False)
    half_gradients_with_fp16: bool = flag(
        doc="With fp16, gradients stay in half precision; the optimizer widens those of its shard", default=False
    )
    gathered_inputs: bool = flag(
        doc="Matmul inputs that sequence parallelism gathers are kept whole for the backward pass, not gathered again",
        default=False,
    )
    gather_copy: bool = flag(
        doc="Under ZeRO stage 1 and 2, updated weights are gathered into buffers of their own", default=False
    )
    reduces_after: bool = flag(
        doc="Under ZeRO stage 1 and 2, gradients are reduced after the backward pass, by an all-reduce that leaves all "
        "of them on every rank",
        default=False,
    )
    stays_gathered: bool = flag(
        doc="Under ZeRO stage 3 with a pipeline, the weights of a stage stay gathered for all micro-batches",
        default=False,
    )
    kv_copies: float = number(
        doc="Further copies of keys and values that are kept beside those the attention kernel keeps",
        default=0.0,
        minimum=0,
    )
    whole_inputs: float = number(
        doc="Tensors of a whole micro-batch that sequence parallelism works with beside the layers: gather buffers, "
        "results before they are scattered, and their gradients",
        default=0.0,
        minimum=0,
    )
    run_ahead: float = number(
        doc="Share of the layers' results that wait for their reduce-scatter while the host queues micro-batches",
        default=0.0,
        minimum=0,
        maximum=1,
    )
    run_ahead_behind: int = integer(
        doc="Micro-batches at the end of that queue that wait for others anyway", default=2, minimum=0
    )
    selective: str = choice(
        ("scores", "operations"),
        doc="What selective recompute computes again: the score matrix, or all but costly operations",
        default="scores",
    )
    loss_bytes: float = number(
        doc="Bytes per logit that the loss takes besides the logits: 4 is one copy in single precision",
        default=4.0,
        minimum=0,
    )
    dropout: bool = flag(doc="Dropout in the layers")
    fused_elementwise: bool = flag(doc="Chains of element-wise operations are one kernel")
    fused_accumulation: bool = flag(doc="The matmul that makes a weight gradient adds it up")
    cast_gradients: bool = flag(
        doc="Gradients are cast to the type they are added up in by a kernel of its own", default=False
    )
    kernel_share: float = number(
        doc="Share of what the accelerator sustains that the framework's kernels reach, gaps between them included",
        default=1.0,
        above=0,
        maximum=1.5,
    )
    attention_share: float = number(
        doc="Share of what fused attention sustains on the accelerator that this attention kernel reaches",
        default=1.0,
        above=0,
        maximum=3,
    )
    attention_ramp: float = number(
        doc="Sequence length at which fused attention reaches half of its share", default=952.0, minimum=0
    )
    expert_share: float = number(
        doc="Share of that rate that the grouped matmuls of wide experts keep", default=1.0, above=0, maximum=1.5
    )
    expert_lost_work: float = number(
        doc="Operations of an expert that could be done while a matmul of it starts and ends",
        default=7.97e9,
        minimum=0,
    )
    expert_passes: float = number(
        doc="Passes through memory that sorting tokens by expert, and back, takes", default=3.0, minimum=0
    )
    host_time: float = quantity(
        "time",
        doc="Time the host takes to start the kernels of one layer, one way",
        default=1.22e-3,
        default_text="1.22 ms",
        minimum=0,
    )
    host_time_experts: float = quantity(
        "time", doc="Time more that a layer with experts takes the host, one way", default=0.0, minimum=0
    )
    late_host: float = quantity(
        "time",
        doc="Mean time by which one of the hosts that `cluster.hosts` calls late is behind with a layer, one way",
        default=3.18e-3,
        default_text="3.18 ms",
        minimum=0,
    )
    late_reduction: float = quantity(
        "time",
        doc="Time a rank by which such hosts hold up gradients that are reduced beside the backward pass",
        default=1.52e-3,
        default_text="1.52 ms",
        minimum=0,
    )
    straggling: float = number(
        doc="Share of a step by which nodes vary; a step waits for the slowest", default=0.00411, minimum=0, maximum=1
    )
    step_overhead: float = quantity(
        "time", doc="Time of a step outside the layers: data loading, logging, synchronisation", default=0.0, minimum=0
    )
    dispatch: str = choice(
        DISPATCHES, doc="How tokens get to their experts when the plan does not say", default="all-to-all"
    )
    hidden_by_hybridep: float = number(
        doc="Share of the exchange that hybridep pipelines with the kernels around it",
        default=0.65,
        minimum=0,
        maximum=1,
    )
    contention: float = number(
        doc="Share of hidden data parallel communication by which it slows the computation beside it",
        default=0.38,
        minimum=0,
        maximum=1,
    )
    separate_casts: float = number(
        doc="Share of the casts to a narrower type that are kernels of their own", default=1.0, minimum=0
    )
    launch: float = quantity("time", doc="Start of a kernel that nothing hides", minimum=0)
    reserved_memory: float = quantity("data", doc="Context, libraries and communication buffers", minimum=0)
    fragmentation: float = quantity("fraction", doc="Share of activations lost in the allocator", minimum=0, maximum=1)
    overlap: OverlapDefaults = record(OverlapDefaults, doc="Which communication is hidden", default="empty")
    fitted: tuple[str, ...] = listing(
        choice(FITTED, doc="Name of a constant"), doc="Constants that were fitted on published runs", default=()
    )
    fitted_with: str | None = text(doc="Preset whose fitted constants these are as well", default=None)
    fitted_on: str = text(doc="Runs that launch, shares, buffers and fragmentation were fitted on")
    notes: str | None = text(doc="What a reader should know", default=None)
    sources: tuple[str, ...] = listing(text(doc="Address"), doc="Public addresses", default=())
