"""Topology XML of NCCL and RCCL: processors, PCIe switches, accelerators and ports of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.adapters.imports import machine
from aiplan.adapters.imports.document import XML
from aiplan.adapters.imports.kind import Kind
from aiplan.adapters.imports.ledger import Got

if TYPE_CHECKING:
    from aiplan.adapters.imports.document import Document
    from aiplan.adapters.imports.ledger import Ledger
    from aiplan.adapters.imports.xml_tree import Element

GPU_CLASSES = ("0x0302", "0x0300", "0x0380", "0x1200")
PORT_CLASSES = ("0x0200", "0x0207")
INFINIBAND = "0x0207"
MOST_DEVICES = 256
FABRICS = {
    (True, 100): "ib-edr",
    (True, 200): "ib-hdr",
    (True, 400): "ib-ndr",
    (True, 800): "ib-xdr",
    (False, 100): "roce-100g",
    (False, 200): "roce-200g",
    (False, 400): "roce-400g",
    (False, 800): "roce-800g",
}
"""Networks of the catalog by class of the port and its rate in Gb/s."""
CHIPS = {
    "70": "V100",
    "80": "A100",
    "86": "A10, A40 or RTX A6000",
    "89": "L4, L40S or RTX 4090",
    "90": "H100 or H200",
    "100": "B200",
    "103": "B300",
    "906": "MI50",
    "908": "MI100",
    "910": "MI210 or MI250X",
    "942": "MI300X",
}
"""Accelerators by `sm` or `gcn` of the description."""


class Device(NamedTuple):
    """An accelerator or a port: its element, the bridges above it, and its processor."""

    element: Element
    above: tuple[str, ...]
    processor: int


def detect(document: Document) -> bool:
    """Whether a document is such a description."""
    return document.form == XML and document.element is not None and document.element.name == "system"


def read(ledger: Ledger) -> None:
    """Take accelerators, links and ports."""
    root = ledger.document.element
    if root is None or root.name != "system":
        ledger.refuse("the outermost element is not 'system': this is no topology of NCCL", root.mark if root else None)
        return
    gpus, ports = _devices(root)
    if not gpus:
        ledger.refuse("there is no accelerator in the file", root.mark, f"PCI classes {', '.join(GPU_CLASSES)} are")
        return
    if len(gpus) > MOST_DEVICES or len(ports) > MOST_DEVICES:
        ledger.refuse(f"more than {MOST_DEVICES} devices", root.mark)
        return
    machine.put(ledger, _machine(gpus, ports), root.mark)
    _fabric(ledger, ports)
    _chip(ledger, gpus)


def _devices(root: Element) -> tuple[list[Device], list[Device]]:
    gpus: list[Device] = []
    ports: list[Device] = []
    for number, processor in enumerate(child for child in root.children if child.name == "cpu"):
        stack: list[tuple[Element, tuple[str, ...]]] = [(child, ()) for child in reversed(processor.children)]
        while stack:
            element, above = stack.pop()
            kind = element.attributes.get("class", "")
            if element.name == "pci" and kind.startswith(GPU_CLASSES):
                gpus.append(Device(element, above, number))
            elif element.name == "pci" and kind.startswith(PORT_CLASSES):
                ports.append(Device(element, above, number))
            elif element.name == "nic" and element.attributes.get("busid") is None and not above:
                ports += [Device(net, above, number) for net in element.children if net.name == "net"]
            elif element.name == "pci":
                here = (*above, element.attributes.get("busid", ""))
                stack += [(child, here) for child in reversed(element.children)]
    return gpus, ports


def _machine(gpus: list[Device], ports: list[Device]) -> machine.Machine:
    count = len(gpus)
    pairs = dict.fromkeys(machine.DISTANCES, 0)
    links = [_links(gpu) for gpu in gpus]
    known = any(links)
    busids = [gpu.element.attributes.get("busid", "").lower() for gpu in gpus]
    linked = []
    for first in range(count):
        for second in range(first + 1, count):
            joined = _joined(links[first], busids[second])
            pairs["NV" if joined else _distance(gpus[first], gpus[second])] += 1
            if joined:
                linked.append((first, second))
    sizes = {len(group) for group in machine.groups(count, linked)}
    each = [sum(links[index].values()) for index in range(count)]
    found = [_port(port, gpus) for port in ports]
    beside = [
        (first, second)
        for first in range(len(ports))
        for second in range(first + 1, len(ports))
        if ports[first].above and ports[first].above == ports[second].above
    ]
    return machine.Machine(
        accelerators=count,
        links=(min(each), max(each)),
        domain=max(sizes),
        domain_known=known,
        pairs={kind: number for kind, number in pairs.items() if number},
        ports=machine.fabric_ports(found, beside),
        numa=tuple(gpu.processor for gpu in gpus),
    )


def _links(gpu: Device) -> dict[str, int]:
    """Return links of an accelerator by what they lead to; a switch is `switch`."""
    found: dict[str, int] = {}
    for element in gpu.element.walk():
        if element.name in {"nvlink", "xgmi"}:
            to_switch = element.attributes.get("tclass", "").startswith("0x0680")
            target = "switch" if to_switch else element.attributes.get("target", "").lower()
            number = element.attributes.get("count", "1")
            found[target] = found.get(target, 0) + (int(number) if number.isdigit() and len(number) < 4 else 1)
    return found


def _joined(links: dict[str, int], busid: str) -> bool:
    return "switch" in links or any(busid.endswith(target[-7:]) for target in links if len(target) >= 7)


def _distance(one: Device, other: Device) -> str:
    """Return the kind of path between two devices."""
    if one.processor != other.processor:
        return "SYS"
    shared = sum(1 for first, second in zip(one.above, other.above, strict=False) if first == second)
    if not shared:
        return "PHB"
    return "PIX" if shared == len(one.above) == len(other.above) else "PXB"


def _port(port: Device, gpus: list[Device]) -> machine.Port:
    paths = [_distance(port, gpu) for gpu in gpus]
    best = min(paths, key=machine.DISTANCES.index)
    nets = [element for element in port.element.walk() if element.name == "net"]
    rate = nets[0].attributes.get("speed", "") if nets else ""
    name = nets[0].attributes.get("name", "") if nets else port.element.attributes.get("busid", "")
    bits = float(rate) * 1e6 if rate.isdigit() and len(rate) < 9 and rate != "0" else None
    nearest = tuple(index for index, path in enumerate(paths) if path == best)
    return machine.Port(name, best, nearest, bits, port.processor, for_traffic=True)


def _fabric(ledger: Ledger, ports: list[Device]) -> None:
    """Take the network of the catalog that has ports of this class and rate."""
    found = ledger.machine
    rates = {port.bits_per_s for port in found.ports if port.for_traffic and port.bits_per_s} if found else set()
    if len(rates) != 1 or not ports:
        return
    rate = rates.pop()
    infiniband = ports[0].element.attributes.get("class", "").startswith(INFINIBAND)
    fabric = FABRICS.get((infiniband, round((rate or 0) / 1e9)))
    got = Got(rate, "speed", ports[0].element.mark, "")
    if fabric is not None:
        ledger.put("cluster.network.fabric", got, fabric, "by class and rate of the ports")
    else:
        ledger.ask("cluster.network.fabric", got, "no network of the catalog has ports of this rate")


def _chip(ledger: Ledger, gpus: list[Device]) -> None:
    """Say which accelerators the description may mean."""
    marks = {
        element.attributes.get("gcn") or element.attributes.get("sm") or ""
        for gpu in gpus
        for element in gpu.element.walk()
        if element.name == "gpu"
    }
    known = sorted({CHIPS[mark] for mark in marks if mark in CHIPS})
    if known:
        ledger.open = [
            entry._replace(why=f"{' and '.join(known)}; set cluster.accelerator")
            if entry.path == "cluster.accelerator"
            else entry
            for entry in ledger.open
        ]


KIND = Kind("nccl-topo-xml", "topology XML of NCCL", "node", detect, read)
