"""Fabrics built cable by cable, in plain Python: what the closed forms are held against."""

import itertools
from collections import Counter, deque


class Graph:
    """Switches, cables between them (several may join the same two), and hosts, each on a switch."""

    def __init__(self):
        self.cables = Counter()
        self.hosts = []
        self.places = {}

    def join(self, first, second, times=1):
        self.cables[frozenset((first, second))] += times

    def host(self, switch, times=1):
        self.hosts.extend([switch] * times)

    @property
    def switches(self):
        return {end for pair in self.cables for end in pair} | set(self.hosts)

    def ports(self, switch):
        return sum(n for pair, n in self.cables.items() if switch in pair) + self.hosts.count(switch)

    def neighbours(self):
        found = {switch: set() for switch in self.switches}
        for pair in self.cables:
            first, second = pair
            found[first].add(second)
            found[second].add(first)
        return found

    def distances(self, start, neighbours):
        known, queue = {start: 0}, deque([start])
        while queue:
            here = queue.popleft()
            for there in neighbours[here]:
                if there not in known:
                    known[there] = known[here] + 1
                    queue.append(there)
        return known

    def switches_on_paths(self):
        """Switches on the shortest path between every two different hosts."""
        count, neighbours, found = Counter(self.hosts), self.neighbours(), []
        for one in count:
            far = self.distances(one, neighbours)
            for other, n in count.items():
                found.extend([far[other] + 1] * (count[one] * n - (count[one] if one == other else 0)))
        return found


def folded_clos(radix, leaves, down, spines):
    """Two levels: every leaf joined to every spine alike."""
    graph, up = Graph(), radix - down
    assert up % spines == 0
    for leaf in range(leaves):
        graph.host(("leaf", leaf), down)
        for spine in range(spines):
            graph.join(("leaf", leaf), ("spine", spine), up // spines)
    return graph


def three_levels(radix, pods, down, middle_down):
    """Three levels of full pods: leaves with `down` hosts, middle switches with `middle_down` leaves below."""
    graph, up, middle_up = Graph(), radix - down, radix - middle_down
    cores = pods * up * middle_up // radix
    for pod, leaf in itertools.product(range(pods), range(middle_down)):
        graph.host(("leaf", pod, leaf), down)
        for middle in range(up):
            graph.join(("leaf", pod, leaf), ("middle", pod, middle))
    for pod, middle, link in itertools.product(range(pods), range(up), range(middle_up)):
        graph.join(("middle", pod, middle), ("core", (middle * middle_up + link) % cores))
    return graph


def dragonfly(routers, hosts, links, groups):
    """Groups of routers that are all joined, and as many links between any two groups as there can be alike."""
    graph = Graph()
    for group, router in itertools.product(range(groups), range(routers)):
        graph.host((group, router), hosts)
        for other in range(router):
            graph.join((group, router), (group, other))
    used = [0] * groups
    for _ in range(routers * links // max(groups - 1, 1)):
        for first, second in itertools.combinations(range(groups), 2):
            graph.join((first, used[first] // links), (second, used[second] // links))
            used[first] += 1
            used[second] += 1
    return graph


def direct_hops(graph, routers, groups):
    """Links between every two routers of a dragonfly on routes with one global link at most, itself among them."""
    between = {}
    for pair in graph.cables:
        first, second = pair
        if first[0] != second[0]:
            between.setdefault((first[0], second[0]), []).append((first, second))
            between.setdefault((second[0], first[0]), []).append((second, first))
    everyone = list(itertools.product(range(groups), range(routers)))
    for one, other in itertools.product(everyone, everyone):
        if one[0] == other[0]:
            yield int(one != other)
        else:
            yield min((one != a) + 1 + (b != other) for a, b in between[one[0], other[0]])


def dragonfly_plus(radix):
    """The largest one: groups of leaf and spine, one link between any two groups."""
    graph, half = Graph(), radix // 2
    groups = half * half + 1
    for group, leaf in itertools.product(range(groups), range(half)):
        graph.host(("leaf", group, leaf), half)
        for spine in range(half):
            graph.join(("leaf", group, leaf), ("spine", group, spine))
    used = [0] * groups
    for first, second in itertools.combinations(range(groups), 2):
        graph.join(("spine", first, used[first] // half), ("spine", second, used[second] // half))
        used[first] += 1
        used[second] += 1
    return graph


def torus(sides):
    """Every node joined to the next one along each axis, and the last to the first."""
    graph = Graph()
    for place in itertools.product(*(range(side) for side in sides)):
        graph.host(place)
        for axis, side in enumerate(sides):
            following = list(place)
            following[axis] = (place[axis] + 1) % side
            if side > 2 or (side == 2 and place[axis] == 0):
                graph.join(place, tuple(following))
    return graph


def cut(graph, side_of, free=()):
    """Cables across a border; each free switch goes to the side where it has more of its cables."""
    crossing = 0
    free = set(free)
    for pair, n in graph.cables.items():
        first, second = pair
        if first not in free and second not in free and side_of(first) != side_of(second):
            crossing += n
    for switch in free:
        sides = Counter()
        for pair, n in graph.cables.items():
            if switch in pair:
                (other,) = pair - {switch}
                sides[side_of(other)] += n
        crossing += min(sides[True], sides[False])
    return crossing
