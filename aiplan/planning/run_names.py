"""What the results and the inputs of a run as a whole are called, and the unit each has."""

from __future__ import annotations

RUN_RESULTS = {
    "storage.read": ("Read rate of storage", "B/s"),
    "storage.write": ("Write rate of storage", "B/s"),
    "storage.kept": ("Bytes kept on storage", "B si"),
    "loading.demand": ("Rate at which training takes data", "B/s"),
    "loading.hits": ("Hits of the cache", "fraction"),
    "loading.rate": ("Rate at which data comes", "B/s"),
    "loading.utilisation": ("Accelerator utilisation, as MLPerf Storage counts", "fraction"),
    "loading.fetch": ("Time to read the data of a step", "s"),
    "loading.busy": ("Step without waiting for data", "s"),
    "loading.depth": ("Batches under way that hide the latency", "1"),
    "checkpoint.bytes": ("Checkpoint", "B si"),
    "checkpoint.writers": ("Processes that write", "1"),
    "checkpoint.writing_nodes": ("Nodes that write", "1"),
    "checkpoint.readers": ("Replicas that read their own weights", "1"),
    "checkpoint.replica_nodes": ("Nodes of a replica of the model", "1"),
    "checkpoint.write": ("Time to write a checkpoint", "s"),
    "checkpoint.stall": ("Stall of a save", "s"),
    "checkpoint.drain": ("From the stall until a save is durable", "s"),
    "checkpoint.replica": ("Copy to a peer", "s"),
    "checkpoint.host_memory": ("Host memory of a node for checkpoints", "B"),
    "checkpoint.restore_bytes": ("Read for a restart", "B si"),
    "checkpoint.load": ("Load from storage", "s"),
    "checkpoint.load_near": ("Load from the copy close by", "s"),
    "checkpoint.interval": ("Interval between saves", "s"),
    "checkpoint.storage_interval": ("Interval between saves that reach storage", "s"),
    "reliability.rate": ("Rate of interruptions", "1/s"),
    "reliability.mtbf": ("Mean time between interruptions", "s"),
    "reliability.near_share": ("Interruptions that a copy close by survives", "fraction"),
    "reliability.restart": ("Restart", "s"),
    "reliability.near_restart": ("Restart from the copy close by", "s"),
    "reliability.ettr": ("Effective training time ratio", "fraction"),
    "reliability.interruptions": ("Interruptions to expect", "1"),
    "run.goodput": ("Goodput", "fraction"),
    "run.wallclock_low": ("Wall clock, 5 % quantile", "s"),
    "run.wallclock_high": ("Wall clock, 95 % quantile", "s"),
    "total.carbon": ("Carbon dioxide of the whole run", "kg"),
    "total.power": ("Power of the facility", "W"),
    "total.cost_per_trillion_tokens": ("Cost per trillion tokens", "USD"),
}
"""Results of a run as a whole that stand beside its tree: label and unit."""
RUN_INPUT_UNITS = {
    **dict.fromkeys(
        (
            *(f"storage.{way}_{name}" for way in ("read", "write") for name in ("system", "requests", "client")),
            *(f"storage.{name}" for name in ("network", "core", "target", "cache_rate")),
            *(f"checkpoint.{name}" for name in ("writer_rate", "host_rate", "near_write", "near_read")),
        ),
        "B/s",
    ),
    **dict.fromkeys((f"storage.{name}" for name in ("record", "dataset", "cache", "capacity")), "B si"),
    **dict.fromkeys(
        (
            "storage.latency",
            *(f"checkpoint.{name}" for name in ("planning", "interval", "storage_interval")),
            *(f"reliability.{n}" for n in ("detect", "replace", "start", "initialise", "warm_up", "repair")),
            "reliability.evaluation_time",
            "reliability.maintenance_every",
            "reliability.maintenance_time",
            "reliability.accelerator_mtbf",
        ),
        "s",
    ),
    **dict.fromkeys(
        (
            *(f"storage.{way}_efficiency{end}" for way in ("read", "write") for end in ("", "_low", "_high")),
            *(f"checkpoint.{name}" for name in ("ratio", "joint_loss")),
            *(f"reliability.{name}" for name in ("node_share",)),
        ),
        "fraction",
    ),
    **dict.fromkeys(("checkpoint.weight_bytes", "checkpoint.state_bytes"), "B si"),
    **dict.fromkeys(("storage.file_rate", "storage.record_requests"), "1/s"),
    "storage.price": "USD/B/s",
}
