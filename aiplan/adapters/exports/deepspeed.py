"""A configuration of DeepSpeed as JSON (https://www.deepspeed.ai/docs/config-json): batch and states of a scenario."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from aiplan.adapters.exports.record import Export, overlaps, wide_gradients, zero_stage

if TYPE_CHECKING:
    from aiplan.scenario.load import Scenario

OUTSIDE = ("pipeline", "interleave", "context", "expert", "expert_tensor")
HALF = {"bf16", "fp16"}
FULL = 3
"""Stage at which weights are sharded too."""


def export(scenario: Scenario) -> Export:
    """Return a configuration."""
    plan, work = scenario.file.plan, scenario.file.workload
    remarks = [
        f"{name} {getattr(plan, name)}: said where the model is made" for name in OUTSIDE if getattr(plan, name) > 1
    ]
    if plan.recompute != "none":
        remarks.append(f"recompute {plan.recompute}: said where the model is made")
    if work.precision not in HALF | {"fp32", "tf32"}:
        remarks.append(f"the precision {work.precision}; bf16 is written")
    type_ = work.precision if work.precision in HALF else "bf16"
    values: dict[str, Any] = {
        "train_batch_size": work.global_batch,
        "train_micro_batch_size_per_gpu": plan.micro_batch,
        "gradient_accumulation_steps": work.global_batch // (plan.micro_batch * scenario.data),
        "zero_optimization": _sharding(scenario, remarks),
        "optimizer": {"type": "SGD" if work.optimizer.startswith("sgd") else "AdamW"},
        "data_types": {"grad_accum_dtype": "fp32" if wide_gradients(scenario) else "bf16"},
    }
    if work.precision not in {"fp32", "tf32"}:
        values[type_] = {"enabled": True}
    if plan.tensor > 1:
        values["tensor_parallel"] = {"autotp_size": plan.tensor}
    if overlaps(scenario, "gradients") != overlaps(scenario, "parameters"):
        remarks.append("overlap of parameters other than that of gradients")
    if work.optimizer not in {"adam", "sgd-momentum"}:
        remarks.append(f"the states of {work.optimizer}")
    return Export(json.dumps(values, indent=2) + "\n", tuple(_flat(values)), tuple(remarks))


def _sharding(scenario: Scenario, remarks: list[str]) -> dict[str, Any]:
    """Return how states are sharded, and what of them lies on the host."""
    plan, stage = scenario.file.plan, zero_stage(scenario)
    found: dict[str, Any] = {"stage": stage, "overlap_comm": overlaps(scenario, "gradients")}
    if plan.shards is not None and stage == FULL:
        found["mics_shard_size"] = plan.shards
    elif plan.shards is not None:
        remarks.append(f"groups of {plan.shards} ranks that share states: DeepSpeed has them with stage {FULL}")
    if plan.offload != "none":
        found["offload_optimizer"] = {"device": "cpu"}
    if plan.offload == "all":
        found["offload_param"] = {"device": "cpu"}
    return found


def _flat(values: dict[str, Any], above: str = "") -> list[tuple[str, str]]:
    found = []
    for key, value in values.items():
        name = f"{above}{key}"
        found += _flat(value, f"{name}.") if isinstance(value, dict) else [(name, json.dumps(value))]
    return found
