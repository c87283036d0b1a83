"""What the fabric between the nodes does to traffic: its tiers, and how long its paths are."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from aiplan.core import fabric
from aiplan.core.topologies.lengths import HOP, PER_METRE
from aiplan.core.topologies.record import Fabric, Site
from aiplan.core.topologies.registry import KINDS
from aiplan.declare import Origin
from aiplan.scenario.files import locate
from aiplan.scenario.power import fabric_draw
from aiplan.scenario.values import Value, assumed, default, derived, from_file

if TYPE_CHECKING:
    from aiplan.catalog.records import Accelerator, Switch
    from aiplan.catalog.records import Node as NodeEntry
    from aiplan.core.topologies.registry import Kind
    from aiplan.declare import Diagnostics, Node
    from aiplan.scenario.resolve import Parts

RADIX = 64.0
LEAST_DOMAIN = 17
NAMES = (
    "leaf_accelerators",
    "leaf_ring",
    "leaf_send",
    "leaf_uniform",
    "pod_accelerators",
    "pod_ring",
    "pod_send",
    "pod_uniform",
    "path_latency",
)
WHERE = "cluster.network."


class Built(NamedTuple):
    """The fabric of a job, one number a field, and what its paths take longer than those of a fat-tree, in seconds."""

    fabric: Fabric
    longer: float


class Asked(NamedTuple):
    """What a fabric is sized for, as plain numbers: equal ones are sized once."""

    kind: str
    site: Site
    hop: float


@lru_cache(maxsize=4096)
def built(asked: Asked) -> Built:
    """Size a fabric, and a fat-tree without oversubscription for the same nodes."""
    own = KINDS[asked.kind].size(asked.site)
    plain = KINDS["fat-tree"].size(asked.site._replace(oversubscription=1.0))
    return Built(own, _wait(own, asked.hop) - _wait(plain, asked.hop))


def _wait(one: Fabric, hop: float) -> float:
    """Return the time in switches and the cables between them; adapters and their cables are the same for all."""
    paths = one.paths
    return float(fabric.path_latency(paths.step, hop, paths.step_metres - paths.host_metres, PER_METRE, 0.0))


def fabric_values(
    parts: Parts, network: dict[str, Value], domain: Value, tree: Node, diagnostics: Diagnostics
) -> tuple[dict[str, Value], tuple[Value, float]] | None:
    """Return the values of the fabric, and what it draws; None, and what is wrong noted, if there can be none."""
    use, kind = parts.file.cluster.network, KINDS[parts.file.cluster.network.topology]
    over = _oversubscription(parts, kind)
    if parts.network is None:
        one = {name: derived(1.0, "one node: no network used") for name in NAMES}
        whole = {f"{tier}_accelerators": domain for tier in ("leaf", "pod")}
        none = derived(0.0, "one node: no network used")
        return {"oversubscription": over} | one | whole | {"path_latency": none}, (none, 0.0)
    before = len(diagnostics.items)
    asked = asked_of(
        kind,
        parts.node,
        parts.accelerator,
        parts.switch[0] if parts.switch else None,
        nodes=float(parts.file.cluster.nodes),
        ports=network["network_ports"].number,
        rate=network["network_bandwidth"].number,
        domain=domain.number,
        over=over.number,
    )
    _check(parts, kind, tree, diagnostics)
    if len(diagnostics.items) > before:
        return None
    _check_size(kind, asked, tree, diagnostics)
    if len(diagnostics.items) > before:
        return None
    found = built(asked)
    tiers = _tiers(parts, kind, asked, found, domain.number, scattered=use.placement == "scattered")
    if parts.file.cluster.nodes == 1:
        return {"oversubscription": over} | tiers, (derived(0.0, "one node: no network used"), 0.0)
    draw = fabric_draw(
        found.fabric,
        parts.switch[0] if parts.switch else None,
        network["network_bandwidth"].number,
        float(asked.site.radix),
        float(parts.file.cluster.nodes * parts.node.accelerators),
    )
    return {"oversubscription": over} | tiers, draw


def _oversubscription(parts: Parts, kind: Kind) -> Value:
    given = parts.file.cluster.network.oversubscription
    if given is not None:
        return from_file(given, parts.origins, f"{WHERE}oversubscription")
    return default(kind.usual, kind.why) if kind.why else Value(kind.usual, Origin("default", "", ""))


def asked_of(
    kind: Kind,
    node: NodeEntry,
    accelerator: Accelerator,
    switch: Switch | None,
    *,
    nodes: float,
    ports: float,
    rate: float,
    domain: float,
    over: float,
) -> Asked:
    """Return what a fabric of a kind is sized for.

    Parameters
    ----------
    kind : Kind
        Row of the registry.
    node, accelerator, switch : Node, Accelerator, Switch or None
        Entries of the catalog; switches of 64 ports if not given.
    nodes, ports, rate : float
        Nodes, ports of each for accelerator traffic, and the one-way data rate of one of those in B/s.
    domain : float
        Accelerators in one scale-up network.
    over : float
        Edge bandwidth over core bandwidth.
    """
    radix = float(switch.ports) if switch and switch.ports else RADIX
    if switch and switch.port_bandwidth_one_way:
        radix = float(fabric.split_radix(radix, switch.port_bandwidth_one_way, rate))
    hop = switch.hop_latency if switch and switch.hop_latency is not None else HOP
    use = accelerator.scale_up
    site = Site(
        nodes=nodes,
        ports=ports,
        radix=radix,
        oversubscription=over if kind.switched else 1.0,
        domain=max(1.0, domain // node.accelerators),
        accelerators=domain,
        links=float(use.count) if use else 0.0,
    )
    return Asked(kind.name, site, hop)


def _check(parts: Parts, kind: Kind, tree: Node, diagnostics: Diagnostics) -> None:
    use = parts.file.cluster.network
    if use.oversubscription is not None and use.oversubscription > 1 and not kind.switched:
        diagnostics.error(
            "AIP107",
            f"{kind.name} has no core that could be oversubscribed",
            locate(tree, f"{WHERE}oversubscription"),
            hint="leave oversubscription out, or choose a topology with switches",
        )
    if use.nodes_per_leaf and use.nodes_per_pod and use.nodes_per_pod < use.nodes_per_leaf:
        diagnostics.error(
            "AIP107",
            f"a pod of {use.nodes_per_pod} nodes is smaller than a leaf of {use.nodes_per_leaf}",
            locate(tree, f"{WHERE}nodes_per_pod"),
            hint="a pod holds one leaf or more",
        )
    switch = parts.switch[0] if parts.switch else None
    rate = parts.network[0].bandwidth_one_way if parts.network else 0.0
    if switch and switch.port_bandwidth_one_way and switch.port_bandwidth_one_way < rate * (1 - 1e-3):
        diagnostics.error(
            "AIP203",
            f"a port of {switch.name} carries less than one of the nodes",
            locate(tree, f"{WHERE}switch"),
            hint="choose a faster switch: 'aiplan catalog list switches'",
        )


def _check_size(kind: Kind, asked: Asked, tree: Node, diagnostics: Diagnostics) -> None:
    reason = misfit(kind, asked)
    if not reason:
        return
    holds = [name for name, other in KINDS.items() if not misfit(other, asked._replace(kind=name))]
    diagnostics.error(
        "AIP107",
        f"{kind.name} does not fit: {reason}",
        locate(tree, f"{WHERE}topology"),
        hint=f"these fit: {', '.join(holds)}" if holds else "choose a switch with more ports",
    )


def misfit(kind: Kind, asked: Asked) -> str:
    """Return why a kind of fabric cannot be built for a site; nothing if it can."""
    site = asked.site
    if kind.domains and site.accelerators < LEAST_DOMAIN:
        return (
            f"it joins scale-up networks of {LEAST_DOMAIN} or more accelerators, and a node has one of "
            f"{site.accelerators:.0f}"
        )
    one = built(asked).fabric
    if float(one.hosts) > float(one.largest):
        return (
            f"{site.radix:.0f}-port switches join {float(one.largest):,.0f} ports at most, and there are "
            f"{float(one.hosts):,.0f}"
        )
    return ""


def _tiers(parts: Parts, kind: Kind, asked: Asked, found: Built, domain: float, *, scattered: bool) -> dict[str, Value]:
    use, one = parts.file.cluster.network, found.fabric
    each = parts.node.accelerators
    how = f"{kind.name}, {asked.site.radix:.0f}-port switches"
    slows = max(map(float, (*one.leaf.contention, *one.pod.contention))) > 1
    # That nobody named the switches matters only where traffic meets a narrow tier.
    from_switch = derived if parts.switch is not None or not slows or not kind.switched else assumed

    def below(tier: str, nodes: float, given: int | None) -> Value:
        if scattered:
            return Value(domain, parts.origins[f"{WHERE}placement"])
        if given is not None:
            return Value(max(domain, float(given * each)), parts.origins[f"{WHERE}nodes_per_{tier}"])
        name = kind.tiers[tier == "pod"]
        return from_switch(max(domain, nodes * each), f"{how}: {nodes:,.0f} nodes below a {name}")

    values = {"path_latency": derived(found.longer, f"longest step of {how}, less that of a fat-tree")}
    for tier, (nodes, contention), given, name in (
        ("leaf", one.leaf, use.nodes_per_leaf, kind.tiers[0]),
        ("pod", one.pod, use.nodes_per_pod, kind.tiers[1]),
    ):
        values[f"{tier}_accelerators"] = below(tier, float(nodes), given)
        for traffic, factor in contention._asdict().items():
            values[f"{tier}_{traffic}"] = derived(float(factor), f"{how}: what leaves a {name}")
    return values
