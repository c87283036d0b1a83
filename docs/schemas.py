"""JSON Schemas for editors: one for every kind of file, made from the field declarations.

`python docs/schemas.py` writes `docs/schema/`; `--check` exits 1 if a file there differs.
"""

from __future__ import annotations

import json
import sys

from outputs import DOCS, run

from aiplan.catalog.records import KINDS
from aiplan.declare.schema import json_schema
from aiplan.scenario.job_records import JobsFile
from aiplan.scenario.model import Model
from aiplan.scenario.policy import PolicyFile
from aiplan.scenario.records import SCHEMA_VERSION, ScenarioFile
from aiplan.scenario.software import Software

FILES: dict[str, tuple[type, str]] = {
    "scenario": (ScenarioFile, "aiplan scenario"),
    "policy": (PolicyFile, "aiplan policy"),
    "jobs": (JobsFile, "aiplan jobs"),
    "model": (Model, "aiplan model"),
    "software": (Software, "aiplan software preset"),
    **{kind: (record, f"aiplan hardware catalog: {kind}") for kind, record in KINDS.items()},
}


def schema_text(name: str) -> str:
    """Return the schema of one kind of file as JSON text."""
    record, title = FILES[name]
    schema = json_schema(record, title, f"urn:aiplan:schema:{name}:{SCHEMA_VERSION}")
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(run(__doc__ or "", {DOCS / "schema" / f"{name}.schema.json": schema_text(name) for name in FILES}))
