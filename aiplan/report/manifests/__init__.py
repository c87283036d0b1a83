"""Manifests as YAML, and what became of manifests that were checked, in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.adapters.kubernetes import Manifest
    from aiplan.planning.scheduling.manifests import Verdict
    from aiplan.report.console import Look

HEADER = ("kind", "name", "namespace", "pods", "gpus", "verdict", "reason")
FITS, NEVER = "can be scheduled", "never"


def yaml_text(manifests: Sequence[Manifest]) -> str:
    """Return manifests as documents of YAML, one after the other."""
    import yaml

    class Plain(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  the same label twice is no alias
            return True

    parts = [yaml.dump(one, Dumper=Plain, sort_keys=False, width=110, allow_unicode=True) for one in manifests]
    return "---\n".join(parts)


def manifests_text(manifests: Sequence[Manifest], form: str, inputs: dict[str, Any]) -> str:
    """Return manifests as YAML, or in a JSON document."""
    if form == "json":
        from aiplan.report import documents

        return documents.document("k8s", inputs, [], {"manifests": list(manifests)}, [])
    return yaml_text(manifests)


def render(rows: Sequence[Verdict], form: str, look: Look, inputs: dict[str, Any]) -> str:
    """Return verdicts in one of the formats."""
    if form == "json":
        from aiplan.report import documents

        result = {"manifests": [row._asdict() for row in rows]}
        return documents.document("check-manifests", inputs, [], result, [])
    cells = [_cells(row) for row in rows]
    if form in {"plain", "csv"}:
        from aiplan.report.records import comma_separated, tabs

        return (tabs if form == "plain" else comma_separated)(HEADER, cells)
    if form == "markdown":
        from aiplan.report.records import markdown_table
        from aiplan.report.text import markdown

        return markdown_table(HEADER, [[markdown(cell) for cell in row] for row in cells], right=(3, 4))
    from aiplan.report.console import draw
    from aiplan.report.grid import columns

    return draw(look, columns(HEADER, cells, right=(3, 4), fold=(1, 6)))


def _cells(row: Verdict) -> tuple[str, ...]:
    verdict = NEVER if row.reason else FITS
    return (row.kind, row.name, row.namespace, f"{row.pods:,}", f"{row.gpus:g}", verdict, row.reason)
