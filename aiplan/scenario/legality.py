"""Whether a layout can run at all: every rule that it breaks, with the numbers and the nearest legal choices."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from aiplan.scenario.files import locate
from aiplan.scenario.layout_rules import (
    chunks_divide,
    divides,
    kv_heads_divide,
    rounds_divide,
    sequence_divides,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.declare import Diagnostics, Node
    from aiplan.scenario.model import Model
    from aiplan.scenario.records import Plan, Workload


class Fault(NamedTuple):
    """A broken rule: code, what is wrong, the field to point at, and a way out."""

    code: str
    problem: str
    path: str
    hint: str


MOST_TRIED = 1_000_000
"""Factors of a number that are tried: enough for all divisors up to its square, and no layout has more."""


def divisors(number: int) -> list[int]:
    """Return all divisors of a positive number, ascending; of a huge one those of its small factors."""
    found, rest, factor = [1], number, 2
    while factor * factor <= rest and factor <= MOST_TRIED:
        power, grown = 1, found
        while rest % factor == 0:
            rest, power = rest // factor, power * factor
            grown = grown + [one * power for one in found]
        found, factor = grown, factor + 1
    return sorted({*found, *(one * rest for one in found)})


def nearest(number: int, choices: list[int], count: int = 3) -> str:
    """Return the choices nearest to a number, as text."""
    return ", ".join(str(c) for c in sorted(sorted(choices, key=lambda c: (abs(c - number), c))[:count]))


def check_model(model: Model) -> Iterator[Fault]:
    """Yield what contradicts itself in a network's shape."""
    if model.latent_attention is None and model.head_dim is None and model.hidden % model.heads:
        yield Fault(
            "AIP310",
            f"hidden {model.hidden} is not a multiple of {model.heads} heads, and head_dim is not given",
            "hidden",
            "give head_dim: it is a key of its own",
        )
    kv_heads = model.kv_heads or model.heads
    if model.heads % kv_heads:
        yield Fault(
            "AIP303",
            f"{model.heads} heads are not a multiple of {kv_heads} key-value heads",
            "kv_heads",
            f"nearest: {nearest(kv_heads, divisors(model.heads))}",
        )
    moe_layers = (
        model.layers
        if model.experts and model.experts.layers is None
        else (model.experts.layers or 0)
        if model.experts
        else 0
    )
    if moe_layers > model.layers:
        yield Fault(
            "AIP310",
            f"{moe_layers} layers with experts, but only {model.layers} layers",
            "experts.layers",
            "",
        )
    if model.ffn is None and moe_layers < model.layers:
        yield Fault(
            "AIP310",
            f"{model.layers - moe_layers} layers have no experts, and ffn is not given",
            "layers",
            "give ffn",
        )
    if model.experts and model.experts.top_k > model.experts.count:
        yield Fault(
            "AIP308",
            f"a token passes {model.experts.top_k} experts, but there are only {model.experts.count}",
            "experts.top_k",
            f"at most {model.experts.count}",
        )
    if model.window and (model.window.layers or 0) > model.layers:
        yield Fault(
            "AIP310",
            f"{model.window.layers} layers with a window, but only {model.layers} layers",
            "window.layers",
            "",
        )


def check_plan(model: Model, workload: Workload, plan: Plan, accelerators: int) -> Iterator[Fault]:
    """Yield every rule of layout that a plan breaks."""
    yield from _world(plan, accelerators)
    yield from _widths(model, plan)
    yield from _stages(model, plan)
    yield from _sequence(workload, plan)
    yield from _recomputation(model, plan)
    yield from _experts(model, plan, accelerators)
    data = _data(plan, accelerators)
    if data:
        yield from _batch(workload, plan, data)


def _data(plan: Plan, accelerators: int) -> int | None:
    shards = plan.tensor * plan.pipeline * plan.context
    return accelerators // shards if divides(accelerators, shards) else None


def _recomputation(model: Model, plan: Plan) -> Iterator[Fault]:
    if plan.recompute_layers is None:
        return
    if plan.recompute != "full":
        yield Fault(
            "AIP107",
            f"recompute_layers {plan.recompute_layers} with recompute {plan.recompute}",
            "plan.recompute_layers",
            "give recompute: full too, or leave recompute_layers out",
        )
    most = -(-model.layers // plan.pipeline)
    if plan.recompute_layers > most:
        yield Fault(
            "AIP305",
            f"recompute_layers {plan.recompute_layers}, but a stage has {most} of {model.layers} layers at most",
            "plan.recompute_layers",
            f"give {most} or less",
        )


def _world(plan: Plan, accelerators: int) -> Iterator[Fault]:
    shards = plan.tensor * plan.pipeline * plan.context
    product = f"tensor {plan.tensor} x pipeline {plan.pipeline} x context {plan.context} = {shards}"
    if not divides(accelerators, shards):
        below = accelerators - accelerators % shards
        choices = [c for c in (below, below + shards) if c > 0]
        yield Fault(
            "AIP301",
            f"{accelerators} accelerators are not a multiple of {product}",
            "plan",
            f"nearest: {' or '.join(str(c) for c in choices)} accelerators",
        )
    elif plan.data is not None and plan.data * shards != accelerators:
        yield Fault(
            "AIP301",
            f"{product} x data {plan.data} = {shards * plan.data}, but there are {accelerators} accelerators",
            "plan.data",
            f"data is {accelerators // shards} for this layout; leave it out and it is derived",
        )


def _widths(model: Model, plan: Plan) -> Iterator[Fault]:
    tensor, kv_heads = plan.tensor, model.kv_heads or model.heads
    if not divides(model.heads, tensor):
        yield Fault(
            "AIP302",
            f"{model.heads} heads do not divide over tensor {tensor}",
            "plan.tensor",
            f"nearest: tensor {nearest(tensor, divisors(model.heads))}",
        )
    elif model.latent_attention is None and not kv_heads_divide(kv_heads, tensor):
        legal = [t for t in divisors(model.heads) if kv_heads_divide(kv_heads, t)]
        yield Fault(
            "AIP303",
            f"{kv_heads} key-value heads neither divide over tensor {tensor} nor are copied evenly",
            "plan.tensor",
            f"nearest: tensor {nearest(tensor, legal)}",
        )
    if model.ffn is not None and not divides(model.ffn, tensor):
        yield Fault(
            "AIP304",
            f"ffn {model.ffn} does not divide over tensor {tensor}",
            "plan.tensor",
            f"nearest: tensor {nearest(tensor, divisors(model.ffn))}",
        )
    if plan.sequence_parallel and tensor == 1:
        yield Fault(
            "AIP309",
            "sequence_parallel splits over tensor parallel ranks, and tensor is 1",
            "plan.sequence_parallel",
            "leave it out, or raise tensor",
        )


def stage_layers(model: Model, plan: Plan) -> tuple[int, ...] | None:
    """Return the layers of each stage; None if they do not divide."""
    if plan.stage_layers:
        return plan.stage_layers
    counted = model.layers + 2 * plan.count_embedding_as_layer
    if not divides(counted, plan.pipeline):
        return None
    each = [counted // plan.pipeline] * plan.pipeline
    each[0] -= plan.count_embedding_as_layer
    each[-1] -= plan.count_embedding_as_layer
    return tuple(each) if min(each) >= 0 else None


def _stages(model: Model, plan: Plan) -> Iterator[Fault]:
    split = stage_layers(model, plan)
    if plan.stage_layers and (len(plan.stage_layers) != plan.pipeline or sum(plan.stage_layers) != model.layers):
        yield Fault(
            "AIP305",
            f"stage_layers has {len(plan.stage_layers)} numbers that add up to {sum(plan.stage_layers)}; "
            f"{plan.pipeline} that add up to {model.layers} are due",
            "plan.stage_layers",
            f"e.g. {_even_split(model.layers, plan.pipeline)}",
        )
    elif split is None:
        counted = model.layers + 2 * plan.count_embedding_as_layer
        what = f"{model.layers} layers and two ends" if plan.count_embedding_as_layer else f"{model.layers} layers"
        yield Fault(
            "AIP305",
            f"{what} do not divide over {plan.pipeline} stages "
            f"({counted} % {plan.pipeline} = {counted % plan.pipeline})",
            "plan.pipeline",
            f"nearest: pipeline {nearest(plan.pipeline, divisors(counted))}; "
            f"or give stage_layers, e.g. {_even_split(model.layers, plan.pipeline)}",
        )
    if plan.interleave > 1 and plan.pipeline == 1:
        yield Fault("AIP307", f"interleave {plan.interleave} with a single stage", "plan.interleave", "interleave 1")
    elif plan.interleave > 1 and not plan.stage_layers and split is not None:
        counted = model.layers + 2 * plan.count_embedding_as_layer
        if not chunks_divide(counted, plan.pipeline, plan.interleave):
            yield Fault(
                "AIP307",
                f"{counted} layers do not divide over {plan.pipeline} stages x {plan.interleave} chunks",
                "plan.interleave",
                f"nearest: interleave {nearest(plan.interleave, divisors(counted // plan.pipeline))}",
            )


def spread(layers: int, stages: int) -> list[int]:
    """Return layers spread over stages as evenly as they can be; the first stages get what is over."""
    base, more = divmod(layers, stages)
    return [base + (index < more) for index in range(stages)]


def _even_split(layers: int, stages: int) -> str:
    if stages <= 8:
        return f"[{', '.join(map(str, spread(layers, stages)))}]"
    base, more = divmod(layers, stages)
    return f"[{', '.join(str(base + (index < more)) for index in range(3))}, ..., {base}]"


def _sequence(workload: Workload, plan: Plan) -> Iterator[Fault]:
    if not sequence_divides(workload.sequence_length, plan.context):
        yield Fault(
            "AIP309",
            f"sequence_length {workload.sequence_length} does not divide over 2 x context {plan.context}",
            "plan.context",
            f"nearest: context {nearest(plan.context, divisors(workload.sequence_length // 2 or 1))}",
        )
    elif plan.sequence_parallel and workload.sequence_length // plan.context % plan.tensor:
        yield Fault(
            "AIP309",
            f"sequence_length {workload.sequence_length} over context {plan.context} does not divide "
            f"over tensor {plan.tensor}, as sequence_parallel needs",
            "plan.sequence_parallel",
            f"nearest: tensor {nearest(plan.tensor, divisors(workload.sequence_length // plan.context))}",
        )


def _experts(model: Model, plan: Plan, accelerators: int) -> Iterator[Fault]:
    if model.experts is None:
        for name in ("expert", "expert_tensor"):
            if getattr(plan, name) > 1:
                yield Fault(
                    "AIP308",
                    f"{name} {getattr(plan, name)}, but the model has no experts",
                    f"plan.{name}",
                    f"{name} 1",
                )
        return
    if not divides(model.experts.count, plan.expert):
        yield Fault(
            "AIP308",
            f"{model.experts.count} experts do not divide over expert {plan.expert}",
            "plan.expert",
            f"nearest: expert {nearest(plan.expert, divisors(model.experts.count))}",
        )
    per_stage = accelerators // plan.pipeline
    if not divides(per_stage, plan.expert, plan.expert_tensor):
        yield Fault(
            "AIP308",
            f"expert {plan.expert} x expert_tensor {plan.expert_tensor} does not divide "
            f"the {per_stage} accelerators of a stage",
            "plan.expert",
            _expert_hint(model.experts.count, plan, per_stage),
        )
    if not divides(model.experts.ffn, plan.expert_tensor):
        yield Fault(
            "AIP304",
            f"expert ffn {model.experts.ffn} does not divide over expert_tensor {plan.expert_tensor}",
            "plan.expert_tensor",
            f"nearest: expert_tensor {nearest(plan.expert_tensor, divisors(model.experts.ffn))}",
        )


def _expert_hint(experts: int, plan: Plan, per_stage: int) -> str:
    if per_stage % plan.expert_tensor:
        return f"nearest: expert_tensor {nearest(plan.expert_tensor, divisors(per_stage))}"
    legal = [ranks for ranks in divisors(experts) if per_stage // plan.expert_tensor % ranks == 0]
    return f"nearest: expert {nearest(plan.expert, legal)}"


def _batch(workload: Workload, plan: Plan, data: int) -> Iterator[Fault]:
    each = plan.micro_batch * data
    if not divides(workload.global_batch, each):
        per_rank = [b for b in divisors(workload.global_batch) if workload.global_batch % (b * data) == 0]
        below = workload.global_batch - workload.global_batch % each
        choices = ", ".join(str(b) for b in (below, below + each) if b > 0)
        hint = f"nearest: global_batch {choices}"
        if per_rank:
            hint = f"{hint}; or micro_batch {nearest(plan.micro_batch, per_rank)}"
        yield Fault(
            "AIP306",
            f"global_batch {workload.global_batch} is not a multiple of "
            f"micro_batch {plan.micro_batch} x data {data} = {each}",
            "workload.global_batch",
            hint,
        )
        return
    count = workload.global_batch // each
    if not rounds_divide(count, plan.pipeline, plan.interleave):
        rounds = count // plan.pipeline
        legal = [number * plan.pipeline * each for number in (rounds, rounds + 1) if number]
        yield Fault(
            "AIP307",
            f"interleaving needs micro-batches in multiples of pipeline {plan.pipeline}, and there are {count}",
            "plan.interleave",
            f"nearest: global_batch {nearest(workload.global_batch, legal)}; or interleave 1",
        )


def check_shards(plan: Plan, data: float, zero: float) -> Iterator[Fault]:
    """Yield why the ranks that hold the same parameters cannot share copies of states as the plan asks."""
    shards, ranks = plan.shards, int(data) * plan.context
    if shards is None:
        return
    if zero < 1:
        yield Fault("AIP313", f"ZeRO stage 0 shards nothing over {shards} ranks", "plan.shards", "plan.zero: 1, 2 or 3")
    if not divides(ranks, shards):
        yield Fault(
            "AIP313",
            f"data {int(data)} x context {plan.context} = {ranks} ranks do not divide into groups of {shards}",
            "plan.shards",
            f"nearest: shards {nearest(shards, divisors(ranks))}",
        )
    elif not divides(shards * plan.tensor, plan.expert, plan.expert_tensor):
        yield Fault(
            "AIP313",
            f"expert {plan.expert} x expert_tensor {plan.expert_tensor} ranks do not fit into the {shards} x tensor "
            f"{plan.tensor} ranks of a copy",
            "plan.shards",
            "experts lie inside a copy: raise shards, or lower expert",
        )


def report(faults: Iterator[Fault], tree: Node, diagnostics: Diagnostics, prefix: str = "") -> None:
    """Note every fault at the place of its field."""
    for fault in faults:
        diagnostics.error(fault.code, fault.problem, locate(tree, prefix + fault.path), hint=fault.hint or None)
