"""JSON Schemas as `aiplan schema KIND` prints them: of every kind of file, and of the JSON results.

`python docs/schemas.py` writes `docs/schema/`; `--check` exits 1 if a file there differs.
"""

from __future__ import annotations

import sys

from outputs import DOCS, run

from aiplan.cli.schema import Kind
from aiplan.report.documents import dumps
from aiplan.report.schemas import schema_of

if __name__ == "__main__":
    files = {DOCS / "schema" / f"{kind}.schema.json": dumps(schema_of(kind)) for kind in Kind}
    sys.exit(run(__doc__ or "", files))
