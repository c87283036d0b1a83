"""What `aiplan explain --sensitivity` and `--roofline` print, as it stands in `docs/what-if.md`.

`python docs/what_if.py` writes the blocks of the page and its picture; `--check` exits 1 if they differ.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from outputs import DOCS, run, with_blocks

from aiplan.catalog.load import Catalog
from aiplan.planning.levers import GROUPS, LEVERS
from aiplan.planning.roofline import roofline
from aiplan.planning.sensitivity import sensitivity
from aiplan.planning.variants import Source, load_source
from aiplan.report.console import Look
from aiplan.report.picture import svg
from aiplan.report.roofline import chart
from aiplan.report.roofline import render as render_roofline
from aiplan.report.sensitivity import render as render_sensitivity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.levers import Lever

SCENARIO, WIDTH = "gpt3-175b-a100", 100
PAGE, PICTURE = DOCS / "what-if.md", DOCS / "pictures" / "roofline.svg"


def _rows() -> Iterator[str]:
    for lever in LEVERS:
        names = lever.fields or lever.inputs
        how = ", ".join(f"`{name}`" for name in names)
        yield f"| {lever.noun.removeprefix('the ')} | {how} | {GROUPS[lever.group].lower()}{_note(lever)} |"


def _note(lever: Lever) -> str:
    return "; resolved again" if lever.fields else ""


def _shown(command: str, text: str) -> str:
    return f"```text\n$ aiplan explain {SCENARIO} {command}\n{text}```"


def main() -> int:
    """Write or check the page."""
    scenario = load_source(Source(SCENARIO), Catalog([])).scenario
    if scenario is None:
        raise LookupError(SCENARIO)
    look, roofs = Look(width=WIDTH), roofline(scenario)
    blocks = {
        "sensitivity": _shown("--sensitivity", render_sensitivity(sensitivity(scenario), "table", look)),
        "levers": "\n".join(["| parameter | what is scaled | group |", "|---|---|---|", *_rows()]),
        "roofline": _shown("--roofline", render_roofline(roofs, "table", look)),
    }
    return run(__doc__ or "", {PAGE: with_blocks(PAGE, blocks), PICTURE: svg(chart.chart(roofs))})


if __name__ == "__main__":
    sys.exit(main())
