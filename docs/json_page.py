"""The kinds of JSON documents and the keys of their results, as `docs/reference/json.md` lists them.

`python docs/json_page.py` writes them; `--check` exits 1 if they differ.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from outputs import DOCS, run, table, with_blocks

from aiplan.report.schemas import result_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = DOCS / "reference" / "json.md"


def kinds() -> str:
    """Return every kind of document with the keys of its result."""
    schema = result_schema()
    rows = []
    for document in schema["oneOf"]:
        fields = document["properties"]
        keys = sorted(set(_keys(fields["result"], schema)))
        rows.append((f"`{fields['schema']['const']}`", ", ".join(f"`{key}`" for key in keys)))
    return table(("`schema`", "keys of `result`"), sorted(rows))


def _keys(part: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    """Yield the keys that a part of the schema names, whichever of its forms it takes."""
    if "$ref" in part:
        yield from _keys(schema["definitions"][part["$ref"].rpartition("/")[2]], schema)
    for one in [*part.get("oneOf", ()), *part.get("anyOf", ())]:
        yield from _keys(one, schema)
    yield from part.get("properties", ())


if __name__ == "__main__":
    sys.exit(run(__doc__ or "", {PAGE: with_blocks(PAGE, {"kinds": kinds()})}))
