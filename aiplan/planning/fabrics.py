"""Kinds of fabrics for one cluster, side by side: what each is built of, what it does to traffic, and what it costs."""

from __future__ import annotations

import math
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from aiplan.core import compose, fabric
from aiplan.core.topologies.lengths import ADAPTER, PER_METRE
from aiplan.core.topologies.registry import KINDS
from aiplan.declare import Diagnostics
from aiplan.scenario.resolve_fabric import asked_of, built, misfit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.catalog.records import Accelerator, Network, Node, Switch
    from aiplan.core.topologies.record import Fabric
    from aiplan.core.topologies.registry import Kind
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.resolve_fabric import Asked

KIND_OF_SWITCH = {
    "infiniband": "infiniband",
    "roce": "ethernet",
    "ethernet": "ethernet",
    "slingshot": "slingshot",
}
"""Which switches a network of a kind takes."""
SAME_RATE = 1e-2


class Machine(NamedTuple):
    """What is joined: nodes with their ports, and the switches, with what they are called."""

    gpus: int
    node_id: str
    node: Node
    accelerator: Accelerator
    network: Network
    ports: int
    domain: float
    switch_id: str
    switch: Switch

    @property
    def nodes(self) -> int:
        """Nodes that hold the accelerators."""
        return -(-self.gpus // self.node.accelerators)


class Row(NamedTuple):
    """A kind of fabric sized for a machine; `reason` says why it does not fit, and the rest is None then.

    Numbers in SI. `cost` and `power` are those of the switches between nodes; None is unknown. `largest` is in
    accelerators, None without a limit.
    """

    kind: Kind
    oversubscription_asked: float
    reason: str
    sized: Sized | None


class Sized(NamedTuple):
    """What is known of a fabric that fits; `parts` are its pods or groups."""

    nodes: float
    hosts: float
    parts: float
    switches: tuple[float, float, float]
    domain_switches: float
    total: float
    cables: tuple[float, float, float]
    ports_used: float
    hops: tuple[float, float, float]
    latency: tuple[float, float]
    bisection: float
    bisection_share: float
    oversubscription: float
    factors: dict[str, float]
    cost: float | None
    power: float | None
    largest: float | None


class Survey(NamedTuple):
    """All kinds that were asked for, on one machine."""

    machine: Machine
    rows: tuple[Row, ...]

    @property
    def fits(self) -> bool:
        """Whether one of them can be built."""
        return any(row.sized is not None for row in self.rows)


def machine(gpus: int, node_id: str, switch_id: str | None, catalog: Catalog) -> Machine:
    """Look up node, network and switches for a number of accelerators.

    Raises
    ------
    InputError
        A name is unknown, the node has no network ports, the accelerators do not fill nodes, or no switch is known.
    """
    diagnostics = Diagnostics()
    found = catalog.node(node_id, diagnostics)
    diagnostics.raise_if_errors()
    assert found is not None  # noqa: S101  otherwise there is an error
    node = found[0]
    if gpus % node.accelerators:
        full = gpus - gpus % node.accelerators
        near = [str(number) for number in (full, full + node.accelerators) if number]
        diagnostics.error(
            "AIP107",
            f"{gpus:,} accelerators do not fill nodes of {node.accelerators}",
            expected=f"a multiple of {node.accelerators}",
            hint=f"give {' or '.join(near)}",
        )
    if not node.nics:
        diagnostics.error(
            "AIP203", f"{node.name} has no network ports in the catalog", hint="choose another node with --nodes-of"
        )
    diagnostics.raise_if_errors()
    accelerator = catalog.accelerator(node.accelerator, diagnostics)
    network = catalog.network(node.nics[0].network, diagnostics)
    diagnostics.raise_if_errors()
    assert accelerator is not None  # noqa: S101
    assert network is not None  # noqa: S101
    ident, switch = _switch(switch_id, node.nics[0].network, network[0], catalog)
    domain = float(node.scale_up.domain or node.accelerators)
    return Machine(gpus, node_id, node, accelerator[0], network[0], node.nics[0].count, domain, ident, switch)


def machine_of(scenario: Scenario, switch_id: str | None, catalog: Catalog) -> Machine:
    """Return the machine that a scenario runs on.

    Raises
    ------
    InputError
        It has one node only, or no switch is known for its network.
    """
    use, node = scenario.file.cluster.network, scenario.node
    name = use.fabric or (node.nics[0].network if node.nics else None)
    diagnostics = Diagnostics()
    if scenario.file.cluster.nodes == 1 or name is None:
        diagnostics.error(
            "AIP107", "the scenario has one node, and so no fabric", hint="try --set cluster.nodes=64, or --gpus"
        )
    diagnostics.raise_if_errors()
    assert name is not None  # noqa: S101
    network = catalog.network(name, diagnostics)
    diagnostics.raise_if_errors()
    assert network is not None  # noqa: S101
    ident, switch = _switch(switch_id or use.switch, name, network[0], catalog)
    values = scenario.values
    return Machine(
        gpus=scenario.file.cluster.nodes * node.accelerators,
        node_id=scenario.file.cluster.node or scenario.node.accelerator,
        node=node,
        accelerator=scenario.accelerator,
        network=network[0],
        ports=int(values["cluster.network_ports"].number),
        domain=values["cluster.domain"].number,
        switch_id=ident,
        switch=switch,
    )


def _switch(ident: str | None, network_id: str, network: Network, catalog: Catalog) -> tuple[str, Switch]:
    """Return the switch that was asked for, or the best known of those that the network takes."""
    diagnostics = Diagnostics()
    if ident is None:
        ident = _usual_switch(network, catalog)
    if ident is None:
        diagnostics.error(
            "AIP203",
            f"the catalog knows no switch of the kind and rate of {network_id}",
            hint="name one with --switch: 'aiplan catalog list switches'",
        )
        raise diagnostics.failure()
    found = catalog.switch(ident, diagnostics)
    diagnostics.raise_if_errors()
    assert found is not None  # noqa: S101
    switch = found[0]
    rate = network.bandwidth_one_way
    if switch.ports is None or switch.port_bandwidth_one_way is None:
        diagnostics.error("AIP203", f"{switch.name} has no ports in the catalog", hint="choose another --switch")
    elif switch.port_bandwidth_one_way < rate * (1 - SAME_RATE):
        diagnostics.error(
            "AIP203", f"a port of {switch.name} carries less than one of {network_id}", hint="choose a faster --switch"
        )
    diagnostics.raise_if_errors()
    return ident, switch


def _usual_switch(network: Network, catalog: Catalog) -> str | None:
    """Return the switch of the network's kind and rate of which the catalog knows most."""
    kind = KIND_OF_SWITCH.get(network.kind)
    best: tuple[tuple[bool, bool, bool], str] | None = None
    for ident in catalog.ids("switches"):
        found = catalog.switch(ident, Diagnostics())
        if found is None or found[0].kind != kind or found[0].ports is None:
            continue
        one = found[0]
        rate = one.port_bandwidth_one_way or 0.0
        if abs(rate / network.bandwidth_one_way - 1.0) > SAME_RATE:
            continue
        known = (one.purchase_price is not None, one.power is not None, one.hop_latency is not None)
        if best is None or known > best[0]:
            best = (known, ident)
    return best[1] if best else None


def kinds_named(text: str | None) -> tuple[Kind, ...]:
    """Read the value of `--kinds`; all kinds if it was not given.

    Raises
    ------
    InputError
        A kind is unknown.
    """
    if text is None:
        return tuple(KINDS.values())
    diagnostics = Diagnostics()
    found = []
    for name in (part.strip() for part in text.split(",")):
        if name in KINDS:
            found.append(KINDS[name])
            continue
        close = get_close_matches(name, KINDS, n=2)
        meant = f"did you mean {' or '.join(repr(one) for one in close)}? " if close else ""
        diagnostics.error("AIP108", f"no topology '{name}'", hint=f"{meant}there are {', '.join(KINDS)}")
    diagnostics.raise_if_errors()
    return tuple(dict.fromkeys(found))


def survey(one: Machine, kinds: Sequence[Kind], over: float | None) -> Survey:
    """Size each kind of fabric for a machine.

    Parameters
    ----------
    one : Machine
        The machine.
    kinds : sequence of Kind
        Rows of the registry.
    over : float or None
        Edge bandwidth over core bandwidth; what is usual for a kind if None.
    """
    return Survey(one, tuple(_row(one, kind, over) for kind in kinds))


def _row(one: Machine, kind: Kind, over: float | None) -> Row:
    wanted = kind.usual if over is None else over
    asked = asked_of(
        kind,
        one.node,
        one.accelerator,
        one.switch,
        nodes=float(one.nodes),
        ports=float(one.ports),
        rate=one.network.bandwidth_one_way,
        domain=one.domain,
        over=wanted,
    )
    reason = misfit(kind, asked)
    return Row(kind, wanted, reason, None if reason else _sized(one, kind, asked, built(asked).fabric))


def _sized(one: Machine, kind: Kind, asked: Asked, own: Fabric) -> Sized:
    tiers = (float(own.switches.first), float(own.switches.second), float(own.switches.third))
    total = sum(tiers)
    rate = one.network.bandwidth_one_way
    hosts = float(own.hosts)
    hosts_of_node = one.ports if kind.switched else 1
    latency = [
        float(fabric.path_latency(switches, asked.hop, metres, PER_METRE, ADAPTER))
        for switches, metres in (
            (own.paths.mean, own.paths.mean_metres),
            (own.paths.most, own.paths.most_metres),
        )
    ]
    links = float(own.bisection) * float(own.link_share)
    full = float(fabric.tree_bisection(hosts * one.ports / hosts_of_node, 1.0))
    largest = float(own.largest)
    return Sized(
        nodes=hosts / hosts_of_node,
        hosts=hosts,
        parts=float(fabric.switches_for(hosts / hosts_of_node, own.pod.nodes)),
        switches=tiers,
        domain_switches=float(own.switches.domain),
        total=total,
        cables=(float(own.cables.rack), float(own.cables.row), float(own.cables.hall)),
        ports_used=float(own.ports_used),
        hops=(float(own.paths.least), float(own.paths.mean), float(own.paths.most)),
        latency=(latency[0], latency[1]),
        bisection=links * rate,
        bisection_share=links / full,
        oversubscription=float(own.oversubscription),
        factors={name: float(value) for name, value in own.factors._asdict().items()},
        cost=_times(_price(one.switch), total),
        power=_times(_power(one.switch), total),
        largest=None if math.isinf(largest) else largest // hosts_of_node * one.node.accelerators,
    )


def _times(each: float | None, count: float) -> float | None:
    if count == 0:
        return 0.0
    return None if each is None else float(compose.repeated(each, count))


def _price(switch: Switch) -> float | None:
    price = switch.purchase_price
    if price is None:
        return None
    return price.value if price.value is not None else sum(price.range) / 2 if price.range else None


def _power(switch: Switch) -> float | None:
    return None if switch.power is None else switch.power.max or switch.power.typical
