"""What accelerators, the rest of their nodes, and the network between these draw."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.core import energy
from aiplan.scenario.values import Value, assumed, default, derived, from_file

if TYPE_CHECKING:
    from aiplan.catalog.records import Switch
    from aiplan.core.topologies.record import Fabric
    from aiplan.scenario.resolve import Parts

NODE_OVER_DEVICES = 1.79
"""Printed maximum of a node over the rated power of its accelerators: the median of the nodes in the catalog."""
BESIDE_SHARE = 0.6
"""Share that training draws of what a node is rated beside its accelerators: eight H100 of 700 W in a node rated
10.2 kW drew 8.4 kW at most, https://arxiv.org/abs/2412.08602."""
WAITING_SHARE, IDLE_SHARE = 0.5, 0.13
"""Draw over the rated one: taken as half for an accelerator that waits in a collective, between full load and none; and
without a process 53 W of 400 W, an A100 at https://huggingface.co/spaces/seawolf2357/PLUS_Lab_GPUs."""
PORT_POWER, PORT_POWER_MOST = 747.0 / 64.0 / 50e9, 1720.0 / 64.0 / 50e9
"""Draw of a switch per port and rate of a port, as of the QM9700: 64 ports of 400 Gb/s, 747 W, 1,720 W at most."""
MODULE_POWER = 8.0 / 50e9
"""Draw of an optical module per rate: 8 W at 400 Gb/s, 4.5 W at 200 Gb/s."""
PUE = 1.2
"""Large facilities: clouds print 1.10 to 1.18, the average of all is 1.58."""


def power_values(parts: Parts, network: tuple[Value, float]) -> dict[str, Value]:
    """Return the draw of accelerators, nodes and network per accelerator, the most of all that, and the PUE.

    Parameters
    ----------
    parts : Parts
        The scenario.
    network : tuple
        Draw of the network per accelerator, and the most of it.
    """
    given = parts.file.cluster.power
    if given is not None:
        return _as_whole(from_file(given, parts.origins, "cluster.power"), _pue(parts, contains_cooling=True))
    device = parts.accelerator.power
    if device is None:
        whole = parts.node.power_per_accelerator
        if whole is None:
            return _as_whole(assumed(math.nan, "no power in the catalog"), _pue(parts))
        drawn = from_file(whole, parts.node_origins, "power_per_accelerator")
        return _as_whole(drawn, _pue(parts, contains_cooling=True))
    rated, how = _rated(parts, device)
    beside = float(energy.beside_power(rated, device, BESIDE_SHARE))
    most = device + float(energy.beside_power(rated, device, 1.0)) + network[1]
    return {
        "power": derived(most, f"accelerator, {how}, network"),
        "device_power": from_file(device, parts.accelerator_origins, "power"),
        "node_power": default(beside, f"{BESIDE_SHARE} of {how}, as measured with H100"),
        "network_power": network[0],
        "waiting_share": default(WAITING_SHARE, "usual share"),
        "idle_share": default(IDLE_SHARE, "usual share"),
        "pue": _pue(parts),
    }


def _as_whole(drawn: Value, pue: Value) -> dict[str, Value]:
    """Return a draw that is a mean of training, with everything that belongs to it."""
    contained = derived(0.0, "contained in the draw of an accelerator")
    return {
        "power": drawn,
        "device_power": drawn,
        "node_power": contained,
        "network_power": contained,
        "waiting_share": derived(1.0, "the draw is a mean of training"),
        "idle_share": default(WAITING_SHARE, "usual share"),
        "pue": pue,
    }


def _rated(parts: Parts, device: float) -> tuple[float, str]:
    """Return the printed maximum of a node per accelerator, and what is called that which is not accelerators."""
    if parts.node.power is not None:
        return parts.node.power / parts.node.accelerators, "what its node is rated besides"
    return NODE_OVER_DEVICES * device, "what nodes are usually rated besides"


def _pue(parts: Parts, *, contains_cooling: bool = False) -> Value:
    if parts.file.cluster.pue is not None:
        return from_file(parts.file.cluster.pue, parts.origins, "cluster.pue")
    if contains_cooling:
        return derived(1.0, "the all-in draw contains cooling")
    if parts.file.cluster.region is not None and parts.region.pue is not None:
        return from_file(parts.region.pue, parts.region_origins, "pue")
    return default(PUE, "usual for a large facility")


def fabric_draw(
    one: Fabric, switch: Switch | None, rate: float, radix: float, accelerators: float
) -> tuple[Value, float]:
    """Return the draw of switches and optical modules per accelerator, and the most of it.

    Parameters
    ----------
    one : Fabric
        Counts of switches and cables.
    switch : Switch or None
        The switch, if it is named.
    rate : float
        Rate of a port, one way. [B/s]
    radix : float
        Ports of a switch, split to that rate. [-]
    accelerators : float
        Accelerators of all nodes. [-]
    """
    known = switch.power if switch else None
    typical = (known.typical or known.max) if known else None
    most = (known.max or known.typical) if known else None
    switches = float(one.switches.first) + float(one.switches.second) + float(one.switches.third)
    optical = float(one.cables.row) + float(one.cables.hall)

    def draw(each: float, modules: float) -> float:
        return float(energy.fabric_power(switches, each, modules, MODULE_POWER * rate, accelerators))

    ports = radix * rate
    mean = draw(typical or PORT_POWER * ports, optical)
    # What a vendor prints as the most counts the modules in the cages of the switch.
    peak = draw(most or PORT_POWER_MOST * ports, 0.0)
    what = f"{switches:,.0f} switches, {optical:,.0f} optical cables"
    own = derived(mean, what) if typical else default(mean, f"{what}, switches as the QM9700")
    return own, max(mean, peak)
