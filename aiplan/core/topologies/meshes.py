"""Networks without switches of their own: the three-dimensional torus."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core import fabric, torus
from aiplan.core.topologies.lengths import HALL, RACK, ROW
from aiplan.core.topologies.record import Cables, Contention, Fabric, Paths, Switches, Tier
from aiplan.core.topologies.traffic import factors

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric
    from aiplan.core.topologies.record import Site


def torus_3d(site: Site) -> Fabric:
    """Size a torus near a cube; the ports of a node share its six directions."""
    x = torus.first_side(site.nodes, 3.0)
    y = torus.first_side(fabric.switches_for(site.nodes, x), 2.0)
    z = fabric.switches_for(site.nodes, x * y)
    return torus_of(x, y, z, site.ports)


def torus_of(x: Numeric, y: Numeric, z: Numeric, ports: Numeric = 1.0) -> Fabric:
    """Size a torus of given sides.

    Parameters
    ----------
    x, y, z : numeric
        Nodes along each axis: in a rack, along a row, through the hall.
    ports : numeric
        Ports of a node, in whose rate links are counted.
    """
    nodes = np.asarray(x * y * z, dtype=float)
    sides = (x, y, z)
    longest = np.maximum(np.maximum(x, y), z)
    axes = torus.axes_in_use(x, y, z)
    hops = [torus.axis_mean_hops(side) for side in sides]
    steps = [torus.axis_diameter(side) for side in sides]
    wires = [torus.axis_cables(nodes, side) for side in sides]
    pairs = nodes / np.maximum(nodes - 1.0, 1.0)  # a node does not send to itself
    spread = torus.torus_uniform_contention(axes, torus.axis_mean_hops(longest))
    one = Contention(torus.axis_share(axes), torus.direction_share(axes), spread)
    whole = factors(nodes, 1.0, Contention(1.0, one.send, spread), nodes, one)
    lengths = (RACK, ROW, HALL)
    return Fabric(
        hosts=nodes,
        largest=np.full_like(nodes, np.inf),
        switches=Switches(np.zeros_like(nodes)),
        cables=Cables(wires[0], wires[1], wires[2], sum(wires)),
        ports_used=2.0 * sum(wires),
        paths=Paths(
            least=np.where(nodes > 1, 1.0, 0.0),
            mean=sum(hops) * pairs,
            most=sum(steps),
            mean_metres=sum(count * metres for count, metres in zip(hops, lengths, strict=True)) * pairs,
            most_metres=sum(count * metres for count, metres in zip(steps, lengths, strict=True)),
            step=np.where(nodes > 1, 1.0, 0.0),
            step_metres=np.where(nodes > 1, HALL, 0.0),
            host_metres=np.zeros_like(nodes),
        ),
        bisection=torus.torus_bisection(nodes, longest),
        link_share=ports / (2.0 * axes),
        oversubscription=spread,
        factors=whole,
        leaf=Tier(np.ones_like(nodes), one),
        pod=Tier(nodes, one),
    )
