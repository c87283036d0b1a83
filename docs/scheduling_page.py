"""The fields of a jobs file, as `docs/scheduling.md` lists them.

`python docs/scheduling_page.py` writes them; `--check` exits 1 if they differ.
"""

from __future__ import annotations

import sys

from outputs import DOCS, run, table, with_blocks

from aiplan.declare.docs import rows
from aiplan.scenario.job_records import JobsFile

PAGE = DOCS / "scheduling.md"


def field_table() -> str:
    """Return the fields of a jobs file."""
    heading = ("field", "takes", "default", "meaning")
    cells = (
        (f"`{row.path}`", row.kind, "**required**" if row.default is None else f"`{row.default}`", row.doc)
        for row in rows(JobsFile)
    )
    return table(heading, cells)


if __name__ == "__main__":
    sys.exit(run(__doc__ or "", {PAGE: with_blocks(PAGE, {"fields": field_table()})}))
