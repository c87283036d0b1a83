"""Environment variables of a job: what of the cluster they depend on, and what can be no variable."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare import Mapping
from aiplan.scenario.legality import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aiplan.declare import Mark, Node
    from aiplan.scenario.cautions import Caution
    from aiplan.scenario.resolve import Parts

FIELD = "environment"
NAME = r"[A-Za-z_][A-Za-z0-9_]*"
VERBS = ("infiniband", "roce")
LIBFABRIC = ("efa", "slingshot", "omni-path")
TCPX = {"tcpx": "gpudirect-tcpx", "tcpxo": "gpudirect-tcpxo"}
USERS = ("NVIDIA", "AMD")
REDUCING_SWITCHES = ("Hopper", "Blackwell")


class System(NamedTuple):
    """What of a cluster the variables depend on. The kind of the network is empty for a single node."""

    vendor: str
    device: str
    network: str
    network_name: str
    rdma: bool
    nvlink: bool
    nvls: bool
    mnnvl: bool
    rails: bool

    def has(self, need: str) -> bool:
        """Whether there is the hardware that a variable needs; a network that is not known has everything."""
        own = {"nvls": self.nvls, "mnnvl": self.mnnvl}
        if need in own or not self.network:
            return own.get(need, True)
        if need in TCPX:
            return self.network == TCPX[need]
        if need == "rdma":
            return self.rdma or self.network in TCPX.values()
        return self.network in {"verbs": VERBS, "libfabric": LIBFABRIC}.get(need, (need,))


def system(parts: Parts) -> System:
    """Return what of a cluster the variables depend on."""
    device, node, cluster = parts.accelerator, parts.node, parts.file.cluster
    network = parts.network[0] if parts.network and cluster.nodes > 1 else None
    domain = cluster.domain or node.scale_up.domain or node.accelerators
    nvlink = parts.link is not None and parts.link[0].kind == "nvlink"
    reduces = (device.architecture or "").startswith(REDUCING_SWITCHES)
    return System(
        vendor=device.vendor,
        device=device.name,
        network=network.kind if network else "",
        network_name=network.name if network else "",
        rdma=bool(network and network.rdma),
        nvlink=nvlink and node.scale_up.topology != "pcie",
        nvls=nvlink and reduces and node.scale_up.topology == "switched",
        mnnvl=nvlink and domain > node.accelerators,
        rails=cluster.network.topology == "rail-optimized",
    )


def check(given: Iterable[str]) -> Iterator[Fault]:
    """Yield names that no variable can have."""
    for name in given:
        if not re.fullmatch(NAME, name):
            yield Fault("AIP330", f"'{name}' cannot be a variable", FIELD, "letters, digits and _; no digit first")


def lint(given: dict[str, str | int], cluster: System, tree: Node) -> Iterator[Caution]:
    """Yield every variable that is unknown, has no value it takes, or contradicts the cluster."""
    if not given:  # most scenarios: what is known of variables is not even loaded
        return
    from aiplan.scenario.variables import doubts  # noqa: PLC0415

    yield from doubts(given, cluster, tree)


def names(tree: Node) -> dict[str, Mark]:
    """Return where the name of each variable stands."""
    block = next((child for key, child in tree.items if key.text == FIELD), None) if isinstance(tree, Mapping) else None
    return {key.text: key.mark for key, _ in block.items} if isinstance(block, Mapping) else {}
