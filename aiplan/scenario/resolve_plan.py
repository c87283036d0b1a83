"""The parallel layout as numbers: what the plan gives, and what the software preset says where it gives nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.scenario.host import ON_HOST
from aiplan.scenario.layout_rules import splits_sequence
from aiplan.scenario.values import Value, derived, from_file

if TYPE_CHECKING:
    from aiplan.declare import Origin
    from aiplan.scenario.resolve import Parts

KEPT = ("kv_copies", "whole_inputs", "run_ahead", "run_ahead_behind")
HANDLED = ("cast_gradients", "contention", "separate_casts", "fused_elementwise")
"""Inputs of a plan that are what the software preset says."""


def plan_values(parts: Parts) -> dict[str, Value]:
    """Return the values of the layout: given in the plan, or what the software preset says."""
    plan, origins, preset = parts.file.plan, parts.origins, parts.software
    total = parts.file.cluster.accelerators or parts.file.cluster.nodes * parts.node.accelerators

    def own(number: float, path: str) -> Value:
        return from_file(number, origins, f"plan.{path}")

    def chosen(given: float | bool | None, otherwise: float | bool, path: str) -> Value:  # noqa: FBT001
        return from_file(otherwise, parts.software_origins, path) if given is None else own(given, path)

    dispatch = plan.dispatch or preset.dispatch
    dispatch_origin = chosen(None if plan.dispatch is None else 0, 0, "dispatch").origin
    kernel = plan.attention or preset.attention
    kernel_origin = chosen(None if plan.attention is None else 0, 0, "attention").origin
    split = chosen(plan.sequence_parallel, preset.sequence_parallel, "sequence_parallel")
    zero = chosen(plan.zero, preset.zero, "zero")
    recompute = own(0, "recompute").origin
    data = total / (plan.tensor * plan.pipeline * plan.context)
    splits = splits_sequence(parts.file.workload.sequence_length, plan.tensor, plan.context)
    kept = from_file(not preset.gathered_inputs, parts.software_origins, "gathered_inputs")
    values = {
        "tensor": own(plan.tensor, "tensor"),
        "sequence_parallel": split if splits else derived(0, "the sequence is not split over tensor"),
        "inputs_split": kept if splits and split.number else derived(0, "inputs are whole anyway"),
        "pipeline": own(plan.pipeline, "pipeline"),
        "interleave": own(plan.interleave, "interleave"),
        "context": own(plan.context, "context"),
        "expert": own(plan.expert, "expert"),
        "expert_tensor": own(plan.expert_tensor, "expert_tensor"),
        "data": own(data, "data") if plan.data else derived(data, "accelerators / (tensor x pipeline x context)"),
        "micro_batch": own(plan.micro_batch, "micro_batch"),
        "zero": zero,
        "copies": derived(1, "not given: all ranks share one copy of the states")
        if plan.shards is None
        else own(data * plan.context / plan.shards, "shards"),
        **{
            f"offload_{kind}": Value(lies, own(0, "offload").origin)
            for kind, lies in zip(("optimizer", "weights"), ON_HOST[plan.offload], strict=True)
        },
        "gather_copy": from_file(
            preset.gather_copy and 1 <= zero.number <= 2,
            parts.software_origins,
            "gather_copy",
        ),
        "reduces_after": from_file(
            preset.reduces_after and 1 <= zero.number <= 2,
            parts.software_origins,
            "reduces_after",
        ),
        "stays_gathered": from_file(
            preset.stays_gathered and plan.pipeline > 1, parts.software_origins, "stays_gathered"
        ),
        "recompute_selective": Value(float(plan.recompute == "selective"), recompute),
        "recompute_full": _recompute_full(parts, recompute),
        "recompute_operations": from_file(
            plan.recompute == "selective" and preset.selective == "operations", parts.software_origins, "selective"
        ),
        "flash": Value(float(kernel == "flash"), kernel_origin),
        "score_passes": Value({"flash": 0.0, "fused-softmax": 1.0, "unfused": 3.0}[kernel], kernel_origin),
        "separate_accumulation": from_file(not preset.fused_accumulation, parts.software_origins, "fused_accumulation"),
        "two_level_dispatch": Value(float(dispatch != "all-to-all"), dispatch_origin),
        "hidden_dispatch": from_file(preset.hidden_by_hybridep, parts.software_origins, "hidden_by_hybridep")
        if dispatch == "hybridep"
        else Value(0.0, dispatch_origin),
    }
    values |= {name: from_file(getattr(preset, name), parts.software_origins, name) for name in KEPT + HANDLED}
    channels = plan.overlap.channels
    values["channels"] = (
        derived(0, "not given: the contention of the preset") if channels is None else own(channels, "overlap.channels")
    )
    if plan.overlap.contention is not None:
        values["contention"] = own(plan.overlap.contention, "overlap.contention")
    return values | {
        f"hidden_{kind}": _hidden(parts, kind) for kind in ("gradients", "parameters", "tensor", "pipeline", "expert")
    }


def _recompute_full(parts: Parts, origin: Origin) -> Value:
    """Return the share of the layers that is computed again as a whole."""
    plan = parts.file.plan
    if plan.recompute != "full" or plan.recompute_layers is None:
        return Value(float(plan.recompute == "full"), origin)
    share = min(plan.recompute_layers * plan.pipeline / parts.model.layers, 1.0)
    return from_file(share, parts.origins, "plan.recompute_layers")


def _hidden(parts: Parts, kind: str) -> Value:
    """Return the share of a communication that is hidden: what the preset gives when it is on, else 0."""
    given = getattr(parts.file.plan.overlap, kind)
    preset = getattr(parts.software.overlap, kind)
    hidden = preset.hidden if given is None else given
    path = f"overlap.{kind}.share" if hidden else f"overlap.{kind}.hidden"
    if given is False:
        return from_file(0, parts.origins, f"plan.overlap.{kind}")
    return from_file(preset.share if hidden else 0, parts.software_origins, path)
