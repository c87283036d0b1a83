"""How many (operation, algorithm, size, ranks) a core evaluates in a second, against a Python loop of one formula.

    python benchmarks/collectives.py [RUNS]

One evaluation is the time of one operation by one algorithm for one size and one number of ranks. Our side evaluates
every algorithm of every operation on a grid of sizes and ranks; the yardstick evaluates the ring all-reduce, in floats,
point by point, as a script would. Both are timed in turn, in one process on one core.
"""

from __future__ import annotations

import sys
import time
from statistics import median

import numpy as np

from aiplan.core.algorithms import OPERATIONS, algorithms_of
from aiplan.core.net import Net

TARGET = 1e6
LOCAL = 8.0
SIZES = np.exp2(np.linspace(3.0, 33.0, 301))[:, np.newaxis]
RANKS = LOCAL * np.arange(1.0, 129.0)
NET = Net(LOCAL, 0.6e-6, 370e9, 2.7e-6, 48e9, launch=6.6e-6)
FORMS = [row.forms[operation] for operation in OPERATIONS for row in algorithms_of(operation)]


def ours() -> float:
    """Evaluate every form on the grid; return evaluations per second."""
    start = time.perf_counter()
    for form in FORMS:
        form(SIZES, RANKS, NET)
    return len(FORMS) * SIZES.size * RANKS.size / (time.perf_counter() - start)


def ring(nbytes: float, ranks: float, net: Net) -> float:
    """Return the time of a ring all-reduce, in plain floats."""
    if ranks <= 1:
        return 0.0
    inside, latency = net.inside_bandwidth, net.inside_latency
    if ranks > net.local_ranks:
        inside = min(inside, net.local_ranks * net.outside_bandwidth)
        latency = ((net.local_ranks - 1) * latency + net.outside_latency) / net.local_ranks
    adding = nbytes * (ranks - 1) / (ranks * net.reduction)
    return net.launch + 2 * (ranks - 1) * (nbytes / (ranks * inside) + latency) + adding


def yardstick() -> float:
    """Evaluate the ring in a Python loop; return evaluations per second."""
    sizes, ranks = [float(size) for size in SIZES[::4, 0]], [float(count) for count in RANKS]
    start = time.perf_counter()
    for size in sizes:
        for count in ranks:
            ring(size, count, NET)
    return len(sizes) * len(ranks) / (time.perf_counter() - start)


def main() -> None:
    """Time both sides in turn and print minimum, median and maximum."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    grid = FORMS[0](SIZES, RANKS, NET)
    assert abs(grid[100, 5] / ring(float(SIZES[100, 0]), float(RANKS[5]), NET) - 1) < 1e-12  # noqa: S101  same formula
    ours(), yardstick()  # warm-up
    pairs = [(ours(), yardstick()) for _ in range(runs)]
    for name, values in (
        (f"{len(FORMS)} forms, evaluations a second", [a for a, _ in pairs]),
        ("plain Python loop of the ring", [b for _, b in pairs]),
    ):
        print(
            f"{name}: {median(values) / 1e6:.2f} M (min {min(values) / 1e6:.2f}, max {max(values) / 1e6:.2f}, n {runs})"
        )
    ratios = [a / b for a, b in pairs]
    print(
        f"ratio {median(ratios):.1f} (min {min(ratios):.1f}, max {max(ratios):.1f}); target at least {TARGET / 1e6:g} M"
    )


if __name__ == "__main__":
    main()
