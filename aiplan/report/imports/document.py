"""Files of other programs as JSON, and as records: one line a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.adapters.imports.scenario_tree import plain
from aiplan.report import documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.adapters.imports.ledger import Fact
    from aiplan.declare import Mark
    from aiplan.planning.imports import Imported
    from aiplan.report.records import Cell
    from aiplan.scenario.model import Model

HEADER = ("status", "field", "value", "key", "file", "line", "column", "why")


def document(answer: Imported) -> str:
    """Return a JSON document `aiplan.import/1`."""
    result = {
        "kind": "+".join(kind.name for kind in answer.kinds),
        "files": [{"file": name, "kind": kind.name} for name, kind in zip(answer.files, answer.kinds, strict=True)],
        "model": None if answer.model is None else shape(answer.model),
        "parameters_total": answer.total,
        "parameters_active": answer.active,
        "parameters_modules": answer.modules,
        "parameters_with_modules": answer.with_modules,
        "taken": [_fact(fact) for fact in answer.facts.values() if fact.taken],
        "defaulted": [_fact(fact) for fact in answer.facts.values() if not fact.taken],
        "ignored": [
            {"key": one.key, "why": one.why, "matters": one.matters} | _place(one.mark)
            for ledger in answer.ledgers
            for one in ledger.skipped
        ],
        "open": [{"field": one.path, "key": one.key, "why": one.why} | _place(one.mark) for one in answer.open],
        "node": _node(answer),
        "scenario": plain(answer.fields),
    }
    warnings: list[Any] = [
        {"code": "AIP344", "input": one.mark.where, "message": one.problem, "hint": one.hint or "", "results": []}
        for one in answer.cautions
    ]
    return documents.document("import", {"files": answer.files}, [], result, warnings)


def shape(model: Model) -> dict[str, Any]:
    """Return the shape of a network with what follows from it put in."""
    experts, latent, window = model.experts, model.latent_attention, model.window
    head_dim = model.head_dim or (None if latent else model.hidden // model.heads)
    return {
        "name": model.name,
        "family": model.family,
        "layers": model.layers,
        "hidden": model.hidden,
        "heads": model.heads,
        "kv_heads": model.kv_heads or model.heads,
        "head_dim": head_dim,
        "ffn": model.ffn if model.ffn is not None else experts.ffn if experts else None,
        "gated": model.gated,
        "vocab": model.vocab,
        "positions": model.positions,
        "tied": model.tied,
        "norm": model.norm,
        "qk_norm": model.qk_norm,
        "parallel_block": model.parallel_block,
        "context_length": model.context_length,
        "mtp_layers": model.mtp_layers,
        "bias": vars(model.bias),
        "experts": experts.count if experts else None,
        "experts_per_token": experts.top_k if experts else None,
        "expert_ffn": experts.ffn if experts else None,
        "expert_layers": (experts.layers or model.layers) if experts else None,
        "shared_ffn": experts.shared_ffn if experts else None,
        "latent_attention": vars(latent) if latent else None,
        "window": {"size": window.size, "layers": window.layers or model.layers} if window else None,
    }


def rows(answer: Imported) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every key: taken, defaulted, open or ignored."""
    for fact in answer.facts.values():
        status = "taken" if fact.taken else "defaulted"
        yield (status, fact.path.lstrip("_"), _text(fact), fact.key, *_cells(fact.mark), fact.why)
    for asked in answer.open:
        yield ("open", asked.path.lstrip("_"), "", asked.key, *_cells(asked.mark), asked.why)
    for ledger in answer.ledgers:
        for one in ledger.skipped:
            yield ("not used" if one.matters else "no effect", "", "", one.key, *_cells(one.mark), one.why)


def _text(fact: Fact) -> str:
    value = fact.value
    return str(value).lower() if isinstance(value, bool) else str(value)


def _cells(mark: Mark) -> tuple[str, int, int]:
    return mark.file, mark.line, mark.column


def _place(mark: Mark) -> dict[str, Any]:
    return {"file": mark.file, "line": mark.line, "column": mark.column}


def _fact(fact: Fact) -> dict[str, Any]:
    return {"field": fact.path.lstrip("_"), "value": fact.value, "key": fact.key, "why": fact.why} | _place(fact.mark)


def _node(answer: Imported) -> dict[str, Any] | None:
    machine = answer.machine
    if machine is None:
        return None
    return {
        "accelerators": machine.accelerators,
        "links_min": machine.links[0],
        "links_max": machine.links[1],
        "links_known": machine.domain_known,
        "linked_accelerators": machine.domain,
        "pairs": machine.pairs,
        "traffic_ports": machine.traffic_ports,
        "numa": list(machine.numa),
        "ports": [
            {
                "name": port.name,
                "distance": port.distance,
                "nearest": list(port.nearest),
                "bits_per_s": port.bits_per_s,
                "numa": port.numa,
                "for_traffic": port.for_traffic,
            }
            for port in machine.ports
        ],
    }
