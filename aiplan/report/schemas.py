"""JSON Schemas: of the files that go in, made from their records, and of the documents that come out."""

from __future__ import annotations

from typing import Any

from aiplan.report.accuracy import schema as accuracy
from aiplan.report.changes import schema as changes
from aiplan.report.check import schema as check
from aiplan.report.code import schema as code
from aiplan.report.diff import schema as diff
from aiplan.report.library import document as library
from aiplan.report.roofline import schema as roofline
from aiplan.report.scale import schema as scale
from aiplan.report.schema_parts import (
    COUNT,
    INTERVAL,
    MAYBE,
    NAMESPACE,
    NUMBER,
    TEXT,
    TEXTS,
    UNKNOWN,
    closed,
    items,
    or_none,
)
from aiplan.report.search import schema as search
from aiplan.report.sensitivity import schema as sensitivity
from aiplan.report.size import schema as size
from aiplan.report.topology import schema as topology

DRAFT = "http://json-schema.org/draft-07/schema#"

SCALARS: dict[str, dict[str, Any]] = {
    "time_to_train_s": UNKNOWN,
    "steps": UNKNOWN,
    "step_time_s": UNKNOWN,
    "tokens_per_s": UNKNOWN,
    "tokens_per_s_per_gpu": UNKNOWN,
    "model_flops_per_s_per_gpu": UNKNOWN,
    "tflops_per_gpu": UNKNOWN,
    "mfu": UNKNOWN,
    "hfu": UNKNOWN,
    "flops_convention": {"enum": ["megatron", "full", "6nd", "hardware"]},
    "flops_per_token": NUMBER,
    "peak_flops_per_s": NUMBER,
    "peak_dtype": TEXT,
    "parameters_total": NUMBER,
    "parameters_active": NUMBER,
    "memory_bytes_per_gpu": NUMBER,
    "memory_capacity_bytes": NUMBER,
    "fits": {"type": "boolean"},
    "fullest_stage": COUNT,
    "cost_usd": UNKNOWN,
    "price_usd_per_gpu_hour": UNKNOWN,
    "energy_j": UNKNOWN,
    "energy_kwh": UNKNOWN,
    "carbon_kg": UNKNOWN,
    "gpus": COUNT,
    "data_parallel": COUNT,
}


def schema_of(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind of file, or of the documents for `result`."""
    if kind == "result":
        return result_schema()
    from aiplan.report.file_schemas import file_schema

    return file_schema(kind)


def result_schema() -> dict[str, Any]:
    """Return the schema that every JSON result follows."""
    from aiplan.report.checkpoint import document as checkpoint
    from aiplan.report.estimate import run
    from aiplan.report.imports import schema as imports
    from aiplan.report.schedule.shape import schedule_inputs, schedule_result
    from aiplan.report.storage import document as storage

    return {
        "$schema": DRAFT,
        "$id": f"{NAMESPACE}:result",
        "title": "aiplan result",
        "oneOf": [
            _document("estimate", _inputs(values=True), _estimate()),
            _document("compare", items(closed({"label": TEXT, "source": TEXT, "settings": TEXTS})), _compare()),
            _document("explain", _inputs(values=False), {"$ref": "#/definitions/explain_result"}),
            _document("accuracy", closed({"files": TEXTS, "settings": TEXTS, "grades": TEXT}), _accuracy()),
            _document("search", search.inputs(), search.result()),
            _document("check", check.inputs(), check.result()),
            _document("code", code.inputs(), code.result()),
            _document("library", library.inputs(), library.result()),
            _document("diff", diff.inputs(), diff.result()),
            _document("changes", changes.inputs(), changes.result()),
            _document("sensitivity", sensitivity.inputs(), sensitivity.result()),
            _document("roofline", roofline.inputs(), roofline.result()),
            _document("scale", scale.inputs(), scale.result()),
            _document("size", size.inputs(), size.result()),
            _document("topology", topology.inputs(), topology.result()),
            _document("storage", _inputs(values=True), storage.schema()),
            _document("checkpoint", _inputs(values=True), checkpoint.schema()),
            _document("calibrate", closed({"files": TEXTS, "grades": TEXT}), _calibrate()),
            _document("calibrate-log", _log_inputs(), _logs()),
            _document("schedule", schedule_inputs(), schedule_result()),
            _document(
                "k8s", closed({"source": TEXT, "flavor": TEXT}), closed({"manifests": items({"type": "object"})})
            ),
            _document("nccl-env", _inputs(values=False), _nccl_env()),
            _document("collective", _collective_inputs(), _collective()),
            _document("collective-measured", _measured_inputs(), _measured_collective()),
            _document("export", _inputs(values=False), imports.exported()),
            _document("import", imports.inputs(), imports.result()),
        ],
        "definitions": {
            "explanation": _explanation(),
            "explain_result": {
                "oneOf": [
                    closed({"term": {"$ref": "#/definitions/explanation"}}),
                    closed({"terms": items({"$ref": "#/definitions/explanation"})}),
                ]
            },
            "step": _branch("value_s", "step"),
            "memory": _branch("value_bytes", "memory"),
            "run": run.schema(),
            **{name.replace(".", "_"): _branch(key, name.replace(".", "_")) for name, key in run.TREES.items()},
        },
    }


def _document(kind: str, inputs: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
    assumption = closed(
        {"name": TEXT, "value": UNKNOWN, "origin": TEXT, "why": TEXT, "variant": TEXT}, optional=("variant",)
    )
    warning = closed(
        {"code": TEXT, "input": TEXT, "message": TEXT, "hint": TEXT, "results": TEXTS, "variant": TEXT},
        optional=("variant",),
    )
    return closed(
        {
            "schema": {"const": f"aiplan.{kind}/1"},
            "aiplan_version": TEXT,
            "inputs": inputs,
            "assumptions": items(assumption),
            "result": result,
            "warnings": items(warning),
        }
    )


def _inputs(*, values: bool) -> dict[str, Any]:
    value = closed({"value": UNKNOWN, "origin": TEXT, "where": TEXT, "detail": TEXT})
    field = closed({"text": TEXT, "where": TEXT})
    named = {
        "fields": {"type": "object", "additionalProperties": field},
        "values": {"type": "object", "additionalProperties": value},
    }
    head = {"scenario": TEXT, "source": TEXT, "settings": TEXTS}
    return closed(head | named, optional=("fields",)) if values else closed(head)


def _estimate() -> dict[str, Any]:
    cause = {"label": TEXT, "share": UNKNOWN}
    way = {
        "change": TEXT,
        "settings": TEXTS,
        "step_time_s": NUMBER,
        "step_time_change": NUMBER,
        "memory_bytes_per_gpu": NUMBER,
    }
    measured = {
        "time_to_train_s": NUMBER,
        "accelerator_time_s": NUMBER,
        "step_time_s": NUMBER,
        "tokens_per_s_per_gpu": NUMBER,
        "tflops_per_gpu": NUMBER,
        "memory_bytes_per_gpu": NUMBER,
        "convention": TEXT,
        "source": TEXT,
    }
    optional = {
        "measured": closed(measured, optional=[key for key in measured if key != "source"]),
        "error_vs_measured": {"type": "object", "additionalProperties": NUMBER},
        "compression": closed(
            {
                "break_even_bandwidth_bytes_per_s": NUMBER,
                "bandwidth_bytes_per_s": NUMBER,
                "break_even_density": UNKNOWN,
                "density": UNKNOWN,
            }
        ),
        "explanation": {"$ref": "#/definitions/explanation"},
        "run": {"$ref": "#/definitions/run"},
    }
    return closed(
        SCALARS
        | {
            "step_time_interval_s": INTERVAL,
            "time_to_train_interval_s": INTERVAL,
            "cost_interval_usd": INTERVAL,
            "interval_evidence": {"type": ["string", "null"]},
            "memory_interval_bytes_per_gpu": INTERVAL,
            "memory_interval_evidence": {"type": ["string", "null"]},
            "bottleneck": closed(cause | {"remedy": TEXT, "runner_up": closed(cause)}),
            "step": {"$ref": "#/definitions/step"},
            "memory": {"$ref": "#/definitions/memory"},
            "ways_out": items(closed(way)),
        }
        | optional,
        optional=tuple(optional),
    )


def _compare() -> dict[str, Any]:
    from aiplan.report.estimate import run

    change = {"type": "object", "additionalProperties": UNKNOWN}
    variant = {"label": TEXT, "error": {"type": "null"}, "change": change}
    failure = closed({"code": TEXT, "message": TEXT, "hint": {"type": ["string", "null"]}})
    return closed(
        {
            "differences": {"type": "object", "additionalProperties": TEXTS},
            "variants": items(
                {
                    "oneOf": [
                        closed(variant | SCALARS | dict.fromkeys(run.KEYS, UNKNOWN), optional=tuple(run.KEYS)),
                        closed({"label": TEXT, "error": failure}),
                    ]
                }
            ),
        }
    )


def _accuracy() -> dict[str, Any]:
    errors = {"n": COUNT} | dict.fromkeys(
        ("median_abs_error", "p90_abs_error", "bias", "worst_abs_error", "interval_coverage"), UNKNOWN
    )
    groups = {"type": "object", "additionalProperties": closed(errors)}
    summary = errors | {
        "memory": or_none(closed(errors | {"by_kind": groups})),
        "fits": or_none(_fits()),
        "interval_nominal": NUMBER,
        "skipped": {"type": "object", "additionalProperties": COUNT},
        "by_accelerator": groups,
        "by_precision": groups,
        "by_family": groups,
        "by_accelerators": groups,
        "by_parallel_kind": groups,
        "by_software": groups,
        "by_source": groups,
        "ranking": or_none(_ranking()),
        "scaling": or_none(_scaling()),
        "trainings": or_none(accuracy.trainings()),
    }
    head = {"id": TEXT, "source": TEXT}
    compared = {
        "predicted_step_time_s": NUMBER,
        "measured_step_time_s": NUMBER,
        "error": NUMBER,
        "interval": INTERVAL,
    }
    memory = {
        "predicted_memory_bytes_per_gpu": UNKNOWN,
        "measured_memory_bytes_per_gpu": UNKNOWN,
        "memory_interval": INTERVAL,
        "fits_predicted": MAYBE,
        "fits_measured": MAYBE,
    }
    graded = head | {"quality": TEXT}
    kinds = (graded | compared | memory, graded | memory, head | {"skipped": TEXT})
    return closed({"summary": closed(summary), "rows": items({"oneOf": [closed(kind) for kind in kinds]})})


def _fits() -> dict[str, Any]:
    counts = closed({"predicted_fits": COUNT, "predicted_does_not_fit": COUNT})
    miss = {
        "id": TEXT,
        "source": TEXT,
        "fits_predicted": MAYBE,
        "fits_measured": MAYBE,
        "needed_memory_bytes_per_gpu": NUMBER,
        "memory_capacity_bytes": NUMBER,
        "over_limit": NUMBER,
    }
    return closed({"fitted": counts, "ran_out": counts, "balanced_accuracy": UNKNOWN, "misses": items(closed(miss))})


CONDITIONS: dict[str, dict[str, Any]] = {
    "source": TEXT,
    "model": TEXT,
    "accelerator": TEXT,
    "precision": TEXT,
    "sequence_length": COUNT,
    "software": TEXT,
}
"""What runs of a group have in common."""


def _calibrate() -> dict[str, Any]:
    errors = {"n": COUNT} | dict.fromkeys(("median_abs_error", "p90_abs_error", "bias", "worst_abs_error"), NUMBER)
    compared = dict.fromkeys(("now", "fitted", "without"), or_none(closed(errors)))
    constant = dict.fromkeys(("owner", "key", "file"), TEXT) | {"runs": COUNT}
    values = dict.fromkeys(("now", "fitted", "usual", "low", "high"), NUMBER)
    return closed(
        {
            "summary": closed({"n": COUNT} | compared),
            "constants": items(closed(constant | values)),
            "sources": items(closed({"source": TEXT} | compared)),
        }
    )


def _log_inputs() -> dict[str, Any]:
    named = dict.fromkeys(("link", "network"), or_none(TEXT)) | dict.fromkeys(("ports", "nodes"), or_none(COUNT))
    return closed({"files": TEXTS, "share": NUMBER} | named)


def _logs() -> dict[str, Any]:
    figures = dict.fromkeys(("time_s", "algbw_bytes_per_s", "busbw_bytes_per_s"), NUMBER)
    half = or_none(closed(figures | {"wrong": UNKNOWN}))
    shares = ("median_abs_error", "p90_abs_error", "worst_abs_error", "share_within_10_percent")
    errors = {"n": COUNT} | dict.fromkeys(shares, NUMBER)
    fit = closed(
        {
            "kind": {"enum": ["calibrated", "anchors", "hockney"]},
            "band": NUMBER,
            "constants": {"type": "object", "additionalProperties": UNKNOWN},
            "errors": closed(errors),
            "errors_unseen": or_none(closed(errors)),
        }
    )
    known = ("latency_s", "plateau_algbw_bytes_per_s", "plateau_busbw_bytes_per_s", "plateau_size_bytes")
    table = (
        dict.fromkeys(("file", "operation", "type", "reduction"), TEXT)
        | dict.fromkeys(("ranks", "nodes"), or_none(COUNT))
        | dict.fromkeys(known, UNKNOWN)
        | {
            "line": COUNT,
            "root": or_none({"type": "integer"}),
            "rows": items(closed({"size_bytes": COUNT, "out_of_place": half, "in_place": half} | figures)),
            "fit": or_none(fit),
            "fits": items(fit),
            "errors_by_size": items(closed({"from_bytes": NUMBER} | errors)),
            "flags": items(closed({"kind": {"enum": ["impossible", "unhealthy"]}, "text": TEXT})),
            "remarks": TEXTS,
        }
    )
    return closed({"tables": items(closed(table))})


def _nccl_env() -> dict[str, Any]:
    variable = dict.fromkeys(("name", "value", "why", "default", "source"), TEXT)
    return closed({"accelerator": TEXT, "network": TEXT, "variables": items(closed(variable))})


def _collective_inputs() -> dict[str, Any]:
    texts = dict.fromkeys(("operation", "node", "generation", "nccl_version"), TEXT)
    counts = dict.fromkeys(("nodes", "ranks", "ranks_per_node"), COUNT)
    rates = ("inside_bandwidth_bytes_per_s_per_gpu", "network_bandwidth_bytes_per_s_per_gpu")
    return closed(texts | counts | dict.fromkeys(rates, UNKNOWN) | {"network": {"type": ["string", "null"]}})


def _collective() -> dict[str, Any]:
    named = {"algorithm": TEXT, "protocol": TEXT}
    flags = {key: {"type": "boolean"} for key in ("in_nccl", "nccl_choice", "fastest")}
    rates = dict.fromkeys(("algbw_bytes_per_s", "busbw_bytes_per_s"), UNKNOWN)
    row = {"size_bytes": COUNT, "time_s": NUMBER} | named | flags | rates
    bounds = {"bound_time_s": NUMBER, "bound_busbw_bytes_per_s": UNKNOWN, "time_band": NUMBER}
    choice = {"size_bytes": COUNT, "nccl_choice": closed(named), "fastest": closed(named)}
    chosen = choice | {"time_s": NUMBER, "busbw_bytes_per_s": UNKNOWN} | bounds
    return closed(
        {
            "busbw_factor": NUMBER,
            "sizes": items(closed(chosen)),
            "rows": items(closed(row)),
            "crossovers": items(closed({"size_bytes": COUNT} | named)),
            "left_out": items(closed({"algorithm": TEXT, "reason": TEXT})),
            "cautions": TEXTS,
        }
    )


def _measured_inputs() -> dict[str, Any]:
    texts = dict.fromkeys(("operation", "node", "nccl_version", "log"), TEXT)
    counts = dict.fromkeys(("nodes", "ranks", "line"), COUNT)
    return closed(texts | counts | {"network": or_none(TEXT), "log_ranks": or_none(COUNT)})


def _measured_collective() -> dict[str, Any]:
    part = {"enum": ["small", "middle", "large"]}
    rates = dict.fromkeys(("predicted_busbw_bytes_per_s", "measured_busbw_bytes_per_s"), UNKNOWN)
    numbers = dict.fromkeys(("predicted_time_s", "measured_time_s", "ratio", "band"), NUMBER)
    named = {
        "part": part,
        "algorithm": TEXT,
        "protocol": TEXT,
        "verdict": {"enum": ["as predicted", "slower", "faster"]},
    }
    shortfall = {"part": part, "sizes_bytes": items(COUNT), "worst_ratio": NUMBER}
    return closed(
        {
            "normal": {"type": "boolean"},
            "rows": items(closed({"size_bytes": COUNT} | named | numbers | rates)),
            "shortfalls": items(closed(shortfall)),
            "as_if_ports": or_none(COUNT),
            "causes": items(closed(dict.fromkeys(("what", "look", "source"), TEXT))),
            "remarks": TEXTS,
            "cautions": TEXTS,
        }
    )


def _ranking() -> dict[str, Any]:
    correlations = ("median_spearman", "worst_spearman", "pooled_spearman", "share_spearman_0_9")
    regrets = ("median_regret", "worst_regret", "share_regret_5_percent")
    part = {"n": COUNT, "plans": COUNT} | dict.fromkeys((*correlations, *regrets), NUMBER)
    plan = {"ids": TEXTS, "predicted_step_time_s": NUMBER, "measured_step_time_s": NUMBER}
    counts = {"gpus": COUNT, "global_batch": COUNT, "runs": COUNT}
    group = CONDITIONS | counts | {"spearman": NUMBER, "regret": NUMBER, "plans": items(closed(plan))}
    sources = {"type": "object", "additionalProperties": closed(part)}
    whole = part | {"share_repeatable": NUMBER, "by_source": sources, "groups": items(closed(group))}
    return closed(whole)


def _scaling() -> dict[str, Any]:
    sizes = ("share_within_5_points", "median_abs_difference", "worst_abs_difference", "bias")
    part = {"n": COUNT} | dict.fromkeys(sizes, NUMBER)
    group = CONDITIONS | {
        "kind": {"enum": ["weak", "strong"]},
        "runs": COUNT,
        "gpus": items(COUNT),
        "ids": items(TEXTS),
        "measured_tokens_per_s_per_gpu": items(NUMBER),
        "predicted_tokens_per_s_per_gpu": items(NUMBER),
        "measured_efficiency": NUMBER,
        "predicted_efficiency": NUMBER,
        "difference": NUMBER,
    }
    kinds = {"type": "object", "additionalProperties": closed(part)}
    return closed(part | {"share_attainable": NUMBER, "by_kind": kinds, "groups": items(closed(group))})


def _explanation() -> dict[str, Any]:
    head = {
        "name": TEXT,
        "text": TEXT,
        "unit": TEXT,
        "value": UNKNOWN,
        "size": COUNT,
        "origin": TEXT,
        "where": TEXT,
    }
    below = {
        "closed_form": TEXT,
        "sentence": TEXT,
        "formula": TEXT,
        "limits": TEXT,
        "source": TEXT,
        "arguments": items({"$ref": "#/definitions/explanation"}),
    }
    return closed(head | below, optional=tuple(below))


def _branch(key: str, name: str) -> dict[str, Any]:
    children = items({"$ref": f"#/definitions/{name}"})
    return closed({"name": TEXT, "label": TEXT, key: UNKNOWN, "share": UNKNOWN, "children": children})
