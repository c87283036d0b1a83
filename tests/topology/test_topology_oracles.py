"""Fabrics as they were published: reference architectures, production clusters, largest sizes."""

import csv
from pathlib import Path

import pytest

from aiplan.catalog.load import Catalog
from aiplan.core import clos, dragonfly, fabric
from aiplan.core.topologies import groups, meshes, trees
from aiplan.core.topologies.record import Site
from aiplan.declare import Diagnostics

TABLE = Path(__file__).parents[1] / "data" / "topology_oracles.csv"
ROWS = list(csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()))
UNITS = {
    "h100": ("dgx-h100", 64, 1, 1),
    "b200": ("dgx-b200", 64, 1, 0),
    "b300": ("dgx-b300", 64, 2, 0),
    "b300-xdr": ("dgx-b300", 144, 1, 0),
}
"""Node, ports of a switch, leaves of a rail in a scalable unit, and node slots that the fabric manager takes."""
MANAGER_CABLES = 4
"""Cables of the fabric manager, where it takes a slot."""


def catalog(kind, ident):
    return Catalog().find(kind, ident, Diagnostics()).entry


def superpod(name, case):
    node_id, radix, leaves, taken = UNITS[name]
    node = catalog("nodes", node_id)
    nodes = float(int(case.split()[0]) * leaves * fabric.down_ports(radix, 1.0) - taken)
    rails = float(node.accelerators)
    sized = trees.rail_optimized(Site(nodes, rails, float(radix)))
    to_leaves = float(sized.cables.host)
    switched = (float(sized.ports_used) - to_leaves) / 2
    tiers = 2 if sized.switches.third else 1
    return {
        "nodes": nodes,
        "accelerators": nodes * node.accelerators,
        "leaf switches": sized.switches.first,
        "spine switches": sized.switches.second,
        "core switches": sized.switches.third,
        "cables to leaves": to_leaves + MANAGER_CABLES * taken,
        "cables to spines": switched,
        "cables of a tier": switched / tiers if switched / tiers == to_leaves else float("nan"),
    }


def meta(_):
    """Racks of two nodes of eight, 192 racks in a pod."""
    node, racks_of_pod = catalog("nodes", "dgx-h100").accelerators, 192
    racks = fabric.switches_for(24576, 2 * node)
    return {
        "nodes": racks * 2,
        "racks": racks,
        "pods": clos.pods(racks, racks_of_pod),
        "accelerators of a pod": racks_of_pod * 2 * node,
    }


def hpn(_):
    """Leaves of 128 x 200G down and 60 x 400G up, spines of 120 down and 8 up. https://doi.org/10.1145/3651890.3672265."""
    return {
        "tier1 tier2 oversubscription": round(float(fabric.oversubscription(128 * 200, 60 * 400)), 3),
        "core oversubscription": fabric.oversubscription(120, 8),
        "accelerators of a segment": 128 * 8,
        "segments per pod": fabric.switches_for(120, 8),
    }


def megascale(_):
    down = fabric.down_ports(64, 1.0)
    return {
        "down ports": down,
        "up ports": 64 - down,
        "servers per tor set": down * fabric.split_radix(1, 400e9, 200e9),
    }


def fat_tree(case):
    radix = float(case.removeprefix("k"))
    half = fabric.down_ports(radix, 1.0)
    hosts = clos.largest_three_level(radix, half, half)
    sized = trees.fat_tree(Site(hosts, 1.0, radix))
    return {
        "hosts": hosts,
        "switches": sum(sized.switches[:3]),
        "mean switches on path": round(float(sized.paths.mean), 4),
    }


def leaf_spine(case):
    radix = float(case.removeprefix("k"))
    hosts = clos.largest_two_level(radix, fabric.down_ports(radix, 1.0))
    return {"hosts": hosts, "switches": sum(trees.leaf_spine(Site(hosts, 1.0, radix)).switches[:3])}


def dragonflies(case):
    if not case:
        return {"max router hops": groups.dragonfly_of(72.0, 1.0, 4.0, 2.0, 2.0).paths.most - 1}
    routers, hosts, links = (float(part) for part in case.translate(str.maketrans("aph", "   ")).split())
    most = dragonfly.most_groups(routers * links)
    sized = groups.dragonfly_of(most * routers * hosts, 1.0, routers, hosts, links)
    hops = dragonfly.mean_router_hops(routers, most, dragonfly.gateways(links, most))
    return {
        "groups": most,
        "hosts": sized.largest,
        "switches": sized.switches.first,
        "radix": dragonfly.router_radix(hosts, routers, links),
        "mean router hops all pairs": round(float(hops), 4),
    }


def dragonfly_plus(case):
    return {"largest": groups.dragonfly_plus(Site(1.0, 1.0, float(case.removeprefix("k")))).largest}


def torus(case):
    sized = meshes.torus_of(*(float(side) for side in case.split("x")))
    return {
        "nodes": sized.hosts,
        "diameter": sized.paths.most,
        "mean hops": float(sized.paths.mean) * (float(sized.hosts) - 1) / float(sized.hosts),  # with itself
        "links": sized.cables.host,
        "bisection links": sized.bisection,
    }


def switch(case):
    one = catalog("switches", {"qm9700": "qm9700-ndr", "qm8790": "qm8790-hdr"}[case])
    rate = one.port_bandwidth_one_way * 8
    return {
        "ports": one.ports,
        "port gbps": rate / 1e9,
        "total tbps both ways": 2 * one.ports * rate / 1e12,
    }


def hop_latency(_):
    return {"ndr infiniband": catalog("switches", "qm9700-ndr").hop_latency * 1e9}


def gb200(_):
    return {"accelerators": 128 * catalog("nodes", "gb200-nvl72").accelerators}


SYSTEMS = {
    "meta 24k roce": meta,
    "alibaba hpn7": hpn,
    "megascale": megascale,
    "fat tree 3level": fat_tree,
    "clos 2level": leaf_spine,
    "dragonfly": dragonflies,
    "dragonfly plus": dragonfly_plus,
    "torus": torus,
    "switch": switch,
    "hop latency": hop_latency,
    "superpod gb200": gb200,
}


def computed(row):
    system = row["system"]
    if system in SYSTEMS:
        return SYSTEMS[system](row["case"])
    return superpod(system.removeprefix("superpod "), row["case"])


def name(row):
    return " ".join(part for part in (row["system"], row["case"], row["quantity"]) if part)


@pytest.mark.parametrize("row", [row for row in ROWS if not row["unused"]], ids=name)
def test_published(row):
    assert float(computed(row)[row["quantity"]]) == pytest.approx(float(row["value"]), rel=1e-12)


def test_every_row_has_a_public_source_and_the_unused_ones_a_reason():
    assert len(ROWS) >= 199
    assert all(row["source"].startswith("http") for row in ROWS)
    assert sum(bool(row["unused"]) for row in ROWS) <= 38
    assert {row["status"] for row in ROWS} <= {"printed", "derived", "recalled"}


@pytest.mark.parametrize("row", [row for row in ROWS if row["unused"].startswith("more leaves")], ids=name)
def test_what_is_not_used_cannot_be_built_in_two_tiers(row):
    """512 nodes and more on 64-port switches have more leaves than a spine has ports: three tiers here, two there."""
    units = int(row["case"].split()[0])
    sized = trees.rail_optimized(Site(units * 64.0, 8.0, 64.0))
    assert sized.switches.first > 64
    assert sized.switches.third > 0
