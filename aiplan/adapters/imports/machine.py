"""The inside of a node as its own tools describe it: accelerators, links between them, ports, distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.adapters.imports.ledger import Ledger
    from aiplan.declare import Mark

NEAR = ("PIX", "PXB")
DISTANCES = ("NV", "PIX", "PXB", "PHB", "NODE", "SYS")
"""Kinds of paths, the shortest first: own links, one PCIe switch, several, a host bridge, a socket, two sockets."""
OF_LINKS = {
    18: "H100, H200 (SXM) or B200",
    12: "A100 (SXM)",
    8: "A800 or H800 (SXM)",
    6: "V100 (SXM2)",
    4: "a bridge between two cards",
}
"""Accelerators that have so many links of their own."""


class Port(NamedTuple):
    """A network port: its name, the kind of path to the nearest accelerators, which these are, its rate if known."""

    name: str
    distance: str
    nearest: tuple[int, ...]
    bits_per_s: float | None
    numa: int | None
    for_traffic: bool


class Machine(NamedTuple):
    """A node.

    Parameters
    ----------
    accelerators : int
        Accelerators in it.
    links : tuple of int
        Links between each pair of accelerators that has any, fewest and most.
    domain : int
        Accelerators that reach each other over links of their own; 1 where there are none.
    domain_known : bool
        Whether the description says so at all.
    pairs : dict of str to int
        Pairs of accelerators by kind of path.
    ports : tuple of Port
        Network ports.
    numa : tuple of int or None
        NUMA node of each accelerator.
    """

    accelerators: int
    links: tuple[int, int]
    domain: int
    domain_known: bool
    pairs: dict[str, int]
    ports: tuple[Port, ...]
    numa: tuple[int | None, ...]

    @property
    def traffic_ports(self) -> int:
        """Ports that carry traffic between accelerators."""
        return sum(port.for_traffic for port in self.ports)


def groups(count: int, linked: Sequence[tuple[int, int]]) -> list[set[int]]:
    """Return the accelerators in groups that reach each other over links."""
    of = [{index} for index in range(count)]
    for first, second in linked:
        if of[first] is not of[second]:
            joined = of[first] | of[second]
            for index in joined:
                of[index] = joined
    return [set(group) for group in {frozenset(group) for group in of}]


def fabric_ports(ports: list[Port], beside: Sequence[tuple[int, int]]) -> tuple[Port, ...]:
    """Return the ports with those told apart that carry no traffic of accelerators.

    Ports far from every accelerator serve storage and management where others are nearer; of two ports on one switch
    that is near no accelerator, most likely two ports of one card, one counts.

    Parameters
    ----------
    ports : list of Port
        All ports, each with its nearest accelerators.
    beside : sequence of tuple
        Pairs of ports below one PCIe switch.
    """
    some_near = any(port.distance != "SYS" for port in ports)
    kept = [port._replace(for_traffic=not (some_near and port.distance == "SYS")) for port in ports]
    for first, second in beside:
        one, other = kept[first], kept[second]
        if one.for_traffic and other.for_traffic and one.distance not in NEAR and other.distance not in NEAR:
            kept[second] = other._replace(for_traffic=False)
    return tuple(kept)


def put(ledger: Ledger, machine: Machine, mark: Mark) -> None:
    """Take what a node's description says into fields of a cluster."""
    from aiplan.adapters.imports.ledger import Got  # noqa: PLC0415  the ledger names machines too

    ledger.machine = machine
    got = Got(machine.accelerators, "accelerators", mark, str(machine.accelerators))
    ledger.put("cluster.accelerators_per_node", got)
    ports = machine.traffic_ports
    if ports:
        left_out = len(machine.ports) - ports
        why = f"{left_out} more carry no traffic of accelerators" if left_out else ""
        ledger.put("cluster.network.ports", got._replace(value=ports, key="network ports"), why=why)
    if left := [port.name for port in machine.ports if not port.for_traffic]:
        ledger.skip(", ".join(left), mark, "near no accelerator, or the second port of a card", matters=False)
    if machine.domain > 1:
        ledger.put(
            "cluster.domain", got._replace(value=machine.domain, key="links"), why="accelerators that links join"
        )
    if 1 < machine.domain < machine.accelerators:
        ledger.warn(
            f"links join {machine.domain} of {machine.accelerators} accelerators; beyond them traffic goes over PCIe",
            mark,
            f"keep plan.tensor at {machine.domain} or below",
        )
    if machine.accelerators & (machine.accelerators - 1):
        ledger.warn(f"{machine.accelerators} accelerators: few head counts divide by that", mark)
    most = machine.links[1]
    which = f"{most} links each, as {OF_LINKS[most]} have" if most in OF_LINKS else "the description does not name it"
    ledger.ask("cluster.accelerator", got._replace(key="accelerator"), f"{which}; set cluster.accelerator")
