"""Which NCCL variables a cluster should set, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.catalog import nccl
from aiplan.declare import Diagnostics
from aiplan.scenario.environment import FIELD, TCPX, USERS, VERBS, System

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiplan.scenario.load import Scenario

LARGE_FABRIC = 64
"""Nodes from which a lost packet is given more time."""
GIVEN = "given in the scenario"


class Site(NamedTuple):
    """What a rule looks at: the system, its size, and the ports of a node."""

    system: System
    nodes: int
    ports: int
    accelerators: int
    other_ports: bool
    rented: bool


class Rule(NamedTuple):
    """A variable, the value for it, why, and where that holds."""

    name: str
    value: str
    why: str
    holds: Callable[[Site], bool]


class Setting(NamedTuple):
    """A variable to set: its value, why, what holds if it is not set, and where it is documented."""

    name: str
    value: str
    why: str
    default: str
    source: str


class NcclEnvironment(NamedTuple):
    """The variables for a scenario, and what they were derived from."""

    scenario: Scenario
    system: System
    settings: tuple[Setting, ...]


def _network(*kinds: str) -> Callable[[Site], bool]:
    return lambda site: site.system.network in kinds


RULES = (
    Rule("NCCL_DEBUG", "WARN", "say why something fails; INFO shows what was chosen", lambda _: True),
    Rule(
        "NCCL_SOCKET_IFNAME",
        "eth0",
        "set-up goes over the management network: put the name of your interface",
        lambda site: site.nodes > 1,
    ),
    Rule(
        "NCCL_IB_HCA",
        "mlx5",
        "only adapters of the fabric; the node has other ports too: list those of the fabric as =mlx5_0,mlx5_1",
        lambda site: site.system.network in VERBS and site.other_ports,
    ),
    Rule(
        "NCCL_IB_HCA",
        "mlx5",
        "only adapters of the fabric; list them by name if there are others",
        lambda site: site.system.network in VERBS and not site.other_ports,
    ),
    Rule(
        "NCCL_IB_GID_INDEX",
        "3",
        "the address of RoCE version 2 is often the third; from 2.21 on it is found: leave it out there",
        _network("roce"),
    ),
    Rule(
        "NCCL_IB_TC",
        "106",
        "the class without loss of many switches; it must be the one that yours are set up for",
        _network("roce"),
    ),
    Rule(
        "NCCL_IB_QPS_PER_CONNECTION",
        "4",
        "Ethernet spreads flows by their ports: more queue pairs fill more paths",
        _network("roce"),
    ),
    Rule(
        "NCCL_IB_TIMEOUT",
        "22",
        f"from {LARGE_FABRIC} nodes on a rerouted packet can take long; 22 is 17 s, and a dead port is noticed later",
        lambda site: site.system.network in VERBS and site.nodes >= LARGE_FABRIC,
    ),
    Rule(
        "NCCL_IB_PCI_RELAXED_ORDERING",
        "1",
        "virtual machines need it to write device memory at full rate",
        lambda site: site.system.network in VERBS and site.rented,
    ),
    Rule(
        "NCCL_NET_GDR_LEVEL",
        "PIX",
        "every accelerator has an adapter behind its own PCI switch",
        lambda site: site.system.rdma and site.system.network in VERBS and site.ports >= site.accelerators,
    ),
    Rule(
        "NCCL_NET_GDR_LEVEL",
        "PXB",
        "several accelerators share an adapter behind a few PCI switches",
        lambda site: site.system.rdma and site.system.network in VERBS and site.ports < site.accelerators,
    ),
    Rule(
        "NCCL_CROSS_NIC",
        "0",
        "rails are joined only through the spine: stay on one",
        lambda site: site.system.rails and site.nodes > 1,
    ),
    Rule(
        "NCCL_PXN_DISABLE",
        "0",
        "messages to another rail go through NVLink first",
        lambda site: site.system.rails and site.system.nvlink and site.nodes > 1,
    ),
    Rule(
        "NCCL_NVLS_ENABLE",
        "2",
        "switches reduce where that is faster; 0 frees the memory this takes, and the estimate does not count on it",
        lambda site: site.system.nvls,
    ),
    Rule("NCCL_MNNVL_ENABLE", "1", "NVLink joins the nodes: fail if it does not", lambda site: site.system.mnnvl),
    Rule("NCCL_CUMEM_ENABLE", "1", "NVLink between nodes needs this kind of memory", lambda site: site.system.mnnvl),
    Rule("FI_PROVIDER", "efa", "the plugin aws-ofi-nccl must find EFA, not sockets", _network("efa")),
    Rule("NCCL_BUFFSIZE", "8388608", "latency is high: longer messages in flight", _network("efa", TCPX["tcpxo"])),
    Rule("NCCL_P2P_NET_CHUNKSIZE", "524288", "latency is high: larger pieces", _network("efa", *TCPX.values())),
    Rule("NCCL_NET", "AWS Libfabric", "fail without the plugin rather than go by sockets", _network("slingshot")),
    Rule("NCCL_NET_GDR_LEVEL", "PHB", "adapters sit on the processor of their accelerator", _network("slingshot")),
    Rule("NCCL_CROSS_NIC", "1", "all adapters reach all others equally well", _network("slingshot")),
    Rule("FI_CXI_DISABLE_HOST_REGISTER", "1", "avoids deadlocks with device memory", _network("slingshot")),
    Rule("FI_MR_CACHE_MONITOR", "userfaultfd", "the usual monitor misses memory of the device", _network("slingshot")),
    Rule("FI_CXI_DEFAULT_CQ_SIZE", "131072", "many ranks overflow the usual queue", _network("slingshot")),
    Rule("NCCL_CROSS_NIC", "0", "every accelerator has its own adapter and network", _network(*TCPX.values())),
    Rule("NCCL_NET_GDR_LEVEL", "PIX", "only adapters on the same PCI switch", _network(*TCPX.values())),
    Rule("NCCL_PROTO", "Simple", "the transport does not keep the order that LL128 needs", _network(*TCPX.values())),
    Rule("NCCL_FASTRAK_CTRL_DEV", "eth0", "interface for control traffic", _network(TCPX["tcpxo"])),
    Rule(
        "NCCL_FASTRAK_IFNAME",
        "eth1,eth2,eth3,eth4,eth5,eth6,eth7,eth8",
        "interfaces of the accelerators",
        _network(TCPX["tcpxo"]),
    ),
    Rule("NCCL_GPUDIRECTTCPX_CTRL_DEV", "eth0", "interface for control traffic", _network(TCPX["tcpx"])),
    Rule(
        "NCCL_GPUDIRECTTCPX_SOCKET_IFNAME",
        "eth1,eth2,eth3,eth4",
        "interfaces of the accelerators",
        _network(TCPX["tcpx"]),
    ),
    Rule("NCCL_IB_DISABLE", "1", "no verbs on this network: do not look for them", _network("ethernet")),
    Rule("NCCL_SOCKET_NTHREADS", "4", "one thread does not fill a fast port", _network("ethernet")),
    Rule("NCCL_NSOCKS_PERTHREAD", "4", "one socket does not fill a fast port", _network("ethernet")),
)
"""What to set, in the order it is printed; the first rule that holds for a variable counts."""


def nccl_environment(scenario: Scenario) -> NcclEnvironment:
    """Return the variables to set; what the scenario gives itself stays as it is.

    Raises
    ------
    InputError
        The accelerators communicate without NCCL.
    """
    system = scenario.system
    if system.vendor not in USERS:
        diagnostics = Diagnostics()
        diagnostics.error(
            "AIP203",
            f"{system.device} communicates without NCCL",
            hint=f"the variables are for accelerators of {' and '.join(USERS)}",
        )
        raise diagnostics.failure()
    site = _site(scenario)
    due: dict[str, Rule] = {}
    for rule in RULES:
        if rule.holds(site):
            due.setdefault(rule.name, rule)
    doubts = {one.path.removeprefix(f"{FIELD}."): one.problem for one in scenario.cautions}
    given = {name: str(value) for name, value in scenario.file.environment.items()}
    names = dict.fromkeys([*due, *given])
    settings = (_setting(name, given.get(name), due.get(name), doubts.get(name)) for name in names)
    return NcclEnvironment(scenario, system, tuple(settings))


def _site(scenario: Scenario) -> Site:
    node = scenario.node
    return Site(
        system=scenario.system,
        nodes=scenario.file.cluster.nodes,
        ports=scenario.file.cluster.network.ports or sum(nic.count for nic in node.nics),
        accelerators=node.accelerators,
        other_ports=bool(node.other_nics),
        rented=node.provider is not None,
    )


def _setting(name: str, given: str | None, rule: Rule | None, doubt: str | None) -> Setting:
    known = nccl.variables().get(name)
    value, why = (rule.value, rule.why) if rule else ("", known.what if known else "")
    if given is not None:
        other = f"{value} is usual: {why}" if rule and value != given else why
        value, why = given, "; ".join(part for part in (GIVEN, doubt and f"WARNING: {doubt}", other) if part)
    return Setting(
        name=name,
        value=value,
        why=why,
        default=(known.default or "not set") if known else "not known",
        source=known.source if known else "",
    )
