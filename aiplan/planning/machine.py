"""The cluster as a collective sees it: what NCCL would find out about links, ports and switches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.core.nccl_tables import NETWORK_SHARE
from aiplan.core.topology import ports_per_rank
from aiplan.declare import Diagnostics, Mark
from aiplan.planning.rates import link_rate, port_rate
from aiplan.scenario.resolve import NETWORK_FRACTION, TCP_LATENCY

if TYPE_CHECKING:
    from aiplan.catalog.load import Catalog
    from aiplan.catalog.records import Accelerator, Link, Network, Node
    from aiplan.scenario.load import Scenario

NCCL_NETWORK_STEP = 5e-6
"""Network step that the constants of NCCL hold for: that of its LL tree on InfiniBand."""
GENERATIONS = {
    "Volta": "volta",
    "Turing": "volta",
    "Ampere": "ampere",
    "Ada": "ampere",
    "Hopper": "hopper",
    "Blackwell": "blackwell",
}
SLOW_START = ("efa", "gpudirect-tcpx", "gpudirect-tcpxo", "ethernet")
"""Networks whose latency NCCL's constants miss by a factor."""


class Assumption(NamedTuple):
    """Something that was taken for granted: what, how much, why."""

    name: str
    value: float | None
    why: str


class Machine(NamedTuple):
    """What a collective runs on. Bandwidths are one way and those that long messages reach."""

    node: str
    nodes: int
    ranks: int
    local_ranks: int
    generation: str
    link: str
    link_bandwidth: float
    port_bandwidth: float
    network: str | None
    network_kind: str
    network_latency: float
    reduces_in_node: bool
    reduces_in_fabric: bool
    ports: int = 0
    """Network ports of a node. [-]"""
    assumptions: tuple[Assumption, ...] = ()

    @property
    def domains(self) -> int:
        """Domains of fast links that the ranks span."""
        return -(-self.ranks // self.local_ranks)

    @property
    def slow_start(self) -> bool:
        """Whether the network's latency is beyond what the formulas know well."""
        return self.domains > 1 and self.network_kind in SLOW_START


class Wanted(NamedTuple):
    """A cluster as the command line names it: a node of the catalog, and how many nodes or accelerators."""

    node: str
    nodes: int | None = None
    gpus: int | None = None
    sharp: bool = False


def machine_of_node(wanted: Wanted, catalog: Catalog, diagnostics: Diagnostics) -> Machine | None:
    """Return a cluster of nodes of the catalog; None, and what is wrong noted, if it cannot be."""
    found = catalog.node(wanted.node, diagnostics, _option("--node", wanted.node, diagnostics))
    if found is None:
        return None
    node = found[0]
    ranks = wanted.gpus or (wanted.nodes or 1) * node.accelerators
    domain = node.scale_up.domain or node.accelerators
    local = min(domain, ranks)
    if ranks % local:
        diagnostics.error(
            "AIP301",
            f"{ranks} GPUs do not fill nodes of {domain}",
            _option("--gpus", str(ranks), diagnostics),
            hint=f"write --gpus {ranks // domain * domain} or --gpus {-(-ranks // domain) * domain}",
        )
        return None
    device = catalog.accelerator(node.accelerator, diagnostics)
    if device is None:
        return None
    network = catalog.network(node.nics[0].network, diagnostics) if node.nics else None
    ports = node.nics[0].count if node.nics else 0
    if ranks > local and network is None:
        diagnostics.error(
            "AIP203", f"{node.name} has no network in the catalog", hint=f"ask for one node: --gpus {node.accelerators}"
        )
        return None
    link = _link(node, device[0], catalog, diagnostics)
    if link is None:
        diagnostics.error("AIP203", f"{device[0].name} has no link between accelerators in the catalog")
        return None
    notes = [*_notes(device[0], network[0] if network else None, spans=ranks > local)]
    return Machine(
        node=wanted.node,
        nodes=-(-ranks // node.accelerators),
        ranks=ranks,
        local_ranks=local,
        generation=_generation(device[0]),
        link=link[0].kind,
        link_bandwidth=link[1] * link_rate(link[0]),
        port_bandwidth=_port_bandwidth(network[0], ports, node.accelerators) if network else 0.0,
        network=node.nics[0].network if node.nics else None,
        network_kind=network[0].kind if network else "",
        network_latency=_network_latency(network[0]) if network else 0.0,
        reduces_in_node=_reduces(node, catalog, diagnostics),
        reduces_in_fabric=wanted.sharp,
        ports=ports,
        assumptions=tuple(notes),
    )


def machine_of_scenario(
    scenario: Scenario, catalog: Catalog, diagnostics: Diagnostics, *, sharp: bool = False
) -> Machine | None:
    """Return the cluster of a scenario, with its fabric, ports and oversubscription."""

    def value(name: str) -> float:
        return scenario.values[f"cluster.{name}"].number

    ranks, domain = scenario.accelerators, int(value("domain"))
    local = min(domain, ranks)
    if ranks % local:
        diagnostics.error("AIP301", f"{ranks} accelerators do not fill domains of {domain}")
        return None
    link = _link(scenario.node, scenario.accelerator, catalog, diagnostics)
    fabric = scenario.file.cluster.network.fabric or (scenario.node.nics[0].network if scenario.node.nics else None)
    network = catalog.network(fabric, diagnostics) if fabric else None
    if link is None or (ranks > local and network is None):
        diagnostics.error("AIP203", f"{scenario.node.name} has no link or no network in the catalog")
        return None
    each = ports_per_rank(
        value("network_ports"),
        value("network_bandwidth"),
        value("network_fraction"),
        value("accelerators_per_node"),
        value("oversubscription"),
    )
    notes = _notes(scenario.accelerator, network[0] if network else None, spans=ranks > local)
    return Machine(
        node=scenario.file.cluster.node or scenario.node.name,
        nodes=scenario.file.cluster.nodes,
        ranks=ranks,
        local_ranks=local,
        generation=_generation(scenario.accelerator),
        link=link[0].kind,
        link_bandwidth=value("link_bandwidth") * value("link_fraction"),
        port_bandwidth=float(each) if network else 0.0,
        network=fabric,
        network_kind=network[0].kind if network else "",
        network_latency=max(0.0, value("network_latency") - NCCL_NETWORK_STEP) if network else 0.0,
        reduces_in_node=_reduces(scenario.node, catalog, diagnostics),
        reduces_in_fabric=sharp,
        ports=int(value("network_ports")) if network else 0,
        assumptions=tuple(notes),
    )


def _option(name: str, text: str, diagnostics: Diagnostics) -> Mark:
    diagnostics.sources[name] = text
    return Mark(name, 1, 1, len(text) + 1)


def _generation(device: Accelerator) -> str:
    return GENERATIONS.get((device.architecture or "").partition(" ")[0], "ampere")


def _link(node: Node, device: Accelerator, catalog: Catalog, diagnostics: Diagnostics) -> tuple[Link, int] | None:
    """Return the link between accelerators, and how many of them a transfer uses."""
    use = device.scale_up or device.host_link
    found = catalog.link(use.link, diagnostics) if use else None
    if use is None or found is None or found[0].bandwidth_one_way is None:
        return None
    return found[0], min(node.scale_up.links or use.count, use.count)


def _port_bandwidth(network: Network, ports: int, accelerators: int) -> float:
    rate = network.bandwidth_one_way
    share = min(port_rate(network) / rate, NETWORK_SHARE)
    return float(ports_per_rank(ports, rate, share, accelerators, 1.0))


def _network_latency(network: Network) -> float:
    """Return what a network step takes beyond what NCCL's constants hold."""
    if network.collective_latency is not None:
        return max(0.0, network.collective_latency - NCCL_NETWORK_STEP)
    return 0.0 if network.rdma else TCP_LATENCY - NCCL_NETWORK_STEP


def _reduces(node: Node, catalog: Catalog, diagnostics: Diagnostics) -> bool:
    found = catalog.link(node.scale_up.switch, diagnostics) if node.scale_up.switch else None
    return found is not None and found[0].in_network_reduction


def _notes(device: Accelerator, network: Network | None, *, spans: bool) -> list[Assumption]:
    notes = []
    if (device.architecture or "").partition(" ")[0] not in GENERATIONS:
        notes.append(Assumption("generation", None, f"{device.name}: the constants of NCCL for Ampere stand in"))
    if spans and network is not None:
        if network.achieved is None:
            share = network.efficiency or NETWORK_FRACTION
            why = "catalog, not measured" if network.efficiency else "usual"
            notes.append(Assumption("network efficiency", share, f"share of a port's rate that is reached: {why}"))
        if network.collective_latency is None and not network.rdma:
            notes.append(Assumption("network latency", TCP_LATENCY, "usual network step of a collective over TCP"))
    return notes
