"""JSON Schemas of the files that go in, made from the declarations of their records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.catalog.records import KINDS
from aiplan.declare.schema import json_schema
from aiplan.report.schema_parts import NAMESPACE, closed, items
from aiplan.scenario.job_records import JobsFile
from aiplan.scenario.model import Model
from aiplan.scenario.policy import PolicyFile
from aiplan.scenario.records import SCHEMA_VERSION, ScenarioFile
from aiplan.scenario.runs import RunsFile
from aiplan.scenario.software import Software

if TYPE_CHECKING:
    from collections.abc import Iterator

CATALOG = {"switches": "switch", "storage": "storage"}
"""Kinds of catalog entries whose names are not those of their folders without an s."""
RECORDS: dict[str, type] = {
    "scenario": ScenarioFile,
    "policy": PolicyFile,
    "jobs": JobsFile,
    "model": Model,
    "software": Software,
    **{CATALOG.get(folder, folder.removesuffix("s")): record for folder, record in KINDS.items()},
}
RUNS = "runs"
OF_A_ROW: dict[str, dict[str, Any]] = {
    "id": {"type": "string", "description": "Name of the run"},
    "quality": {"enum": ["A", "B", "C"], "description": "How sure the figures are"},
    "complete": {"enum": [True, False, "yes", "no"], "description": "Whether the layout is published"},
    "circumstances": {"type": "string", "description": "Why a prediction may be far off"},
    "assumed": {"type": "array", "items": {"type": "string"}, "description": "What is not published, and was assumed"},
}


def file_schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind of file.

    Parameters
    ----------
    kind : str
        A key of `RECORDS`, or `runs`.
    """
    name = f"{NAMESPACE}:{kind}:{SCHEMA_VERSION}"
    return runs_schema(name) if kind == RUNS else json_schema(RECORDS[kind], f"aiplan {kind}", name)


def runs_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a file of measured runs: a scenario without what the rows say, and rows of paths."""
    about = json_schema(RunsFile, "aiplan runs", name)
    scenario = _partial(json_schema(ScenarioFile, "", ""))
    paths = dict(_paths(scenario, "#/properties/base"))
    row = closed(OF_A_ROW | paths, optional=tuple(OF_A_ROW | paths))
    about["properties"] |= {
        "base": {key: scenario[key] for key in ("type", "additionalProperties", "properties")},
        "models": {"type": "object", "additionalProperties": _partial(json_schema(Model, "", ""))},
        "columns": items({"enum": [*OF_A_ROW, *paths]}),
        "rows": items({"anyOf": [row, {"type": "array"}]}),
    }
    return about | {"required": [*about["required"], "base", "rows"]}


def _partial(schema: Any) -> Any:
    """Return a schema in which nothing is due."""
    if isinstance(schema, list):
        return [_partial(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _partial(value) for key, value in schema.items() if key != "required" or not isinstance(value, list)}


def _paths(record: dict[str, Any], at: str, above: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield by its dotted path what every field of a record, and of those inside, takes: that, or null for unknown."""
    for name, schema in record["properties"].items():
        place = f"{at}/properties/{name}"
        yield above + name, {"anyOf": [{"$ref": place}, {"type": "null"}]}
        for there, part in _records(schema, place):
            yield from _paths(part, there, f"{above}{name}.")


def _records(schema: dict[str, Any], at: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the records that a value may be, with where their schemas stand."""
    if "properties" in schema:
        yield at, schema
    for index, one in enumerate(schema.get("anyOf", ())):
        yield from _records(one, f"{at}/anyOf/{index}")
