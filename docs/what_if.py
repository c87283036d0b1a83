"""The parameters of a what-if as `docs/what-if.md` lists them, and its picture of a roofline.

`python docs/what_if.py` writes both; `--check` exits 1 if they differ.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from outputs import DOCS, run, with_blocks

from aiplan.catalog.load import Catalog
from aiplan.planning.levers import GROUPS, LEVERS
from aiplan.planning.roofline import roofline
from aiplan.planning.variants import Source, load_source
from aiplan.report.picture import svg
from aiplan.report.roofline import chart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.levers import Lever

SCENARIO = "gpt3-175b-a100"
PAGE, PICTURE = DOCS / "what-if.md", DOCS / "pictures" / "roofline.svg"


def _rows() -> Iterator[str]:
    for lever in LEVERS:
        names = lever.fields or lever.inputs
        how = ", ".join(f"`{name}`" for name in names)
        yield f"| {lever.noun.removeprefix('the ')} | {how} | {GROUPS[lever.group].lower()}{_note(lever)} |"


def _note(lever: Lever) -> str:
    return "; resolved again" if lever.fields else ""


def main() -> int:
    """Write or check the page."""
    scenario = load_source(Source(SCENARIO), Catalog([])).scenario
    if scenario is None:
        raise LookupError(SCENARIO)
    roofs = roofline(scenario)
    levers = "\n".join(["| parameter | what is scaled | group |", "|---|---|---|", *_rows()])
    return run(__doc__ or "", {PAGE: with_blocks(PAGE, {"levers": levers}), PICTURE: svg(chart.chart(roofs))})


if __name__ == "__main__":
    sys.exit(main())
