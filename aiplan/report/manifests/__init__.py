"""Manifests as YAML, or in a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.adapters.kubernetes import Manifest


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
