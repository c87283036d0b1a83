"""The closed forms of fabrics against graphs built cable by cable."""

import itertools
import math
from collections import Counter
from statistics import mean

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from aiplan.core import clos, dragonfly, fabric, torus
from aiplan.core.topologies import groups, meshes, trees
from aiplan.core.topologies.lengths import HALL, RACK, ROW
from aiplan.core.topologies.record import Site
from aiplan.core.topologies.registry import KINDS
from topology import graphs

quick = settings(max_examples=25, deadline=None)
even = st.integers(2, 6).map(lambda half: 2 * half)


def same_paths(built, sized):
    paths = built.switches_on_paths()
    assert (min(paths), max(paths)) == (sized.paths.least, sized.paths.most)
    assert mean(paths) == pytest.approx(float(sized.paths.mean), rel=1e-12)


def same_metres(built, sized, lengths):
    """Twice each length of a cable that a path of so many switches climbs."""
    found = mean(2 * sum(lengths[: (switches + 1) // 2]) for switches in built.switches_on_paths())
    assert float(sized.paths.mean_metres) == pytest.approx(found, rel=1e-12)
    assert float(sized.paths.most_metres) == 2 * sum(lengths)


def same_cables(built, sized):
    total = sum(built.cables.values()) + len(built.hosts)
    assert float(sized.cables.rack + sized.cables.row + sized.cables.hall) == total
    assert float(sized.ports_used) == sum(built.ports(switch) for switch in built.switches)


# ------------------------------------------------------------------ trees


@quick
@given(even, st.data())
def test_leaf_spine(radix, data):
    leaves = data.draw(st.integers(2, radix))
    down = radix // 2
    sized = trees.leaf_spine(Site(float(leaves * down), 1.0, float(radix)))
    spines = int(sized.switches.second)
    built = graphs.folded_clos(radix, leaves, down, spines)
    assert (float(sized.switches.first), float(sized.switches.third)) == (leaves, 0)
    assert max(built.ports(("spine", one)) for one in range(spines)) <= radix
    for fewer in range(1, spines):  # nor would fewer spines do
        assert down % fewer or leaves * down > fewer * radix
    same_paths(built, sized)
    same_metres(built, sized, (RACK, HALL))
    same_cables(built, sized)


@pytest.mark.parametrize("radix", [4, 6, 8])
def test_three_levels(radix):
    half = radix // 2
    sized = trees.fat_tree(Site(radix**3 / 4, 1.0, float(radix)))
    built = graphs.three_levels(radix, radix, half, half)
    tiers = Counter(name for name, *_ in built.switches)
    assert tuple(map(float, sized.switches[:3])) == (tiers["leaf"], tiers["middle"], tiers["core"])
    assert {built.ports(switch) for switch in built.switches} == {radix}
    same_paths(built, sized)
    same_metres(built, sized, (RACK, ROW, HALL))
    same_cables(built, sized)
    cores = [switch for switch in built.switches if switch[0] == "core"]
    worst = min(
        graphs.cut(built, lambda switch, left=left: switch[1] in left, cores)
        for left in itertools.combinations(range(radix), half)
    )
    assert float(sized.bisection) == worst
    assert float(sized.largest) == len(built.hosts)


@pytest.mark.parametrize(("radix", "over", "pods"), [(8, 3.0, 2), (8, 3.0, 8), (6, 2.0, 6), (8, 1.0, 4)])
def test_three_tiers_with_less_between_pods(radix, over, pods):
    down, middle_down = radix // 2, int(fabric.down_ports(radix, over))
    built = graphs.three_levels(radix, pods, down, middle_down)
    sized = trees.three_tier(Site(float(len(built.hosts)), 1.0, float(radix), over))
    tiers = Counter(name for name, *_ in built.switches)
    assert tuple(map(float, sized.switches[:3])) == (tiers["leaf"], tiers["middle"], tiers["core"])
    same_paths(built, sized)
    same_metres(built, sized, (RACK, ROW, HALL))
    same_cables(built, sized)
    cores = [switch for switch in built.switches if switch[0] == "core"]
    assert float(sized.bisection) == graphs.cut(built, lambda switch: switch[1] < pods // 2, cores)
    assert float(sized.oversubscription) == pytest.approx(over)


@quick
@given(even, st.integers(1, 8), st.integers(1, 60))
def test_rails(radix, rails, nodes):
    """Node n's port i is on leaf i of its unit; no leaf has more nodes than ports that face down."""
    half = radix // 2
    sized = trees.rail_optimized(Site(float(nodes), float(rails), float(radix)))
    assume(float(sized.hosts) <= float(sized.largest) and float(sized.hosts) > radix)
    on = Counter((node // half, rail) for node in range(nodes) for rail in range(rails))
    assert float(sized.switches.first) == len(on)
    assert max(on.values()) <= half


@quick
@given(even, st.integers(1, 8), st.integers(1, 60))
def test_rail_only_is_a_tree_for_every_rail(radix, rails, nodes):
    one = trees.fat_tree(Site(float(nodes), 1.0, float(radix)))
    all_of_them = trees.rail_only(Site(float(nodes), float(rails), float(radix)))
    assert sum(map(float, all_of_them.switches)) == rails * sum(map(float, one.switches))
    assert float(all_of_them.ports_used) == rails * float(one.ports_used)
    assert float(all_of_them.paths.mean) == float(one.paths.mean)


def test_scale_up_domains_have_their_own_switches():
    site = Site(144.0, 4.0, 64.0, 1.0, domain=18.0, accelerators=72.0, links=18.0)
    plain, own = trees.rail_optimized(site), trees.domains(site)
    assert float(own.switches.domain) == 8 * 9
    assert float(own.cables.rack - plain.cables.rack) == 576 * 18
    assert own.switches[:3] == plain.switches[:3]


@quick
@given(even, st.integers(1, 4000), st.floats(1.0, 8.0))
def test_a_fat_tree_that_fits_has_ports_for_all(radix, nodes, over):
    sized = trees.fat_tree(Site(float(nodes), 1.0, float(radix), over))
    assume(float(sized.hosts) <= float(sized.largest))
    switches = sum(map(float, sized.switches))
    assert float(sized.ports_used) <= switches * radix
    assert 1 <= float(sized.paths.mean) <= float(sized.paths.most) or nodes == 1
    assert 1 <= float(sized.oversubscription) <= over * (1 + 1e-9)


# ------------------------------------------------------------------ groups


@pytest.mark.parametrize(("routers", "hosts", "links"), [(2, 1, 1), (4, 2, 2), (3, 1, 2), (6, 3, 3)])
def test_largest_dragonfly(routers, hosts, links):
    most = routers * links + 1
    built = graphs.dragonfly(routers, hosts, links, most)
    sized = groups.dragonfly_of(float(len(built.hosts)), 1.0, float(routers), float(hosts), float(links))
    assert float(sized.largest) == len(built.hosts)
    assert float(sized.switches.first) == len(built.switches)
    assert {built.ports(one) for one in built.switches} == {float(dragonfly.router_radix(hosts, routers, links))}
    same_cables(built, sized)
    hops = list(graphs.direct_hops(built, routers, most))
    assert mean(hops) == pytest.approx(float(dragonfly.mean_router_hops(routers, most, 1 / routers)), rel=1e-12)
    n = len(built.hosts)
    pairs = (sum(hops) + len(hops)) * hosts**2 - n  # every two hosts, less each with itself
    assert float(sized.paths.mean) == pytest.approx(pairs / (n * (n - 1)), rel=1e-12)
    assert max(hops) + 1 == float(sized.paths.most)
    # Routers come group by group: as many pairs within a group, first to last, as the distances say.
    apart = sum(one != other for one in range(most) for other in range(most)) * routers**2
    metres = (sum(hops) - apart) * ROW + apart * HALL
    assert float(sized.paths.mean_metres) == pytest.approx(2 * RACK + metres * hosts**2 / (n * (n - 1)), rel=1e-12)


@pytest.mark.parametrize(
    ("routers", "hosts", "links", "count"), [(4, 2, 2, 9), (4, 2, 2, 5), (4, 2, 2, 3), (4, 2, 2, 2), (4, 3, 2, 3)]
)
def test_one_group_to_one_other_by_counting_links(routers, hosts, links, count):
    """Every host sends to the next group: directly as far as links go, or by way of any group, whichever is better."""
    built = graphs.dragonfly(routers, hosts, links, count)
    between = Counter()
    for pair, n in built.cables.items():
        first, second = pair
        if first[0] != second[0]:
            between[frozenset((first[0], second[0]))] += n
    direct = routers * hosts / between[frozenset((0, 1))]
    # By way of a group drawn at random each message takes two of the links that a group has out and in.
    around = 2 * routers * hosts / sum(n for pair, n in between.items() if 0 in pair)
    expected = max(1.0, min(direct, around))
    assert float(dragonfly.neighbour_oversubscription(hosts, links, count)) == pytest.approx(expected)


@quick
@given(st.integers(2, 8), st.integers(1, 4), st.integers(2, 12))
def test_smaller_dragonfly(routers, links, count):
    """With several links a pair of groups the mean is that of links that lie at random."""
    assume(routers * links % max(count - 1, 1) == 0 and count <= routers * links + 1)
    built = graphs.dragonfly(routers, 1, links, count)
    share = dragonfly.gateways(links, count)
    hops = list(graphs.direct_hops(built, routers, count))
    assert mean(hops) == pytest.approx(float(dragonfly.mean_router_hops(routers, count, share)), abs=0.4)


@pytest.mark.parametrize(("routers", "links", "count"), [(4, 2, 9), (4, 2, 5), (4, 2, 3), (6, 2, 13)])
def test_bisection_of_groups(routers, links, count):
    built = graphs.dragonfly(routers, 1, links, count)
    worst = min(
        graphs.cut(built, lambda switch, left=left: switch[0] in left)
        for left in itertools.combinations(range(count), count // 2)
    )
    assert float(fabric.group_bisection(count, routers * links)) == worst


@pytest.mark.parametrize("radix", [4, 6, 8])
def test_largest_dragonfly_plus(radix):
    built = graphs.dragonfly_plus(radix)
    sized = groups.dragonfly_plus(Site(float(len(built.hosts)), 1.0, float(radix)))
    tiers = Counter(name for name, *_ in built.switches)
    assert float(sized.largest) == len(built.hosts)
    assert tuple(map(float, sized.switches[:2])) == (tiers["leaf"], tiers["spine"])
    same_paths(built, sized)
    same_cables(built, sized)


@quick
@given(st.integers(4, 128), st.floats(1.0, 4.0), st.integers(1, 5000))
def test_dragonfly_fits_its_radix(radix, over, nodes):
    links = float(dragonfly.global_links(radix, over))
    hosts = max(1.0, math.floor(links * over + 1e-9))
    assert float(dragonfly.router_radix(hosts, 2 * links, links)) <= radix or links == 1
    sized = groups.dragonfly(Site(float(nodes), 1.0, float(radix), over))
    assert float(sized.paths.least) <= float(sized.paths.mean) <= float(sized.paths.most) or nodes == 1


# ------------------------------------------------------------------ torus


sides = st.lists(st.integers(1, 5), min_size=3, max_size=3)


@quick
@given(sides)
def test_torus(lengths):
    assume(math.prod(lengths) > 1)
    built, sized = graphs.torus(lengths), meshes.torus_of(*map(float, lengths))
    nodes = math.prod(lengths)
    paths = [hops - 1 for hops in built.switches_on_paths()]
    assert float(sized.hosts) == nodes
    assert float(sized.cables.host) == sum(built.cables.values())
    assert max(paths) == float(sized.paths.most)
    assert mean(paths) == pytest.approx(float(sized.paths.mean), rel=1e-12)
    longest = max(lengths)
    axis = lengths.index(longest)
    across = graphs.cut(built, lambda place: place[axis] < longest // 2)
    assert float(sized.bisection) == across


@quick
@given(st.integers(1, 20_000))
def test_torus_holds_its_nodes_near_a_cube(nodes):
    sized = meshes.torus_3d(Site(float(nodes), 8.0, 64.0))
    side = round(nodes ** (1 / 3))
    assert nodes <= float(sized.hosts) <= nodes + (side + 2) ** 2
    if side**3 == nodes:
        assert float(sized.hosts) == nodes


@pytest.mark.parametrize("lengths", [(4, 4, 4), (6, 4, 2), (5, 5, 5), (8, 2, 2)])
def test_all_to_all_on_a_torus_by_routing_every_message(lengths):
    """Every node sends an equal part to every node, itself among them, along one axis after the other."""
    places = list(itertools.product(*(range(side) for side in lengths)))
    load = Counter()
    for start, end in itertools.product(places, places):
        here = list(start)
        for axis, side in enumerate(lengths):
            ways = (end[axis] - here[axis]) % side
            turns = [(1, ways)] if ways < side - ways else [(-1, side - ways)]
            if 2 * ways == side:
                turns = [(1, ways), (-1, ways)]  # half of it each way round
            for step, count in turns:
                at = list(here)
                for _ in range(count):
                    load[tuple(at), axis, step] += 1 / (len(places) * len(turns))
                    at[axis] = (at[axis] + step) % side
            here[axis] = end[axis]
    axes = sum(side > 1 for side in lengths)
    slowest = max(load.values()) * 2 * axes  # a link has this part of a node's bandwidth
    expected = float(torus.torus_uniform_contention(axes, torus.axis_mean_hops(max(lengths))))
    assert max(1.0, slowest) == pytest.approx(expected)


# ------------------------------------------------------------------ traffic


@pytest.mark.parametrize(("over", "pods"), [(3.0, 2), (3.0, 8), (7.0, 4)])
def test_all_to_all_between_pods_by_counting_flows(over, pods):
    radix = 8
    down, middle_down = radix // 2, int(fabric.down_ports(radix, over))
    pod = down * middle_down
    hosts = pods * pod
    uplinks = down * (radix - middle_down)
    sent = pod * (hosts - pod) / (hosts - 1)  # of one pod's hosts, each a full port
    sized = trees.three_tier(Site(float(hosts), 1.0, float(radix), over))
    assert float(sized.factors.all_to_all) == pytest.approx(max(1.0, sent / uplinks))
    assert float(sized.factors.pipeline) == pytest.approx(pod / uplinks)
    assert float(sized.factors.storage) == pytest.approx(pod / uplinks)
    assert float(sized.factors.ring) == 1.0  # one flow of many leaves a pod


def in_order_parent(rank, ranks):
    """Parent of a rank in an in-order binary tree, as rings are cut into trees."""
    bit = 1
    while bit < ranks and not rank & bit:
        bit <<= 1
    if rank == 0:
        return None
    up = (rank ^ bit) | (bit << 1)
    return up if up < ranks else rank ^ bit


@given(st.integers(2, 300))
@settings(max_examples=60, deadline=None)
def test_few_edges_of_a_tree_leave_a_block_of_ranks(ranks):
    edges = [(rank, in_order_parent(rank, ranks)) for rank in range(1, ranks)]
    size = 1
    while size < ranks:
        crossing = Counter()
        for one, other in edges:
            if one // size != other // size:
                crossing[one // size] += 1
                crossing[other // size] += 1
        assert max(crossing.values(), default=0) <= 4
        size *= 2


# ------------------------------------------------------------------ all kinds


@pytest.mark.parametrize("name", KINDS)
def test_arrays_give_what_single_numbers_give(name):
    nodes = np.array([[2.0], [16.0], [128.0], [700.0]])
    radix = np.array([32.0, 64.0, 144.0])
    over = 1.0 if not KINDS[name].switched else 2.0
    whole = KINDS[name].size(Site(nodes, 8.0, radix, over, 9.0, 72.0, 18.0))
    shape = np.broadcast_shapes(nodes.shape, radix.shape)
    for index in np.ndindex(shape):
        site = Site(nodes[index[0], 0], 8.0, radix[index[1]], over, 9.0, 72.0, 18.0)
        one = KINDS[name].size(site)
        for field in ("hosts", "largest", "ports_used", "bisection", "oversubscription"):
            assert float(np.broadcast_to(getattr(whole, field), shape)[index]) == float(getattr(one, field)), field
        for group in ("switches", "cables", "paths", "factors"):
            for field, value in getattr(whole, group)._asdict().items():
                assert float(np.broadcast_to(value, shape)[index]) == float(getattr(getattr(one, group), field)), field


@pytest.mark.parametrize("name", ["fat-tree", "three-tier", "rail-optimized", "rail-only"])
@quick
@given(st.integers(8, 2000), st.floats(1.0, 6.0))
def test_oversubscription_of_a_tree_never_speeds_up(name, nodes, over):
    plain, narrow = (KINDS[name].size(Site(float(nodes), 8.0, 64.0, o, 9.0, 72.0, 18.0)) for o in (1.0, over))
    for kind in plain.factors._fields:
        assert float(getattr(narrow.factors, kind)) >= float(getattr(plain.factors, kind)) * (1 - 1e-12) >= 1 - 1e-12


@pytest.mark.parametrize("name", KINDS)
def test_one_node_needs_no_path(name):
    sized = KINDS[name].size(Site(1.0, 1.0, 64.0))
    assert all(float(value) <= 1.0 for value in sized.factors)
    assert float(sized.paths.mean) == 0.0


def test_oversubscription_of_a_leaf_is_never_above_what_is_allowed():
    radix = np.arange(2, 145)[:, None]
    over = np.linspace(1, 9, 50)
    down = fabric.down_ports(radix, over)
    assert np.all(down / (radix - down) <= over * (1 + 1e-9))
    assert np.all(down >= 1)


def test_largest_trees_grow_with_the_square_and_the_cube():
    assert clos.largest_two_level(36, 18) == 648
    assert clos.largest_three_level(36, 18, 18) == 11664
