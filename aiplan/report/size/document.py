"""How many accelerators a training needs as JSON, and as records: one line a number of GPUs tried."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from aiplan.report import documents
from aiplan.report.search.document import HEADER as PLAN
from aiplan.report.search.document import plan_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.size import Answer
    from aiplan.planning.trial import Limits, Trial
    from aiplan.report.records import Cell

PLAN_KEYS = tuple(name for name in PLAN if name not in {"rank", "variant", "gpus"})
HEADER = (
    "node",
    "nodes",
    "gpus",
    "meets",
    "misses",
    "no_plan",
    "power_w",
    "time_to_train_upper_s",
    "cost_upper_usd",
    *PLAN_KEYS,
)


def document(answer: Answer) -> str:
    """Return a JSON document `aiplan.size/1`."""
    scenario, request = answer.scenario, answer.request
    inputs = {
        "source": scenario.source,
        "settings": list(answer.settings),
        "goal": request.goal,
        "limits": _limits(request.limits),
        "sure": request.sure,
        "nodes": list(request.nodes),
        "conditions": [item.text for item in request.conditions],
        "flops_convention": request.convention,
    }
    limits, best = request.limits, answer.best
    result = {
        "best": _trial(best, limits),
        "deadline_holds_at_upper_end": None
        if best is None or math.isinf(limits.deadline)
        else best.holds_surely(limits),
        "binds": _trial(answer.neighbour, limits),
        "shortest": _trial(answer.shortest("all"), limits),
        "cheapest": _trial(answer.cheapest("all"), limits),
        "possible_below": list(answer.possible[0]),
        "possible_above": list(answer.possible[1]),
        "would_do": [] if best else [{"limit": name, "trial": _trial(one, limits)} for name, one in answer.changes()],
        "tried": [_trial(trial, limits) for trial in answer.trials],
        "left_out": [{"node": name, "reason": why} for name, why in answer.left_out],
    }
    return documents.document("size", inputs, [], result, [])


def rows(answer: Answer) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every number of GPUs tried."""
    for trial in answer.trials:
        found = _record(trial, answer.request.limits)
        found["misses"] = " ".join(found["misses"])
        yield tuple(found[name] for name in HEADER)


def _limits(limits: Limits) -> dict[str, float]:
    """Return the limits; those that are not given are infinite and thus become null."""
    return {"deadline_s": limits.deadline, "budget_usd": limits.budget, "power_w": limits.power}


def _trial(trial: Trial | None, limits: Limits) -> dict[str, Any] | None:
    return None if trial is None else _record(trial, limits)


def _record(trial: Trial, limits: Limits) -> dict[str, Any]:
    missed = trial.misses(limits)
    plan = dict.fromkeys(PLAN_KEYS) if trial.estimate is None else plan_of(trial.estimate)
    return {
        "node": trial.node,
        "nodes": trial.nodes,
        "gpus": trial.accelerators,
        "meets": not missed,
        "misses": list(missed),
        "no_plan": trial.fault or None,
        "power_w": trial.power,
        "time_to_train_upper_s": trial.upper_time,
        "cost_upper_usd": trial.upper_cost,
        **{name: plan[name] for name in PLAN_KEYS},
    }
