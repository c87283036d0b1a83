"""Generated blocks of `docs/scheduling.md`: the fields of a jobs file, and what a command answers.

`python docs/scheduling_page.py` writes them; `--check` exits 1 if one differs.
"""

from __future__ import annotations

import contextlib
import io
import sys

from outputs import DOCS, run, table, with_blocks

from aiplan.cli.main import main
from aiplan.declare.docs import rows
from aiplan.scenario.job_records import JobsFile

PAGE = DOCS / "scheduling.md"
COMPARED = ("schedule", "gang-deadlock", "--compare", "gang", "--width", "100")


def field_table() -> str:
    """Return the fields of a jobs file."""
    heading = ("field", "takes", "default", "meaning")
    cells = (
        (f"`{row.path}`", row.kind, "**required**" if row.default is None else f"`{row.default}`", row.doc)
        for row in rows(JobsFile)
    )
    return table(heading, cells)


def compared() -> str:
    """Return the runs side by side that a command prints, and what goes before them."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main(COMPARED)
    shown = out.getvalue().partition("\n\nwaiting time")[0]
    return f"```text\n$ aiplan {' '.join(COMPARED)}\n{shown}\n```"


if __name__ == "__main__":
    blocks = {"gang": compared(), "fields": field_table()}
    sys.exit(run(__doc__ or "", {PAGE: with_blocks(PAGE, blocks)}))
