"""Sections 2.1 to 2.3 of the chapter: cluster, nodes, storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chapter_row import GPT3, OUTSIDE, PER_BIT, Row, gigabits, judge, power, span, within
from lookups import entries, entry, estimated

from aiplan import units
from aiplan.core import memory, training

if TYPE_CHECKING:
    from collections.abc import Iterator


def why_a_cluster() -> Iterator[Row]:
    """Section 2.1.1."""
    run = estimated(GPT3)
    tokens = run.scenario.file.workload.tokens or 0.0
    flops = {name: run[f"flops_per_token.{name}"] * tokens for name in ("6nd", "megatron", "full", "hardware")}
    petaflop_day = units.parse("1 PFLOP/s", "compute rate") * units.parse("1 day", "time")
    days = flops["6nd"] / petaflop_day
    stated = 3.64e23
    yield Row(
        "training GPT-3 takes about 3.64 x 10^23 FLOP",
        f"{power(flops['6nd'])} FLOP = 6 x {run['parameters.total']:,.0f} parameters x {power(tokens)} tokens; "
        f"{power(flops['megatron'])} with causal attention and the output head, "
        f"{power(flops['full'])} with full attention, "
        f"{power(flops['hardware'])} with full recomputation",
        f"{days:,.0f} PFLOP/s-days: the published figure is 3,640 of these (https://arxiv.org/abs/2005.14165), so the "
        f"digits fit and the unit does not. As FLOP it is {stated / flops['6nd'] - 1:.0%} above 6 N D, and no "
        "convention of counting gives it",
        judge(stated, flops["6nd"], flops["megatron"]),
    )
    peak = entry("accelerators", "a100-sxm-80gb").compute["bf16"]
    year = units.parse("1 year", "time")
    implied = stated / (304 * year)
    reached = run["utilisation.megatron"]
    alone = training.time_to_train(flops["megatron"], 1.0 / (peak * reached))
    yield Row(
        "one A100 would need about 304 years",
        f"{units.duration(alone)} at the {reached:.0%} of {units.quantity(peak, 'FLOP/s')} that 1,024 of them reach "
        f"in the scenario `{GPT3}`; {units.duration(stated / peak)} for 3.64 x 10^23 FLOP at the full dense peak",
        f"304 years for 3.64 x 10^23 FLOP are {units.quantity(implied, 'FLOP/s')}, {implied / peak:.1%} of the bf16 "
        f"peak; for {power(flops['6nd'])} FLOP they are {flops['6nd'] / (304 * year) / peak:.1%}. "
        "No tuned run is that slow",
        judge(304 * year, float(alone)),
    )
    single = estimated(GPT3, "cluster.accelerators=1", "plan.tensor=1", "plan.pipeline=1")
    yield Row(
        "(the same) on a single A100",
        f"{units.quantity(single['memory'], 'B')} of device memory needed, "
        f"{units.quantity(single['memory.capacity'], 'B')} there",
        "a thought experiment about arithmetic: the model does not fit into one accelerator",
        within(single["memory"] > single["memory.capacity"], reading=True),
    )
    more = {nodes * 8: estimated(GPT3, f"cluster.nodes={nodes}") for nodes in (128, 256, 512)}
    durations = {count: other["run.time_to_train"] for count, other in more.items()}
    week = units.parse("1 week", "time")
    yield Row(
        "thousands of GPUs still need weeks, even months",
        "; ".join(f"{count:,} A100: {units.duration(t)}" for count, t in durations.items()),
        "weeks from one to four thousand A100 for GPT-3; months for larger models, such as "
        f"{units.duration(estimated('llama-3.1-405b-h100')['run.time_to_train'])} for Llama 3.1 405B on 2,048 H100",
        within(min(durations.values()) > week, reading=True),
    )


def structure() -> Iterator[Row]:
    """Section 2.1.2."""
    counts = [node.accelerators for node in entries("nodes")]
    many = sum(count >= 8 for count in counts)
    yield Row(
        "servers usually have 8 accelerators or more",
        f"{many} of the {len(counts)} nodes of the catalog",
        "",
        within(many > len(counts) / 2),
    )
    fast = [n.bandwidth_one_way * PER_BIT for n in entries("networks") if n.kind in {"infiniband", "roce"}]
    yield Row(
        "InfiniBand and RoCE bring 100 or even 400 Gb/s",
        f"{len([r for r in fast if 100e9 <= r <= 400e9])} of {len(fast)} such networks in the catalog lie between; "
        f"{len([r for r in fast if r > 400e9])} are faster",
        "one port, one way; a node has up to eight",
        within(100e9 in fast and 400e9 in fast),
    )


def key_figures() -> Iterator[Row]:
    """Section 2.1.3."""
    h100 = entry("accelerators", "h100-sxm")
    sparse = h100.compute["fp16"] * h100.sparsity
    yield Row(
        "H100 FP16: 1979 TFLOPS",
        f"{units.quantity(h100.compute['fp16'], 'FLOP/s', 4)} dense",
        f"with 2:4 sparsity: x {h100.sparsity:g} = {units.quantity(sparse, 'FLOP/s', 4)}. Training is dense, and every "
        "utilisation here is of the dense peak",
        judge(1979e12, h100.compute["fp16"], sparse),
    )
    yield Row(
        "H100 memory bandwidth: 3.35 TB/s",
        units.quantity(h100.memory.bandwidth, "B/s"),
        "the SXM part with HBM3; the PCIe card has "
        f"{units.quantity(entry('accelerators', 'h100-pcie').memory.bandwidth, 'B/s')}",
        judge(3.35e12, h100.memory.bandwidth),
    )
    hdr = entry("networks", "ib-hdr")
    yield Row(
        "InfiniBand HDR: 200 Gb/s one way",
        f"{gigabits(hdr.bandwidth_one_way)} = {units.quantity(hdr.bandwidth_one_way, 'B/s')}",
        f"per port; long messages reach {units.quantity(hdr.achieved.bandwidth_one_way, 'B/s')}",
        judge(200e9, hdr.bandwidth_one_way * PER_BIT),
    )
    rdma, plain = ([n.latency for n in entries("networks") if n.latency and n.rdma is kind] for kind in (True, False))
    yield Row(
        "RDMA lowers network latency to microseconds",
        f"{span(min(rdma), max(rdma), 's')} with RDMA, {span(min(plain), max(plain), 's')} without",
        "published latency of a small message; a step of a collective takes longer, see RDMA below",
        within(max(rdma) < min(plain)),
    )


def compute_nodes() -> Iterator[Row]:
    """Section 2.2.1."""
    a100, h100 = entry("nodes", "dgx-a100-80gb"), entry("nodes", "dgx-h100")
    yield Row("two processors in a server", f"{a100.name}: {a100.cpu}", "", within(a100.cpu.startswith("2x")))
    capacity = h100.local_storage.drives * h100.local_storage.drive_capacity
    yield Row(
        "NVMe in the order of TB, memory in the order of TB",
        f"{h100.name}: {units.quantity(capacity, 'B si')} of NVMe, {units.quantity(h100.memory, 'B si')} of memory",
        "",
        within(capacity > 1e12 and h100.memory > 1e12),
    )
    cards = [entry("accelerators", node.accelerator) for node in (a100, h100)]
    yield Row(
        "example server: 8 x A100 or H100 with 80 GB",
        "; ".join(f"{c.name}: {units.quantity(c.memory.capacity, 'B')} usable" for c in cards),
        "80 GB is the label: 80 GiB on the A100, a little less on the H100",
        within(
            a100.accelerators == h100.accelerators == 8 and {c.memory.label for c in cards} == {"80 GB"}, reading=True
        ),
    )
    yield Row(
        "example server: 2 TB of DRAM",
        f"{units.quantity(a100.memory, 'B si')} in {a100.name} and in {h100.name}",
        "2,048 GB: memory comes in powers of two",
        within(a100.memory == h100.memory == 2048e9, reading=True),
    )
    drives = a100.local_storage
    yield Row(
        "example server: 2 x 3.84 TB NVMe",
        f"{drives.drives} x {units.quantity(drives.drive_capacity, 'B si')} in {a100.name}, as many in {h100.name}",
        "the size of a drive holds, the count is that of a small server: a training cache wants the eight",
        within(drives.drive_capacity == 3.84e12, reading=drives.drives != 2),
    )
    one, eight = (estimated(GPT3, f"cluster.network.ports={ports}") for ports in (1, 8))
    yield Row(
        "example server: 200 Gb/s InfiniBand HDR",
        f"{a100.nics[0].count} ports of {gigabits(entry('networks', 'ib-hdr').bandwidth_one_way)} in {a100.name}; "
        f"a step of `{GPT3}` takes {units.quantity(eight['step'], 's')} with 8 ports "
        f"and {units.quantity(one['step'], 's')} with 1",
        "per port: with one port a node, eight GPUs share 25 GB/s",
        within(a100.nics[0].network == "ib-hdr", reading=True),
    )


def gpus() -> Iterator[Row]:
    """Section 2.2.2."""
    cores = {name: entry("accelerators", name).multiprocessors for name in ("a100-sxm-80gb", "h100-sxm")}
    yield Row(
        "a GPU has thousands of CUDA cores",
        f"{cores['a100-sxm-80gb']} multiprocessors on the A100, {cores['h100-sxm']} on the H100",
        "aiplan counts multiprocessors only: they decide how well the tiles of a matrix product fill the device",
        OUTSIDE,
    )
    stacked = [a.memory.bandwidth for a in entries("accelerators") if (a.memory.type or "").startswith("HBM")]
    yield Row(
        "HBM: bandwidth in the order of TB/s",
        f"{span(min(stacked), max(stacked), 'B/s')} over {len(stacked)} devices; "
        f"{sum(b >= 1e12 for b in stacked)} of them reach 1 TB/s",
        "the order of magnitude; the oldest stay just below 1 TB/s",
        within(sum(b >= 1e12 for b in stacked) > len(stacked) / 2, reading=min(stacked) < 1e12),
    )
    yield Row(
        "32 threads form a warp",
        "no model needs it",
        "true of NVIDIA devices, by their programming guide",
        OUTSIDE,
    )


def links() -> Iterator[Row]:
    """Section 2.2.3."""
    pcie, nvlink = entry("links", "pcie4"), entry("links", "nvlink4")
    h100, node = entry("accelerators", "h100-sxm"), entry("nodes", "dgx-h100")
    yield Row(
        "PCIe 4.0 x16: about 64 GB/s both ways",
        f"{units.quantity(pcie.bandwidth_one_way, 'B/s')} one way; about "
        f"{units.quantity(pcie.achieved.bandwidth_one_way, 'B/s')} is reached",
        f"both directions added up: 2 x {pcie.bandwidth_one_way / 1e9:g} = {2 * pcie.bandwidth_one_way / 1e9:g} GB/s "
        "after line coding",
        judge(64e9, pcie.bandwidth_one_way, 2 * pcie.bandwidth_one_way),
    )
    one_way = h100.scale_up.count * nvlink.bandwidth_one_way
    yield Row(
        "H100: 18 NVLinks, 900 GB/s both ways",
        f"{h100.scale_up.count} links x {units.quantity(nvlink.bandwidth_one_way, 'B/s')} = "
        f"{units.quantity(one_way, 'B/s')} one way",
        f"both directions added up: {2 * one_way / 1e9:g} GB/s; a collective sees one direction",
        judge(900e9, one_way, 2 * one_way),
    )
    yield Row(
        "DGX H100: 4 NVSwitches join 8 GPUs",
        f"{node.scale_up.switches} x {entry('links', node.scale_up.switch).name}, {node.accelerators} GPUs",
        "",
        within((node.scale_up.switches, node.accelerators) == (4, 8)),
    )


def storage() -> Iterator[Row]:
    """Section 2.3."""
    llama = estimated("llama-3.1-405b-h100")
    tokens = llama.scenario.file.workload.tokens or 0.0
    per_token = units.parse("32 bit", "data")
    yield Row(
        "training sets reach TB or PB; language models read trillions of tokens",
        f"{power(tokens)} tokens x 4 B = {units.quantity(tokens * per_token, 'B si')} for Llama 3.1 405B",
        "text is tens of TB once it is tokens; PB is raw or visual data",
        within(1e12 <= tokens * per_token < 1e15, reading=True),
    )
    rate = llama["run.tokens_per_s_per_gpu"] * llama.scenario.accelerators
    yield Row(
        "thousands of compute nodes may read at the same time",
        f"{llama.scenario.accelerators:,} H100 are {llama.scenario.accelerators // 8:,} nodes and read "
        f"{units.quantity(rate * per_token, 'B/s')} of tokens together",
        "for text the count of clients matters and the rate does not; checkpoints are what loads the file system",
        OUTSIDE,
    )
    sizes = {}
    for name in ("llama-3-8b-h100", "llama-3-70b-h100", GPT3):
        run = estimated(name)
        values = run.scenario.values
        each = values["workload.weight_bytes"].number + values["workload.optimizer_bytes"].number
        sizes[run.scenario.model.name] = float(memory.state_bytes(run["parameters.total"], each, 1.0))
    weights = float(memory.state_bytes(estimated(GPT3)["parameters.total"], 2.0, 1.0))
    yield Row(
        "a checkpoint may take hundreds of GB",
        "; ".join(f"{name}: {units.quantity(size, 'B si')}" for name, size in sizes.items()),
        "14 bytes a parameter: half-precision weights, fp32 weights and two moments of Adam. Hundreds of GB up to "
        f"70B parameters; of GPT-3 175B the weights alone are {units.quantity(weights, 'B si')}",
        within(1e11 <= sizes["Llama 3 70B"] < 1e12, reading=True),
    )
    lustre = [s for s in entries("storage") if s.kind == "lustre" and s.scope == "system" and s.read]
    best = max(lustre, key=lambda s: s.read)
    yield Row(
        "Lustre: aggregate bandwidth in the order of TB/s",
        f"{units.quantity(best.read, 'B/s')} read, {units.quantity(best.write, 'B/s')} write ({best.name})",
        "the largest systems; bandwidth grows with the servers bought",
        within(best.read >= 1e12, reading=True),
    )
