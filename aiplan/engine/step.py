"""Time of one optimizer step, from the layers of its busiest pipeline stage outwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aiplan.core import collectives, compose, compute, memory, overlap, pipeline, topology, training
from aiplan.engine.data_parallel import data_parallel_terms
from aiplan.engine.layer import Layer, Pass, Wires, layer, linear, wires

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.footprint import Held
    from aiplan.engine.inputs import Inputs


@dataclass(frozen=True, slots=True)
class StageTime:
    """Time of one micro-batch at every stage, by term, each (plans, stages)."""

    terms: dict[str, Array]
    forward: Array
    backward: Array
    total: Array


def step_terms(values: Inputs, held: Held) -> dict[str, Array]:
    """Time the parts of a step; each (plans, 1), together the step."""
    net = wires(values)
    one_layer = layer(values, net)
    stage = _stage_time(values, net, one_layer, held)
    count = training.micro_batches(values.workload.global_batch, values.plan.micro_batch, values.plan.data)
    busiest = np.argmax(np.where(values.stages.copies > 0, stage.total, -1.0), axis=-1, keepdims=True)
    terms = {name: compose.repeated(compose.at_stage(part, busiest), count) for name, part in stage.terms.items()}
    busy = compose.at_stage(stage.total, busiest)
    everything = compose.over_stages(stage.total, values.stages.copies)
    terms["step.bubble"] = pipeline.bubble_time(everything, busy, values.plan.interleave)
    forward, backward = compose.at_stage(stage.forward, busiest), compose.at_stage(stage.backward, busiest)
    return terms | data_parallel_terms(values, net, held, count, Pass(forward, backward)) | _optimizer(values, held)


def _stage_time(values: Inputs, net: Wires, one: Layer, held: Held) -> StageTime:
    plan, stages = values.plan, values.stages
    tokens = training.micro_batch_tokens(plan.micro_batch, values.workload.sequence, plan.context)
    layers = stages.dense_layers + stages.moe_layers
    per_layer = {
        "step.compute.projections": (one.projections, layers),
        "step.compute.attention": (one.core, layers),
        "step.compute.feed_forward": (one.feed_forward, stages.dense_layers),
        "step.compute.experts": (one.experts, stages.moe_layers),
        "step.compute.elementwise": (one.elementwise, layers),
        "step.compute.ends": (_ends(values, tokens), np.ones_like(layers)),
        "step.tensor": (one.tensor_communication, layers),
        "step.context": (one.context_communication, layers),
        "step.expert": (one.expert_communication, stages.moe_layers),
    }
    forward = {name: compose.repeated(part.forward, times) for name, (part, times) in per_layer.items()}
    backward = {name: compose.repeated(part.backward, times) for name, (part, times) in per_layer.items()}
    terms = {name: compose.summed(forward[name], backward[name]) for name in per_layer}
    within = ("projections", "attention", "feed_forward", "experts", "elementwise")
    whole_again = compose.summed(*(forward[f"step.compute.{name}"] for name in within))
    terms["step.compute.recompute"] = compose.summed(
        compose.repeated(whole_again, plan.recompute_full),
        compose.repeated(forward["step.compute.attention"], plan.recompute_selective),
    )
    terms["step.tensor"] = compose.summed(terms["step.tensor"], compose.repeated(one.tensor_recompute, layers))
    terms["step.compute.accumulation"] = _accumulation(values, held)
    terms["step.pipeline"] = compose.repeated(_sends(values, net, tokens), np.ones_like(layers))
    return StageTime(
        terms=terms,
        forward=compose.summed(*forward.values()),
        backward=compose.summed(*backward.values()),
        total=compose.summed(*terms.values()),
    )


def _accumulation(values: Inputs, held: Held) -> Array:
    """Gradients of a micro-batch added to those before, where that is a kernel of its own."""
    rate = compute.achieved(values.cluster.memory_bandwidth, values.cluster.memory_fraction)
    traffic = memory.accumulation_traffic(
        compose.summed(held.dense, held.experts),
        values.workload.weight_bytes,
        values.workload.gradient_bytes,
        values.plan.separate_accumulation,
    )
    added: Array = compute.memory_bound_time(traffic, rate, np.zeros_like(traffic), values.cluster.launch)
    return added


def _ends(values: Inputs, tokens: Array) -> Pass:
    """Embedding on the first stage; output head and loss on the last."""
    model, plan, work = values.model, values.plan, values.workload
    rate = compute.achieved(values.cluster.memory_bandwidth, values.cluster.memory_fraction)
    launch = values.cluster.launch
    head = linear(values, tokens, model.vocab / plan.tensor, model.hidden, rate)
    loss_bytes = tokens * model.vocab / plan.tensor * 3.5 * work.activation_bytes  # each way
    loss = compute.memory_bound_time(loss_bytes, rate, 2.0, launch)
    lookup = compute.memory_bound_time(tokens * model.hidden * 4.0 * work.activation_bytes, rate, 2.0, launch)
    embedding = compose.repeated(lookup, values.stages.has_embedding)
    passes = (1.0 + model.mtp_layers) * values.stages.has_head
    return Pass(
        compose.summed(compose.repeated(head.forward, passes), compose.repeated(loss, passes), embedding),
        compose.summed(compose.repeated(head.backward, passes), compose.repeated(loss, passes), embedding),
    )


def _sends(values: Inputs, net: Wires, tokens: Array) -> Array:
    """Activations to the next stage and gradients to the one before, for every chunk of a micro-batch."""
    plan, work = values.plan, values.workload
    stride = plan.tensor * plan.context * plan.data
    local = topology.ranks_per_domain(plan.pipeline, stride, values.cluster.domain)
    crosses = plan.pipeline > local
    nbytes = tokens * values.model.hidden * work.activation_bytes
    # Neighbours split a message over their tensor parallel ranks and, without sequence parallelism, put it
    # together again inside the node.
    message = collectives.send_time(
        nbytes / plan.tensor,
        np.where(crosses, net.outside, net.inside),
        np.where(crosses, net.network_latency, net.link_latency),
    )
    inside = topology.ranks_per_domain(plan.tensor, np.ones_like(plan.tensor), values.cluster.domain)
    gather = collectives.ring_all_gather_time(
        nbytes,
        plan.tensor,
        topology.ring_bandwidth(plan.tensor, inside, net.inside, net.outside),
        net.link_latency,
    )
    one = compose.summed(message, compose.repeated(gather, 1.0 - plan.sequence_parallel))
    exposed = overlap.share_exposed(one, plan.hidden_pipeline)
    sends: Array = compose.repeated(exposed, np.where(plan.pipeline > 1, 2.0 * plan.interleave, 0.0))
    return sends


def _optimizer(values: Inputs, held: Held) -> dict[str, Array]:
    """One pass over gradients, master weights and states, all bound by memory."""
    work, cluster = values.workload, values.cluster
    rate = compute.achieved(cluster.memory_bandwidth, cluster.memory_fraction)
    traffic = 2.0 * work.optimizer_bytes + 3.0 * work.gradient_bytes + work.weight_bytes
    nbytes = held.optimizer_parameters * traffic
    return {"step.optimizer": compute.memory_bound_time(nbytes, rate, 4.0, cluster.launch)}
