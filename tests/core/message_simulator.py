"""Ranks that exchange explicit chunks of real data over ports: a second implementation of the collectives.

A rank has one port inside its node and one to the network. A port sends one message at a time and receives one at a
time; a message of c bytes takes alpha + c / b of that kind of link. Elements are one byte each for the clock.
"""

from collections import Counter
from itertools import pairwise

import numpy as np


class Machine:
    """A clock for every port, and the buffers of every rank."""

    def __init__(self, ranks, net):
        self.ranks, self.net = ranks, net
        self.out = [{True: 0.0, False: 0.0} for _ in range(ranks)]
        self.into = [{True: 0.0, False: 0.0} for _ in range(ranks)]
        self.at = [0.0] * ranks
        self.sent = 0

    def inside(self, one, other):
        return one // self.net.local_ranks == other // self.net.local_ranks

    def cost(self, one, other, nbytes):
        if self.inside(one, other):
            return self.net.inside_latency + nbytes / self.net.inside_bandwidth
        return self.far(nbytes)

    def far(self, nbytes):
        return self.net.outside_latency + nbytes / self.net.outside_bandwidth

    def post(self, one, other, nbytes, ready):
        """Send a message that is ready at some time; return when it has arrived."""
        kind = self.inside(one, other)
        start = max(ready, self.out[one][kind], self.into[other][kind])
        end = start + self.cost(one, other, nbytes)
        self.out[one][kind] = self.into[other][kind] = end
        self.sent += nbytes
        return end

    def step(self, messages):
        """Exchange (from, to, data) at once; every rank goes on when it has sent and received its own."""
        arrived = []
        ready = list(self.at)
        for one, other, data in messages:
            end = self.post(one, other, data.size, ready[one])
            arrived.append((one, other, data.copy(), end))
        for one, other, _, end in arrived:
            self.at[one], self.at[other] = max(self.at[one], end), max(self.at[other], end)
        return [(one, other, data) for one, other, data, _ in arrived]

    def posted(self, messages):
        """Return the time of messages (from, to, bytes) posted at once: one latency, then each port byte by byte."""
        load = Counter()
        for one, other, nbytes in messages:
            kind = self.inside(one, other)
            load["out", one, kind] += nbytes
            load["into", other, kind] += nbytes
            self.sent += nbytes
        return max((self.cost(0, 0, n) if kind else self.far(n) for (_, _, kind), n in load.items()), default=0.0)

    @property
    def time(self):
        return max(self.at)


def pieces(size, parts):
    """Cut indices into parts, the larger ones first."""
    edges = np.cumsum([0, *(size // parts + (index < size % parts) for index in range(parts))])
    return [slice(start, end) for start, end in pairwise(edges)]


def inputs(ranks, size):
    return [(np.arange(size, dtype=np.int64) * 31 + 7 * rank + rank * rank) % 1009 for rank in range(ranks)]


def ring_all_reduce(machine, data):
    ranks, cut = machine.ranks, pieces(data[0].size, machine.ranks)
    for phase in (0, 1):
        for step in range(ranks - 1):
            which = [(rank - step + phase) % ranks for rank in range(ranks)]
            sent = [(rank, (rank + 1) % ranks, data[rank][cut[which[rank]]]) for rank in range(ranks)]
            for one, other, got in machine.step(sent):
                part = data[other][cut[which[one]]]
                part[:] = got if phase else part + got
    return data


def ring_all_gather(machine, data):
    """Every rank holds its own part of the whole; the rest is unknown to it (-1)."""
    ranks, cut = machine.ranks, pieces(data[0].size, machine.ranks)
    for step in range(ranks - 1):
        which = [(rank - step) % ranks for rank in range(ranks)]
        for one, other, got in machine.step(
            [(rank, (rank + 1) % ranks, data[rank][cut[which[rank]]]) for rank in range(ranks)]
        ):
            data[other][cut[which[one]]] = got
    return data


def folded(machine, data, body):
    """Run a butterfly over the largest power of two of ranks, the others folded in before and served after."""
    core = 1 << (machine.ranks.bit_length() - 1)
    beyond = range(core, machine.ranks)
    for _, other, got in machine.step([(rank, rank - core, data[rank]) for rank in beyond]):
        data[other] += got
    body(core)
    for _, other, got in machine.step([(rank - core, rank, data[rank - core]) for rank in beyond]):
        data[other][:] = got
    return data


def recursive_doubling(machine, data):
    def body(core):
        distance = 1
        while distance < core:
            for _, other, got in machine.step([(rank, rank ^ distance, data[rank]) for rank in range(core)]):
                data[other] += got
            distance *= 2

    return folded(machine, data, body)


def rabenseifner(machine, data):
    def body(core):
        own = [slice(0, data[0].size)] * core
        distance, history = 1, []
        while distance < core:
            halves = []
            for rank in range(core):
                start, end = own[rank].start, own[rank].stop
                middle = start + (end - start + 1) // 2
                low, high = slice(start, middle), slice(middle, end)
                halves.append((high, low) if rank & distance else (low, high))
            for one, other, got in machine.step(
                [(rank, rank ^ distance, data[rank][halves[rank][1]]) for rank in range(core)]
            ):
                data[other][halves[one][1]] += got
            own = [keep for keep, _ in halves]
            history.append(distance)
            distance *= 2
        for distance in reversed(history):
            held = list(own)
            for one, other, got in machine.step(
                [(rank, rank ^ distance, data[rank][held[rank]]) for rank in range(core)]
            ):
                data[other][held[one]] = got
                own[other] = slice(min(held[one].start, held[other].start), max(held[one].stop, held[other].stop))

    return folded(machine, data, body)


def _levels(machine):
    """Pairs of a binomial broadcast from rank 0: between nodes first, then in each node."""
    local = min(machine.ranks, machine.net.local_ranks)
    nodes = machine.ranks // local
    rounds, distance = [], 1
    while distance < nodes:
        rounds.append([(n * local, (n + distance) * local) for n in range(min(distance, nodes - distance))])
        distance *= 2
    distance = 1
    while distance < local:
        pairs = [(rank, rank + distance) for rank in range(min(distance, local - distance))]
        rounds.append([(n * local + a, n * local + b) for n in range(nodes) for a, b in pairs])
        distance *= 2
    return rounds


def binomial_broadcast(machine, data):
    for pairs in _levels(machine):
        for _, other, got in machine.step([(one, other, data[one]) for one, other in pairs]):
            data[other][:] = got
    return data


def binomial_reduce(machine, data):
    for pairs in reversed(_levels(machine)):
        for _, other, got in machine.step([(other, one, data[other]) for one, other in pairs]):
            data[other] += got
    return data


def binomial_all_reduce(machine, data):
    return binomial_broadcast(machine, binomial_reduce(machine, data))


def pairwise_all_to_all(machine, data):
    """`data[rank]` is the send buffer; what is returned is received."""
    ranks, cut = machine.ranks, pieces(data[0].size, machine.ranks)
    out = [np.full_like(part, -1) for part in data]
    for rank in range(ranks):
        out[rank][cut[rank]] = data[rank][cut[rank]]
    for shift in range(1, ranks):
        for one, other, got in machine.step(
            [(rank, (rank + shift) % ranks, data[rank][cut[(rank + shift) % ranks]]) for rank in range(ranks)]
        ):
            out[other][cut[one]] = got
    return out


def bruck_all_to_all(machine, data):
    """Blocks of equal size; block j of a rank is for the rank j further on, then moves by the bits of j."""
    ranks = machine.ranks
    size = data[0].size // ranks
    blocks = [[data[rank][(rank + j) % ranks * size :][:size].copy() for j in range(ranks)] for rank in range(ranks)]
    bit = 1
    while bit < ranks:
        moving = [j for j in range(ranks) if j & bit]
        sent = [
            (rank, (rank + bit) % ranks, np.concatenate([blocks[rank][j] for j in moving])) for rank in range(ranks)
        ]
        for _, other, got in machine.step(sent):
            for position, j in enumerate(moving):
                blocks[other][j] = got[position * size :][:size]
        bit *= 2
    out = [np.empty_like(part) for part in data]
    for rank in range(ranks):
        for j in range(ranks):
            out[rank][(rank - j) % ranks * size :][:size] = blocks[rank][j]
    return out


def bruck_all_gather(machine, data):
    """Blocks of equal size; a rank sends all it holds to the rank 1, 2, 4 ... before it."""
    ranks = machine.ranks
    size = data[0].size // ranks
    held = [[data[rank][rank * size :][:size].copy()] for rank in range(ranks)]
    while len(held[0]) < ranks:
        count = min(len(held[0]), ranks - len(held[0]))
        distance = len(held[0])
        sent = [(rank, (rank - distance) % ranks, np.concatenate(held[rank][:count])) for rank in range(ranks)]
        for _, other, got in machine.step(sent):
            held[other] += [got[index * size :][:size] for index in range(count)]
    for rank in range(ranks):
        for j, block in enumerate(held[rank]):
            data[rank][(rank + j) % ranks * size :][:size] = block
    return data


def chain_broadcast(machine, data, chunks):
    cut = pieces(data[0].size, chunks)
    has = [[0.0] * chunks for _ in range(machine.ranks)]
    for rank in range(machine.ranks - 1):
        for chunk in range(chunks):
            part = data[rank][cut[chunk]]
            has[rank + 1][chunk] = machine.post(rank, rank + 1, part.size, has[rank][chunk])
            data[rank + 1][cut[chunk]] = part
    machine.at = [max(row) for row in has]
    return data


def halving_reduce_scatter(machine, data):
    """Ranks a power of two: the nearest pairs swap the largest parts; return the part of every rank."""
    ranks = machine.ranks
    own, distance = [slice(0, data[0].size)] * ranks, 1
    while distance < ranks:
        halves = []
        for rank in range(ranks):
            middle = (own[rank].start + own[rank].stop) // 2
            low, high = slice(own[rank].start, middle), slice(middle, own[rank].stop)
            halves.append((high, low) if rank & distance else (low, high))
        sent = [(rank, rank ^ distance, data[rank][halves[rank][1]]) for rank in range(ranks)]
        for one, other, got in machine.step(sent):
            data[other][halves[one][1]] += got
        own = [keep for keep, _ in halves]
        distance *= 2
    return own


def doubling_all_gather(machine, data, own):
    """The mirror image: the farthest pairs first, while parts are small."""
    distance = machine.ranks // 2
    while distance:
        held = list(own)
        sent = [(rank, rank ^ distance, data[rank][held[rank]]) for rank in range(machine.ranks)]
        for one, other, got in machine.step(sent):
            data[other][held[one]] = got
            own[other] = slice(min(held[one].start, held[other].start), max(held[one].stop, held[other].stop))
        distance //= 2
    return data


def rings(machine, data, all_rings, cuts, *, adding, shift):
    """Pass parts round several rings at once: `cuts[rank]` are the parts that the ring of the rank turns round."""
    for step in range(len(all_rings[0]) - 1):
        sent, which = [], {}
        for ring in all_rings:
            for place, rank in enumerate(ring):
                part = cuts[rank][(place - step + shift) % len(ring)]
                which[rank] = part
                sent.append((rank, ring[(place + 1) % len(ring)], data[rank][part]))
        for one, other, got in machine.step(sent):
            data[other][which[one]] = data[other][which[one]] + got if adding else got


def hierarchical_all_reduce(machine, data):
    """Reduce-scatter in every node, rings between nodes on every rail, all-gather in every node."""
    local = machine.net.local_ranks
    nodes = machine.ranks // local
    inside = [[node * local + place for place in range(local)] for node in range(nodes)]
    rails = [[node * local + place for node in range(nodes)] for place in range(local)]
    cut = pieces(data[0].size, local)
    whole = [cut] * machine.ranks
    rings(machine, data, inside, whole, adding=True, shift=0)
    own = [cut[(rank % local + 1) % local] for rank in range(machine.ranks)]
    parts = [
        [slice(part.start + p.start, part.start + p.stop) for p in pieces(part.stop - part.start, nodes)]
        for part in own
    ]
    rings(machine, data, rails, parts, adding=True, shift=0)
    rings(machine, data, rails, parts, adding=False, shift=1)
    rings(machine, data, inside, whole, adding=False, shift=1)
    return data


def _move(machine, held, receiver, wanted, size):
    """Send to one receiver from every rank the blocks it wants of what the rank holds, as one message."""
    sent, keys = [], []
    for rank in range(machine.ranks):
        other = receiver(rank)
        keys.append([key for key in held[rank] if wanted(rank, other, key)])
        sent.append((rank, other, np.concatenate([held[rank][key] for key in keys[-1]])))
    for one, other, got in machine.step(sent):
        held[other] |= {key: got[at * size :][:size] for at, key in enumerate(keys[one])}


def rail_aligned_all_to_all(machine, data):
    """Move everything to the rank of the node on the rail of its receiver, then along the rails."""
    ranks, local = machine.ranks, machine.net.local_ranks
    size = data[0].size // ranks
    held = [{(rank, to): data[rank][to * size :][:size] for to in range(ranks)} for rank in range(ranks)]
    for shift in range(1, local):
        _move(
            machine,
            held,
            lambda rank, shift=shift: rank // local * local + (rank + shift) % local,
            lambda rank, other, key: key[0] == rank and key[1] % local == other % local,
            size,
        )
    for shift in range(1, ranks // local):
        _move(
            machine,
            held,
            lambda rank, shift=shift: (rank + shift * local) % ranks,
            lambda _, other, key: key[1] == other,
            size,
        )
    return [np.concatenate([held[rank][source, rank] for source in range(ranks)]) for rank in range(ranks)]


def pairwise_reduce_scatter(machine, data):
    """Every rank sends each other rank its part, one after the other; who receives adds up."""
    ranks, cut = machine.ranks, pieces(data[0].size, machine.ranks)
    own = [data[rank][cut[rank]].copy() for rank in range(ranks)]
    for shift in range(1, ranks):
        pairs = [(rank, (rank + shift) % ranks) for rank in range(ranks)]
        for _, other, got in machine.step([(one, other, data[one][cut[other]]) for one, other in pairs]):
            own[other] = own[other] + got
    return own


def chain_reduce(machine, data, chunks):
    """The last rank sends first; each adds its own and passes it on, chunk by chunk."""
    cut = pieces(data[0].size, chunks)
    has = [[0.0] * chunks for _ in range(machine.ranks)]
    for rank in range(machine.ranks - 1, 0, -1):
        for chunk in range(chunks):
            part = data[rank][cut[chunk]]
            has[rank - 1][chunk] = machine.post(rank, rank - 1, part.size, has[rank][chunk])
            data[rank - 1][cut[chunk]] = data[rank - 1][cut[chunk]] + part
    machine.at = [max(row) for row in has]
    return data


def scatter_broadcast(machine, data):
    """The root gives away half of what it holds, the half to come next time; then a ring gathers all."""
    ranks, cut = machine.ranks, pieces(data[0].size, machine.ranks)
    out = [np.full_like(part, -1) for part in data]
    out[0] = data[0].copy()
    spans, distance = {0: ranks}, 1 << max(0, (ranks - 1).bit_length() - 1)
    while distance:
        moves = [(rank, rank + distance) for rank, span in spans.items() if span > distance]
        sent = [(one, other, out[one][cut[other].start : cut[one + spans[one] - 1].stop]) for one, other in moves]
        for one, other, got in machine.step(sent):
            out[other][cut[other].start :][: got.size] = got
            spans[one], spans[other] = distance, spans[one] - distance
        distance //= 2
    machine.at = [machine.time] * ranks
    for rank in range(1, ranks):
        keep = out[rank][cut[rank]].copy()
        out[rank][:] = -1
        out[rank][cut[rank]] = keep
    return ring_all_gather(machine, out)


def _aggregated(ranks):
    """Rounds of parallel aggregated trees, the farthest first: distance, and offsets of the blocks that move."""
    held, distance = {0}, 1 << max(0, (ranks - 1).bit_length() - 1)
    while distance and ranks > 1:
        new = {(offset + distance) % ranks for offset in held} - held
        yield distance, sorted((offset - distance) % ranks for offset in new)
        held |= new
        distance //= 2


def pat_all_gather(machine, data):
    """Each rank has its own block; one round a distance, each block moves once to each rank that lacks it."""
    ranks, cut = machine.ranks, pieces(data[0].size, machine.ranks)
    for distance, offsets in _aggregated(ranks):
        blocks = {rank: [cut[(rank - offset) % ranks] for offset in offsets] for rank in range(ranks)}
        sent = [
            (rank, (rank + distance) % ranks, np.concatenate([data[rank][block] for block in blocks[rank]]))
            for rank in range(ranks)
        ]
        for one, other, got in machine.step(sent):
            at = 0
            for block in blocks[one]:
                width = block.stop - block.start
                data[other][block] = got[at : at + width]
                at += width
    return data


def pat_reduce_scatter(machine, data):
    """The same rounds backwards: partial sums go back the way that blocks came."""
    ranks, cut = machine.ranks, pieces(data[0].size, machine.ranks)
    for distance, offsets in reversed(list(_aggregated(ranks))):
        blocks = {rank: [cut[(rank - distance - offset) % ranks] for offset in offsets] for rank in range(ranks)}
        sent = [
            (rank, (rank - distance) % ranks, np.concatenate([data[rank][block] for block in blocks[rank]]))
            for rank in range(ranks)
        ]
        for one, other, got in machine.step(sent):
            at = 0
            for block in blocks[one]:
                width = block.stop - block.start
                data[other][block] = data[other][block] + got[at : at + width]
                at += width
    return [data[rank][cut[rank]] for rank in range(ranks)]


def rabenseifner_reduce(machine, data):
    """Recursive halving, then the farthest pairs first hand what they hold down to rank 0."""
    core = 1 << (machine.ranks.bit_length() - 1)
    for _, other, got in machine.step([(rank, rank - core, data[rank]) for rank in range(core, machine.ranks)]):
        data[other] += got
    own, distance = [slice(0, data[0].size)] * core, 1
    while distance < core:
        halves = []
        for rank in range(core):
            middle = (own[rank].start + own[rank].stop + 1) // 2
            low, high = slice(own[rank].start, middle), slice(middle, own[rank].stop)
            halves.append((high, low) if rank & distance else (low, high))
        sent = [(rank, rank ^ distance, data[rank][halves[rank][1]]) for rank in range(core)]
        for one, other, got in machine.step(sent):
            data[other][halves[one][1]] += got
        own = [keep for keep, _ in halves]
        distance *= 2
    while distance > 1:
        distance //= 2
        held = list(own)
        sent = [(rank, rank - distance, data[rank][held[rank]]) for rank in range(distance, 2 * distance)]
        for one, other, got in machine.step(sent):
            data[other][held[one]] = got
            own[other] = slice(min(held[one].start, held[other].start), max(held[one].stop, held[other].stop))
    return data
