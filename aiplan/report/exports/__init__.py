"""Files for other programs in every format: the file itself, or what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.report import documents
from aiplan.report.records import comma_separated

if TYPE_CHECKING:
    from aiplan.adapters.exports.record import Export
    from aiplan.adapters.exports.registry import Target
    from aiplan.scenario.load import Scenario

HEADER = ("name", "value")


def render(answer: Export, target: Target, scenario: Scenario, form: str) -> str:
    """Return a file in one of the formats; as table and plain it is itself."""
    if form == "json":
        inputs = {"scenario": scenario.name, "source": scenario.source, "settings": list(scenario.settings)}
        result: dict[str, Any] = {
            "kind": target.name,
            "text": answer.text,
            "settings": [{"name": name, "value": value} for name, value in answer.settings],
            "not_said": list(answer.remarks),
        }
        return documents.document("export", inputs, [], result, [])
    if form == "csv":
        return comma_separated(HEADER, answer.settings)
    return f"```{target.language}\n{answer.text}```\n" if form == "markdown" else answer.text
