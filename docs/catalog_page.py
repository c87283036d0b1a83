"""Generated blocks of `docs/catalog.md`: the fields of every kind of entry.

`python docs/catalog_page.py` writes them; `--check` exits 1 if one differs.
"""

from __future__ import annotations

import sys

from outputs import DOCS, run, table, with_blocks

from aiplan.catalog.records import KINDS, Entry
from aiplan.declare.docs import rows

PAGE = DOCS / "catalog.md"


def field_table(record: type, *, without: frozenset[str] = frozenset()) -> str:
    """Return the fields of a record, but for the named ones."""
    found = [row for row in rows(record) if row.path not in without]
    heading = ("field", "takes", "default", "meaning")
    cells = ((f"`{r.path}`", r.kind, "**required**" if r.default is None else f"`{r.default}`", r.doc) for r in found)
    return table(heading, cells)


def blocks() -> dict[str, str]:
    """Return every generated block of the page."""
    common = frozenset(row.path for row in rows(Entry))
    return {
        "fields entry": field_table(Entry),
        **{f"fields {kind}": field_table(record, without=common) for kind, record in KINDS.items()},
    }


if __name__ == "__main__":
    sys.exit(run(__doc__ or "", {PAGE: with_blocks(PAGE, blocks())}))
