"""Time of one optimizer step, from the layers of its busiest pipeline stage outwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.core import (
    collectives,
    compose,
    compute,
    host,
    memory,
    overlap,
    pipeline,
    sharding,
    traffic,
    training,
)
from aiplan.engine.counts import stage_layers
from aiplan.engine.data_parallel import data_parallel_terms
from aiplan.engine.layer import Layer, Pass, layer, linear
from aiplan.engine.offload import offload_time
from aiplan.engine.wires import ring, send, wires

if TYPE_CHECKING:
    from aiplan.core.arrays import Array
    from aiplan.engine.footprint import Held
    from aiplan.engine.inputs import Inputs
    from aiplan.engine.wires import Wires


class StageTime(NamedTuple):
    """Time of one micro-batch at every stage, by term, each (stages, plans)."""

    terms: dict[str, Array]
    forward: Array
    backward: Array
    total: Array


def step_terms(values: Inputs, held: Held) -> dict[str, Array]:
    """Time the parts of a step; each (1, plans), together the step."""
    net = wires(values)
    one_layer = layer(values, net)
    stage = _stage_time(values, net, one_layer, held)
    count = training.micro_batches(values.workload.global_batch, values.plan.micro_batch, values.plan.data)
    busiest = compose.busiest(stage.total, values.stages.copies)
    terms = {name: compose.repeated(compose.at_stage(part, busiest), count) for name, part in stage.terms.items()}
    busy = compose.at_stage(stage.total, busiest)
    everything = compose.over_stages(stage.total, values.stages.copies)
    terms["step.bubble"] = pipeline.bubble_time(everything, busy, values.plan.interleave)
    one = Pass(compose.at_stage(stage.forward, busiest), compose.at_stage(stage.backward, busiest))
    terms["step.offload"] = offload_time(values, held, count, one)
    terms |= data_parallel_terms(values, net, held, count, one) | _optimizer(values, held)
    return terms | {"step.stragglers": _stragglers(values, compose.summed(*terms.values()))}


def _stragglers(values: Inputs, alone: Array) -> Array:
    """Time a step waits for the slowest node."""
    cluster = values.cluster
    nodes = sharding.share(cluster.accelerators, cluster.accelerators_per_node)
    longer: Array = host.straggling_time(alone, cluster.straggling, nodes)
    return longer


def _stage_time(values: Inputs, net: Wires, one: Layer, held: Held) -> StageTime:
    plan, stages = values.plan, values.stages
    tokens = training.micro_batch_tokens(plan.micro_batch, values.workload.sequence, plan.context)
    layers = stage_layers(stages)
    per_layer = {
        "step.compute.projections": (one.projections, layers),
        "step.compute.attention": (one.core, layers),
        "step.compute.feed_forward": (one.feed_forward, stages.dense_layers),
        "step.compute.experts": (one.experts, stages.moe_layers),
        "step.compute.elementwise": (one.elementwise, layers),
        "step.compute.ends": (_ends(values, tokens), 1.0),
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
    terms["step.expert"] = compose.summed(
        terms["step.expert"], compose.repeated(forward["step.expert"], plan.recompute_full)
    )
    terms["step.compute.accumulation"] = _accumulation(values, held)
    device = Pass(compose.summed(*forward.values()), compose.summed(*backward.values()))
    waits = _host(values, device)
    recomputed = compose.summed(whole_again, forward["step.tensor"], forward["step.expert"])
    waits_again = compose.repeated(_host(values, Pass(recomputed, recomputed)).forward, plan.recompute_full)
    terms["step.host"] = compose.summed(waits.forward, waits.backward, waits_again)
    terms["step.pipeline"] = _sends(values, net, tokens)
    return StageTime(
        terms=terms,
        forward=compose.summed(device.forward, waits.forward),
        backward=compose.summed(device.backward, waits.backward),
        total=compose.summed(*terms.values()),
    )


def _host(values: Inputs, device: Pass) -> Pass:
    """Time the device waits because the host starts kernels more slowly than they run."""
    cluster, layers, ranks = values.cluster, stage_layers(values.stages), values.plan.tensor
    starts = compose.summed(
        compose.repeated(cluster.host_time, layers),
        compose.repeated(cluster.host_time_experts, values.stages.moe_layers),
    )
    twice = compose.repeated(starts, 2.0)
    waits = Pass(host.waiting_time(starts, device.forward), host.waiting_time(twice, device.backward))
    if not np.any(cluster.late_host):
        return waits
    late = compose.repeated(cluster.late_host, layers)
    late_twice = compose.repeated(late, 2.0)
    return Pass(
        compose.largest(waits.forward, host.waiting_for_slowest(starts, late, ranks, device.forward)),
        compose.largest(waits.backward, host.waiting_for_slowest(twice, late_twice, ranks, device.backward)),
    )


def _accumulation(values: Inputs, held: Held) -> Array:
    """Gradients of a micro-batch added to those before, where that is a kernel of its own."""
    rate = compute.achieved(values.cluster.memory_bandwidth, values.cluster.memory_fraction)
    nbytes = memory.accumulation_traffic(
        compose.summed(held.dense, held.experts),
        values.workload.weight_bytes,
        values.workload.gradient_bytes,
        values.plan.separate_accumulation,
        values.plan.cast_gradients,
    )
    added: Array = compute.memory_bound_time(nbytes, rate, 0.0, values.cluster.launch)
    return added


def _ends(values: Inputs, tokens: Array) -> Pass:
    """Embedding on the first stage; output head and loss on the last."""
    model, plan, work = values.model, values.plan, values.workload
    rate = compute.achieved(values.cluster.memory_bandwidth, values.cluster.memory_fraction)
    size, launch = work.activation_bytes, values.cluster.launch
    columns = sharding.share(sharding.padded_vocabulary(model.vocab, plan.tensor), plan.tensor)
    head = linear(values, tokens, columns, model.hidden, rate)
    loss_bytes = traffic.loss_traffic(tokens, model.vocab, plan.tensor, size, work.loss_bytes)
    loss = compute.memory_bound_time(loss_bytes, rate, 2.0, launch)
    lookup_bytes = traffic.lookup_traffic(tokens, model.hidden, size)
    lookup = compute.memory_bound_time(lookup_bytes, rate, 2.0, launch)
    embedding = compose.repeated(lookup, values.stages.has_embedding)
    passes = pipeline.head_passes(model.mtp_layers, values.stages.has_head)
    return Pass(
        compose.summed(compose.repeated(head.forward, passes), compose.repeated(loss, passes), embedding),
        compose.summed(compose.repeated(head.backward, passes), compose.repeated(loss, passes), embedding),
    )


def _sends(values: Inputs, net: Wires, tokens: Array) -> Array:
    """Activations to the next stage and gradients to the one before, for every chunk of a micro-batch."""
    plan = values.plan
    stride = compose.product(plan.tensor, plan.context, plan.data)
    nbytes = traffic.residual_bytes(tokens, values.model.hidden, values.workload.activation_bytes)
    # Neighbours split a message over their tensor parallel ranks and, without sequence parallelism, put it
    # together again inside the node.
    message = collectives.send_time(sharding.share(nbytes, plan.tensor), *send(net, plan.pipeline, stride))
    gather = collectives.ring_all_gather_time(
        nbytes,
        plan.tensor,
        ring(net, plan.tensor, 1.0)[0],
        net.link_latency,
    )
    one = compose.summed(message, compose.chosen(plan.sequence_parallel, 0.0, gather))
    exposed = overlap.share_exposed(one, plan.hidden_pipeline)
    times = pipeline.sends_per_micro_batch(plan.pipeline, plan.interleave)
    sends: Array = compose.chosen(times, compose.repeated(exposed, times), 0.0)  # no stages, no links to know about
    return sends


def _optimizer(values: Inputs, held: Held) -> dict[str, Array]:
    """Time what happens once a step: a pass over gradients, master weights and states, and the loop around it."""
    work, cluster = values.workload, values.cluster
    rate = compute.achieved(cluster.memory_bandwidth, cluster.memory_fraction)
    nbytes = traffic.optimizer_traffic(
        held.optimizer_parameters, work.optimizer_bytes, work.gradient_bytes, work.weight_bytes
    )
    device = compute.memory_bound_time(nbytes, rate, 4.0, cluster.launch)
    return {
        "step.optimizer": _on_device(values, device),
        "step.overhead": compose.repeated(cluster.step_overhead, 1.0),
    }


def _on_device(values: Inputs, update: Array) -> Array:
    """Return the time of an update, which takes none on the device where the states lie on the host."""
    gone = values.plan.offload_optimizer
    if not np.any(gone):
        return update
    left: Array = compose.chosen(gone, 0.0, update)
    return left
