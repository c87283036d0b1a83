"""What can be turned to change an estimate: one row for each parameter of the hardware, the money and the work."""

from __future__ import annotations

from typing import NamedTuple


class Lever(NamedTuple):
    """A parameter that a what-if varies.

    `inputs` are the inputs of the engine, or of the run as a whole, that are scaled together, those of them that there
    are; the value shown is that of the first one that is not 0. Where other inputs follow from the parameter, `fields`
    are the fields of a scenario that are scaled instead, the first one being the value shown, and all is resolved
    again: the rules for a layout hold, the fabric is sized anew. `whole` says that these take whole numbers only, and
    `least` is the smallest value that there can be. `better` is 1 if more of it is better, -1 if less is, 0 if it is
    neither. A `network` lever is of use only where the catalog has a network between the nodes.
    """

    name: str
    noun: str
    group: str
    better: int
    inputs: tuple[str, ...]
    fields: tuple[str, ...] = ()
    whole: bool = True
    least: float = 0.0
    network: bool = False


HARDWARE, MONEY, WORK = "hardware", "money", "workload"
GROUPS = {HARDWARE: "Hardware", MONEY: "Price and power", WORK: "Workload and plan"}

POWERS = tuple(f"cluster.{name}" for name in ("device_power", "node_power", "network_power", "power"))

LEVERS = (
    Lever("matmul_rate", "the matmul rate", HARDWARE, 1, ("cluster.matmul_peak",)),
    Lever("attention_rate", "the attention rate", HARDWARE, 1, ("cluster.attention_peak",)),
    Lever("memory_bandwidth", "the HBM bandwidth", HARDWARE, 1, ("cluster.memory_bandwidth",)),
    Lever("memory_capacity", "the HBM capacity", HARDWARE, 1, ("cluster.memory_capacity",)),
    Lever("link_bandwidth", "the scale-up link bandwidth", HARDWARE, 1, ("cluster.link_bandwidth",)),
    Lever("link_latency", "the scale-up link latency", HARDWARE, -1, ("cluster.link_latency",)),
    Lever(
        "scale_up_domain", "the scale-up domain", HARDWARE, 1, ("cluster.domain",), ("cluster.domain",), network=True
    ),
    Lever(
        "nics", "the NICs", HARDWARE, 1, ("cluster.network_ports",), ("cluster.network.ports",), least=1.0, network=True
    ),
    Lever("nic_bandwidth", "the NIC bandwidth", HARDWARE, 1, ("cluster.network_bandwidth",)),
    Lever("network_latency", "the network latency", HARDWARE, -1, ("cluster.network_latency", "cluster.path_latency")),
    Lever(
        "oversubscription",
        "the oversubscription",
        HARDWARE,
        -1,
        ("cluster.oversubscription",),
        ("cluster.network.oversubscription",),
        whole=False,
        least=1.0,
        network=True,
    ),
    Lever(
        "nodes",
        "the nodes",
        HARDWARE,
        1,
        ("cluster.accelerators",),
        ("cluster.nodes", "cluster.accelerators", "plan.data"),
        least=1.0,
        network=True,
    ),
    Lever("launch_time", "the start-up time of kernels", HARDWARE, -1, ("cluster.launch",)),
    Lever("host_time", "the host's time to launch", HARDWARE, -1, ("cluster.host_time", "cluster.host_time_experts")),
    Lever("step_overhead", "the overhead of a step", HARDWARE, -1, ("cluster.step_overhead",)),
    Lever("coding_rate", "the compression rate", HARDWARE, 1, ("communication.coding_rate", "late.coding_rate")),
    Lever("reserved_memory", "the reserved memory", HARDWARE, -1, ("cluster.reserved_memory",)),
    Lever(
        "storage_rate",
        "the storage rate",
        HARDWARE,
        1,
        (
            "storage.read_client",
            "storage.write_client",
            "storage.read_system",
            "storage.write_system",
            "storage.read_requests",
            "storage.write_requests",
            "storage.target",
        ),
    ),
    Lever("mtbf", "the time between failures", HARDWARE, 1, ("reliability.accelerator_mtbf",)),
    Lever(
        "restart_time",
        "the time of a restart",
        HARDWARE,
        -1,
        (
            "reliability.detect",
            "reliability.replace",
            "reliability.start",
            "reliability.initialise",
            "reliability.warm_up",
        ),
    ),
    Lever("price", "the price", MONEY, -1, ("cluster.price",)),
    Lever("power", "the power draw", MONEY, -1, POWERS),
    Lever("pue", "the PUE", MONEY, -1, ("cluster.pue",), least=1.0),
    Lever("tokens", "the tokens", WORK, 0, ("workload.tokens",)),
    Lever("sequence", "the sequence length", WORK, 0, ("workload.sequence",), ("workload.sequence_length",)),
    Lever("global_batch", "the global batch", WORK, 0, ("workload.global_batch",), ("workload.global_batch",)),
    Lever("micro_batch", "the micro-batch", WORK, 0, ("plan.micro_batch",), ("plan.micro_batch",)),
)
"""A further parameter is a further row."""
