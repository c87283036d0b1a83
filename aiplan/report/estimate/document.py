"""The answer for one scenario as JSON: the contract that other programs read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.engine.tree import TREE
from aiplan.planning.compression import break_even
from aiplan.report import documents
from aiplan.report.estimate import run
from aiplan.report.explain.document import explained

if TYPE_CHECKING:
    from aiplan.planning.estimate import Estimate
    from aiplan.planning.ways_out import WayOut
    from aiplan.report.estimate import Answer

HOUR_S = 3600.0
KWH_J = 3.6e6
TERA = 1e12
KEYS = {
    "run.steps": "steps",
    "run.time_to_train": "time_to_train_s",
    "run.cost": "cost_usd",
    "run.energy": "energy_j",
    "run.carbon": "carbon_kg",
    "run.tokens_per_s_per_gpu": "tokens_per_s_per_gpu",
    "step": "step_time_s",
}
"""Terms of the engine and their keys in the document."""


def document(answer: Answer) -> str:
    """Return the answer as a JSON document `aiplan.estimate/1`."""
    estimate = answer.estimate
    result = (
        scalars(estimate)
        | intervals(estimate)
        | {
            "bottleneck": _bottleneck(estimate),
            "step": branch(estimate, "step", "step", "value_s"),
            "memory": branch(estimate, "memory", "memory", "value_bytes"),
            "ways_out": [_way(way) for way in answer.ways],
        }
    )
    if estimate.scenario.file.measured is not None:
        result |= {
            "measured": _measured(estimate),
            "error_vs_measured": {row.name: row.error for row in estimate.against()},
        }
    if estimate.scenario.run:
        result["run"] = run.document(estimate)
    edge = compression(estimate)
    if edge:
        result["compression"] = edge
    if answer.explanation is not None:
        result["explanation"] = explained(answer.explanation)
    return documents.document("estimate", inputs(estimate), assumptions(estimate), result, warnings(estimate))


def compression(estimate: Estimate) -> dict[str, Any]:
    """Return where the compression of gradients breaks even, beside what there is; empty without compression."""
    found = break_even(estimate.scenario)
    if found is None:
        return {}
    return {
        "break_even_bandwidth_bytes_per_s": found.bandwidth,
        "bandwidth_bytes_per_s": found.here,
        "break_even_density": found.density,
        "density": found.sent,
    }


def scalars(estimate: Estimate) -> dict[str, Any]:
    """Return the single numbers of an estimate by their keys."""
    convention = estimate.convention
    flops = estimate[f"flops_per_s.{convention}"]
    return {key: estimate[name] for name, key in KEYS.items()} | {
        "tokens_per_s": estimate.tokens_per_s,
        "model_flops_per_s_per_gpu": flops,
        "tflops_per_gpu": flops / TERA,
        "mfu": estimate.mfu,
        "hfu": estimate.hfu,
        "flops_convention": convention,
        "flops_per_token": estimate[f"flops_per_token.{convention}"],
        "peak_flops_per_s": estimate.given("cluster.matmul_peak"),
        "peak_dtype": estimate.scenario.file.workload.precision,
        "parameters_total": estimate["parameters.total"],
        "parameters_active": estimate["parameters.active"],
        "memory_bytes_per_gpu": estimate["memory"],
        "memory_capacity_bytes": estimate["memory.capacity"],
        "fits": estimate.fits,
        "fullest_stage": estimate.fullest_stage,
        "price_usd_per_gpu_hour": estimate.given("cluster.price") * HOUR_S,
        "energy_kwh": estimate["run.energy"] / KWH_J,
        "gpus": estimate.scenario.accelerators,
        "data_parallel": estimate.scenario.data,
    }


INTERVALS = {
    "step": "step_time_interval_s",
    "run.time_to_train": "time_to_train_interval_s",
    "run.cost": "cost_interval_usd",
}
"""Terms with a 90 % interval from measured steps and their keys in the document."""
MEMORY_INTERVAL = {"memory": "memory_interval_bytes_per_gpu"}
"""The same from measured memory."""


def intervals(estimate: Estimate) -> dict[str, Any]:
    """Return the 90 % intervals, and the published runs that they come from."""
    found = {key: estimate.interval(name) for name, key in INTERVALS.items()}
    step = found["step_time_interval_s"]
    ends = {key: None if item is None else [item.low, item.high] for key, item in found.items()}
    memory = estimate.interval("memory")
    return ends | {
        "interval_evidence": None if step is None else step.evidence,
        "memory_interval_bytes_per_gpu": None if memory is None else [memory.low, memory.high],
        "memory_interval_evidence": None if memory is None else memory.evidence,
    }


def inputs(estimate: Estimate) -> dict[str, Any]:
    """Return what the estimate was made from: every number with its origin."""
    scenario = estimate.scenario
    values = {
        name: {
            "value": value.number,
            "origin": value.origin.kind,
            "where": value.origin.where,
            "detail": value.origin.detail,
        }
        for name, value in (scenario.values | scenario.run).items()
    }
    fields = {
        name: {"text": origin.detail, "where": origin.where}
        for name, origin in scenario.parts.origins.items()
        if origin.kind == "given"
    }
    return {
        "scenario": scenario.name,
        "source": scenario.source,
        "settings": list(scenario.settings),
        "fields": fields,
        "values": values,
    }


def assumptions(estimate: Estimate) -> list[dict[str, Any]]:
    """Return the judgements that the estimate rests on."""
    return [
        {"name": item.name, "value": item.value, "origin": item.kind, "why": item.why}
        for item in estimate.assumptions()
        if item.matters
    ]


def warnings(estimate: Estimate) -> list[dict[str, Any]]:
    """Return what is unknown, and which results are null for lack of it; then what the scenario was warned of."""
    return [
        *_unknown(estimate),
        *(
            {"code": one.code, "input": one.path, "message": one.problem, "hint": one.hint, "results": []}
            for one in estimate.scenario.cautions
        ),
    ]


def _unknown(estimate: Estimate) -> list[dict[str, Any]]:
    return [
        {
            "code": unknown.code,
            "input": unknown.name,
            "message": unknown.problem,
            "hint": unknown.hint,
            "results": [KEYS[name] for name in unknown.results],
        }
        for unknown in estimate.unknowns()
    ]


def branch(estimate: Estimate, name: str, root: str, key: str) -> dict[str, Any]:
    """Return a term with all below it."""
    return {
        "name": name,
        "label": TREE[name].label,
        key: estimate[name],
        "share": estimate.share(name, root),
        "children": [branch(estimate, child, root, key) for child in TREE[name].children],
    }


def _bottleneck(estimate: Estimate) -> dict[str, Any]:
    first, second = estimate.causes()[:2]
    return {
        "label": first.label,
        "share": first.share,
        "remedy": first.remedy,
        "runner_up": {"label": second.label, "share": second.share},
    }


def _way(way: WayOut) -> dict[str, Any]:
    return {
        "change": way.label,
        "settings": list(way.settings),
        "step_time_s": way.estimate["step"],
        "step_time_change": way.slower,
        "memory_bytes_per_gpu": way.estimate["memory"],
    }


def _measured(estimate: Estimate) -> dict[str, Any]:
    measured = estimate.scenario.file.measured
    found = {
        "time_to_train_s": getattr(measured, "time_to_train", None),
        "accelerator_time_s": getattr(measured, "accelerator_time", None),
        "step_time_s": getattr(measured, "step_time", None),
        "tokens_per_s_per_gpu": getattr(measured, "tokens_per_s_per_gpu", None),
        "tflops_per_gpu": getattr(measured, "tflops_per_gpu", None),
        "memory_bytes_per_gpu": getattr(measured, "memory", None),
        "convention": getattr(measured, "convention", None),
        "source": getattr(measured, "source", None),
    }
    return {key: value for key, value in found.items() if value is not None}
