"""Every number of a textbook chapter on AI clusters, beside what aiplan computes for it.

`python docs/chapter_figures.py` writes `docs/chapter-figures.md`; `--check` exits 1 if the page differs.
"""

from __future__ import annotations

import sys
from collections import Counter

import chapter_machines
import chapter_networks
from chapter_row import OUTSIDE, TOLERANCE, VERDICTS
from outputs import DOCS, run, table

INTRODUCTION = f"""# The figures of the chapter

A textbook chapter on AI clusters states some dozens of numbers. This page puts beside each, in the order of
the chapter, what aiplan computes from its formulas and its hardware catalog.

- **{VERDICTS[0]}**: the plain number agrees within {TOLERANCE:.0%}, or the statement is true as it stands.
- **{VERDICTS[1]}**: it is true under the reading beside it, and under others it is not.
- **{VERDICTS[2]}**: no reading was found that gives it.
- **{OUTSIDE}**: aiplan has no model that could confirm it.

The page is generated: `python docs/chapter_figures.py`. All numbers in the second column are computed at that moment.
"""

SECTIONS = {
    "2.1.1 Why a cluster": chapter_machines.why_a_cluster,
    "2.1.2 Structure": chapter_machines.structure,
    "2.1.3 Key figures": chapter_machines.key_figures,
    "2.2.1 Compute nodes": chapter_machines.compute_nodes,
    "2.2.2 GPUs": chapter_machines.gpus,
    "2.2.3 Links between GPUs": chapter_machines.links,
    "2.3 Storage": chapter_machines.storage,
    "2.4.2 Networks": chapter_networks.networks,
    "2.5.2, 2.5.3 NCCL and RDMA": chapter_networks.primitives,
    "2.5.4 Collective algorithms": chapter_networks.ring_and_tree,
    "2.6 Scheduling": chapter_networks.scheduling,
    "2.7 Communication": chapter_networks.communication,
}


def page() -> str:
    """Return the page."""
    found = {title: list(rows()) for title, rows in SECTIONS.items()}
    count = Counter(row.verdict for rows in found.values() for row in rows)
    summary = ", ".join(f"{count[verdict]} {verdict}" for verdict in VERDICTS)
    parts = [INTRODUCTION, f"Of {sum(count.values())} statements: {summary}.\n"]
    heading = ("the chapter states", "aiplan computes", "reading", "verdict")
    for title, rows in found.items():
        cells = [(*row[:3], f"**{row.verdict}**") for row in rows]
        parts.append(f"## {title}\n\n{table(heading, cells)}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(run(__doc__ or "", {DOCS / "chapter-figures.md": page()}))
