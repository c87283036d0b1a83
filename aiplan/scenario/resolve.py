"""Every number the engine needs, with its origin: given, from the catalog, derived, default or assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.scenario import host, money, power
from aiplan.scenario.communication import communication_values
from aiplan.scenario.files import locate
from aiplan.scenario.resolve_fabric import fabric_values
from aiplan.scenario.resolve_plan import plan_values
from aiplan.scenario.resolve_storage import Found
from aiplan.scenario.values import Value, assumed, default, derived, first, from_file

if TYPE_CHECKING:
    from aiplan.catalog.records import Accelerator, Link, Network, Node, Price, Region, Switch
    from aiplan.declare import Diagnostics, Origins
    from aiplan.declare import Node as Tree
    from aiplan.scenario.model import Model
    from aiplan.scenario.records import ScenarioFile
    from aiplan.scenario.software import Software

HALF_TYPES = ("bf16", "fp16")
ELEMENT_BYTES = {"fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "mxfp8": 1, "nvfp4": 0.5}
PEAK_TYPE = {"mxfp8": "fp8", "nvfp4": "fp4"}
OPTIMIZER_BYTES = {"adam": 8, "adam-bf16-states": 4, "adam-8bit": 2, "sgd": 0, "sgd-momentum": 4}
MASTER_BYTES = 4
NORM_VECTORS = {"layernorm": 2, "rmsnorm": 1, "layernorm-no-bias": 1, "none": 0}

# Defaults for accelerators on which no training runs were fitted. The share of the best matmul that training sustains
# is the median over those on which runs were fitted (A100 0.91, H100 0.83, GB200 0.68, B200 0.54).
TRAINING_OVER_BEST_MATMUL = 0.75
MATMUL_FRACTION = 0.6
ATTENTION_FRACTION = 0.3
MEMORY_FRACTION = 0.7
KERNELS = (
    "expert_share",
    "expert_lost_work",
    "expert_passes",
    "attention_share",
    "attention_ramp",
)
"""What a software preset says about its kernels, taken as it is."""
LATE = ("late_host", "late_reduction")
"""What it says about hosts that `cluster.hosts` calls late."""
MATMUL_DEPTH = 0.0
LINK_FRACTION = 0.8
LINK_LATENCY = 3e-6
NETWORK_FRACTION = 0.9
RDMA_LATENCY = 10e-6
TCP_LATENCY = 50e-6


class Parts(NamedTuple):
    """What a scenario consists of, looked up, with the origins of all values."""

    file: ScenarioFile
    origins: Origins
    model: Model
    model_origins: Origins
    software: Software
    software_origins: Origins
    node: Node
    node_origins: Origins
    accelerator: Accelerator
    accelerator_origins: Origins
    link: tuple[Link, Origins] | None
    network: tuple[Network, Origins] | None
    switch: tuple[Switch, Origins] | None
    region: Region
    region_origins: Origins
    storage: Found = Found()
    host_link: tuple[Link, Origins] | None = None


def resolve(parts: Parts, tree: Tree, diagnostics: Diagnostics) -> dict[str, Value] | None:
    """Return all values by dotted name; None, and what is wrong noted, if the device cannot do what is asked."""
    peaks = _peaks(parts, tree, diagnostics)
    network = _network(parts)
    fabric = fabric_values(parts, network, scale_up_domain(parts), tree, diagnostics)
    if peaks is None or fabric is None:
        return None
    groups = {
        "model": model_values(parts.model, parts.model_origins),
        "cluster": peaks
        | _device(parts)
        | _links(parts)
        | network
        | fabric[0]
        | _money(parts, fabric[1])
        | host.host_values(parts),
    }
    return _dotted(groups) | resolve_layout(parts)


def resolve_layout(parts: Parts) -> dict[str, Value]:
    """Return the values that rest on the plan, and those that belong with them, by dotted name."""
    workload = _workload(parts)
    groups = {"workload": workload, "cluster": _host_times(parts), "plan": plan_values(parts)}
    return _dotted(groups) | communication_values(parts, workload["gradient_bytes"])


def _dotted(groups: dict[str, dict[str, Value]]) -> dict[str, Value]:
    return {f"{group}.{name}": value for group, values in groups.items() for name, value in values.items()}


def model_values(model: Model, origins: Origins) -> dict[str, Value]:
    """Return the numbers of a network's shape."""

    def own(number: float | None, path: str) -> Value:
        return from_file(number, origins, path)

    kv_heads = own(model.kv_heads, "kv_heads") if model.kv_heads else derived(model.heads, "as many as heads")
    head_dim = (
        own(model.head_dim, "head_dim") if model.head_dim else derived(model.hidden // model.heads, "hidden / heads")
    )
    norm = Value(float(NORM_VECTORS[model.norm]), own(0, "norm").origin)
    window_layers = (model.window.layers or model.layers) if model.window else 0
    values = {
        "layers": own(model.layers, "layers"),
        "hidden": own(model.hidden, "hidden"),
        "heads": own(model.heads, "heads"),
        "kv_heads": kv_heads,
        "head_dim": head_dim,
        "ffn": own(model.ffn or 0, "ffn"),
        "gated": own(model.gated, "gated"),
        "vocab": own(model.vocab, "vocab"),
        "positions": own(model.positions, "positions"),
        "tied": own(model.tied, "tied"),
        "norm_vectors": norm,
        "norms_per_layer": own(model.norms_per_layer, "norms_per_layer"),
        "embedding_norm": own(model.embedding_norm, "embedding_norm"),
        "final_norm": own(model.final_norm, "final_norm"),
        "qk_norm_head": own(model.qk_norm == "head", "qk_norm"),
        "qk_norm_full": own(model.qk_norm == "full", "qk_norm"),
        "qkv_bias": own(model.bias.qkv, "bias.qkv"),
        "output_bias": own(model.bias.attention_output, "bias.attention_output"),
        "mlp_bias": own(model.bias.mlp, "bias.mlp"),
        "head_bias": own(model.bias.head, "bias.head"),
        "sinks": own(model.attention_sinks, "attention_sinks"),
        "parallel_block": own(model.parallel_block, "parallel_block"),
        "window": own(model.window.size if model.window else 0, "window.size"),
        "window_layers": own(window_layers, "window.layers"),
        "mtp_layers": own(model.mtp_layers, "mtp_layers"),
        "stated_parameters": own(model.parameters, "parameters"),
    }
    return values | _experts(model, origins) | _latent(model, origins)


def _experts(model: Model, origins: Origins) -> dict[str, Value]:
    names = ("count", "top_k", "ffn", "shared_ffn", "router_bias", "shared_gate")
    numbers = [getattr(model.experts, name) if model.experts else 0 for name in names]
    columns = ("experts", "top_k", "expert_ffn", "shared_ffn", "router_bias", "shared_gate")
    values = {
        column: from_file(number, origins, f"experts.{name}")
        for column, name, number in zip(columns, names, numbers, strict=True)
    }
    layers = (model.experts.layers or model.layers) if model.experts else 0
    return values | {"moe_layers": from_file(layers, origins, "experts.layers")}


def _latent(model: Model, origins: Origins) -> dict[str, Value]:
    names = ("query_rank", "key_value_rank", "nope_dim", "rope_dim", "value_dim")
    latent = model.latent_attention
    values = {
        name: from_file(getattr(latent, name) if latent else 0, origins, f"latent_attention.{name}") for name in names
    }
    return values | {"latent": from_file(latent is not None, origins, "latent_attention.key_value_rank")}


def _workload(parts: Parts) -> dict[str, Value]:
    work, origins = parts.file.workload, parts.origins

    def own(number: float | None, path: str) -> Value:
        return from_file(number, origins, f"workload.{path}")

    whole = work.precision in {"fp32", "tf32"}
    size = 4 if whole else 2
    gradient = _gradient_precision(parts)
    master = 0 if whole or work.optimizer == "adam-bf16-states" else MASTER_BYTES
    precision, optimizer = own(0, "precision").origin, own(0, "optimizer").origin
    return {
        "tokens": own(work.tokens, "tokens"),
        "sequence": own(work.sequence_length, "sequence_length"),
        "global_batch": own(work.global_batch, "global_batch"),
        "weight_bytes": Value(float(size), precision),
        "activation_bytes": Value(float(size), precision),
        "matmul_bytes": Value(float(ELEMENT_BYTES[work.precision]), precision),
        "gradient_bytes": Value(4.0, precision) if whole else gradient,
        "loss_bytes": from_file(parts.software.loss_bytes, parts.software_origins, "loss_bytes"),
        "optimizer_bytes": Value(float(master + OPTIMIZER_BYTES[work.optimizer]), optimizer),
        "dropout": from_file(parts.software.dropout, parts.software_origins, "dropout"),
    } | _held_gradients(parts, Value(4.0, precision) if whole else gradient, size)


def _held_gradients(parts: Parts, added_up: Value, raw: float) -> dict[str, Value]:
    """Return the bytes per parameter that gradients take on a rank, and in its shard of the optimizer besides."""
    preset, origins = parts.software, parts.software_origins
    if preset.half_gradients_with_fp16 and parts.file.workload.precision == "fp16":
        return {
            "kept_gradient_bytes": from_file(raw, origins, "half_gradients_with_fp16"),
            "shard_gradient_bytes": from_file(MASTER_BYTES, origins, "half_gradients_with_fp16"),
        }
    with_raw = from_file(added_up.number + raw, origins, "raw_gradients")
    return {
        "kept_gradient_bytes": with_raw if preset.raw_gradients else added_up,
        "shard_gradient_bytes": from_file(0.0, origins, "half_gradients_with_fp16"),
    }


def _gradient_precision(parts: Parts) -> Value:
    given = parts.file.plan.gradient_precision
    if given is not None:
        return from_file(ELEMENT_BYTES[given], parts.origins, "plan.gradient_precision")
    if parts.software.half_gradients_with_fp16 and parts.file.workload.precision == "fp16":
        return from_file(ELEMENT_BYTES["fp16"], parts.software_origins, "half_gradients_with_fp16")
    return from_file(ELEMENT_BYTES[parts.software.gradient_precision], parts.software_origins, "gradient_precision")


def _peaks(parts: Parts, tree: Tree, diagnostics: Diagnostics) -> dict[str, Value] | None:
    device, precision = parts.accelerator, parts.file.workload.precision
    fast = next((name for name in HALF_TYPES if name in device.compute), None)
    dtype = PEAK_TYPE.get(precision, precision)
    attention = fast if ELEMENT_BYTES[precision] <= 1 else dtype  # attention stays in the half type
    if dtype not in device.compute or attention is None:
        listed = ", ".join(name for name in ELEMENT_BYTES if PEAK_TYPE.get(name, name) in device.compute)
        diagnostics.error(
            "AIP203",
            f"{device.name} has no {precision} peak in the catalog",
            locate(tree, "workload.precision"),
            hint=f"it has {listed}",
        )
        return None

    def peak(name: str) -> Value:
        return from_file(device.compute[name], parts.accelerator_origins, f"compute.{name}")

    return {"matmul_peak": peak(dtype), "attention_peak": peak(attention)}


def _device(parts: Parts) -> dict[str, Value]:
    device, origins = parts.accelerator, parts.accelerator_origins
    node, cluster = parts.node, parts.file.cluster

    def own(number: float | None, path: str) -> Value:
        return from_file(number, origins, path)

    total = cluster.nodes * node.accelerators
    accelerators = (
        from_file(cluster.accelerators, parts.origins, "cluster.accelerators")
        if cluster.accelerators
        else derived(total, f"{cluster.nodes} nodes x {node.accelerators}")
    )
    fitted = device.fitted
    cores = (
        own(device.multiprocessors, "multiprocessors")
        if device.multiprocessors
        else assumed(0, "unknown: no wave effect")
    )
    software = parts.software_origins
    return {
        "accelerators": accelerators,
        "accelerators_per_node": from_file(node.accelerators, parts.node_origins, "accelerators"),
        "domain": scale_up_domain(parts),
        "matmul_fraction": _matmul_fraction(parts),
        "attention_fraction": own(fitted.attention_fraction, "fitted.attention_fraction")
        if fitted
        else default(ATTENTION_FRACTION, "usual for fused attention; no runs fitted on this accelerator"),
        "multiprocessors": cores,
        "memory_capacity": own(device.memory.capacity, "memory.capacity"),
        "memory_bandwidth": own(device.memory.bandwidth, "memory.bandwidth"),
        "memory_fraction": own(fitted.memory_fraction, "fitted.memory_fraction")
        if fitted
        else default(MEMORY_FRACTION, "as on the A100; no runs fitted on this accelerator"),
        "matmul_depth": own(fitted.matmul_depth, "fitted.matmul_depth")
        if fitted
        else default(MATMUL_DEPTH, "as on the A100; no runs fitted on this accelerator"),
        "kernel_share": from_file(parts.software.kernel_share, software, "kernel_share"),
        **{name: from_file(getattr(parts.software, name), software, name) for name in KERNELS},
        "straggling": from_file(parts.software.straggling, software, "straggling"),
        "step_overhead": from_file(parts.software.step_overhead, software, "step_overhead"),
        "launch": from_file(parts.software.launch, software, "launch"),
        "reserved_memory": from_file(parts.software.reserved_memory, software, "reserved_memory"),
        "fragmentation": from_file(parts.software.fragmentation, software, "fragmentation"),
    }


def _host_times(parts: Parts) -> dict[str, Value]:
    """Return the time the host takes to start the kernels of a layer, of which graphs spare some or all."""
    preset, origins, graphs = parts.software, parts.software_origins, parts.file.plan.cuda_graphs
    if graphs == "full":
        none = from_file(0.0, parts.origins, "plan.cuda_graphs")
        return {"host_time": none, "host_time_experts": none, **dict.fromkeys(LATE, none)}
    layer = preset.host_time if graphs == "none" else 0.0
    late, none = parts.file.cluster.hosts == "late", from_file(0.0, parts.origins, "cluster.hosts")
    return {
        "host_time": from_file(layer, origins, "host_time"),
        "host_time_experts": from_file(preset.host_time_experts, origins, "host_time_experts"),
        **{name: from_file(getattr(preset, name), origins, name) if late else none for name in LATE},
    }


def scale_up_domain(parts: Parts) -> Value:
    """Return the accelerators that share a scale-up network."""
    given, node = parts.file.cluster.domain, parts.node
    if given is not None:
        return from_file(given, parts.origins, "cluster.domain")
    path = "accelerators" if node.scale_up.domain is None else "scale_up.domain"
    return from_file(node.scale_up.domain or node.accelerators, parts.node_origins, path)


def _matmul_fraction(parts: Parts) -> Value:
    """Return the share of the peak that matmuls sustain: fitted, or from the best matmul measured, or assumed."""
    device, precision = parts.accelerator, parts.file.workload.precision
    dtype = PEAK_TYPE.get(precision, precision)
    if device.fitted is not None:
        narrow = device.fitted.matmul_fraction_by_type
        path = f"fitted.matmul_fraction_by_type.{dtype}" if dtype in narrow else "fitted.matmul_fraction"
        return from_file(narrow.get(dtype, device.fitted.matmul_fraction), parts.accelerator_origins, path)
    usual = usual_matmul_fraction(device, dtype)
    if usual is None:
        return assumed(MATMUL_FRACTION, "no runs fitted and no matmul measured on this accelerator")
    return default(
        usual, f"{TRAINING_OVER_BEST_MATMUL} of the best matmul measured, the median of the fitted accelerators"
    )


def usual_matmul_fraction(device: Accelerator, dtype: str) -> float | None:
    """Return the share of the peak that training usually sustains, from the best matmul measured, if there is one."""
    best = device.achieved.matmul if device.achieved else {}
    name = next((name for name in (dtype, *HALF_TYPES) if name in best), None)
    return None if name is None else TRAINING_OVER_BEST_MATMUL * best[name] / device.compute[name]


def _links(parts: Parts) -> dict[str, Value]:
    use = parts.accelerator.scale_up or parts.accelerator.host_link
    if parts.link is None or use is None or parts.link[0].bandwidth_one_way is None:
        unknown = "no link between accelerators in the catalog"
        return {
            "link_bandwidth": assumed(float("inf") if parts.node.accelerators == 1 else float("nan"), unknown),
            "link_fraction": assumed(1.0, unknown),
            "link_latency": assumed(LINK_LATENCY, unknown),
        }
    link, origins = parts.link
    rate = link.bandwidth_one_way or 0.0
    origin = from_file(rate, origins, "bandwidth_one_way").origin
    fraction = (
        Value(link.achieved.bandwidth_one_way / rate, from_file(0, origins, "achieved.bandwidth_one_way").origin)
        if link.achieved
        else default(LINK_FRACTION, "usual share of a link's rate that collectives reach")
    )
    latency = (
        from_file(link.latency, origins, "latency")
        if link.latency
        else default(LINK_LATENCY, "usual step inside a node")
    )
    return {
        "link_bandwidth": Value(rate * min(parts.node.scale_up.links or use.count, use.count), origin),
        "link_fraction": fraction,
        "link_latency": latency,
    }


def _network(parts: Parts) -> dict[str, Value]:
    use, origins = parts.file.cluster.network, parts.origins
    if parts.network is None:
        single = "one node: no network used"
        return {
            "network_ports": derived(1, single),
            "network_bandwidth": derived(float("inf"), single),
            "network_fraction": derived(1, single),
            "network_latency": derived(0, single),
        }
    network, network_origins = parts.network
    ports = first(
        (
            from_file(use.ports, origins, "cluster.network.ports") if use.ports else None,
            from_file(parts.node.nics[0].count, parts.node_origins, "nics[0].count") if parts.node.nics else None,
            assumed(1, "one port per node"),
        )
    )
    return {
        "network_ports": ports,
        "network_bandwidth": from_file(network.bandwidth_one_way, network_origins, "bandwidth_one_way"),
        "network_fraction": _network_fraction(parts, network, network_origins),
        "network_latency": _network_latency(network, network_origins),
    }


def _network_fraction(parts: Parts, network: Network, origins: Origins) -> Value:
    given = parts.file.cluster.network.efficiency
    if given is not None:
        return from_file(given, parts.origins, "cluster.network.efficiency")
    if network.achieved is not None:
        share = network.achieved.bandwidth_one_way / network.bandwidth_one_way
        return Value(share, from_file(0, origins, "achieved.bandwidth_one_way").origin)
    if network.efficiency is not None:
        return from_file(network.efficiency, origins, "efficiency")
    return default(NETWORK_FRACTION, "usual share of a port's rate that long messages reach")


def _network_latency(network: Network, origins: Origins) -> Value:
    if network.collective_latency is not None:
        return from_file(network.collective_latency, origins, "collective_latency")
    usual = RDMA_LATENCY if network.rdma else TCP_LATENCY
    return default(usual, "usual network step of a collective, protocol included")


def _money(parts: Parts, network: tuple[Value, float]) -> dict[str, Value]:
    region, origins = parts.region, parts.region_origins
    draw = power.power_values(parts, network)
    drawn = sum(draw[name].number for name in ("device_power", "node_power", "network_power"))
    return draw | {
        "carbon_intensity": from_file(region.carbon, origins, "carbon"),
        "electricity_price": from_file(region.electricity, origins, "electricity"),
        "price": money.price(parts, _price(parts), drawn, draw["pue"].number),
    }


def _price(parts: Parts) -> Value:
    if parts.file.cluster.price is not None:
        return from_file(parts.file.cluster.price, parts.origins, "cluster.price")
    whole = _on_demand(parts.node.per_hour)
    if whole:
        return Value(
            median(whole) / parts.node.accelerators,
            from_file(0, parts.node_origins, "per_hour[0].per_hour").origin,
        )
    each = _on_demand(parts.accelerator.prices)
    if each:
        return assumed(
            median(each), f"median of {len(each)} on-demand prices of {parts.accelerator.name} in the catalog"
        )
    spread = parts.accelerator.price_range
    if spread is not None:
        return assumed(
            sum(spread.per_hour) / 2, f"middle of the price range of {parts.accelerator.name} in the catalog"
        )
    return assumed(float("nan"), "no price in the catalog: give cluster.price")


def median(numbers: list[float]) -> float:
    """Return the middle of some numbers, or the mean of the two in the middle."""
    ordered, half = sorted(numbers), len(numbers) // 2
    return ordered[half] if len(numbers) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _on_demand(prices: tuple[Price, ...]) -> list[float]:
    return [sum(price.per_hour) / 2 for price in prices if price.terms == "on-demand"]
