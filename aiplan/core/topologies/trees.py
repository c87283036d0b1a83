"""Trees of switches: leaf-spine, fat-tree, three-tier, and the same wired by rails."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import clos, fabric
from aiplan.core.topologies.lengths import HALL, RACK, ROW
from aiplan.core.topologies.record import Cables, Contention, Fabric, Paths, Switches, Tier
from aiplan.core.topologies.traffic import factors

if TYPE_CHECKING:
    from aiplan.core.arrays import Numeric
    from aiplan.core.topologies.record import Site


class Shape(NamedTuple):
    """Ports of the switches of a tree, and how it is laid out.

    `down` and `up` are ports of a leaf, `middle_down` and `middle_up` those of a middle switch. `rails` leaves share
    the ports of a node, one each. `levels` are the fewest and the most tiers, `first` is the length of a host's cable.
    `stated` is the oversubscription asked for at leaves and at middle switches; whole ports may give a little less.
    """

    radix: Numeric
    down: Numeric
    up: Numeric
    middle_down: Numeric
    middle_up: Numeric
    rails: Numeric
    levels: tuple[int, int]
    first: float
    stated: tuple[Numeric, Numeric]


class Counts(NamedTuple):
    """Switches of a tree by tier, and its pods."""

    levels: Numeric
    leaves: Numeric
    spines: Numeric
    core: Numeric
    pods: Numeric


def leaf_spine(site: Site) -> Fabric:
    """Size a two-level network: every leaf joined to every spine."""
    return _fabric(site, _tapered_leaf(site, (2, 2)))


def fat_tree(site: Site) -> Fabric:
    """Size a folded Clos network of as few tiers as hold the hosts, three at most."""
    return _fabric(site, _tapered_leaf(site, (1, 3)))


def three_tier(site: Site) -> Fabric:
    """Size a network of edge, aggregation and core whose pods have full bandwidth inside and less between them."""
    half = fabric.down_ports(site.radix, 1.0)
    down = fabric.down_ports(site.radix, site.oversubscription)
    one = np.ones_like(half)
    return _fabric(
        site,
        Shape(
            site.radix,
            half,
            site.radix - half,
            down,
            site.radix - down,
            one,
            (3, 3),
            RACK,
            (1.0, site.oversubscription),
        ),
    )


def rail_optimized(site: Site) -> Fabric:
    """Size a fat-tree whose leaves each take the same port of many nodes."""
    return _fabric(site, _tapered_leaf(site, (1, 3), rails=site.ports, first=ROW))


def rail_only(site: Site) -> Fabric:
    """Size one fat-tree a rail, without links between the rails."""
    one = fat_tree(site._replace(ports=1.0))
    each = one.switches
    return one._replace(
        hosts=one.hosts * site.ports,
        largest=one.largest * site.ports,
        switches=Switches(each.first * site.ports, each.second * site.ports, each.third * site.ports),
        cables=Cables(
            np.zeros_like(one.hosts * site.ports),
            (one.cables.rack + one.cables.row) * site.ports,
            one.cables.hall * site.ports,
            one.cables.host * site.ports,
        ),
        ports_used=one.ports_used * site.ports,
        paths=one.paths._replace(
            mean_metres=one.paths.mean_metres + 2.0 * (ROW - RACK),
            most_metres=one.paths.most_metres + 2.0 * (ROW - RACK),
            step_metres=one.paths.step_metres + 2.0 * (ROW - RACK),
            host_metres=one.paths.host_metres + 2.0 * (ROW - RACK),
        ),
        bisection=one.bisection * site.ports,
    )


def domains(site: Site) -> Fabric:
    """Size rails that join scale-up domains, the switches and links of the domains counted too."""
    outer = rail_optimized(site)
    count = fabric.switches_for(site.nodes, site.domain)
    inner = fabric.domain_switches(count, site.accelerators, site.links, site.domain_radix)
    wires = count * site.accelerators * site.links
    return outer._replace(
        switches=outer.switches._replace(domain=inner),
        cables=outer.cables._replace(rack=outer.cables.rack + wires),
        paths=outer.paths._replace(least=np.ones_like(count)),
    )


def _tapered_leaf(site: Site, levels: tuple[int, int], rails: Numeric = 1.0, first: float = RACK) -> Shape:
    down = fabric.down_ports(site.radix, site.oversubscription)
    half = fabric.down_ports(site.radix, 1.0)
    return Shape(
        site.radix, down, site.radix - down, half, site.radix - half, rails, levels, first, (site.oversubscription, 1.0)
    )


def _fabric(site: Site, shape: Shape) -> Fabric:
    hosts = site.nodes * site.ports
    counts = _counts(hosts, site.nodes, shape)
    at_leaf = fabric.oversubscription(shape.down, shape.up)
    at_pod = at_leaf * fabric.oversubscription(shape.middle_down, shape.middle_up)
    whole = np.where(counts.levels > 2, at_pod, np.where(counts.levels > 1, at_leaf, 1.0))
    leaf = np.where(counts.levels > 1, shape.down, shape.radix)
    pod = np.where(counts.levels > 2, shape.down * shape.middle_down, np.maximum(hosts, leaf))
    tiers = Contention(at_leaf, at_leaf, at_leaf), Contention(at_pod, at_pod, at_pod)
    own, both = shape.stated[0], shape.stated[0] * shape.stated[1]
    met = Contention(own, own, own), Contention(both, both, both)
    per_node = np.maximum(1.0, site.ports / shape.rails)
    return Fabric(
        hosts=hosts,
        largest=_largest(shape),
        switches=Switches(counts.leaves, counts.spines, counts.core),
        cables=_cables(hosts, counts, shape),
        ports_used=fabric.switch_ports_used(hosts, _uplinks(counts, shape)[0] + _uplinks(counts, shape)[1]),
        paths=_paths(hosts, counts, shape),
        bisection=fabric.tree_bisection(hosts, whole),
        link_share=np.ones_like(hosts * 1.0),
        oversubscription=whole,
        factors=factors(hosts, hosts / counts.leaves, tiers[0], hosts / counts.pods, tiers[1]),
        leaf=Tier(np.maximum(1.0, np.floor(leaf / per_node)), met[0]),
        pod=Tier(np.maximum(1.0, np.floor(pod / (per_node * shape.rails))), met[1]),
    )


def _counts(hosts: Numeric, nodes: Numeric, shape: Shape) -> Counts:
    fewest, most = shape.levels
    leaves = shape.rails * fabric.switches_for(hosts / shape.rails, shape.down)
    if fewest > 2:
        levels = np.full_like(leaves, 3.0)
    else:
        levels = np.where(
            (hosts <= shape.radix) & (fewest == 1), 1.0, np.where(leaves <= shape.radix, 2.0, float(most))
        )
    pods = np.where(levels > 2, clos.pods(leaves, shape.middle_down), 1.0)
    two = clos.spines(np.minimum(leaves, shape.radix), shape.up, shape.radix)
    three = clos.middle_switches(pods, leaves, shape.up, shape.middle_down)
    core = clos.core_switches(three, shape.middle_up, shape.radix)
    return Counts(
        levels,
        np.where(levels > 1, leaves, 1.0),
        np.where(levels > 2, three, np.where(levels > 1, two, 0.0)),
        np.where(levels > 2, core, 0.0),
        pods + 0.0 * nodes,
    )


def _largest(shape: Shape) -> Numeric:
    per_leaf = shape.down * shape.rails
    if shape.levels[1] < 3:
        return clos.largest_two_level(np.floor(shape.radix / shape.rails), per_leaf)
    units = np.floor(shape.radix * shape.middle_down / shape.rails)
    return clos.largest_three_level(units, 1.0, per_leaf)


def _uplinks(counts: Counts, shape: Shape) -> tuple[Numeric, Numeric]:
    """Return the cables from leaves up, and from middle switches up."""
    return (
        np.where(counts.levels > 1, counts.leaves * shape.up, 0.0),
        np.where(counts.levels > 2, counts.spines * shape.middle_up, 0.0),
    )


def _cables(hosts: Numeric, counts: Counts, shape: Shape) -> Cables:
    lower, upper = _uplinks(counts, shape)
    in_rack = hosts * float(shape.first == RACK)
    # Pods of three tiers stand in a row each; in two tiers the spines stand in the middle of the hall.
    along = np.where(counts.levels > 2, lower, 0.0)
    return Cables(in_rack, hosts - in_rack + along, lower - along + upper, hosts * 1.0)


def _paths(hosts: Numeric, counts: Counts, shape: Shape) -> Paths:
    leaf = hosts / counts.leaves
    pod = np.where(counts.levels > 2, hosts / counts.pods, hosts)
    mean = fabric.mean_switches(hosts, leaf, pod)
    most = 2.0 * counts.levels - 1.0
    middle = np.where(counts.levels > 2, ROW, HALL)
    # A path of 1, 3 or 5 switches has 2 cables of each tier it climbs; the mean counts how often it climbs.
    beyond = np.where(np.asarray(hosts) > pod, np.maximum(hosts - pod, 0.0) / np.maximum(hosts - 1.0, 1.0), 0.0)
    climbs = np.maximum((mean - 1.0) / 2.0 - beyond, 0.0)
    longest = np.where(counts.levels > 2, HALL, 0.0)
    most_metres = 2.0 * (shape.first + (counts.levels > 1) * middle + longest)
    return Paths(
        least=np.ones_like(mean),
        mean=mean,
        most=most,
        mean_metres=2.0 * (shape.first + climbs * middle + beyond * HALL),
        most_metres=most_metres,
        step=most,
        step_metres=most_metres,
        host_metres=2.0 * shape.first + 0.0 * mean,
    )
