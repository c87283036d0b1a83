"""What a scenario says about the run as a whole: storage, checkpoints, failures."""

from __future__ import annotations

from aiplan.declare import Declared, choice, either, flag, integer, number, quantity, record, text

NONE = "none"
YEAR = 365.25 * 86400.0
POLICIES = ("keep", "lru", "page-cache")
PACKINGS = ("packed", "file-per-record")
MODES = ("sync", "async", "in-memory", "tiered")
CONTENTS = ("full", "optimizer", "weights")
WRITERS = ("sharded", "model-parallel", "rank-0")
FORMS = ("whole", "quantised", "incremental")
RULES = ("auto", "young", "daly")
RESTORES = ("broadcast", "all-read")
IDEAL = "ideal"
FLEETS = ("best", "llama-3", "rsc-1", "rsc-2", "new-cluster", "tpu-v4", IDEAL)
"""Fleets whose interruptions were published; `best` is the lowest rate among GPUs. In an ideal one nothing fails."""


class Ownership(Declared):
    """What one's own machines cost, in place of a rental price."""

    purchase: float | None = quantity(
        "money",
        doc="Price of an accelerator with its share of node, network, storage and building",
        default=None,
        above=0,
    )
    lifetime: float = quantity(
        "time", doc="Time it is written off over", default=4 * YEAR, default_text="4 years", above=0
    )
    residual: float = quantity(
        "fraction", doc="Share of the price left at the end", default=0.0, default_text="0 %", minimum=0, maximum=1
    )
    upkeep: float = quantity(
        "fraction", doc="Share of the price that upkeep takes a year", default=0.05, default_text="5 %", minimum=0
    )
    used: float = quantity(
        "fraction", doc="Share of the time it is used", default=0.8, default_text="80 %", above=0, maximum=1
    )


class CacheUse(Declared):
    """A cache inside the nodes."""

    system: str | None = text(doc="Id of a tier inside a node: page cache, drives", default=None)
    capacity: float = quantity("data", doc="Size in one node", above=0)
    read: float | None = quantity(
        "data rate", doc="Rate in one node; that of the tier if not given", default=None, above=0
    )
    policy: str = choice(
        POLICIES,
        doc="keep never evicts; lru evicts what was used longest ago; page-cache lies between the two",
        default="page-cache",
    )
    partitioned: bool = flag(doc="Whether nodes hold different parts and serve each other", default=False)


class StorageUse(Declared):
    """Where data comes from and checkpoints go."""

    system: str | None = text(
        doc="Id of a storage system in the catalog; needed unless read and write are given", default=None
    )
    tier: str | None = text(doc="Name of the tier it is bought in", default=None)
    capacity: float | None = quantity("data", doc="Capacity provisioned", default=None, above=0)
    servers: int | None = integer(doc="Storage servers, where the catalog has the rate of one", default=None, minimum=1)
    replicas: int | None = integer(doc="Copies each byte is written in", default=None, minimum=1)
    read: float | None = quantity("data rate", doc="Read rate of the whole system", default=None, above=0)
    write: float | None = quantity("data rate", doc="Write rate of the whole system", default=None, above=0)
    read_per_client: float | None = quantity("data rate", doc="Most that one node reads", default=None, above=0)
    write_per_client: float | None = quantity("data rate", doc="Most that one node writes", default=None, above=0)
    network: float | None = quantity(
        "data rate", doc="Rate of one node to storage; its storage ports if not given", default=None, above=0
    )
    core: float | None = quantity(
        "data rate", doc="Most that the network between nodes and storage carries, one way", default=None, above=0
    )
    efficiency: float | None = quantity(
        "fraction", doc="Share of the narrowest rate that is reached", default=None, above=0, maximum=1
    )
    targets: int | None = integer(
        doc="Targets (OSTs) that files are striped over; the servers if not given", default=None, minimum=1
    )
    stripe: int = integer(doc="Targets that one file is striped over", default=1, minimum=1)
    prefixes: int | None = integer(doc="Key prefixes that objects are spread over", default=None, minimum=1)
    connections: int = integer(doc="Connections, or requests in flight, of one node", default=64, minimum=1)
    request: float = quantity("data", doc="Bytes of one request", default=16e6, default_text="16 MB", above=0)
    file_rate: float = quantity(
        "rate", doc="Files that are made or opened per second", default=1e5, default_text="100k IOPS", above=0
    )
    latency: float | None = quantity("time", doc="From asking to the first byte", default=None, minimum=0)
    bytes_per_token: float | None = number(
        doc="Bytes of a token as stored; 2 below 65,536 words, else 4", default=None, above=0
    )
    sample: float | None = quantity(
        "data", doc="Bytes of one sequence as stored, images and all; tokens only if not given", default=None, above=0
    )
    packing: str = choice(PACKINGS, doc="Many sequences in a file, or a file each", default="packed")
    dataset: float | None = quantity("data", doc="Whole data set; all tokens once if not given", default=None, above=0)
    prefetch: int = integer(doc="Batches under way at once; 0 for none", default=2, minimum=0)
    cache: CacheUse | None = record(CacheUse, doc="Cache inside the nodes", default=None)
    price: float | None = quantity("storage price", doc="Price of capacity", default=None, minimum=0)


class Checkpoint(Declared):
    """What is saved, how and when."""

    mode: str = choice(
        MODES,
        doc="sync stops training; async for the copy to the host; in-memory: to a peer too; tiered: to drives first",
        default="async",
    )
    interval: float | str = either(
        choice(RULES, doc="Rule"),
        quantity("time", doc="Training time between two saves", above=0),
        doc="Training time between two saves, or the rule for it; auto is the best for exponential failures",
        default="auto",
    )
    storage_interval: float | None = quantity(
        "time",
        doc="For in-memory and tiered: time between saves that reach storage; the best if not given",
        default=None,
        above=0,
    )
    contents: str = choice(
        CONTENTS, doc="Weights and optimizer, the optimizer with its master weights, or weights alone", default="full"
    )
    bytes_per_parameter: float | None = number(
        doc="Bytes saved per parameter, if not what contents says", default=None, above=0
    )
    form: str = choice(FORMS, doc="Whole states, quantised ones, or what changed only", default="whole")
    ratio: float | None = quantity(
        "fraction", doc="Bytes written over bytes held, of a form that is not whole", default=None, above=0, maximum=1
    )
    writers: str | None = choice(
        WRITERS,
        doc="All ranks (the rule if ZeRO shards the optimizer), one replica of the model (else), or one process",
        default=None,
    )
    writer_rate: float = quantity(
        "data rate",
        doc="Rate of one writing process, serialising included",
        default=2e9,
        default_text="2 GB/s",
        above=0,
    )
    host_rate: float | None = quantity("data rate", doc="Copy from one accelerator to its host", default=None, above=0)
    planning: float = quantity(
        "time", doc="Agreeing on who saves what, per save", default=1.0, default_text="1 s", minimum=0
    )
    keep: int = integer(doc="Checkpoints kept on storage", default=10, minimum=1)
    restore: str = choice(
        RESTORES, doc="Weights are read once and broadcast, or every replica reads its own", default="broadcast"
    )
    joint_loss: float = quantity(
        "fraction",
        doc="For in-memory: share of failures that take a second node",
        default=0.1,
        default_text="10 %",
        minimum=0,
        maximum=1,
    )


class Elastic(Declared):
    """Going on with fewer nodes."""

    minimum: int = integer(doc="Fewest nodes that it goes on with", minimum=1)


class Evaluation(Declared):
    """Pauses for evaluation."""

    every: int | None = integer(doc="Steps from one to the next", default=None, minimum=1)
    every_sequences: int | None = integer(doc="The same in sequences of training", default=None, minimum=1)
    time: float | None = quantity("time", doc="How long one takes", default=None, above=0)
    sequences: int | None = integer(
        doc="Sequences that one goes through, forward only, in place of its time", default=None, minimum=1
    )


class Maintenance(Declared):
    """Stops that are planned: checkpoints are saved before, and no work is lost."""

    every: float = quantity("time", doc="Running time from one to the next", above=0)
    time: float = quantity("time", doc="How long one takes, until training goes on", above=0)


class Reliability(Declared):
    """What fails, and how long it takes to train again."""

    fleet: str = choice(FLEETS, doc="Published fleet whose rate of interruptions is taken", default="llama-3")
    mtbf_per_node: float | None = quantity(
        "time", doc="Mean time between interruptions that one node causes", default=None, above=0
    )
    mtbf_per_accelerator: float | None = quantity("time", doc="The same for one accelerator", default=None, above=0)
    mtbf: float | None = quantity("time", doc="Mean time between interruptions of the whole job", default=None, above=0)
    exponent: float = number(
        doc="Growth of the rate with size beyond 32,768 accelerators; 1 is linear", default=1.0, minimum=0
    )
    node_share: float = quantity(
        "fraction",
        doc="Share of interruptions that take the node away",
        default=0.78,
        default_text="78 %",
        minimum=0,
        maximum=1,
    )
    detect: float = quantity("time", doc="From a failure to knowing it", default=180.0, default_text="3 min", minimum=0)
    replace: float = quantity("time", doc="Taking a spare node in", default=120.0, default_text="2 min", minimum=0)
    start: float = quantity(
        "time", doc="Scheduler, container, process start", default=120.0, default_text="2 min", minimum=0
    )
    initialise: float = quantity("time", doc="Communicators", default=60.0, default_text="1 min", minimum=0)
    warm_up: float = quantity("time", doc="Compilation and first step", default=60.0, default_text="1 min", minimum=0)
    spares: int | None = integer(doc="Spare nodes; enough if not given", default=None, minimum=0)
    repair: float = quantity(
        "time", doc="Until a failed node is back as a spare", default=86400.0, default_text="1 day", above=0
    )
    elastic: Elastic | None = record(Elastic, doc="Going on with fewer nodes where there is no spare", default=None)
    evaluation: Evaluation | None = record(Evaluation, doc="Pauses for evaluation", default=None)
    maintenance: Maintenance | None = record(Maintenance, doc="Planned stops; none if not given", default=None)
