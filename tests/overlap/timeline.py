"""A training pass played event by event on two streams: one that computes, one that communicates."""

from dataclasses import dataclass, field


@dataclass
class Stream:
    """Runs what is put on it, one after the other, each when what it waits for is done."""

    free: float = 0.0
    ran: list = field(default_factory=list)

    def run(self, seconds, *waits_for):
        start = max(self.free, *waits_for) if waits_for else self.free
        self.free = start + seconds
        self.ran.append((start, self.free))
        return self.free


def buckets_of(tensors, size, first_size=None):
    """Group (bytes, seconds) of tensors in the order of their gradients; a bucket is closed once it is large enough."""
    grouped, current, limit = [], [], first_size or size
    for tensor in tensors:
        current.append(tensor)
        if sum(nbytes for nbytes, _ in current) >= limit * (1 - 1e-9):
            grouped.append(current)
            current, limit = [], size
    return [*grouped, current] if current else grouped


def bucketed(buckets, reduce):
    """Play a backward pass: return what its reductions add to it, and what they take alone."""
    computes, network = Stream(), Stream()
    for bucket in buckets:
        for _, seconds in bucket:
            done = computes.run(seconds)
        network.run(reduce(sum(nbytes for nbytes, _ in bucket)), done)
    return network.free - computes.free, sum(end - start for start, end in network.ran)


def fully_sharded(gathers, scatters, computations, ahead):
    """Play a pass over units whose weights are gathered into `ahead` + 1 buffers: return what that adds to it.

    A gather waits for a free buffer. When a unit is done, its gradients are scattered before the next gather.
    """
    computes, network, done, gathered = Stream(), Stream(), [], []
    for unit, seconds in enumerate(computations):
        while len(gathered) < min(unit + ahead + 1, len(computations)):
            index = len(gathered)
            freed = (done[index - ahead - 1],) if index > ahead else ()
            gathered.append(network.run(gathers[index], *freed))
        done.append(computes.run(seconds, gathered[unit]))
        if scatters[unit]:
            network.run(scatters[unit], done[unit])
    return max(network.free, computes.free) - sum(computations)


def in_pieces(pieces, each, computation, *, feeds):
    """Play a matmul in pieces that feed a collective, or are fed by one: return what the collective adds."""
    computes, network = Stream(), Stream()
    for _ in range(pieces):
        if feeds:
            network.run(each, computes.run(computation / pieces))
        else:
            computes.run(computation / pieces, network.run(each))
    return max(network.free, computes.free) - computation
