"""Write the picture of docs/report.md, and the plot that it shows.

`python docs/report_page.py` writes them; `--check` exits 1 if they differ.
"""

from __future__ import annotations

import sys

from outputs import DOCS, run, with_blocks

from aiplan.catalog.load import Catalog
from aiplan.planning.compare import compare
from aiplan.planning.estimate import estimate
from aiplan.planning.variants import Source, load_source
from aiplan.report.compare.drawing import graph
from aiplan.report.console import Look
from aiplan.report.line_plot import line_plot
from aiplan.report.overview.pictures import tree
from aiplan.report.picture import FILE, svg

SCENARIO, WIDTH = "gpt3-175b-a100", 100
VARIED = "workload.global_batch=384..6144:x2"
PAGE, PICTURE = DOCS / "report.md", DOCS / "pictures" / "step.svg"
FRAME = FILE.placed(left=20, right=700)


def main() -> int:
    """Write or check picture and page."""
    catalog = Catalog([])
    scenario = load_source(Source(SCENARIO), catalog).scenario
    if scenario is None:
        raise LookupError(SCENARIO)
    picture = tree(estimate([scenario])[0], "step", f"Where a step of {scenario.name} goes", FRAME)
    plot = line_plot(graph(compare([Source(SCENARIO)], catalog, (), [VARIED])), Look(width=WIDTH))
    shown = f"```text\n$ aiplan compare {SCENARIO} --vary {VARIED} --plot\n...\n{plot}```"
    return run(__doc__ or "", {PAGE: with_blocks(PAGE, {"plot": shown}), PICTURE: svg(picture)})


if __name__ == "__main__":
    sys.exit(main())
