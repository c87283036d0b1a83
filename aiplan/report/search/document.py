"""The best plans as JSON, and as records: one line a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.report import documents
from aiplan.report.estimate import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.estimate import Estimate
    from aiplan.planning.search import Answer, Choice
    from aiplan.report.records import Cell
    from aiplan.scenario.records import Plan

SIZES = ("tensor", "context", "pipeline", "interleave", "expert", "expert_tensor", "micro_batch")
OVERLAPS = ("gradients", "parameters", "tensor", "pipeline", "expert")
WHOLE_RUN = ("wallclock_s", "goodput", "whole_run_cost_usd", "whole_run_energy_j", "whole_run_carbon_kg")
"""Results of the run as a whole, named as in an estimate; unknown where the scenario speaks of steps alone."""
HEADER = (
    "rank",
    "variant",
    "step_time_s",
    "time_to_train_s",
    "tokens_per_s_per_gpu",
    "mfu",
    "memory_bytes_per_gpu",
    "cost_usd",
    "energy_j",
    *WHOLE_RUN,
    "gpus",
    *SIZES,
    "data",
    "zero",
    "recompute",
    "sequence_parallel",
    "count_embedding_as_layer",
    *(f"overlap_{name}" for name in OVERLAPS),
)


def document(answer: Answer) -> str:
    """Return a JSON document `aiplan.search/1`."""
    first = answer.scenarios[0]
    question = answer.question
    inputs = {
        "source": first.source,
        "settings": list(first.settings),
        "variants": list(answer.labels),
        "objective": question.objective.name,
        "conditions": [item.text for item in question.conditions],
        "flops_convention": question.convention,
    }
    result = {
        "finished": answer.finished,
        "plans": answer.plans,
        "layouts": answer.layouts,
        "layouts_possible": answer.possible,
        "layouts_near": answer.near,
        "near_factor": question.near,
        "layouts_ahead_of_own": answer.ahead,
        "own": None if answer.own is None else plan_of(answer.own),
        "best": [_choice(answer, number, item) for number, item in enumerate(answer.best, start=1)],
        "front": [_choice(answer, number, item) for number, item in enumerate(answer.front, start=1)],
        "left_out": {
            "illegal_combinations": dict(answer.fallen),
            "memory_plans": answer.too_large,
            "condition_plans": answer.unwanted,
            "least_memory_bytes_per_gpu": answer.leanest,
        },
    }
    return documents.document("search", inputs, [], result, [])


def rows(answer: Answer) -> Iterator[tuple[Cell, ...]]:
    """Yield a record for every one of the best plans."""
    for number, item in enumerate(answer.best, start=1):
        yield tuple(_choice(answer, number, item)[name] for name in HEADER)


def plan_of(one: Estimate) -> dict[str, Any]:
    """Return an estimate and its plan as a record."""
    return _plan("", None, one, one.scenario.file.plan)


def _choice(answer: Answer, rank: int, item: Choice) -> dict[str, Any]:
    return _plan(answer.labels[item.variant], rank, item.estimate, item.plan)


def _plan(variant: str, rank: int | None, one: Estimate, plan: Plan) -> dict[str, Any]:
    numbers = {
        "rank": rank,
        "variant": variant,
        "step_time_s": one["step"],
        "time_to_train_s": one["run.time_to_train"],
        "tokens_per_s_per_gpu": one["run.tokens_per_s_per_gpu"],
        "mfu": one.mfu,
        "memory_bytes_per_gpu": one["memory.needed"],
        "cost_usd": one["run.cost"],
        "energy_j": one["run.energy"],
        "gpus": one.scenario.accelerators,
        "data": one.scenario.data,
        "zero": int(one.given("plan.zero")),
        "recompute": plan.recompute,
        "sequence_parallel": bool(one.given("plan.sequence_parallel")),
        "count_embedding_as_layer": plan.count_embedding_as_layer,
    }
    whole = {name: run.scalars(one).get(name) for name in WHOLE_RUN}
    sizes = {name: getattr(plan, name) for name in SIZES}
    return numbers | whole | sizes | {f"overlap_{name}": getattr(plan.overlap, name) for name in OVERLAPS}
