"""What was read, as a scenario file: each value with the place it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.report.text import clean, yaml_scalar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.adapters.imports.ledger import Fact
    from aiplan.planning.imports import Imported

ORDER = ("name", "model", "workload", "cluster", "plan", "communication", "software")
LACKING = {
    "model": "# model: llama-3-8b              # not in these files: a name of the library, a path or a shape",
    "cluster": "# cluster: {node: dgx-h100, nodes: 16}   # not in these files: what it runs on",
}
COMMENT_AT = 34


def scenario_file(answer: Imported, usual: Sequence[tuple[str, int, str]] = ()) -> str:
    """Return a scenario as YAML.

    Parameters
    ----------
    answer : Imported
        What was read.
    usual : sequence of tuple
        Fields that no file gives, with a usual value and the reason for it.
    """
    nested = _nested(answer, usual)
    lines = [f"# read from {clean(', '.join(answer.files))} by aiplan import", "schema_version: 1"]
    if "name" not in nested and answer.model is not None:
        lines.append(f"name: {yaml_scalar(answer.model.name)}")
    for name in sorted({*nested, *LACKING}, key=ORDER.index):
        if name in nested:
            lines += _lines(name, nested[name], 0)
        else:
            lines.append(LACKING[name])
    lines += [f"# open: {one.path.lstrip('_')}: {clean(one.why)} ({clean(one.mark.where)})" for one in answer.open]
    return "\n".join(lines) + "\n"


def _nested(answer: Imported, usual: Sequence[tuple[str, int, str]]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    leaves = [(fact.path, fact.value, _remark(fact)) for fact in answer.fields]
    leaves += [(path, value, why) for path, value, why in usual]
    for path, value, remark in leaves:
        *above, last = path.split(".")
        inner = nested
        for name in above:
            inner = inner.setdefault(name, {})
        inner[last] = (value, remark)
    return nested


def _remark(fact: Fact) -> str:
    if fact.taken:
        key = fact.key.rpartition(".")[2]
        return "; ".join(part for part in (f"{fact.mark.where} {key}".strip(), fact.why) if part)
    return f"default: {fact.why}"


def _lines(name: str, child: Any, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if isinstance(child, dict):
        yield f"{indent}{name}:"
        for below, value in child.items():
            yield from _lines(below, value, depth + 1)
        return
    value, remark = child
    text = f"{indent}{name}: {yaml_scalar(value)}"
    yield f"{text:<{COMMENT_AT}}  # {clean(remark)}" if remark else text
