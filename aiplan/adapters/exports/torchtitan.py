"""A job of torchtitan as TOML (https://github.com/pytorch/torchtitan) for the workload and plan of a scenario."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from aiplan.adapters.exports.record import Export, copies, overlaps, steps, title, wide_gradients, zero_stage
from aiplan.adapters.imports.named_models import FLAVORS

if TYPE_CHECKING:
    from aiplan.scenario.load import Scenario

PRECISIONS = {"fp8": "float8", "mxfp8": "mx"}
DIGITS = "0123456789"


def export(scenario: Scenario) -> Export:
    """Return a job."""
    remarks: list[str] = []
    tables = {
        "model": _model(scenario, remarks),
        "training": _training(scenario, remarks),
        "parallelism": _parallelism(scenario, remarks),
        "activation_checkpoint": {"mode": scenario.file.plan.recompute},
    }
    some = scenario.file.plan.recompute_layers is not None
    remarks += ["recomputation of some layers only"] if some else []
    body = [f"# {title(scenario)}", *(f"# not said here: {remark}" for remark in remarks)]
    for name, values in tables.items():
        body += ["", f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    settings = [(f"{name}.{key}", str(value)) for name, values in tables.items() for key, value in values.items()]
    return Export("\n".join(body) + "\n", tuple(settings), tuple(remarks))


def _model(scenario: Scenario, remarks: list[str]) -> dict[str, Any]:
    """Return name and flavor: torchtitan knows shapes by these alone."""
    ident = scenario.file.model if isinstance(scenario.file.model, str) else ""
    known = next((pair for pair, model in FLAVORS.items() if model == ident), None)
    if known is None and ident.startswith("qwen3-"):
        known = ("qwen3", ident.removeprefix("qwen3-"))
    if known is None:
        remarks.append("the shape of the model: torchtitan knows shapes by name and flavor, and has none for this one")
        known = ("custom", "custom")
    name, flavor = known
    found: dict[str, Any] = {
        "name": name,
        "flavor": flavor.upper() if flavor[:1] in DIGITS and "x" not in flavor else flavor,
    }
    converter = PRECISIONS.get(scenario.file.workload.precision)
    return found | ({"converters": [converter]} if converter else {})


def _training(scenario: Scenario, remarks: list[str]) -> dict[str, Any]:
    work, plan = scenario.file.workload, scenario.file.plan
    local = plan.micro_batch if plan.pipeline == 1 else work.global_batch // scenario.data
    found: dict[str, Any] = {
        "local_batch_size": local,
        "global_batch_size": work.global_batch,
        "seq_len": work.sequence_length,
    }
    count = steps(scenario)
    if count is not None:
        found["steps"] = count
    narrow = {"fp32": "float32", "tf32": "float32"}.get(work.precision, "bfloat16")
    found["mixed_precision_param"] = narrow
    found["mixed_precision_reduce"] = "float32" if wide_gradients(scenario) else "bfloat16"
    if plan.offload == "all":
        found["enable_cpu_offload"] = True
    elif plan.offload != "none":
        remarks.append(f"offload {plan.offload}: torchtitan offloads everything or nothing")
    if work.precision in {"fp16", "nvfp4"}:
        remarks.append(f"the precision {work.precision}")
    if work.optimizer != "adam":
        remarks.append(f"the optimizer {work.optimizer}")
    return found


def _parallelism(scenario: Scenario, remarks: list[str]) -> dict[str, Any]:
    plan, stage = scenario.file.plan, zero_stage(scenario)
    sharded = stage >= 2
    if stage == 1:
        remarks.append("ZeRO-1: torchtitan shards parameters or nothing, and this copies the model")
    replicas = copies(scenario) if sharded else scenario.data
    if scenario.data % replicas:
        remarks.append(f"groups of {plan.shards} ranks that share states: they cut through context parallel ranks")
        replicas = 1
    found: dict[str, Any] = {
        "data_parallel_replicate_degree": replicas,
        "data_parallel_shard_degree": scenario.data // replicas,
        "tensor_parallel_degree": plan.tensor,
        "enable_async_tensor_parallel": overlaps(scenario, "tensor"),
        "pipeline_parallel_degree": plan.pipeline,
        "context_parallel_degree": plan.context,
    }
    if sharded:
        found["fsdp_reshard_after_forward"] = "always" if stage == 3 else "never"
    if scenario.model.experts is not None:
        found |= {"expert_parallel_degree": plan.expert, "expert_tensor_parallel_degree": plan.expert_tensor}
    if plan.pipeline == 1:
        return found
    chunks = plan.pipeline * plan.interleave
    found["pipeline_parallel_schedule"] = "Interleaved1F1B" if plan.interleave > 1 else "1F1B"
    found["pipeline_parallel_microbatch_size"] = plan.micro_batch
    if scenario.model.layers % chunks == 0:
        found["pipeline_parallel_layers_per_stage"] = scenario.model.layers // chunks
    else:
        remarks.append(
            f"{plan.interleave} chunks of {plan.pipeline} stages that do not divide {scenario.model.layers} layers"
        )
    return found
