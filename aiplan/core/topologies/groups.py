"""Networks of groups that are all joined to each other: dragonfly and dragonfly+."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aiplan.core import dragonfly as forms
from aiplan.core import fabric
from aiplan.core.topologies.lengths import HALL, RACK, ROW
from aiplan.core.topologies.record import Cables, Contention, Fabric, Paths, Switches, Tier
from aiplan.core.topologies.traffic import factors

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric
    from aiplan.core.topologies.record import Site


def dragonfly(site: Site) -> Fabric:
    """Size a dragonfly of routers with a = 2 h and p = o h that fill whole groups."""
    links = forms.global_links(site.radix, site.oversubscription)
    each = np.maximum(1.0, np.floor(links * site.oversubscription + 1e-9))
    return dragonfly_of(site.nodes * site.ports, site.ports, 2.0 * links, each, links)


def dragonfly_of(hosts: Numeric, ports: Numeric, routers: Numeric, each: Numeric, links: Numeric) -> Fabric:
    """Size a dragonfly of given groups.

    Parameters
    ----------
    hosts : numeric
        Host ports.
    ports : numeric
        Ports of a node.
    routers, each, links : numeric
        Routers of a group a, hosts of a router p, global links of a router h.
    """
    group = routers * each
    groups = fabric.switches_for(hosts, group)
    switches = np.where(groups > 1, groups * routers, fabric.switches_for(hosts, each))
    local = forms.local_cables(switches, routers)
    wide = forms.global_cables(groups, routers * links)
    inside = np.where(groups > 1, routers, switches)
    gateways = forms.gateways(links, groups)
    hops = forms.mean_router_hops(inside, groups, gateways)
    near = forms.local_oversubscription(each, routers)
    at_router = Contention(near, near, near)
    at_group = Contention(
        np.maximum(near, forms.neighbour_oversubscription(each, links, groups)),
        np.maximum(near, forms.neighbour_oversubscription(each, links, groups)),
        np.maximum(near, fabric.oversubscription(each, links)),
    )
    beyond = np.where(groups > 1, 1.0 - 1.0 / groups, 0.0)
    pairs = hosts / np.maximum(hosts - 1.0, 1.0)  # a host does not send to itself
    most = np.where(groups > 1, 4.0, np.where(switches > 1, 2.0, 1.0))
    longest = 2.0 * RACK + np.maximum(most - 1.0 - (groups > 1), 0.0) * ROW + (groups > 1) * HALL
    return Fabric(
        hosts=hosts * 1.0,
        largest=group * forms.most_groups(routers * links),
        switches=Switches(switches),
        cables=Cables(hosts * 1.0, local, wide, hosts * 1.0),
        ports_used=fabric.switch_ports_used(hosts, local + wide),
        paths=Paths(
            least=np.where(each > 1, 1.0, np.where(switches > 1, 2.0, 1.0)),
            mean=forms.mean_switches_between_hosts(hosts, hops),
            most=most,
            mean_metres=2.0 * RACK + pairs * ((hops - beyond) * ROW + beyond * HALL),
            most_metres=longest,
            step=most,
            step_metres=longest,
            host_metres=2.0 * RACK,
        ),
        bisection=np.where(
            groups > 1,
            np.minimum(fabric.group_bisection(groups, routers * links), hosts / 2.0),
            np.minimum(np.floor(inside / 2.0) * (inside - np.floor(inside / 2.0)) * routers / inside, hosts / 2.0),
        ),
        link_share=np.ones_like(hosts * 1.0),
        oversubscription=np.where(groups > 1, at_group.uniform, near),
        factors=factors(hosts, hosts / switches, at_router, hosts / groups, at_group),
        leaf=Tier(np.maximum(1.0, np.floor(each / ports)), at_router),
        pod=Tier(np.maximum(1.0, np.floor(group / ports)), at_group),
    )


def dragonfly_plus(site: Site) -> Fabric:
    """Size a dragonfly+: groups of leaf-spine, every spine with as many global links as leaves."""
    hosts = site.nodes * site.ports
    down = fabric.down_ports(site.radix, site.oversubscription)
    up, half = site.radix - down, fabric.down_ports(site.radix, 1.0)
    group, wires = down * half, up * (site.radix - half)
    groups = fabric.switches_for(hosts, group)
    leaves = np.where(groups > 1, groups * half, fabric.switches_for(hosts, down))
    spines = np.where(leaves > 1, groups * up, 0.0)
    local = np.where(leaves > 1, leaves * up, 0.0)
    wide = forms.global_cables(groups, wires)
    over = fabric.oversubscription(down, up)
    at_leaf = Contention(over, over, over)
    far = np.maximum(over, forms.neighbour_oversubscription(group, wires, groups))
    at_group = Contention(far, far, np.maximum(over, fabric.oversubscription(group, wires)))
    most = np.where(groups > 1, 4.0, np.where(leaves > 1, 3.0, 1.0))
    longest = 2.0 * RACK + 2.0 * ROW * (leaves > 1) + HALL * (groups > 1)
    mean = forms.leaf_spine_switches(hosts, hosts / leaves, hosts / groups)
    beyond = np.maximum(hosts - hosts / groups, 0.0) / np.maximum(hosts - 1.0, 1.0)
    inside = np.maximum(hosts / groups - hosts / leaves, 0.0) / np.maximum(hosts - 1.0, 1.0)
    return Fabric(
        hosts=hosts * 1.0,
        largest=group * forms.most_groups(wires),
        switches=Switches(leaves, spines),
        cables=Cables(hosts * 1.0, local, wide, hosts * 1.0),
        ports_used=fabric.switch_ports_used(hosts, local + wide),
        paths=Paths(
            least=np.ones_like(mean),
            mean=mean,
            most=most,
            mean_metres=2.0 * RACK + 2.0 * ROW * (inside + beyond) + HALL * beyond,
            most_metres=longest,
            step=most,
            step_metres=longest,
            host_metres=2.0 * RACK,
        ),
        bisection=np.where(
            groups > 1,
            np.minimum(fabric.group_bisection(groups, wires), hosts / 2.0),
            fabric.tree_bisection(hosts, np.where(leaves > 1, over, 1.0)),
        ),
        link_share=np.ones_like(hosts * 1.0),
        oversubscription=np.where(groups > 1, at_group.uniform, np.where(leaves > 1, over, 1.0)),
        factors=factors(hosts, hosts / leaves, at_leaf, hosts / groups, at_group),
        leaf=Tier(np.maximum(1.0, np.floor(down / site.ports)), at_leaf),
        pod=Tier(np.maximum(1.0, np.floor(group / site.ports)), at_group),
    )
