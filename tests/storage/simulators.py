"""Slow and plain second implementations: a job that fails, caches that are read in random order, a loader."""

import heapq
import random
from collections import OrderedDict
from typing import NamedTuple


class Played(NamedTuple):
    """Seconds of a run by what they were spent on, and how often it was interrupted."""

    useful: float
    stalls: float
    lost: float
    restarts: float
    interruptions: int

    @property
    def wall(self):
        return self.useful + self.stalls + self.lost + self.restarts


def job(work, rate, interval, stall, restart, drain, seed):
    """Play a job event by event until enough work is durable: train, save, write in the background, fail, restart."""
    draw = random.Random(seed)  # noqa: S311
    clock = durable = done = 0.0
    spent = {"restart": 0.0, "run": 0.0}
    interruptions = 0
    failure = draw.expovariate(rate)
    while True:
        began = clock  # the job runs; positions count from what is durable
        done, pending = durable, []  # saves under way: when they become durable, and the work in them
        while True:
            ends = clock + interval
            saved = ends + stall
            heapq.heappush(pending, (saved + drain, done + interval))
            stop = min(saved, failure)
            while pending and pending[0][0] <= stop:
                durable = heapq.heappop(pending)[1]
            if failure < saved or durable >= work:
                break
            clock, done = saved, done + interval
        if durable >= work:
            spent["run"] += stop - began
            break
        interruptions += 1
        spent["run"] += failure - began
        clock = failure
        failure = clock + draw.expovariate(rate)
        while failure < clock + restart:
            interruptions += 1
            spent["restart"] += failure - clock
            clock = failure
            failure = clock + draw.expovariate(rate)
        spent["restart"] += restart
        clock += restart
    stalls = durable / interval * stall
    return Played(durable, stalls, spent["run"] - durable - stalls, spent["restart"], interruptions)


def two_levels(work, near, far, seed):
    """Play a job whose frequent saves survive some interruptions and whose rare saves survive all; return its ETTR.

    `near` and `far` are rate, interval, stall, restart; the far interval is a whole number of near ones.
    """
    draw = random.Random(seed)  # noqa: S311
    clock = here = safe = 0.0
    every = round(far[1] / near[1])
    fails = [clock + draw.expovariate(near[0]), clock + draw.expovariate(far[0])]
    while safe < work:
        index = round(here / near[1]) + 1
        saved = clock + near[1] + near[2] + (far[2] if index % every == 0 else 0.0)
        first = 0 if fails[0] < fails[1] else 1
        if fails[first] >= saved:
            clock, here = saved, here + near[1]
            if index % every == 0:
                safe = here
            continue
        clock, kind = fails[first], first
        while True:
            if kind:
                here = safe
            fails[first] = clock + draw.expovariate((near, far)[first][0])
            ready = clock + (near, far)[kind][3]
            first = 0 if fails[0] < fails[1] else 1
            if fails[first] >= ready:
                clock = ready
                break
            clock, kind = fails[first], max(kind, first)
    return safe / clock


def lru_hits(share, items, epochs, seed):
    """Read everything once an epoch in a new order through a cache that evicts the least recently used."""
    draw = random.Random(seed)  # noqa: S311
    cache, order, hits = OrderedDict(), list(range(items)), 0
    for epoch in range(epochs):
        draw.shuffle(order)
        for item in order:
            if item in cache:
                cache.move_to_end(item)
                hits += epoch > 0
            else:
                cache[item] = True
                if len(cache) > share * items:
                    cache.popitem(last=False)
    return hits / (items * (epochs - 1))


def kept_hits(share, items, epochs, seed):
    """Read the same through a cache that keeps what it has."""
    draw = random.Random(seed)  # noqa: S311
    cache, order, hits = set(), list(range(items)), 0
    for epoch in range(epochs):
        draw.shuffle(order)
        for item in order:
            if item in cache:
                hits += epoch > 0
            elif len(cache) < share * items:
                cache.add(item)
    return hits / (items * (epochs - 1))


def loader(step, fetch, latency, depth, steps=400):
    """Train on batches that are asked for `depth` ahead over one pipe; return the mean wait of a step."""
    asked = [0.0] * max(depth, 1) if depth else []
    clock = pipe = 0.0
    waited = []
    arrivals = []

    def ask(when):
        nonlocal pipe
        pipe = max(pipe, when + latency) + fetch
        arrivals.append(pipe)

    for when in asked:
        ask(when)
    for number in range(steps):
        if not depth:
            ask(clock)
        wait = max(arrivals[number] - clock, 0.0)
        waited.append(wait)
        clock += wait
        if depth:
            ask(clock)
        clock += step
    settled = waited[steps // 2 :]
    return sum(settled) / len(settled)


def repairs(spares, rate, repair, failures, seed):
    """Play a job that loses nodes, and repairs that bring them back; return the mean wait for a node."""
    draw = random.Random(seed)  # noqa: S311
    clock, away, waited = 0.0, [], 0.0
    for _ in range(failures):
        clock += draw.expovariate(rate)
        away = [back for back in away if back > clock]
        away.append(clock + draw.expovariate(1.0 / repair))
        if len(away) > spares:
            first = min(away)
            waited += first - clock
            clock = first
    return waited / failures
