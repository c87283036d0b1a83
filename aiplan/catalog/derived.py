"""Values that follow from an entry and the entries it names, among them the headlines that vendors print."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.catalog.records import Accelerator, Entry, Network, Node, Switch
from aiplan.core.lines import payload_share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.catalog.load import Catalog
    from aiplan.catalog.records import LinkUse
    from aiplan.declare import Diagnostics

ROCE_FRAME, ROCE_OVERHEAD = 4096, 82
_WITHOUT_SPARSITY = frozenset({"fp64", "fp64_tensor", "fp32"})


class Derived(NamedTuple):
    """A value that no file states: dotted name, what it is called, value in SI, unit to show, how it came about."""

    name: str
    label: str
    value: float
    unit: str
    how: str


def sparse_peaks(entry: Accelerator) -> dict[str, float]:
    """Return the headline peaks with structured sparsity, for the data types that have one."""
    factors = {
        dtype: entry.sparsity_by_type.get(dtype, entry.sparsity or 1.0)
        for dtype in entry.compute
        if dtype not in _WITHOUT_SPARSITY
    }
    return {dtype: entry.compute[dtype] * factor for dtype, factor in factors.items() if factor > 1}


def derive(entry: Entry, catalog: Catalog, diagnostics: Diagnostics) -> Iterator[Derived]:
    """Yield what follows from an entry; ids it names are looked up in the catalog."""
    match entry:
        case Accelerator():
            yield from _of_accelerator(entry, catalog, diagnostics)
        case Network():
            yield from _of_network(entry)
        case Node():
            yield from _of_node(entry, catalog, diagnostics)
        case Switch(capacity_one_way=float(capacity)):
            how = "the headline of some data sheets"
            yield Derived("capacity_both_ways", "capacity, both ways", 2 * capacity, "B/s", how)
        case _:
            return


def _of_accelerator(entry: Accelerator, catalog: Catalog, diagnostics: Diagnostics) -> Iterator[Derived]:
    for dtype, peak in sparse_peaks(entry).items():
        how = f"dense x {peak / entry.compute[dtype]:.5g}"
        yield Derived(f"sparse.{dtype}", f"sparse headline, {dtype}", peak, "FLOP/s", how)
    yield Derived("memory.capacity", "memory in binary units", entry.memory.capacity, "B", "as programs count it")
    base = next((dtype for dtype in ("bf16", "fp16") if dtype in entry.compute), None)
    if base is not None:
        balance = entry.compute[base] / entry.memory.bandwidth
        yield Derived("balance", "operations per byte", balance, "1", f"dense {base} over memory bandwidth")
    for name, use in (("scale_up", entry.scale_up), ("host_link", entry.host_link)):
        if use is not None:
            yield from _of_links(name, use, catalog, diagnostics)


def _of_links(name: str, use: LinkUse, catalog: Catalog, diagnostics: Diagnostics) -> Iterator[Derived]:
    found = catalog.link(use.link, diagnostics)
    if found is None or found[0].bandwidth_one_way is None:
        return
    title = "scale-up" if name == "scale_up" else "host link"
    one_way = use.count * found[0].bandwidth_one_way
    yield Derived(f"{name}.bandwidth_one_way", f"{title}, one way", one_way, "B/s", f"{use.count} x {use.link}")
    how = "the vendor's headline"
    yield Derived(f"{name}.bandwidth_both_ways", f"{title}, both ways", 2 * one_way, "B/s", how)


def _of_network(entry: Network) -> Iterator[Derived]:
    if entry.kind == "roce" and "v1" not in entry.name:
        share = float(payload_share(ROCE_FRAME, ROCE_OVERHEAD))
        yield Derived("payload", "payload of a frame", share, "fraction", f"{ROCE_FRAME:,} B frames, RoCE v2")
    if entry.achieved is not None:
        share = entry.achieved.bandwidth_one_way / entry.bandwidth_one_way
        yield Derived("efficiency", "share of the rate", share, "fraction", "achieved over rate")
    elif entry.efficiency is not None:
        usable = entry.bandwidth_one_way * entry.efficiency
        yield Derived("achieved.bandwidth_one_way", "usable, one way", usable, "B/s", "rate x efficiency")
    if entry.ports_per_node is not None:
        total = entry.ports_per_node * entry.bandwidth_one_way
        yield Derived("node_bandwidth_one_way", "node, one way", total, "B/s", f"{entry.ports_per_node} ports")


def _of_node(entry: Node, catalog: Catalog, diagnostics: Diagnostics) -> Iterator[Derived]:
    device = catalog.accelerator(entry.accelerator, diagnostics)
    if device is not None:
        count, memory = entry.accelerators, device[0].memory.capacity
        yield Derived("accelerator_memory", "accelerator memory", count * memory, "B", f"{count} x {entry.accelerator}")
        if "bf16" in device[0].compute:
            peak = count * device[0].compute["bf16"]
            yield Derived("peak.bf16", "dense bf16 peak", peak, "FLOP/s", f"{count} x {entry.accelerator}")
    ports = [(row.count, catalog.network(row.network, diagnostics)) for row in entry.nics]
    if ports and all(found for _, found in ports):
        total = sum(count * found[0].bandwidth_one_way for count, found in ports if found)
        yield Derived("network_one_way", "network, one way", total, "B/s", "all ports for accelerator traffic")
        each = total / entry.accelerators
        yield Derived("network_one_way_per_accelerator", "network per accelerator", each, "B/s", "one way")
