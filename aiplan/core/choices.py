"""Algorithms that a scenario can ask for, by name: a code in the columns of a batch is the place in a list.

They are apart from `algorithms`, so that reading a scenario does not load every closed form.
"""

from __future__ import annotations

AUTO = "auto"
ALL_REDUCES = (
    AUTO,
    "ring",
    "tree",
    "hierarchical",
    "rabenseifner",
    "recursive-doubling",
    "binomial",
    "collnet",
)
"""All-reduces of gradients; `auto` is the faster of ring and tree, as NCCL has them between nodes."""
HALVES = (AUTO, "ring", "hierarchical")
"""Those that consist of a reduce-scatter and an all-gather, the halves of an all-reduce that sharded states use."""
