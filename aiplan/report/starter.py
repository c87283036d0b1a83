"""A scenario to begin with, as a file: every field with what it takes and what it means, others ready to be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.declare.docs import rows
from aiplan.report.search.wording import plan_fields
from aiplan.report.text import clean, yaml_scalar
from aiplan.scenario.records import ScenarioFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.scenario.load import Scenario

SCHEMA = "scenario.schema.json"
COMMENT_AT, WIDEST = 34, 120
HEAD = """# A scenario of aiplan: what is trained, on what, in which layout. Quantities carry their unit.
#   aiplan estimate {name}          time, memory, cost, and what limits
#   aiplan search {name}            the best layouts beside this one
#   aiplan check {name}             holds it to what it expects, for CI
#   aiplan explain {name} step      how a number came about
# All fields: aiplan schema scenario; names of machines: aiplan catalog list nodes."""


class Spare(NamedTuple):
    """A field that is not used, and a value to begin with."""

    name: str
    value: str


SPARE = {
    "cluster": (
        Spare("network", "{fabric: ib-ndr, topology: fat-tree}"),
        Spare("region", "aws-us-east-1"),
        Spare("price", "2.50 USD/h"),
    ),
    "": (
        Spare("storage", "vast-generic"),
        Spare("checkpoint", "{interval: auto, mode: async}"),
        Spare("reliability", "{fleet: llama-3}"),
    ),
}
"""Fields to use next, as comments: of a block at its end, of the file after all blocks."""


def starter_file(scenario: Scenario, name: str, schema: str = SCHEMA) -> str:
    """Return a scenario as YAML with comments.

    Parameters
    ----------
    scenario : Scenario
        With a plan.
    name : str
        The file, as one names it in a command.
    schema : str
        Where an editor finds the JSON Schema, as seen from the file.
    """
    lines = [f"# yaml-language-server: $schema={clean(schema)}", HEAD.format(name=clean(name)), "", *_lines(scenario)]
    return "".join(f"{line}\n" for line in lines)


def _lines(scenario: Scenario) -> Iterator[str]:
    file, said = scenario.file, _said()
    work, cluster = file.workload, file.cluster
    yield from ("schema_version: 1", f"name: {yaml_scalar(_title(scenario))}", "")
    yield _line("model", _model(scenario), said["model"])
    blocks = {
        "workload": {
            "tokens": scenario.parts.origins["workload.tokens"].detail,
            "sequence_length": str(work.sequence_length),
            "global_batch": str(work.global_batch),
            "precision": work.precision,
            "optimizer": work.optimizer,
        },
        "cluster": {"node": cluster.node or "", "nodes": str(cluster.nodes)},
        "plan": plan_fields(file.plan),
    }
    for block, fields in blocks.items():
        yield from ("", _line(block, "", said[block]))
        yield from (_line(f"  {key}", value, said[f"{block}.{key}"]) for key, value in fields.items())
        yield from (_spare("  ", one, said[f"{block}.{one.name}"]) for one in SPARE.get(block, ()))
    yield ""
    yield _line("software", file.software, said["software"])
    yield from (_spare("", one, said[one.name]) for one in SPARE[""])
    yield ""
    yield _line("expect", "[fits]", said["expect"])


def _title(scenario: Scenario) -> str:
    return f"{scenario.model.name} on {scenario.accelerators:,} {scenario.accelerator.name}"


def _model(scenario: Scenario) -> str:
    named = scenario.file.model
    return yaml_scalar(named) if isinstance(named, str) else ""


def _said() -> dict[str, str]:
    """Return what each field takes and means, by its path."""
    found: dict[str, str] = {}
    for row in rows(ScenarioFile):
        takes = "" if row.kind in {"text", "mapping"} or "|" in row.kind else f"{row.kind}: "
        found.setdefault(row.path, takes + row.doc)
    return found


def _line(key: str, value: str, remark: str) -> str:
    """Return a field with a remark behind it, or above it where that would not fit."""
    text = f"{key}: {value}".rstrip()
    line = f"{text:<{COMMENT_AT}}  # {remark}"
    if len(line) <= WIDEST:
        return line
    return f"{' ' * (len(key) - len(key.lstrip()))}# {remark}\n{text}"


def _spare(indent: str, one: Spare, remark: str) -> str:
    """Return a field as a comment: without the sign it is one."""
    text = f"{one.name}: {one.value}"
    return f"{indent}# {text:<{COMMENT_AT - len(indent) - 2}}  # {remark}"
