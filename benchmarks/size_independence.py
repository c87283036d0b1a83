"""What one estimate costs for 8 accelerators and for 1,000,000: the same, for no formula loops over ranks.

    python benchmarks/size_independence.py [RUNS]

Both are timed in turn (A B A B ...) in one process, so that a machine whose speed drifts does not favour one side; so
is the estimate of 8 against itself, which says how much of a ratio is noise. Resolving a scenario sizes its fabric;
that is timed apart, with nothing remembered from the run before.
"""

from __future__ import annotations

import sys
import time
from statistics import median
from typing import TYPE_CHECKING

from aiplan.catalog.load import Catalog
from aiplan.planning.estimate import estimate
from aiplan.planning.variants import Source, load_written
from aiplan.scenario.resolve_fabric import built

if TYPE_CHECKING:
    from collections.abc import Callable

    from aiplan.scenario.load import Scenario

SMALL, LARGE = 8, 1_000_000
TEXT = """
model: llama-3-8b
workload: {{sequence_length: 8192, global_batch: 1000000, tokens: 15e12}}
cluster: {{node: dgx-h100, nodes: {nodes}, network: {{switch: q3400-xdr, ports: 4}}}}
plan: {{tensor: 8}}
"""


def scenario(accelerators: int) -> Scenario:
    """Return the same training on some accelerators, read and resolved."""
    text = TEXT.format(nodes=accelerators // 8).encode()
    loaded = load_written(Source("", text), Catalog())
    if loaded.scenario is None:
        raise loaded.diagnostics.failure()
    return loaded.scenario


def resolved(accelerators: int) -> None:
    """Read and resolve once more, the fabric sized again."""
    built.cache_clear()
    scenario(accelerators)


def seconds(work: Callable[[], object]) -> float:
    """Return the wall time of one run."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def report(name: str, small: Callable[[], object], large: Callable[[], object], runs: int) -> None:
    """Time a pair in turn and print median, minimum and maximum of the ratios."""
    for work in (small, large):
        work()  # warm-up
    times = [(seconds(large), seconds(small)) for _ in range(runs)]
    ratios = [a / b for a, b in times]
    middle, yardstick = median(a for a, _ in times), median(b for _, b in times)
    print(f"{name}: ratio {median(ratios):.3f} (min {min(ratios):.2f}, max {max(ratios):.2f}, n {runs})")
    print(f"  medians {1e3 * middle:.2f} ms against {1e3 * yardstick:.2f} ms")


def main() -> None:
    """Time the estimate, the estimate against itself, and the reading of the scenario."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 201
    small, large = [scenario(SMALL)], [scenario(LARGE)]
    report(f"estimate of {LARGE:,} / of {SMALL}", lambda: estimate(small), lambda: estimate(large), runs)
    report(f"estimate of {SMALL} / of {SMALL}", lambda: estimate(small), lambda: estimate(small), runs)
    report(f"read and resolve {LARGE:,} / {SMALL}", lambda: resolved(SMALL), lambda: resolved(LARGE), runs // 4 or 1)


if __name__ == "__main__":
    main()
