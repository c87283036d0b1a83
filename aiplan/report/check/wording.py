"""What a check says, apart from how it is drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.report.text import joined, percent
from aiplan.units import quantity

if TYPE_CHECKING:
    from aiplan.declare import Mark
    from aiplan.planning.check import Check, Checked, Verdict


def place(mark: Mark | None, otherwise: str) -> str:
    """Return a place that editors and terminals can open."""
    if mark is None:
        return otherwise
    return mark.file if mark.is_option else f"{mark.file}:{mark.line}:{mark.column}"


def sentence(one: Verdict) -> str:
    """Return what a verdict is about, with what was found and how much room there is."""
    return f"{one.text}: {outcome(one)}" if ruled(one) else one.text


def ruled(one: Verdict) -> bool:
    """Whether a verdict is about a condition, not something found without being asked."""
    return one.code in {"AIP401", "AIP402", "AIP404"}


def outcome(one: Verdict) -> str:
    """Return what was found, and how much room there is."""
    if not ruled(one):
        return ""
    if one.found is None:
        return "unknown"
    found = quantity(one.found, one.unit, digits=4) if one.unit != "1" else f"{one.found:,.6g}"
    return joined([found, room(one)])


def room(one: Verdict) -> str:
    """Return how much room there is, or how much is missing."""
    if one.margin is None or not math.isfinite(one.margin):
        return ""
    if one.margin == 0:
        return "no room left" if one.state == "ok" else "at the bound"
    if one.margin > 0:
        return f"{percent(one.margin)} left"
    if one.found is not None and one.bound is not None and one.found < one.bound:
        return f"{percent(-one.margin)} short"
    return f"{percent(-one.margin)} over" if one.margin > -1 else f"{1 - one.margin:,.3g} times the bound"


def advice(one: Verdict) -> str:
    """Return what to do, and why the rule is there."""
    why = f"exempt: {one.why}" if one.state == "exempt" else one.why
    return "; ".join(part for part in (one.hint, why) if part)


def message(one: Verdict) -> str:
    """Return a verdict as one sentence with advice."""
    told = advice(one)
    return f"{sentence(one)} ({told})" if told else sentence(one)


def heading(file: Checked) -> str:
    """Return what a file is called."""
    return file.path if file.name == file.path else f"{file.path}: {file.name}"


def counts(answer: Check) -> str:
    """Return how all of it came out, in one line."""
    kinds = ("error", "warning", "note", "exempt", "ok")
    names = {"exempt": ("exempt", "exempt"), "ok": ("ok", "ok")}
    told = [_plural(answer.count(kind), *names.get(kind, (kind, f"{kind}s"))) for kind in kinds if answer.count(kind)]
    broken = sum(file.broken for file in answer.files)
    read = len(answer.files) - broken
    words = (
        ("scenario", "scenarios") if all(file.estimate or file.broken for file in answer.files) else ("file", "files")
    )
    last = f"{_plural(broken, 'file', 'files')} could not be read" if broken else ""
    return joined([f"{_plural(read, *words)} checked", last, *told])


def _plural(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def verdict(answer: Check) -> str:
    """Return the answer in a word."""
    return ("passed", "failed", "not answered")[answer.code]
