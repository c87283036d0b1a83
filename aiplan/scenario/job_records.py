"""What a jobs file holds: pools of nodes, queues with quotas, priority classes, jobs or a trace, and rules."""

from __future__ import annotations

from aiplan.declare import Declared, choice, flag, integer, listing, mapping, number, quantity, record, records, text

JOBS_VERSION = 1
STRATEGIES = (
    "binpack",
    "spread",
    "bestfit",
    "gpu-packing",
    "volcano-binpack",
    "topology",
    "fgd",
    "random",
)
"""Names of planning/scheduling/strategies, which would load numpy: a test holds the two together."""
KINDS = ("kueue", "volcano", "resource-quota")
SHARING = ("none", "time-slicing", "mps", "mig")
WISHES = ("any", "preferred", "required")
TRACES = ("openb", "philly")
NAME = "[a-z0-9]|[a-z0-9][-a-z0-9.]*[a-z0-9]"
"""Names that Kubernetes takes."""


class Amounts(Declared):
    """Amounts of what is shared out; what is not given is not limited."""

    gpus: float | None = number(doc="GPUs", default=None, minimum=0)
    cpus: float | None = number(doc="Cores", default=None, minimum=0)
    memory: float | None = quantity("data", doc="Host memory", default=None, minimum=0)


class Pool(Declared):
    """Nodes of one kind."""

    name: str = text(doc="Name of the pool", pattern=NAME)
    node: str | None = text(doc="Id of a node in the catalog: GPUs, their type, host memory", default=None)
    nodes: int = integer(doc="Nodes of the pool", minimum=1, maximum=100_000)
    gpus: int | None = integer(doc="GPUs of a node, if not the catalog's", default=None, minimum=0, maximum=1024)
    gpu_type: str | None = text(doc="Type of the GPUs, if not the catalog's", default=None)
    cpus: float | None = number(
        doc="Cores that pods of a node can ask for; no limit if not given", default=None, above=0
    )
    memory: float | None = quantity(
        "data", doc="Memory that pods of a node can ask for, if not the catalog's; else no limit", default=None, above=0
    )
    nodes_per_rack: int | None = integer(
        doc="Nodes of a rack or block; one block if not given", default=None, minimum=1
    )
    sharing: str = choice(SHARING, doc="How a GPU is shared by pods; none is whole GPUs only", default="none")
    labels: dict[str, str] = mapping(text(doc="Value"), doc="Labels of the nodes", default="empty")
    taints: tuple[str, ...] = listing(text(doc="Key"), doc="Taints: jobs without the toleration stay away", default=())


class Queue(Declared):
    """Whose jobs wait together, and how much they may use."""

    name: str = text(doc="Name of the queue, and of the team's namespace", pattern=NAME)
    kind: str = choice(KINDS, doc="Whose rules hold: Kueue, Volcano, or a plain ResourceQuota", default="kueue")
    quota: Amounts = record(Amounts, doc="Nominal quota, capability of Volcano, or hard limit", default="empty")
    cohort: str | None = text(doc="Kueue: queues that lend to each other", default=None, pattern=NAME)
    borrowing_limit: Amounts = record(Amounts, doc="Kueue: most that is borrowed", default="empty")
    lending_limit: Amounts = record(Amounts, doc="Kueue: most that is lent", default="empty")
    weight: float | None = number(doc="Weight of the share; 1 if not given", default=None, above=0, maximum=65535)
    guarantee: float | None = number(doc="Volcano: GPUs that are kept for the queue", default=None, minimum=0)


class Cohort(Declared):
    """Kueue: queues and cohorts that lend to each other, in a tree."""

    name: str = text(doc="Name of the cohort", pattern=NAME)
    parent: str | None = text(doc="Cohort above it, with whose queues its own share", default=None, pattern=NAME)
    quota: Amounts = record(
        Amounts, doc="What it has beside the quotas of its queues; none if not given", default="empty"
    )
    borrowing_limit: Amounts = record(Amounts, doc="Most that is borrowed from the parent", default="empty")
    lending_limit: Amounts = record(Amounts, doc="Most that is lent to the parent", default="empty")
    weight: float | None = number(doc="Weight of the share; 1 if not given", default=None, above=0, maximum=65535)


class Priority(Declared):
    """A priority class."""

    name: str = text(doc="Name of the class", pattern=NAME)
    value: int = integer(doc="Priority: higher goes first", minimum=-2_147_483_648, maximum=1_000_000_000)
    preemption: str = choice(("lower", "never"), doc="Whether jobs of the class stop lower ones", default="lower")


class Job(Declared):
    """One job, or several that are alike: pods that are alike."""

    name: str = text(doc="Name of the job", pattern=NAME)
    scenario: str | None = text(
        doc="Scenario that says how long it takes on how many nodes: a path, or a name of the library", default=None
    )
    count: int = integer(doc="How many such jobs", default=1, minimum=1, maximum=1_000_000)
    submit: float = quantity("time", doc="When the first is submitted", default=0.0, default_text="0 s", minimum=0)
    every: float = quantity("time", doc="Time from one to the next", default=0.0, default_text="0 s", minimum=0)
    queue: str | None = text(doc="Queue; the only one if not given", default=None)
    priority: str | None = text(doc="Priority class; 0 if not given", default=None)
    replicas: int | None = integer(
        doc="Pods; 1 if not given, or the nodes of the scenario", default=None, minimum=1, maximum=100_000
    )
    min_replicas: int | None = integer(
        doc="Pods with which it can run, if fewer: it is elastic then", default=None, minimum=1
    )
    gpus: int | None = integer(
        doc="GPUs of a pod; 0 if not given, or those of the scenario's node", default=None, minimum=0
    )
    gpu_share: float = number(
        doc="Share of its GPU that a pod takes, of a pool that shares GPUs", default=1.0, above=0, maximum=1
    )
    cpus: float = number(doc="Cores of a pod", default=0.0, minimum=0)
    memory: float = quantity("data", doc="Host memory of a pod", default=0.0, default_text="0 B", minimum=0)
    pools: tuple[str, ...] = listing(text(doc="Name"), doc="Pools it may run in; all if none is given", default=())
    node_selector: dict[str, str] = mapping(text(doc="Value"), doc="Labels that its nodes must have", default="empty")
    tolerations: tuple[str, ...] = listing(text(doc="Key"), doc="Taints that it tolerates", default=())
    gang: bool = flag(doc="All pods start together or none does", default=True)
    duration: float | None = quantity(
        "time", doc="Time it runs with all its pods; the scenario's if not given", default=None, above=0
    )
    topology: str = choice(WISHES, doc="Whether its pods should, or must, lie in one rack", default="any")
    min_available: int | None = integer(
        doc="Disruption budget: pods of all such jobs that kube-scheduler stops last", default=None, minimum=1
    )
    checkpoint: float | None = quantity(
        "time",
        doc="Time between checkpoints; that of the scenario if not given, and without one a stop loses everything",
        default=None,
        above=0,
    )


class Trace(Declared):
    """Jobs from a public trace instead of a list."""

    format: str = choice(TRACES, doc="Which columns: openb of Alibaba 2023, or Philly as ElasticFlow converted it")
    jobs: str = text(doc="Path of the table of jobs, from the folder of this file")
    nodes: str | None = text(doc="Path of the table of nodes (openb); the pools if not given", default=None)
    arrivals: float | None = quantity(
        "fraction",
        doc="openb: GPUs asked for over those there are, by drawing from the jobs; they arrive and never leave",
        default=None,
        above=0,
        maximum=10,
    )
    gpu_nodes_only: bool = flag(doc="openb: leave nodes without GPUs out", default=True)
    gpus_per_pod: int = integer(
        doc="philly: GPUs of a pod at most; larger jobs are gangs of such pods", default=8, minimum=1
    )
    queue_quotas: bool = flag(
        doc="philly: each virtual cluster is a queue, limited by its share of GPU time", default=False
    )


class Failing(Declared):
    """Failures of nodes."""

    node_mtbf: float | None = quantity(
        "time", doc="Mean time between failures of one node; none if not given", default=None, above=0
    )
    repair: float = quantity("time", doc="How long it is gone", default=3600.0, default_text="1 h", above=0)


class ScoreWeights(Declared):
    """Weights of resources in the scores of binpack and spread."""

    cpus: int = integer(doc="Weight of cores", default=1, minimum=0, maximum=100)
    memory: int = integer(doc="Weight of memory", default=1, minimum=0, maximum=100)
    gpus: int = integer(
        doc="Weight of GPUs; kube-scheduler does not score GPUs unless it is told to", default=1, minimum=0, maximum=100
    )


class Rules(Declared):
    """How it is decided what starts, where, and what is stopped."""

    strategy: str = choice(STRATEGIES, doc="How nodes are chosen", default="binpack")
    ties: str = choice(
        ("first", "shuffled", "random"),
        doc="Equal scores: the first node by name, the first in an order drawn once, or any",
        default="first",
    )
    weights: ScoreWeights = record(ScoreWeights, doc="Weights in scores", default="empty")
    gang: bool = flag(doc="Whether gangs are scheduled as such; without, pods start one by one", default=True)
    queueing: str = choice(
        ("best-effort", "strict"),
        doc="Whether later jobs overtake one that does not fit (backfill)",
        default="best-effort",
    )
    fair_sharing: bool = flag(doc="Kueue: jobs of the queue that borrows least for its weight go first", default=False)
    starvation_guard: float | None = quantity(
        "time",
        doc="What puts off a job that has waited so long is not started before it",
        default=None,
        above=0,
    )
    preemption: bool = flag(doc="Whether jobs are stopped for others", default=True)
    elastic: bool = flag(
        doc="Whether elastic jobs shrink and grow; without, they wait for all their pods", default=True
    )
    ready_timeout: float | None = quantity(
        "time", doc="A job gives back the pods it has, if it lacks others for so long", default=None, above=0
    )
    restart: float = quantity(
        "time", doc="What a restart or a change of size takes", default=0.0, default_text="0 s", minimum=0
    )
    horizon: float | None = quantity(
        "time", doc="When to stop looking; when all has ended if not given", default=None, above=0
    )
    failures: Failing = record(Failing, doc="Failures of nodes", default="empty")


class JobsFile(Declared):
    """One file of jobs and what they run on."""

    schema_version: int = integer(doc="Version of this format", default=JOBS_VERSION, minimum=1, maximum=JOBS_VERSION)
    name: str | None = text(doc="Name of the mix", default=None)
    pools: tuple[Pool, ...] = records(Pool, doc="Nodes, by kind", default=())
    queues: tuple[Queue, ...] = records(Queue, doc="Queues; one without limits if none is given", default=())
    cohorts: tuple[Cohort, ...] = records(
        Cohort, doc="Cohorts with a quota, limits or a parent; others need no entry", default=()
    )
    priorities: tuple[Priority, ...] = records(Priority, doc="Priority classes", default=())
    jobs: tuple[Job, ...] = records(Job, doc="Jobs", default=())
    trace: Trace | None = record(Trace, doc="Jobs from a trace instead", default=None)
    rules: Rules = record(Rules, doc="How it is decided what starts where", default="empty")
    notes: str | None = text(doc="What a reader should know", default=None)
