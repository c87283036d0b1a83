"""Sections 2.4 to 2.7 of the chapter: networks, collectives, scheduling, communication."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from chapter_row import FAILS, OUTSIDE, PER_BIT, TOLERANCE, Row, gigabits, judge, within
from lookups import entries, entry, estimated

from aiplan import units
from aiplan.core import collectives, trees
from aiplan.core.net import Net

if TYPE_CHECKING:
    from collections.abc import Iterator


def networks() -> Iterator[Row]:
    """Section 2.4.2."""
    stated = {"fdr": (56e9, 1e-6), "edr": (100e9, 0.6e-6), "hdr": (200e9, 0.5e-6), "ndr": (400e9, 0.3e-6)}
    for generation, (rate, latency) in stated.items():
        network = entry("networks", f"ib-{generation}")
        exact = network.bandwidth_one_way * PER_BIT
        label = units.parse(network.label, "data rate") * PER_BIT
        coded = exact != label
        yield Row(
            f"{generation.upper()}: {rate / 1e9:g} Gb/s",
            f"{gigabits(network.bandwidth_one_way)} of data one way",
            f"{network.label} is the rate on the label; line coding leaves the rest" if coded else "4 lanes, one way",
            judge(rate, exact, label),
        )
        yield Row(
            f"{generation.upper()}: about {latency * 1e6:g} us",
            f"{units.quantity(network.latency, 's')} published for a small message"
            if network.latency
            else "no end-to-end latency was found in print",
            f"{_latency_reading(network)} A step of a collective takes "
            f"{units.quantity(network.collective_latency, 's')}, protocol included, and that is what aiplan uses",
            within(bool(network.latency) and 2 / 3 <= latency / network.latency <= 3 / 2, reading=True),
        )


def _latency_reading(network: Any) -> str:
    older = entry("networks", "ib-edr")
    if network.latency is None:
        return f"A seed value of textbooks, below the {units.quantity(older.latency, 's')} published for EDR."
    if network.latency > older.latency and network.released > older.released:
        return "The order of magnitude. It did not fall from EDR to HDR: error correction was added."
    return "The order of magnitude."


def primitives() -> Iterator[Row]:
    """Sections 2.5.2 and 2.5.3."""
    link, h100 = entry("links", "nvlink4"), entry("accelerators", "h100-sxm")
    nbytes = 1024 * 1024 * units.parse("32 bit", "data")
    bandwidth = link.achieved.bandwidth_one_way * h100.scale_up.count
    whole, start = (
        float(collectives.ring_all_reduce_time(size, 4.0, bandwidth, link.latency)) for size in (nbytes, 0.0)
    )
    yield Row(
        "example: all-reduce of a 1024 x 1024 fp32 tensor over 4 GPUs",
        f"{units.quantity(nbytes, 'B')}; {units.quantity(whole, 's')} in a ring of H100 over NVLink",
        f"{start / whole:.0%} of it is latency: a message this small says little about bandwidth",
        OUTSIDE,
    )
    published = [n.latency for n in entries("networks") if n.rdma and n.latency]
    usual = sum(0.5e-6 <= t <= 2e-6 for t in published)
    step = entry("networks", "ib-ndr").collective_latency
    yield Row(
        "RDMA latency: about 1 to 2 us",
        f"{usual} of {len(published)} RDMA networks have a published latency of 0.5 to 2 us; "
        f"{units.quantity(step, 's')} for a step of a collective",
        "one small message between two hosts through one switch; not a step of NCCL, which is what training feels",
        within(usual > 0, reading=True),
    )
    yield Row(
        "NCCL 2.0 and later use RDMA over RoCE and InfiniBand",
        f"{sum(n.rdma for n in entries('networks'))} of {len(entries('networks'))} networks of the catalog have RDMA",
        "a version of software; aiplan asks only whether the network has RDMA",
        OUTSIDE,
    )


def ring_and_tree() -> Iterator[Row]:
    """Section 2.5.4."""
    counts = (2, 8, 64, 1024)
    size = 1e9
    rounds = {n: float(collectives.ring_all_reduce_time(0.0, float(n), inf, 1.0)) for n in counts}
    phases = {n: float(collectives.ring_all_gather_time(0.0, float(n), inf, 1.0)) for n in counts}
    yield Row(
        "ring: reduce-scatter takes N - 1 rounds, and so does all-gather",
        "; ".join(f"N = {n}: {phases[n]:g} and {phases[n]:g}" for n in counts),
        "",
        within(all(phases[n] == n - 1 and rounds[n] == 2 * (n - 1) for n in counts)),
    )
    volumes = {n: float(collectives.ring_all_reduce_volume(size, float(n))) for n in counts}
    yield Row(
        "ring: M/N is sent in each round",
        "; ".join(f"N = {n}: {volumes[n] / rounds[n] / size:.4g} M" for n in counts),
        "",
        within(all(abs(volumes[n] / rounds[n] * n / size - 1) < 1e-12 for n in counts)),
    )
    yield Row(
        "ring: total 2 (N - 1) M/N, about 2 M",
        "; ".join(f"N = {n}: {volumes[n] / size:.4g} M" for n in counts),
        "sent by each rank; the sum over ranks is N times as much. 'About 2 M' from some dozens of ranks on: two ranks "
        "send half of it",
        within(abs(volumes[1024] / size / 2 - 1) < TOLERANCE, reading=True),
    )
    yield Row(
        "ring all-reduce: time complexity O(n)",
        "; ".join(f"n = {n}: {rounds[n]:g} latencies" for n in counts),
        "the count of latencies grows with n; the bytes each rank sends stay below 2 M",
        within(rounds[1024] == 2 * 1023, reading=True),
    )
    depths = {n: float(trees.double_tree(0.0, float(n), Net(inside_latency=1.0))) for n in counts}
    yield Row(
        "tree all-reduce: depth O(log n)",
        "; ".join(f"n = {n}: {depths[n]:g} latencies" for n in counts),
        "up and down a tree of depth floor(log2 n)",
        within(depths[1024] == 20 and depths[64] == 12),
    )
    broadcast = {n: float(collectives.broadcast_volume(size, float(n))) for n in counts}
    levels = {n: float(collectives.binomial_tree_depth(float(n))) for n in counts}
    yield Row(
        "broadcast: depth O(log n)",
        "; ".join(f"n = {n}: depth {levels[n]:g}" for n in counts),
        "",
        within(levels[1024] == 10),
    )
    yield Row(
        "broadcast: total volume M (n - 1)",
        "; ".join(f"n = {n}: {broadcast[n] / size:g} M" for n in counts),
        "over all links together, without multicast in the switches",
        within(all(broadcast[n] == size * (n - 1) for n in counts)),
    )


def scheduling() -> Iterator[Row]:
    """Sections 2.6.3 and 2.6.5."""
    node = entry("nodes", "dgx-h100")
    yield Row(
        "example pod: nvidia.com/gpu: 8",
        f"{node.accelerators} GPUs in {node.name}: one whole node",
        "",
        within(node.accelerators == 8),
    )
    yield Row(
        "example deployment: 8 replicas with 1 GPU each",
        "8 ranks that may land on up to 8 nodes",
        "without gang scheduling and packing the ring leaves NVLink: see the two bandwidths in section 2.2.3",
        OUTSIDE,
    )


def communication() -> Iterator[Row]:
    """Section 2.7."""
    exact, halved = (
        estimated("ethernet-cluster", f"plan.gradient_precision={name}")["step.data.gradients"]
        for name in ("fp32", "bf16")
    )
    size = {name: units.parse(f"{bits} bit", "data") for name, bits in (("fp32", 32), ("fp16", 16), ("int8", 8))}
    yield Row(
        "gradients of 32 bit are sent as FP16 or INT8",
        f"{size['fp32'] / size['fp16']:g} times and {size['fp32'] / size['int8']:g} times fewer bytes; exposed "
        f"gradient reduction of `ethernet-cluster`: {units.quantity(exact, 's')} with fp32, "
        f"{units.quantity(halved, 's')} with 16 bit",
        "INT8 also sends its scales; aiplan models 32 and 16 bit",
        within(size["fp32"] / size["int8"] == 4 and halved < exact, reading=True),
    )
    buffer = units.parse("1 MiB", "data")
    yield Row(
        "NCCL_BUFFSIZE=1048576",
        units.quantity(buffer, "B"),
        "bytes for each connection. NCCL's own default is 4 MiB (https://docs.nvidia.com/deeplearning/nccl/user-guide/"
        "docs/env.html), so this saves memory and seldom time",
        judge(1048576, buffer),
    )
    yield Row(
        "CUDA_VISIBLE_DEVICES=0,1,2,3 binds GPUs to NUMA nodes",
        "nothing to compute",
        "it chooses which GPUs a process sees; processes are bound to NUMA nodes by the launcher or numactl",
        FAILS,
    )
    yield Row(
        "NCCL_IB_PORTS=1 sets a range of TCP ports",
        "nothing to compute",
        "NCCL documents no such variable (https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html); "
        "adapter and port are chosen with NCCL_IB_HCA, and RDMA has no TCP ports",
        FAILS,
    )
    yield Row(
        "NCCL_IB_TC=106, a traffic class",
        f"106 = {106 // 4} x 4 + {106 % 4}",
        f"the upper six bits are the service class {106 // 4}, the lower two are congestion bits; switches must be "
        "set up for the same class",
        OUTSIDE,
    )
