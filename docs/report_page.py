"""Write the picture of docs/report.md.

`python docs/report_page.py` writes it; `--check` exits 1 if it differs.
"""

from __future__ import annotations

import sys

from outputs import DOCS, run

from aiplan.catalog.load import Catalog
from aiplan.planning.estimate import estimate
from aiplan.planning.variants import Source, load_source
from aiplan.report.overview.pictures import tree
from aiplan.report.picture import FILE, svg

SCENARIO = "gpt3-175b-a100"
PICTURE = DOCS / "pictures" / "step.svg"
FRAME = FILE.placed(left=20, right=700)


def main() -> int:
    """Write or check the picture."""
    scenario = load_source(Source(SCENARIO), Catalog([])).scenario
    if scenario is None:
        raise LookupError(SCENARIO)
    picture = tree(estimate([scenario])[0], "step", f"Where a step of {scenario.name} goes", FRAME)
    return run(__doc__ or "", {PICTURE: svg(picture)})


if __name__ == "__main__":
    sys.exit(main())
