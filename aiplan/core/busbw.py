"""Which operations have a bus bandwidth of their own, by name, as nccl-tests define it.

https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
"""

from __future__ import annotations

from aiplan.core import curves

SHARED = ("all-gather", "all-to-all", "reduce-scatter", "gather", "scatter")
"""Operations whose size is that of all ranks together, and whose bus bandwidth counts the part that leaves a rank."""
PASSES = {"all-reduce": 2.0} | dict.fromkeys(SHARED, 1.0)
"""Times that the data of an operation goes round; none of the others has a factor."""


def bus_factor_of(operation: str, ranks: float) -> float:
    """Return busbw over algbw of an operation; 1 for those whose two bandwidths are the same."""
    passes = PASSES.get(operation)
    return 1.0 if passes is None else float(curves.bus_factor(ranks, passes))
