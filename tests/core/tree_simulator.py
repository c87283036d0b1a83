"""Two trees that carry half of the data each, in chunks: a second implementation of the pipelined collectives."""

from collections import Counter

import numpy as np
from message_simulator import pieces


def tree_parents(order):
    """Parents of a search tree over ranks in order, root None: what is inside one is a leaf of the shifted one."""
    parents = {}

    def grow(low, high, parent):
        if low < high:
            middle = low + (1 << ((high - low).bit_length() - 1)) - 1
            parents[order[middle]] = parent
            grow(low, middle, order[middle])
            grow(middle + 1, high, order[middle])

    grow(0, len(order), None)
    return parents


class Tree:
    """A tree that carries part of the data in chunks: parents, and the depth of each rank in links of its kind."""

    def __init__(self, parents, chunks, inside):
        self.chunks, self.links, self.depth = chunks, {}, Counter()
        for rank, parent in parents.items():
            if parent is not None:
                near, depth, high = inside(rank, parent), 1, parent
                while parents[high] is not None and inside(high, parents[high]) == near:
                    high, depth = parents[high], depth + 1
                self.links.setdefault((near, depth), []).append((rank, parent))
                self.depth[near] = max(self.depth[near], depth)


def rail_trees(machine, size, chunks):
    """Two trees; over several nodes two for each rank of a node, between the nodes on its port."""
    local = min(machine.ranks, machine.net.local_ranks)
    nodes, trees = machine.ranks // local, []
    if nodes == 1:
        whole = [(tree_parents(list(np.roll(range(local), -half))), half) for half in (0, 1)]
    else:
        whole = []
        for rail in range(local):
            order = list(range(local))
            root = next(rank for rank, parent in tree_parents(order).items() if parent is None)
            node = tree_parents(list(np.roll(order, root - rail)))
            for half in (0, 1):
                between = tree_parents(list(np.roll(range(nodes), -half)))
                parents = {
                    n * local + a: None if b is None else n * local + b for n in between for a, b in node.items()
                }
                parents |= {a * local + rail: None if b is None else b * local + rail for a, b in between.items()}
                whole.append((parents, 2 * rail + half))
    parts = pieces(size, len(whole))
    for parents, place in whole:
        cut = pieces(parts[place].stop - parts[place].start, chunks)
        moved = [slice(parts[place].start + part.start, parts[place].start + part.stop) for part in cut]
        trees.append(Tree(parents, moved, machine.inside))
    return trees


def pipelined(machine, data, trees, chunks, *, up):
    """Play one way: a chunk a round and level; a kind of link starts a round when its last one is over.

    All messages of a round are posted at once: one latency, then the bytes of each port one after the other.
    """
    depth = {near: max(tree.depth[near] for tree in trees) for near in (True, False)}
    ready = [machine.time] * chunks
    for near in (True, False) if up else (False, True):
        if not depth[near]:
            continue
        clock, passed = 0.0, list(ready)
        for turn in range(chunks + depth[near] - 1):
            if turn < chunks:
                clock = max(clock, ready[turn])
            messages = []
            for step in range(max(0, turn - chunks + 1), min(depth[near], turn + 1)):
                level = depth[near] - step if up else step + 1
                for tree in trees:
                    part = tree.chunks[turn - step]
                    for low, high in tree.links.get((near, level), ()):
                        one, other = (low, high) if up else (high, low)
                        messages.append((one, other, part, data[one][part].copy()))
            for _, other, part, got in messages:
                data[other][part] = data[other][part] + got if up else got
            clock += machine.posted([(one, other, got.size) for one, other, _, got in messages])
            if turn >= depth[near] - 1:
                passed[turn - depth[near] + 1] = clock
        ready = passed
    machine.at = [max(ready)] * machine.ranks


def double_tree(machine, data, chunks):
    """Reduce up and then broadcast down two trees, each with half of the data."""
    trees = rail_trees(machine, data[0].size, chunks)
    pipelined(machine, data, trees, chunks, up=True)
    pipelined(machine, data, trees, chunks, up=False)
    return data


def double_tree_broadcast(machine, data, chunks):
    """Rank 0 sends half of the message to the root of each of two trees over the others."""
    others, trees = list(range(1, machine.ranks)), []
    for part, order in zip(pieces(data[0].size, 2), (others, others[1:] + others[:1]), strict=True):
        parents = tree_parents(order)
        parents = {rank: 0 if parent is None else parent for rank, parent in parents.items()} | {0: None}
        cut = [slice(part.start + p.start, part.start + p.stop) for p in pieces(part.stop - part.start, chunks)]
        trees.append(Tree(parents, cut, machine.inside))
    pipelined(machine, data, trees, chunks, up=False)
    return data
