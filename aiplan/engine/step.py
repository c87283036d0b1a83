"""Time of one optimizer step, from the layers of its busiest pipeline stage outwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aiplan.core import collectives, compute, overlap, pipeline, topology, training
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
    stage = _stage_time(values, net, one_layer)
    count = training.micro_batches(values.workload.global_batch, values.plan.micro_batch, values.plan.data)
    busiest = np.argmax(np.where(values.stages.copies > 0, stage.total, -1.0), axis=-1, keepdims=True)
    terms = {
        name: training.repeated(training.at_stage(part, busiest), count) for name, part in stage.terms.items()
    }
    busy = training.at_stage(stage.total, busiest)
    everything = np.sum(stage.total * values.stages.copies, axis=-1, keepdims=True)
    terms["step.bubble"] = pipeline.bubble_time(everything, busy, values.plan.interleave)
    forward, backward = training.at_stage(stage.forward, busiest), training.at_stage(stage.backward, busiest)
    return terms | _data_parallel(values, net, held, count, Pass(forward, backward)) | _optimizer(values, held)


def _stage_time(values: Inputs, net: Wires, one: Layer) -> StageTime:
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
    forward = {name: training.repeated(part.forward, times) for name, (part, times) in per_layer.items()}
    backward = {name: training.repeated(part.backward, times) for name, (part, times) in per_layer.items()}
    terms = {name: training.summed(forward[name], backward[name]) for name in per_layer}
    within = ("projections", "attention", "feed_forward", "experts", "elementwise")
    whole_again = training.summed(*(forward[f"step.compute.{name}"] for name in within))
    terms["step.compute.recompute"] = training.summed(
        training.repeated(whole_again, plan.recompute_full),
        training.repeated(forward["step.compute.attention"], plan.recompute_selective),
    )
    terms["step.tensor"] = training.summed(terms["step.tensor"], training.repeated(one.tensor_recompute, layers))
    terms["step.pipeline"] = training.repeated(_sends(values, net, tokens), np.ones_like(layers))
    return StageTime(
        terms=terms,
        forward=training.summed(*forward.values()),
        backward=training.summed(*backward.values()),
        total=training.summed(*terms.values()),
    )


def _ends(values: Inputs, tokens: Array) -> Pass:
    """Embedding on the first stage; output head and loss on the last."""
    model, plan, work = values.model, values.plan, values.workload
    memory = compute.achieved(values.cluster.memory_bandwidth, values.cluster.memory_fraction)
    launch = values.cluster.launch
    head = linear(values, tokens, model.vocab / plan.tensor, model.hidden, memory)
    loss = compute.memory_bound_time(tokens * model.vocab / plan.tensor * 7.0 * work.activation_bytes, memory, 4.0, launch)
    lookup = compute.memory_bound_time(tokens * model.hidden * 4.0 * work.activation_bytes, memory, 2.0, launch)
    times = values.stages.has_head * (1.0 + model.mtp_layers)
    embedding = values.stages.has_embedding * lookup
    return Pass(times * (head.forward + 0.5 * loss) + embedding, times * (head.backward + 0.5 * loss) + embedding)


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
        nbytes, plan.tensor, topology.ring_bandwidth(plan.tensor, inside, net.inside, net.outside), net.link_latency
    )
    one = message + np.where(plan.sequence_parallel > 0, 0.0, gather)
    exposed = overlap.share_exposed(one, plan.hidden_pipeline)
    return training.repeated(exposed, np.where(plan.pipeline > 1, 2.0 * plan.interleave, 0.0))


def _data_parallel(values: Inputs, net: Wires, held: Held, count: Array, busy: Pass) -> dict[str, Array]:
    """Gradients reduced over data parallel ranks, and sharded parameters gathered again."""
    plan, work = values.plan, values.workload
    groups = (
        (held.dense_parameters, plan.data * plan.context, plan.tensor),
        (held.expert_parameters, held.expert_shards, plan.expert * plan.expert_tensor),
    )
    reduce_all = reduce_scatter = gather = np.zeros_like(plan.data)
    for parameters, ranks, stride in groups:
        local = topology.ranks_per_domain(ranks, stride, values.cluster.domain)
        bandwidth = topology.ring_bandwidth(ranks, local, net.inside, net.outside)
        latency = topology.hop_latency(ranks, local, net.link_latency, net.network_latency)
        gradients, weights = parameters * work.gradient_bytes, parameters * work.weight_bytes
        ring = collectives.ring_all_reduce_time(gradients, ranks, bandwidth, latency)
        tree = collectives.tree_all_reduce_time(gradients, ranks, bandwidth, latency)
        reduce_all = reduce_all + np.minimum(ring, tree)
        reduce_scatter = reduce_scatter + collectives.ring_all_gather_time(gradients, ranks, bandwidth, latency)
        gather = gather + collectives.ring_all_gather_time(weights, ranks, bandwidth, latency)
    fully = plan.zero >= 3
    times = np.where(fully, count, 1.0)
    reduction = training.repeated(np.where(plan.zero > 0, reduce_scatter, reduce_all), times)
    gathering = training.repeated(np.where(plan.zero > 0, gather, 0.0), np.where(fully, 2.0 * count, 1.0))
    hides = np.where(fully, count, 1.0)
    exposed_reduction = overlap.exposed_time(reduction, busy.backward * hides, plan.hidden_gradients)
    exposed_gathering = overlap.exposed_time(
        gathering, (busy.forward + np.where(fully, busy.backward, 0.0)) * hides, plan.hidden_parameters
    )
    return {
        "step.data.gradients": exposed_reduction,
        "step.data.parameters": exposed_gathering,
        "step.data.embedding": _tied_embedding(values, net),
    }


def _tied_embedding(values: Inputs, net: Wires) -> Array:
    """First and last stage hold a copy each of a tied table and add up their gradients."""
    model, plan = values.model, values.plan
    table = model.vocab * model.hidden / plan.tensor * values.workload.gradient_bytes
    pair = np.full_like(plan.pipeline, 2.0)
    one = collectives.ring_all_reduce_time(table, pair, net.outside, net.network_latency)
    return training.repeated(one, np.where((plan.pipeline > 1) & (model.tied > 0), 1.0, 0.0))


def _optimizer(values: Inputs, held: Held) -> dict[str, Array]:
    """One pass over gradients, master weights and states, all bound by memory."""
    work, cluster = values.workload, values.cluster
    memory = compute.achieved(cluster.memory_bandwidth, cluster.memory_fraction)
    traffic = 2.0 * work.optimizer_bytes + 3.0 * work.gradient_bytes + work.weight_bytes
    nbytes = held.optimizer_parameters * traffic
    return {"step.optimizer": compute.memory_bound_time(nbytes, memory, 4.0, cluster.launch)}
