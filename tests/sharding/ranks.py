"""Ranks that hold real gradients and pass chunks of them around rings: a second implementation of hybrid sharding."""

import numpy as np


class Cluster:
    """Ranks in nodes of one size; a step of a ring is as slow as its slowest message."""

    def __init__(self, gradients, per_node, inside, outside):
        self.held = [gradient.astype(float) for gradient in gradients]
        self.per_node, self.inside, self.outside = per_node, inside, outside
        self.clock, self.between_nodes = 0.0, 0.0

    def message(self, one, other, nbytes):
        latency, bandwidth = self.inside if one // self.per_node == other // self.per_node else self.outside
        self.between_nodes += nbytes * (one // self.per_node != other // self.per_node)
        return latency + nbytes / bandwidth

    def together(self, rings, turns):
        """Run rings at once, `turns` steps each: a turn yields (from, to, bytes) and changes what ranks hold."""
        for turn in range(turns):
            taken = [self.message(*sent) for ring in rings for sent in ring(turn)]
            self.clock += max(taken, default=0.0)

    def scatter(self, ranks, width, parts):
        """Return a ring reduce-scatter: chunk i, of those in `parts`, ends on the i-th rank, added up."""
        chunks = {rank: [self.held[rank][part].copy() for part in parts] for rank in ranks}
        count = len(ranks)

        def turn(number):
            for place, rank in enumerate(ranks):
                index = (place - number - 1) % count
                yield rank, ranks[(place + 1) % count], chunks[rank][index].size * width
            moved = {
                (place + 1) % count: ((place - number - 1) % count, chunks[rank][(place - number - 1) % count].copy())
                for place, rank in enumerate(ranks)
            }
            for place, (index, data) in moved.items():
                chunks[ranks[place]][index] += data
            if number == count - 2:
                for place, rank in enumerate(ranks):
                    self.held[rank][parts[place]] = chunks[rank][place]

        return turn

    def gather(self, ranks, width, parts):
        """Return a ring all-gather of chunk i from the i-th rank."""
        count = len(ranks)

        def turn(number):
            sent = []
            for place, rank in enumerate(ranks):
                part = parts[(place - number) % count]
                to = ranks[(place + 1) % count]
                sent.append((to, part, self.held[rank][part].copy()))
                yield rank, to, self.held[rank][part].size * width
            for to, part, data in sent:
                self.held[to][part] = data

        return turn


def pieces(part, count):
    """Cut a slice into equal slices."""
    size = (part.stop - part.start) // count
    return [slice(part.start + size * index, part.start + size * (index + 1)) for index in range(count)]


def reduce_over_copies(cluster, ranks, shards, elements, width):
    """Scatter gradients over neighbours, then add each shard up over the copies; return which part a rank has."""
    groups = [list(range(first, first + shards)) for first in range(0, ranks, shards)]
    parts = pieces(slice(0, elements), shards)
    cluster.together([cluster.scatter(group, width, parts) for group in groups], shards - 1)
    copies = [[group[place] for group in groups] for place in range(shards)]
    cut = [pieces(part, len(groups)) for part in parts]
    for kind in (cluster.scatter, cluster.gather):
        rings = [kind(ring, width, cut[place]) for place, ring in enumerate(copies)]
        cluster.together(rings, len(groups) - 1)
    return {rank: parts[rank % shards] for rank in range(ranks)}


def gradients_of(ranks, elements, seed=7):
    return [np.random.default_rng(seed + rank).integers(-9, 9, elements) for rank in range(ranks)]
