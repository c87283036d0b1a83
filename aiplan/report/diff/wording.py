"""What a difference says, apart from how it is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.planning.names import unit
from aiplan.report.text import change, joined, percent
from aiplan.units import duration, quantity

if TYPE_CHECKING:
    from aiplan.planning.diff import Difference, Input, Number, Term

KEY = "+ added, - removed, ~ changed"
LABELS = {
    "fits": "fits into memory",
    "wallclock_s": "wall clock",
    "goodput": "goodput",
    "ettr": "ETTR",
    "time_to_train_s": "time to train",
    "step_time_s": "step",
    "tokens_per_s": "tokens per second",
    "tokens_per_s_per_gpu": "tokens per second and accelerator",
    "mfu": "MFU",
    "hfu": "HFU",
    "memory_bytes_per_gpu": "memory per accelerator",
    "memory_capacity_bytes": "memory of an accelerator",
    "cost_usd": "rental cost",
    "energy_j": "energy",
    "carbon_kg": "carbon dioxide",
    "gpus": "accelerators",
    "data_parallel": "data parallel ranks",
    "parameters_total": "parameters",
    "parameters_active": "parameters that a token passes",
    "price_usd_per_gpu_hour": "price of an accelerator-hour",
    "model_flops_per_s_per_gpu": "model FLOP/s per accelerator",
    "peak_flops_per_s": "peak",
    "flops_per_token": "operations per token",
}
UNITS = {
    "mfu": "%",
    "hfu": "%",
    "step_time_s": "s",
    "goodput": "%",
    "ettr": "%",
    "memory_bytes_per_gpu": "B",
    "memory_capacity_bytes": "B",
    "cost_usd": "USD",
    "energy_j": "J",
    "carbon_kg": "kg",
    "price_usd_per_gpu_hour": "USD",
    "model_flops_per_s_per_gpu": "FLOP/s",
    "peak_flops_per_s": "FLOP/s",
    "flops_per_token": "FLOP",
}
ENDS = {
    "_bytes_per_s": "B/s",
    "_flops_per_s": "FLOP/s",
    "_bytes": "B",
    "_usd": "USD",
    "_kg": "kg",
    "_j": "J",
    "_w": "W",
}
ENDS |= {"tokens_per_s": "1", "_s": "s"}
"""Units by the ends of names, where a name has none of its own."""
ALONE = {"step_time_s": "step", "memory_bytes_per_gpu": "memory", "whole_time_s": "time", "cost_usd": "cost"}
"""Results that a change alone is told by."""
REMARKS = "Also changed, without effect"
SMALLEST = 0.0005
TREES = {
    "step": ("What changed the step", "s"),
    "memory": ("What changed the memory", "B"),
    "wallclock": ("What changed the wall clock", "s"),
}
HEADLINES = (("step_time_s", "wallclock_s", "time_to_train_s"), ("memory_bytes_per_gpu",), ("cost_usd",))
"""The numbers of the headline; of alternatives the first that changed."""


def headline(answer: Difference) -> str:
    """Return the answer in one line."""
    if not answer.changed:
        return joined([f"no result changed{_beyond(answer)}", _inputs(answer)])
    fits = answer.result("fits")
    found = [[one for name in names if (one := answer.result(name)) is not None][:1] for names in HEADLINES]
    numbers = [one for few in found for one in few]
    told = [f"{LABELS[one.name]} {change(one.relative) or 'changed'}" for one in numbers]
    first = "" if fits is None else "fits now" if fits.new else "does not fit any more"
    count = len(answer.results)
    return joined([first, *told]) or f"{count:,} {'result' if count == 1 else 'results'} changed"


def _beyond(answer: Difference) -> str:
    return f" by more than {percent(answer.threshold)}" if answer.threshold else ""


def _inputs(answer: Difference) -> str:
    count = len(answer.fields) or len(answer.follows)
    return f"{count:,} {'input' if count == 1 else 'inputs'} changed" if count else "no input changed"


def title(answer: Difference) -> str:
    """Return what is compared."""
    old, new = (f"{name} ({source})" for name, source in zip(answer.names, answer.sources, strict=True))
    return f"{old} -> {new}"


def field(one: Input) -> tuple[str, str, str, str, str]:
    """Return sign, name, both texts, and where they stand."""
    where = " -> ".join(dict.fromkeys(place for place in (one.old_where, one.new_where) if place))
    return one.sign, one.name, one.old or "", one.new or "", where


def alone(answer: Difference) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return heading and rows of what each change does alone; the time of the run where it is not that of the steps."""
    told = [{name: change(share) for name, share in one.changes.items()} for one in answer.alone]
    timed = any(one["whole_time_s"] != one["step_time_s"] for one in told)
    shown = {name: label for name, label in ALONE.items() if timed or name != "whole_time_s"}
    why = [f"not possible alone: {one.problem}" if one.problem else "" for one in answer.alone]
    rows = [
        ("", one.name, *(changes[name] for name in shown), remark)
        for one, changes, remark in zip(answer.alone, told, why, strict=True)
    ]
    return ("", "", *shown.values(), ""), rows


def follows(one: Number) -> tuple[str, str, str, str, str]:
    """Return a resolved number that changed with the fields."""
    kind = unit(one.name)
    return "~", one.name, number(one.old, kind), number(one.new, kind), change(one.relative)


def result(one: Number) -> tuple[str, str, str, str, str]:
    """Return a result that changed."""
    kind = UNITS.get(one.name) or next((unit for end, unit in ENDS.items() if one.name.endswith(end)), "1")
    label = LABELS.get(one.name) or _words(one.name)
    if one.name in {"time_to_train_s", "wallclock_s"}:
        return "~", label, _time(one.old), _time(one.new), change(one.relative)
    return "~", label, number(one.old, kind), number(one.new, kind), change(one.relative)


def _words(name: str) -> str:
    """Return a key of a document without its unit, in words."""
    end = next((end for end in ENDS if name.endswith(end) and end.startswith("_")), "")
    return name.removesuffix(end).replace("_", " ")


def term(one: Term) -> tuple[str, str, str, str, str]:
    """Return a term that changed, with what that makes of the whole."""
    kind = TREES[one.tree][1]
    sign = "+" if one.old == 0 else "-" if one.new == 0 else "~"
    return sign, one.label, quantity(one.old, kind), quantity(one.new, kind), change(one.share)


def terms(answer: Difference, tree: str) -> list[tuple[str, str, str, str, str]]:
    """Return the terms of a tree that changed by what can be seen in percent with one decimal."""
    return [term(one) for one in answer.terms if one.tree == tree and abs(one.share) >= SMALLEST]


def hidden(answer: Difference) -> str:
    """Return what is not shown."""
    if not answer.hidden:
        return ""
    what = "result" if answer.hidden == 1 else "results"
    return f"{answer.hidden:,} {what} changed by no more than {percent(answer.threshold)}"


def number(value: object, kind: str) -> str:
    """Return a value of any kind as people read it."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return str(value)
    plain = kind == "1" and float(value).is_integer() and abs(value) < 1e6
    return f"{value:,.0f}" if plain else quantity(float(value), kind, digits=4)


def _time(value: object) -> str:
    return duration(float(value)) if isinstance(value, int | float) else "unknown"
