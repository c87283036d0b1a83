"""The words and cells of a search, for table and Markdown alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.report.text import change, joined, percent
from aiplan.units import duration, quantity, scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aiplan.planning.estimate import Estimate
    from aiplan.planning.search import Answer, Choice
    from aiplan.scenario.records import Plan

SIZES = ("tensor", "context", "pipeline", "interleave", "expert", "expert_tensor")
OBJECTIVES = {
    "time": "least time",
    "cost": "least cost",
    "energy": "least energy",
    "carbon": "least carbon",
    "goodput": "most goodput",
    "tokens_per_s_per_gpu": "most tokens per second and GPU",
    "memory": "least memory",
}
SHORT = {name: text.partition(" ")[2] for name, text in OBJECTIVES.items()}


def title(answer: Answer) -> str:
    """Return what was searched for, and among how many plans."""
    stopped = "" if answer.finished else ", stopped early"
    asked = joined([OBJECTIVES[answer.question.objective.name], *(item.text for item in answer.question.conditions)])
    return f"{answer.plans:,} plans of {answer.layouts:,} layouts{stopped}; {asked}"


def header(answer: Answer) -> tuple[str, ...]:
    """Return the headings of a table of plans."""
    found = _estimates(answer)
    units = [scale([one[term] for one in found], unit)[0] for term, unit in (("step", "s"), ("memory.needed", "B"))]
    last = ("cost",) if _priced(found) else ()
    timed = times(found)
    changed = ("variant",) if len(answer.scenarios) > 1 else ()
    return (
        "",
        f"step\n[{units[0]}]",
        "against\nyours" if answer.own else "against\nbest",
        "MFU",
        f"memory\n[{units[1]}]",
        *timed,
        *last,
        *changed,
        "plan",
    )


def best(answer: Answer) -> list[tuple[str, ...]]:
    """Return a row for the scenario's own plan, and one for each of the best."""
    rows = [] if answer.own is None else [_row(answer, "yours", answer.own, -1, _whole(answer.own))]
    return rows + _rows(answer, answer.best)


def _whole(own: Estimate) -> Plan:
    """Return the scenario's own plan with what its software preset says, as the others say it."""
    taken = {"zero": int(own.given("plan.zero")), "sequence_parallel": bool(own.given("plan.sequence_parallel"))}
    return type(own.scenario.file.plan)(**(vars(own.scenario.file.plan) | taken))


def front(answer: Answer) -> list[tuple[str, ...]]:
    """Return a row for each plan that none beats in time, cost and memory at once."""
    return _rows(answer, answer.front)


def remarks(answer: Answer) -> list[tuple[str, str]]:
    """Return how sure the best plan is, and how the own one compares."""
    found = [("flat", _flat(answer)), *_tight(answer)]
    if answer.own is not None:
        found.append(("your plan", _own(answer)))
    return found


def left_out(answer: Answer) -> list[tuple[str, str]]:
    """Return why combinations and plans fell out, with how many did."""
    fallen = {rule: f"{count:,} combinations of sizes" for rule, count in sorted(answer.fallen.items())}
    plans = {"memory": answer.too_large, "condition": answer.unwanted}
    return [*fallen.items(), *((name, f"{count:,} plans") for name, count in plans.items() if count)]


def as_plan(plan: Plan, scenario_data: int) -> str:
    """Return a plan in words, sizes of one left out."""
    sizes = [f"{name.replace('_', ' ')} {getattr(plan, name)}" for name in SIZES if getattr(plan, name) > 1]
    off = [name for name, on in vars(plan.overlap).items() if on is False]
    return joined(
        [
            *sizes,
            f"data {scenario_data}",
            f"micro-batch {plan.micro_batch}",
            "" if plan.zero is None else f"ZeRO {plan.zero}",
            "" if plan.shards is None else f"in groups of {plan.shards}",
            {True: "sequence parallel", False: "", None: ""}[plan.sequence_parallel],
            "" if plan.offload == "none" else f"offload {plan.offload}",
            "" if plan.recompute == "none" else f"recompute {plan.recompute}",
            "ends count as layers" if plan.count_embedding_as_layer else "",
            f"no overlap of {' or '.join(off)}" if off else "",
        ]
    )


def as_file(plan: Plan) -> str:
    """Return a plan as it stands in a scenario file."""
    return f"plan: {{{', '.join(f'{name}: {value}' for name, value in plan_fields(plan).items())}}}"


def plan_fields(plan: Plan) -> dict[str, str]:
    """Return the fields of a plan that say more than leaving them out would, as texts of a scenario file."""
    fields = {name: value for name, value in vars(plan).items() if name != "overlap" and _told(name, value)}
    overlap = {name: value for name, value in vars(plan.overlap).items() if value is not None}
    if overlap:
        fields["overlap"] = "{" + ", ".join(f"{name}: {str(value).lower()}" for name, value in overlap.items()) + "}"
    return {name: str(value).lower() for name, value in fields.items()}


def _told(name: str, value: object) -> bool:
    usual = {"recompute": "none", "offload": "none", "cuda_graphs": "none", "count_embedding_as_layer": False}
    return value not in (None, ()) and (value != 1 or name in {"tensor", "zero"}) and usual.get(name) != value


def _rows(answer: Answer, choices: Sequence[Choice]) -> list[tuple[str, ...]]:
    return [
        _row(answer, str(number), item.estimate, item.variant, item.plan)
        for number, item in enumerate(choices, start=1)
    ]


def _row(answer: Answer, name: str, one: Estimate, variant: int, plan: Plan) -> tuple[str, ...]:
    found = _estimates(answer)
    _, steps = scale([one["step"], *(other["step"] for other in found)], "s")
    _, memory = scale([one["memory.needed"], *(other["memory.needed"] for other in found)], "B")
    against = answer.against(one)
    whole = (duration(one.whole_time), goodput(one))[: len(times(found))]
    priced = (quantity(one.of_run("total.cost"), "USD"),) if _priced(found) else ()
    changed = (_variant(answer, variant),) if len(answer.scenarios) > 1 else ()
    fits = "" if one.fits else " (does not fit)"
    words = as_plan(plan, one.scenario.data)
    return (
        name,
        steps[0],
        "" if against is None else change(against),
        percent(one.mfu),
        f"{memory[0]}{fits}",
        *whole,
        *priced,
        *changed,
        words,
    )


def _variant(answer: Answer, variant: int) -> str:
    return "" if variant < 0 else answer.labels[variant]


def _estimates(answer: Answer) -> list[Estimate]:
    own = [] if answer.own is None else [answer.own]
    return own + [item.estimate for item in (*answer.best, *answer.front)]


def times(found: Sequence[Estimate]) -> tuple[str, ...]:
    """Return the headings of how long it takes: of steps alone, or of the run as a whole."""
    if all(math.isnan(one["run.time_to_train"]) for one in found):
        return ()
    return ("wall\nclock", "good-\nput") if any(one.scenario.run for one in found) else ("time to\ntrain",)


def goodput(one: Estimate) -> str:
    """Return the share of the wall clock in which steps are made; empty where a scenario speaks of steps alone."""
    return percent(one["run.goodput"]) if one.scenario.run else ""


def _priced(found: Sequence[Estimate]) -> bool:
    return any(not math.isnan(one.of_run("total.cost")) for one in found)


def _flat(answer: Answer) -> str:
    beyond = answer.beyond
    if beyond <= 0:
        return "no published run is like this one: how far apart plans must be to differ is not known"
    others = answer.near - 1
    if not others:
        return f"no other layout comes within {percent(beyond)} of the best, the error of a prediction"
    return (
        f"{others:,} of {answer.possible - 1:,} other layouts that fit come within {percent(beyond)} of the best, the "
        "error of a prediction (90 %): the model cannot tell them apart"
    )


def _tight(answer: Answer) -> list[tuple[str, str]]:
    """Return a warning where the best plan fits by less than what predictions of memory are off by."""
    found = answer.tight()
    if found is None:
        return []
    text = (
        f"the best plan takes {percent(found.used)} of the memory, and a prediction may be {percent(found.error)} too "
        "low (90 %): try it, or ask for --where 'memory <= 85 %'"
    )
    return [("tight", text)]


def _own(answer: Answer) -> str:
    own = answer.own
    if own is None:
        return ""
    if not own.fits:
        return "does not fit into memory"
    if not answer.best:
        return "meets no condition"
    what = SHORT[answer.question.objective.name]
    verdict = "within the error of a prediction" if answer.behind < answer.beyond else "beyond that error"
    return f"{percent(answer.behind)} behind the best plan in {what}, {verdict}; {answer.ahead:,} layouts beat it"
