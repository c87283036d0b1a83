"""Collectives in which switches add up or multicast, byte by byte or chunk by chunk: a second implementation."""

from collections import deque

import numpy as np
from message_simulator import pieces, rings
from tree_simulator import rail_trees


class Switch:
    """A switch with a port for each rank, which carries a byte a tick each way.

    It takes a byte from every rank, adds up, and sends the sum to its owner, rank e mod p for byte e; what an owner
    sends back goes to all. Sums wait for nothing else.
    """

    def __init__(self, data, *, adding):
        ranks, size = len(data), data[0].size
        self.data, self.adding = data, adding
        self.own = [deque(range(size)) if adding else deque(range(rank, size, ranks)) for rank in range(ranks)]
        self.sums, self.down = [deque() for _ in data], [deque() for _ in data]
        self.total, self.arrived = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=int)
        self.results, self.got = [np.full(size, -1) for _ in data], 0

    def tick(self):
        """Pass a byte of every port that has one, each way."""
        up = [self._sent(rank) for rank in range(len(self.data))]
        down = [queue.popleft() if queue else None for queue in self.down]
        for message in up:
            if message is not None:
                self._taken(*message)
        for rank, message in enumerate(down):
            if message is not None:
                self._given(rank, *message)

    def _sent(self, rank):
        if self.sums[rank]:
            return "all", *self.sums[rank].popleft()
        if not self.own[rank]:
            return None
        byte = self.own[rank].popleft()
        return "add" if self.adding else "all", byte, self.data[rank][byte]

    def _taken(self, kind, byte, value):
        if kind == "all":
            for queue in self.down:
                queue.append(("all", byte, value))
            return
        self.total[byte] += value
        self.arrived[byte] += 1
        if self.arrived[byte] == len(self.data):
            self.down[byte % len(self.data)].appendleft(("sum", byte, self.total[byte]))

    def _given(self, rank, kind, byte, value):
        if kind == "sum":
            self.sums[rank].append((byte, value))
        else:
            self.results[rank][byte] = value
            self.got += 1


def switch_ticks(data, *, adding):
    """Add up what all ranks hold, or multicast what each owns, into `data`; return the ticks until all have all."""
    switch, ticks = Switch(data, adding=adding), 0
    while switch.got < len(data) * data[0].size:
        switch.tick()
        ticks += 1
    for part, result in zip(data, switch.results, strict=True):
        part[:] = result
    return ticks


class Nodes:
    """Nodes whose switch adds up or multicasts, with two trees between them for each rank of a node, in chunks."""

    def __init__(self, machine, data, chunks):
        self.machine, self.data = machine, data
        self.local = machine.net.local_ranks
        self.trees = rail_trees(machine, data[0].size, chunks)
        depth = max(level for tree in self.trees for near, level in tree.links if not near)
        self.stages = ["add", *range(depth, 0, -1), *range(-1, -depth - 1, -1), "multicast"]

    def load(self, stage, chunk):
        """Return what a rank sends to its switch and receives from it."""
        widths = np.array([tree.chunks[chunk].stop - tree.chunks[chunk].start for tree in self.trees])
        both = np.array([widths.sum(), widths.reshape(self.local, 2).sum(axis=1).max()])
        return both if stage == "add" else both[::-1]

    def apply(self, stage, chunk):
        """Add up in every node what goes to a rank, or copy what a rank has to all of its node."""
        for place, tree in enumerate(self.trees):
            part, rail = tree.chunks[chunk], place // 2
            for first in range(0, self.machine.ranks, self.local):
                members = self.data[first : first + self.local]
                if stage == "add":
                    members[rail][part] = sum(one[part] for one in members)
                for one in members if stage == "multicast" else ():
                    one[part] = members[rail][part]

    def messages(self, stage, chunk):
        """Return what passes between nodes at a level, up (1 ...) or down (-1 ...)."""
        found = []
        for tree in self.trees:
            for low, high in tree.links.get((False, abs(stage)), ()):
                one, other = (low, high) if stage > 0 else (high, low)
                part = tree.chunks[chunk]
                found.append((one, other, part, self.data[one][part].copy(), stage > 0))
        return found

    def round(self, work):
        """Do all stages at once, each on its chunk; return how long the slower kind of port takes."""
        near, far = np.zeros(2), []
        for stage, chunk in work:
            if isinstance(stage, str):
                near += self.load(stage, chunk)
                self.apply(stage, chunk)
            else:
                far += self.messages(stage, chunk)
        for _, other, part, got, up in far:
            self.data[other][part] = self.data[other][part] + got if up else got
        net = self.machine.net
        inside = net.inside_latency + near.max() / net.inside_bandwidth if near.any() else 0.0
        return max(inside, self.machine.posted([(one, other, got.size) for one, other, _, got, _ in far]))


def nvls_tree(machine, data, chunks):
    """Add up in each node, pass two trees for each rank of a node up and down, multicast in each node."""
    nodes = Nodes(machine, data, chunks)
    for turn in range(chunks + len(nodes.stages) - 1):
        work = [(stage, turn - place) for place, stage in enumerate(nodes.stages) if 0 <= turn - place < chunks]
        machine.at = [machine.time + nodes.round(work)] * machine.ranks
    return data


def collnet(machine, data):
    """Reduce-scatter by rings in the node, sums in the fabric byte by byte, all-gather by rings in the node."""
    local, net = machine.net.local_ranks, machine.net
    nodes = machine.ranks // local
    inside = [[node * local + place for place in range(local)] for node in range(nodes)]
    cut = pieces(data[0].size, local)
    rings(machine, data, inside, [cut] * machine.ranks, adding=True, shift=0)
    start, longest = machine.time, 0.0
    for place in range(local):
        part = cut[(place + 1) % local]
        same = [data[node * local + place] for node in range(nodes)]
        free = 0.0
        for index in range(part.start, part.stop):
            up = net.outside_latency + (index - part.start + 1) / net.outside_bandwidth
            free = max(up, free) + 1 / net.outside_bandwidth
            value = sum(one[index] for one in same)
            for one in same:
                one[index] = value
        longest = max(longest, free + net.outside_latency if part.stop > part.start else 0.0)
    machine.at = [start + longest] * machine.ranks
    rings(machine, data, inside, [cut] * machine.ranks, adding=False, shift=1)
    return data
