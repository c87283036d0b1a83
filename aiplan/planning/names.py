"""What the numbers of an estimate are called for people, and the unit each has."""

from __future__ import annotations

from aiplan.engine.tree import BRANCHES
from aiplan.planning.run_names import RUN_INPUT_UNITS, RUN_RESULTS

LABELS = {
    **{name: text for name, (text, _) in RUN_RESULTS.items()},
    "memory.stage": "Fullest pipeline stage",
    "memory.capacity": "Memory of an accelerator",
    "memory.needed": "Memory that a step cannot do without",
    "host.memory": "States in the memory of a node's host",
    "parameters.total": "Parameters",
    "parameters.active": "Parameters that a token passes",
    "run.tokens_per_s_per_gpu": "Tokens per second and accelerator",
    "run.steps": "Optimizer steps",
    "run.time_to_train": "Time to train",
    "run.cost": "Rental cost",
    "run.power": "Power of the facility for the steps",
    "run.electricity": "Cost of electricity",
    "run.carbon": "Carbon dioxide",
    "flops_per_token": "Operations per token",
    "flops_per_s": "Operations per second and accelerator",
    "utilisation": "Utilisation of the peak",
}
UNITS = {
    **{name: unit for name, (_, unit) in RUN_RESULTS.items()},
    **RUN_INPUT_UNITS,
    "memory.stage": "1",
    "run.time_to_train": "s",
    "run.cost": "USD",
    "run.power": "W",
    "run.electricity": "USD",
    "run.carbon": "kg",
    "flops_per_token": "FLOP",
    "flops_per_s": "FLOP/s",
    "utilisation": "fraction",
    "workload.weight_bytes": "B si",
    "workload.activation_bytes": "B si",
    "workload.matmul_bytes": "B si",
    "workload.gradient_bytes": "B si",
    "workload.kept_gradient_bytes": "B si",
    "workload.shard_gradient_bytes": "B si",
    "workload.loss_bytes": "B si",
    "workload.optimizer_bytes": "B si",
    "memory.capacity": "B",
    "memory.needed": "B",
    "cluster.matmul_peak": "FLOP/s",
    "cluster.attention_peak": "FLOP/s",
    "cluster.matmul_fraction": "fraction",
    "cluster.attention_fraction": "fraction",
    "cluster.memory_capacity": "B",
    "cluster.memory_bandwidth": "B/s",
    "cluster.memory_fraction": "fraction",
    "cluster.launch": "s",
    "cluster.link_bandwidth": "B/s",
    "cluster.host_link": "B/s",
    "cluster.host_update_rate": "B/s",
    "cluster.host_memory": "B",
    "host.memory": "B",
    "cluster.link_fraction": "fraction",
    "cluster.link_latency": "s",
    "cluster.network_bandwidth": "B/s",
    "cluster.network_fraction": "fraction",
    "cluster.network_latency": "s",
    "cluster.path_latency": "s",
    "cluster.reserved_memory": "B",
    "cluster.fragmentation": "fraction",
    "plan.run_ahead": "fraction",
    "communication.value_bytes": "B si",
    "communication.index_bytes": "B si",
    "communication.density": "fraction",
    "communication.coding_rate": "B/s",
    "communication.bucket": "B",
    "communication.first_bucket": "B",
    "communication.late_share": "fraction",
    **dict.fromkeys((f"cluster.{name}" for name in ("power", "device_power", "node_power", "network_power")), "W"),
    "cluster.waiting_share": "fraction",
    "cluster.idle_share": "fraction",
    "cluster.carbon_intensity": "kg/J",
    "cluster.electricity_price": "USD/J",
    "cluster.price": "USD/s",
}


def label(name: str) -> str:
    """Return what a term is called; an input goes by its dotted name."""
    if name in BRANCHES:
        return BRANCHES[name].label
    if name.startswith(("storage.read.", "storage.write.")):
        way, stage = name.removeprefix("storage.").split(".")
        return f"{way.capitalize()} rate of storage by its {stage}"
    return LABELS.get(name) or LABELS.get(name.partition(".")[0], name)


def unit(name: str) -> str:
    """Return the unit of a term or an input; `1` for a plain number."""
    if name in BRANCHES:
        return BRANCHES[name].unit
    if name.startswith(("storage.read", "storage.write")) and name not in UNITS:
        return "B/s"
    group, _, field = name.partition(".")
    return UNITS.get(f"communication.{field}" if group == "late" else name) or UNITS.get(group, "1")
