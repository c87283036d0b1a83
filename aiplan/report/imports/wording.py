"""The words of what was read from files of other programs, for table and Markdown alike."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from aiplan.report.text import joined

if TYPE_CHECKING:
    from aiplan.adapters.imports.ledger import Fact
    from aiplan.declare import Mark
    from aiplan.planning.imports import Imported
    from aiplan.scenario.model import Model

TAKEN = ("taken", "value", "from")
DEFAULTED = ("not stated, so taken as follows", "value", "why")
OPEN = ("left open", "why", "place")
UNUSED = ("not used, and it may matter", "why", "place")
QUIET = ("without effect on time and memory", "keys")
SIZES = ("tensor", "pipeline", "interleave", "context", "expert", "expert_tensor", "data", "micro_batch")


def headings(answer: Imported) -> list[tuple[str, str]]:
    """Return each file with its kind."""
    return [(name, f"{kind.title} ({kind.name})") for name, kind in zip(answer.files, answer.kinds, strict=True)]


def summary(answer: Imported) -> list[tuple[str, str]]:
    """Return the lines of the headline: a label and what was found."""
    model = answer.model
    lines = []
    if model is not None:
        lines += [("model", _count(answer, model)), ("shape", _shape(model))]
        if model.experts is not None:
            lines.append(("experts", _experts(model)))
        if model.mtp_layers:
            lines.append(("modules", _modules(answer, model)))
    for name in ("workload", "plan", "cluster", "software"):
        text = _part(answer, name)
        if text:
            lines.append((name, text))
    if answer.machine is not None:
        lines.append(("node", _machine(answer)))
    return lines


def _count(answer: Imported, model: Model) -> str:
    total, active = answer.total or 0, answer.active or 0
    passed = f"{active:,} of them active per token" if active != total else ""
    return joined([model.name, f"{total:,} parameters", passed])


def _shape(model: Model) -> str:
    latent = model.latent_attention
    kv_heads = model.kv_heads or model.heads
    groups = f"{kv_heads} key-value heads" if kv_heads != model.heads and not latent else ""
    width = "latent attention" if latent else f"head {model.head_dim or model.hidden // model.heads}"
    kind = "gated" if model.gated else "ungated"
    block = f"ffn {model.ffn:,} {kind}" if model.ffn else ""
    parts = [f"{model.layers} layers", f"hidden {model.hidden:,}", f"{model.heads} heads", groups, width, block]
    tied = "tied" if model.tied else "untied"
    return joined([*parts, f"vocabulary {model.vocab:,} {tied}", model.norm])


def _experts(model: Model) -> str:
    experts = model.experts
    if experts is None:
        return ""
    some = f"in {experts.layers} layers" if experts.layers else ""
    shared = f"shared {experts.shared_ffn:,}" if experts.shared_ffn else ""
    return joined([f"{experts.count} of width {experts.ffn:,}", f"{experts.top_k} per token", shared, some])


def _modules(answer: Imported, model: Model) -> str:
    plural = "module" if model.mtp_layers == 1 else "modules"
    parts = f"{answer.modules or 0:,} parameters"
    return joined(
        [f"{model.mtp_layers} {plural} of multi-token prediction", parts, f"{answer.with_modules:,} with them"]
    )


def _part(answer: Imported, name: str) -> str:
    """Return the fields of a part of the scenario that files give."""
    found = {
        path.removeprefix(f"{name}."): fact.value
        for path, fact in answer.facts.items()
        if path == name or path.startswith(f"{name}.")
    }
    shown = []
    for field, value in found.items():
        if value is True or value is False or (field in SIZES and value == 1 and field != "micro_batch"):
            if value is True and "." not in field:
                shown.append(field.replace("_", " "))
            continue
        number = f"{value:,}" if isinstance(value, int) else str(value)
        shown.append(number if field == name else f"{field.rpartition('.')[2].replace('_', ' ')} {number}")
    return joined(shown)


def _machine(answer: Imported) -> str:
    machine = answer.machine
    if machine is None:
        return ""
    low, high = machine.links
    links = f"{low} to {high}" if low != high else f"{high}"
    linked = f"{links} links join {machine.domain}" if machine.domain > 1 else ""
    none = "no links of their own" if machine.domain_known and machine.domain == 1 else ""
    unknown = "" if machine.domain_known else "links not described"
    paths = [f"{count} pairs {kind}" for kind, count in machine.pairs.items()]
    rate = next((port.bits_per_s for port in machine.ports if port.bits_per_s), None)
    speed = f" of {rate / 1e9:g} Gb/s" if rate else ""
    ports = (
        f"{machine.traffic_ports} of {len(machine.ports)} ports for traffic{speed}"
        if machine.ports
        else "no ports listed"
    )
    return joined([f"{machine.accelerators} accelerators", linked, none, unknown, *paths, ports])


def taken(answer: Imported) -> list[tuple[str, ...]]:
    """Return what files state: field, value, and from which key, where, and how."""
    return [(fact.path.lstrip("_"), value(fact), _origin(answer, fact)) for fact in answer.facts.values() if fact.taken]


def _origin(answer: Imported, fact: Fact) -> str:
    where = joined([fact.key, place(answer, fact.mark)])
    return f"{where}: {fact.why}" if fact.why else where


def defaulted(answer: Imported) -> list[tuple[str, ...]]:
    """Return what files leave to a default: field, value, reason."""
    return [(fact.path.lstrip("_"), value(fact), fact.why) for fact in answer.facts.values() if not fact.taken]


def left_open(answer: Imported) -> list[tuple[str, ...]]:
    """Return what somebody has to give: field, reason, place."""
    return [(one.path.lstrip("_"), one.why, place(answer, one.mark)) for one in answer.open]


def unused(answer: Imported) -> list[tuple[str, ...]]:
    """Return keys that are not used although they may matter: key, reason, place."""
    return [
        (one.key, one.why, place(answer, one.mark))
        for ledger in answer.ledgers
        for one in ledger.skipped
        if one.matters
    ]


def quiet(answer: Imported) -> list[tuple[str, ...]]:
    """Return keys that change neither time nor memory, by reason."""
    found: dict[str, list[str]] = {}
    for ledger in answer.ledgers:
        for one in ledger.skipped:
            if not one.matters:
                found.setdefault(one.why, []).append(one.key)
    return [(why, ", ".join(keys)) for why, keys in found.items()]


def place(answer: Imported, mark: Mark) -> str:
    """Return a place: the line, and the file where there are several."""
    return f"line {mark.line}" if len(answer.files) == 1 else f"{PurePath(mark.file).name}:{mark.line}"


def value(fact: Fact) -> str:
    """Return the value of a fact as text."""
    if isinstance(fact.value, bool):
        return "yes" if fact.value else "no"
    return f"{fact.value:,}" if isinstance(fact.value, int) else str(fact.value)
