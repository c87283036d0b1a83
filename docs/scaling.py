"""The measured side of docs/scaling.md: efficiency predicted against measured, where accelerators were added.

`python docs/scaling.py` writes it; `--check` exits 1 if it differs.
"""

from __future__ import annotations

import sys
from functools import cache
from statistics import median
from typing import TYPE_CHECKING

from lookups import CATALOG
from outputs import DOCS, run, table, with_blocks

from aiplan.declare import Diagnostics
from aiplan.planning.accuracy import compare_runs
from aiplan.planning.run_files import measured_runs
from aiplan.planning.scaling import efficiency, scaled
from aiplan.planning.variants import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.scaling import ScalingGroup

PAGE = DOCS / "scaling.md"
SOURCES = {
    "dgx-cloud-nemo": "DGX Cloud, NeMo",
    "dgx-cloud-maxtext": "DGX Cloud, MaxText",
    "dgx-cloud-pax": "DGX Cloud, Paxml",
    "mlperf-training": "MLPerf Training",
}
SHAPES = {
    (32, 4096): "Llama 3 8B",
    (80, 8192): "Llama 3 70B",
    (126, 16384): "Llama 3.1 405B",
    (96, 12288): "GPT-3 175B",
}
"""Models of these runs by layers and width; the files name them by their shape."""
ACCELERATOR = "NVIDIA H100 SXM 80GB"


@cache
def groups() -> list[ScalingGroup]:
    """Return the groups of runs of Llama 3 and GPT-3 on H100, weak scaling first, the most accelerators first."""
    runs = measured_runs([Source(name) for name in SOURCES], CATALOG, Diagnostics())
    found = [
        group
        for group in scaled(compare_runs(runs)).groups
        if group.conditions.source in SOURCES
        and group.conditions.accelerator == ACCELERATOR
        and (group.conditions.shape.layers, group.conditions.shape.hidden) in SHAPES
    ]
    return sorted(found, key=lambda group: (group.kind != "weak", -group.largest.accelerators))


def sizes(group: ScalingGroup) -> Iterator[tuple[int, float, float]]:
    """Yield accelerators, and the efficiency measured and predicted, for all sizes but the smallest."""
    first = group.smallest
    for size in group.sizes[1:]:
        measured, predicted = efficiency(size.measured, first.measured), efficiency(size.predicted, first.predicted)
        yield size.accelerators, measured, predicted


def measured_table() -> str:
    """Return every size of every group."""
    heading = ("scaling", "source", "model", "from", "to", "measured", "predicted", "difference")
    cells = [
        (
            group.kind,
            f"[{SOURCES[group.conditions.source]}]({group.conditions.origin})",
            f"{SHAPES[group.conditions.shape.layers, group.conditions.shape.hidden]}, {group.conditions.precision}",
            f"{group.smallest.accelerators:,}",
            f"{accelerators:,}",
            f"{measured:.1%}",
            f"{predicted:.1%}",
            f"{100 * (predicted - measured):+.1f} points",
        )
        for group in groups()
        for accelerators, measured, predicted in sizes(group)
    ]
    return table(heading, cells)


def summary() -> str:
    """Return how far predicted lies from measured, at the most accelerators of each group and at all sizes."""
    every = [abs(predicted - measured) for group in groups() for _, measured, predicted in sizes(group)]
    last = [abs(group.difference) for group in groups()]
    heading = ("", "number", "median difference", "within 5 points", "worst")
    rows = (
        (
            name,
            str(len(found)),
            f"{100 * median(found):.1f} points",
            f"{sum(one <= 0.05 for one in found) / len(found):.0%}",
            f"{100 * max(found):.1f} points",
        )
        for name, found in (("all sizes", every), ("most accelerators of each group", last))
    )
    return table(heading, rows)


if __name__ == "__main__":
    blocks = {"measured summary": summary(), "measured": measured_table()}
    sys.exit(run(__doc__ or "", {PAGE: with_blocks(PAGE, blocks)}))
