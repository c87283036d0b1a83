"""Generated blocks of `docs/catalog.md`: fields of every kind, and what the commands answer to the examples.

`python docs/catalog_page.py` writes them; `--check` exits 1 if one differs.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path

from outputs import DOCS, run, table, with_blocks

from aiplan.catalog.records import KINDS, Entry
from aiplan.cli.main import main
from aiplan.declare.docs import rows

PAGE = DOCS / "catalog.md"
_FILE = re.compile(r"<!-- file: (\S+) -->\n```yaml\n(.*?)```", re.DOTALL)


def field_table(record: type, *, without: frozenset[str] = frozenset()) -> str:
    """Return the fields of a record, but for the named ones."""
    found = [row for row in rows(record) if row.path not in without]
    heading = ("field", "takes", "default", "meaning")
    cells = ((f"`{r.path}`", r.kind, "**required**" if r.default is None else f"`{r.default}`", r.doc) for r in found)
    return table(heading, cells)


def answer(*arguments: str) -> str:
    """Return what a command prints, given the files that stand in the page."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
        for name, text in _FILE.findall(PAGE.read_text(encoding="utf-8")):
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        os.chdir(folder)
        try:
            main(arguments)
        finally:
            os.chdir(before)
    return f"```console\n$ aiplan {' '.join(arguments)}\n{out.getvalue()}```"


def blocks() -> dict[str, str]:
    """Return every generated block of the page."""
    common = frozenset(row.path for row in rows(Entry))
    return {
        "show x1": answer("catalog", "show", "x1", "--catalog", "my_catalog"),
        "lint x1": answer("catalog", "lint", "--catalog", "my_catalog"),
        "fields entry": field_table(Entry),
        **{f"fields {kind}": field_table(record, without=common) for kind, record in KINDS.items()},
    }


if __name__ == "__main__":
    for name in ("AIPLAN_CATALOG", "AIPLAN_FORMAT", "AIPLAN_VERBOSE", "COLUMNS", "FORCE_COLOR"):
        os.environ.pop(name, None)
    sys.exit(run(__doc__ or "", {PAGE: with_blocks(PAGE, blocks())}))
