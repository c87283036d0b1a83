"""The words and cells of demand against supply, for table and Markdown alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.planning.storage import NAMES
from aiplan.report.facts import BAD, GOOD, Fact
from aiplan.report.text import joined, number, percent, span
from aiplan.units import duration, quantity

if TYPE_CHECKING:
    from aiplan.planning.storage import StorageAnswer

STAGES = ("stage", "read", "write")
NEEDS = ("what", "bytes", "asked", "there", "takes", "enough", "")
LEVELS = ("yardstick", "read", "write", "enough")
NOTE = "The yardstick is guidance for NVIDIA DGX SuperPOD, for as many nodes as these."


def title(answer: StorageAnswer) -> str:
    """Return whose storage it is."""
    scenario = answer.estimate.scenario
    use = scenario.file.storage
    named = use if isinstance(use, str) else getattr(use, "system", None) or "storage"
    return f"{scenario.name}: {named} and {answer.estimate.given('storage.nodes'):,.0f} nodes"


def facts(answer: StorageAnswer) -> list[Fact]:
    """Return the rates, what limits them, and the capacity."""
    one = answer.estimate
    lines = [_rate(answer, "read"), _rate(answer, "write")]
    hits = one["loading.hits"]
    if hits:
        lines.append(Fact("cache", percent(hits), "hits from the second epoch on, over the whole run"))
    depth = math.ceil(one["loading.depth"])
    plural = "" if depth == 1 else "es"
    given = one.given("storage.prefetch")
    lines.append(Fact("prefetch", f"{depth} batch{plural}", f"hide the latency; {given:.0f} are under way"))
    kept = joined([f"{quantity(one.given('storage.dataset'), 'B si')} data", _checkpoints(answer)])
    lines.append(Fact("kept", quantity(one["storage.kept"], "B si"), kept))
    lines.append(Fact("provision", quantity(answer.capacity, "B si"), "a large volume should not be fuller than 80 %"))
    if not math.isnan(answer.month):
        whole = one["total.cost.storage"]
        over = "" if math.isnan(whole) else f"{quantity(whole, 'USD')} over the run"
        lines.append(Fact("cost", f"{quantity(answer.month, 'USD')} a month", over))
    return lines


def _rate(answer: StorageAnswer, way: str) -> Fact:
    one = answer.estimate
    low, high = (one[f"storage.{way}_{end}"] for end in ("low", "high"))
    limited = NAMES[answer.binding(way).name]
    note = joined([f"{span(low, high, 'B/s')}" if low < high else "", f"limited by {limited}"])
    return Fact(way, quantity(one[f"storage.{way}"], "B/s"), note)


def _checkpoints(answer: StorageAnswer) -> str:
    one = answer.estimate
    if not one.given("checkpoint.made"):
        return ""
    return f"{one.given('checkpoint.keep'):.0f} checkpoints of {quantity(one['checkpoint.bytes'], 'B si')}"


def stages(answer: StorageAnswer) -> list[tuple[str, ...]]:
    """Return the stages of which a limit is known."""
    return [
        (NAMES[stage.name].removeprefix("the "), _known(stage.read), _known(stage.write))
        for stage in answer.stages
        if math.isfinite(stage.read) or math.isfinite(stage.write)
    ]


def _known(rate: float) -> str:
    return quantity(rate, "B/s") if math.isfinite(rate) else ""


def needs(answer: StorageAnswer) -> list[tuple[str, ...]]:
    """Return what training asks of storage, and what there is."""
    return [
        (
            need.name,
            quantity(need.size, "B si"),
            quantity(need.demand, "B/s"),
            number(need.supply, "B/s") if math.isfinite(need.supply) else "no limit",
            duration(need.time),
            "yes" if need.met else "no",
            need.note,
        )
        for need in answer.needs
    ]


def levels(answer: StorageAnswer) -> list[tuple[str, ...]]:
    """Return the levels of guidance."""
    return [
        (level.name, quantity(level.read, "B/s"), quantity(level.write, "B/s"), "yes" if level.enough else "no")
        for level in answer.levels
    ]


def verdict(answer: StorageAnswer) -> Fact:
    """Return whether storage holds the run up, and what is too narrow."""
    if answer.met:
        return Fact("Verdict", "storage holds nothing up", "", GOOD)
    told = [
        f"{need.name} asks {quantity(need.demand, 'B/s')}, gets {quantity(need.supply, 'B/s')} by {NAMES[stage.name]}"
        for need, stage in answer.holds_up
    ]
    return Fact("Verdict", f"storage is the bottleneck: {'; '.join(told)}", "", BAD)
