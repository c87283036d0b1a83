"""NCCL's estimate for a machine: the constants of a version put into its closed forms, for every protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aiplan.core import nccl
from aiplan.core import nccl_tables as tables
from aiplan.core.algorithms import ALGORITHMS
from aiplan.core.nccl_tables import GB, LL, LL128, NEWEST, PROTOCOLS, SIMPLE, US
from aiplan.core.net import Net

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.planning.machine import Machine

PCI_LINKS = ("pcie",)
PAT_SINCE = (2, 23)
NVLS_SINCE, PXN_SINCE = (2, 17), (2, 12)
SWITCH_STEP = 0.4e-6
"""Per peer inside a node under CollNet."""


class Model(NamedTuple):
    """A machine, a version of NCCL, and the operation that is asked about."""

    machine: Machine
    version: tuple[int, int] = NEWEST
    operation: str = "all-reduce"

    @property
    def tuning(self) -> tables.Tuning:
        """Latencies of the version."""
        return tables.tuning(self.version)

    @property
    def ceilings(self) -> tables.Ceilings:
        """What the generation of GPU reaches."""
        return tables.CEILINGS[self.machine.generation]

    @property
    def near(self) -> str:
        """Kind of link inside the node, as the latencies are listed."""
        return "pci" if self.machine.link in PCI_LINKS else "nvlink"

    @property
    def column(self) -> int:
        """Which ceiling counts: one node, two, more."""
        return min(self.machine.domains, 3) - 1

    @property
    def node_bandwidth(self) -> float:
        """All ports of a domain, one way [B/s]."""
        return self.machine.port_bandwidth * self.machine.local_ranks

    def bus(self, *, tree: bool = False) -> float:
        """Bus bandwidth of all channels: links inside, ports outside; a tree over two nodes crosses only once [B/s]."""
        inside, outside = self.machine.link_bandwidth, self.node_bandwidth
        if self.machine.domains == 1:
            return inside
        if self.machine.local_ranks == 1:
            inside = np.inf
        return float(min(inside, 2.0 * outside if tree and self.machine.domains == 2 else outside))

    @property
    def ll_share(self) -> float:
        """Share of the bus bandwidth that LL leaves."""
        if self.version >= tables.SINCE_LL_HALF:
            return tables.LL_SHARE
        adds = self.operation in {"all-reduce", "reduce"}
        return tables.OLD_LL_SHARES[0 if adds or self.machine.domains > 1 else 1]

    def base(self, algorithm: str, protocol: int) -> float:
        """Before the first step [s]."""
        return self.tuning.base[algorithm][protocol] * US

    def hop(self, link: str, algorithm: str, protocol: int) -> float:
        """One step over a kind of link [s]."""
        return self.tuning.hop[link, algorithm][protocol] * US

    def network_step(self, algorithm: str, protocol: int) -> float:
        """One step over the network; the port's own latency counts twice for Simple [s]."""
        extra = self.machine.network_latency
        return self.hop("net", algorithm, protocol) + extra * (2.0 if protocol == SIMPLE and extra else 1.0)

    def ring_inside(self, protocol: int) -> float:
        """One step of a ring inside a node [s]."""
        hop = self.hop(self.near, "ring", protocol)
        if protocol == LL and self.machine.domains > 1 and self.version < tables.SINCE_NEW_LATENCIES:
            hop *= tables.OLD_LL_HOP
        return max(hop, tables.HOST_OVERHEAD[protocol] * US)

    def ring_outside(self, protocol: int) -> float:
        """One step of a ring between nodes [s]."""
        alone = self.machine.local_ranks == 1 and self.version >= PAT_SINCE
        return self.network_step("tree" if alone else "ring", protocol)

    def ring_bandwidth(self, protocol: int, bus: float) -> Any:
        """Bus bandwidth of a ring, or of any other plain algorithm, under a protocol [B/s]."""
        if protocol == LL:
            ceiling = self.ceilings.ll[self.column]
            if self.machine.generation == "hopper" and self.version < tables.SINCE_LL_HALF:
                ceiling = tables.HOPPER_LL_BEFORE_2_21[self.column]
            return nccl.protocol_bandwidth(bus, self.ll_share, ceiling * GB)
        if protocol == LL128:
            ceiling = self.ceilings.channels * self.ceilings.ring_ll128 * GB
            return nccl.protocol_bandwidth(bus, tables.LL128_SHARE, ceiling)
        return nccl.protocol_bandwidth(bus, 1.0, np.inf)

    def tree_bandwidth(self, protocol: int) -> Any:
        """Bus bandwidth of the tree under a protocol, before the correction for the size [B/s]."""
        bus, column, known = self.bus(tree=True), self.column, self.ceilings
        full = nccl.protocol_bandwidth(bus, tables.TREE_SHARE, known.channels * known.tree_simple[column] * GB)
        if protocol == LL:
            return nccl.protocol_bandwidth(full, 1.0 / tables.TREE_LL_DIVISOR, known.ll[column] * GB)
        if protocol == LL128:
            share = tables.TREE_LL128_SHARE[0 if self.machine.domains == 1 else 1]
            return nccl.protocol_bandwidth(full, share, known.channels * known.tree_ll128[column] * GB)
        return full

    def protocols(self, algorithm: str) -> tuple[int, ...]:
        """Protocols that an algorithm can take here."""
        if ALGORITHMS[algorithm].switch or algorithm == "pat":
            return (SIMPLE,)
        return (LL, SIMPLE) if self.near == "pci" else (LL, LL128, SIMPLE)


def plain_net(model: Model, protocol: int) -> Net:
    """Return the links as a protocol leaves them, for algorithms that NCCL does not have."""
    machine = model.machine
    outside = model.ring_bandwidth(protocol, model.node_bandwidth) / machine.local_ranks
    return Net(
        local_ranks=float(machine.local_ranks),
        inside_latency=model.ring_inside(protocol),
        inside_bandwidth=float(model.ring_bandwidth(protocol, machine.link_bandwidth)),
        outside_latency=model.ring_outside(protocol) if machine.domains > 1 else 0.0,
        outside_bandwidth=float(outside) if machine.domains > 1 else np.inf,
        launch=model.base("ring", protocol),
    )


def wire_net(model: Model) -> Net:
    """Return the links without protocol, and the shortest steps: what a bound may count on."""
    machine = model.machine
    return Net(
        local_ranks=float(machine.local_ranks),
        inside_latency=min(model.hop(model.near, name, LL) for name in ("ring", "tree")),
        outside_latency=min(model.network_step(name, LL) for name in ("ring", "tree")),
        inside_bandwidth=machine.link_bandwidth,
        outside_bandwidth=machine.port_bandwidth if machine.domains > 1 else np.inf,
    )


def _switch_net(model: Model, algorithm: str) -> Net:
    """Return the links as an algorithm sees them that lets switches add up."""
    net, tree = plain_net(model, SIMPLE), algorithm == "nvls-tree"
    if algorithm == "collnet":
        return net._replace(
            launch=2.0 * model.hop("nvlink", "collnet", SIMPLE),
            inside_latency=SWITCH_STEP,
            outside_latency=0.5 * (model.hop("net", "collnet", SIMPLE) + model.machine.network_latency),
        )
    named = "nvlstree" if tree and ("net", "nvlstree") in model.tuning.hop else "nvls"
    return net._replace(
        launch=model.base("nvls", SIMPLE),
        inside_latency=model.hop("nvlink", named, SIMPLE),
        inside_bandwidth=model.machine.link_bandwidth * model.ceilings.nvls_efficiency,
        outside_latency=model.hop("net", named, SIMPLE) + model.machine.network_latency,
    )


def _ring(model: Model, operation: str, sizes: Array, protocol: int) -> Any:
    ranks, nodes = float(model.machine.ranks), float(model.machine.domains)
    steps, network_steps = {
        "all-reduce": (2.0 * (ranks - 1.0), 2.0 * (nodes - 1.0)),
        "all-gather": (ranks - 1.0, nodes - 1.0),
        "reduce-scatter": (ranks - 1.0, nodes - 1.0),
    }.get(operation, (ranks, nodes if nodes > 1 else 0.0))
    if operation == "all-reduce" and nodes > 1 and (2, 12) <= model.version < (2, 23):
        network_steps = 2.0 * nodes
    factor: Any = 1.0
    if operation == "all-reduce" and protocol == SIMPLE:
        known = (float(model.ceilings.channels), model.ceilings.plateau)
        old = model.version < tables.SINCE_NEW_LATENCIES
        factor = nccl.plateau_factor(sizes, ranks, nodes, *(tables.OLD_PLATEAU if old else known))
    outside = model.ring_outside(protocol) if nodes > 1 else 0.0
    return nccl.ring_time(
        sizes,
        ranks,
        steps,
        network_steps,
        model.ring_bandwidth(protocol, model.bus()),
        factor * model.base("ring", protocol),
        factor * model.ring_inside(protocol),
        factor * outside,
    )


def _tree(model: Model, sizes: Array, protocol: int) -> Any:
    machine = model.machine
    bandwidth = model.tree_bandwidth(protocol) * nccl.tree_correction(sizes, protocol)
    inside = model.hop(model.near, "tree", protocol)
    outside = model.network_step("tree", protocol) if machine.domains > 1 else 0.0
    base = model.base("tree", protocol)
    return nccl.tree_time(sizes, float(machine.ranks), float(machine.domains), bandwidth, base, inside, outside)


def _pat(model: Model, sizes: Array) -> Any:
    machine, base = model.machine, model.base("pat", SIMPLE)
    outside = model.hop("net", "pat", SIMPLE) + machine.network_latency
    return nccl.pat_time(sizes, float(machine.ranks), float(machine.domains), 0.75 * model.bus(), base, outside)


def time_of(model: Model, operation: str, algorithm: str, protocol: int, sizes: Array) -> Any:
    """Return the time of an operation by an algorithm under a protocol, for every size [s]."""
    row = ALGORITHMS[algorithm]
    if operation in row.nccl:
        if algorithm == "ring":
            return _ring(model, operation, sizes, protocol)
        if algorithm == "tree":
            return _tree(model, sizes, protocol)
        if algorithm == "pat":
            return _pat(model, sizes)
    net = _switch_net(model, algorithm) if row.switch else plain_net(model, protocol)
    return row.forms[operation](sizes, float(model.machine.ranks), net)


def obstacle(model: Model, operation: str, algorithm: str) -> str | None:
    """Return why an algorithm is not to be had here, if it is not."""
    row, machine = ALGORITHMS[algorithm], model.machine
    since = {"pat": PAT_SINCE, "nvls": NVLS_SINCE, "nvls-tree": (2, 18), "rail-aligned": PXN_SINCE}.get(algorithm)
    if operation in row.nccl and since is not None and model.version < since:
        return f"NCCL has it from {since[0]}.{since[1]} on"
    if row.switch == "node" and not machine.reduces_in_node:
        return "the switch of the node does not add up"
    if row.switch == "node" and not model.ceilings.nvls_efficiency:
        return f"not on {machine.generation}"
    if row.switch == "fabric" and not machine.reduces_in_fabric:
        return "the fabric does not add up; --sharp says that it does"
    if not row.need.holds(float(machine.ranks), plain_net(model, SIMPLE)):
        return f"it needs {row.need.text}"
    return None


__all__ = ["PROTOCOLS", "Model", "obstacle", "plain_net", "time_of", "wire_net"]
