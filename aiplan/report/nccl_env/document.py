"""NCCL variables as JSON, and as records: one line a variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.report import documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.nccl_environment import NcclEnvironment
    from aiplan.report.records import Cell

HEADER = ("name", "value", "why", "default", "source")


def document(answer: NcclEnvironment) -> str:
    """Return a JSON document `aiplan.nccl-env/1`."""
    scenario = answer.scenario
    inputs = {"scenario": scenario.name, "source": scenario.source, "settings": list(scenario.settings)}
    result = {
        "accelerator": answer.system.device,
        "network": answer.system.network_name,
        "variables": [dict(zip(HEADER, row, strict=True)) for row in rows(answer)],
    }
    warnings = [
        {"code": one.code, "input": one.path, "message": one.problem, "hint": one.hint, "results": []}
        for one in scenario.cautions
    ]
    return documents.document("nccl-env", inputs, [], result, warnings)


def rows(answer: NcclEnvironment) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every variable."""
    yield from answer.settings
