"""The first lines of an answer, for table and Markdown alike: what was asked, and the numbers that matter most."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.planning.compression import break_even
from aiplan.report.estimate import run
from aiplan.report.facts import BAD, GOOD, Fact
from aiplan.report.text import change, joined, number, percent, span
from aiplan.units import duration, quantity, scale

if TYPE_CHECKING:
    from aiplan.planning.estimate import Against, Estimate
    from aiplan.scenario.records import Plan

WITHOUT_RUN = "steps alone; --set reliability={} adds failures and checkpoints"
STEPS_ALONE = "steps alone"
CONVENTIONS = {
    "megatron": "causal attention counted half",
    "full": "full attention square",
    "6nd": "six times the active parameters",
    "hardware": "full attention square, and what is computed again",
}
SIZES = {
    "tensor": "tensor",
    "pipeline": "pipeline",
    "interleave": "interleave",
    "context": "context",
    "expert": "expert",
    "expert_tensor": "expert tensor",
}


def question(estimate: Estimate) -> list[Fact]:
    """Return one line each for model, workload, cluster, plan and software."""
    scenario = estimate.scenario
    lines = [
        Fact("model", _model(estimate), style=""),
        Fact("workload", _workload(estimate), style=""),
        Fact("cluster", _cluster(estimate), style=""),
        Fact("plan", _plan(estimate), style=""),
        Fact("software", scenario.file.software, style=""),
    ]
    if scenario.settings:
        lines.append(Fact("changed", joined(list(scenario.settings)), style=""))
    return lines


def answer(estimate: Estimate) -> list[Fact]:
    """Return the results."""
    terms = estimate.terms
    rate = quantity(terms[f"flops_per_s.{estimate.convention}"], "FLOP/s")
    peak = quantity(estimate.given("cluster.matmul_peak"), "FLOP/s")
    dtype = estimate.scenario.file.workload.precision
    per_gpu = number(terms["run.tokens_per_s_per_gpu"], "tokens/s")
    counted = f"{estimate.convention} convention: {CONVENTIONS[estimate.convention]}"
    return [
        Fact("time to train", duration(terms["run.time_to_train"]), _remark(estimate)),
        Fact("step time", _starred(estimate, "step", quantity(terms["step"], "s")), _evidence(estimate)),
        Fact("throughput", number(estimate.tokens_per_s, "tokens/s"), f"{per_gpu} per GPU"),
        Fact("model FLOPs", f"{rate} per GPU", counted),
        Fact("MFU", percent(estimate.mfu), f"of {peak} dense {dtype} per GPU, same convention"),
        Fact("HFU", percent(estimate.hfu), "with the full attention square and recomputation"),
        _memory(estimate),
        *_host(estimate),
        *_compression(estimate),
        *(run.facts(estimate) if estimate.scenario.run else _ideal(estimate)),
    ]


def _ideal(estimate: Estimate) -> list[Fact]:
    """Return cost, energy and carbon of steps alone."""
    terms, rent = estimate.terms, estimate.given("cluster.price")
    price = "" if math.isnan(rent) else f"at {quantity(rent, 'USD/s')} per GPU"
    cost = "; ".join(filter(None, (_likely(estimate, "run.cost", "USD"), price)))
    return [
        Fact("cost", _starred(estimate, "run.cost", quantity(terms["run.cost"], "USD")), cost),
        Fact("energy", _starred(estimate, "run.energy", quantity(terms["run.energy"], "J")), _facility(estimate)),
        Fact("carbon", _starred(estimate, "run.carbon", quantity(terms["run.carbon"], "kg"))),
    ]


def _facility(estimate: Estimate) -> str:
    most = estimate["run.power"]
    return "" if math.isnan(most) else f"{quantity(most, 'W')} facility"


def _compression(estimate: Estimate) -> list[Fact]:
    """Return below which bandwidth, and below which share of values, the compression of gradients pays."""
    found = break_even(estimate.scenario)
    if found is None:
        return []
    pays = f"pays below {quantity(found.bandwidth, 'B/s')}" if found.bandwidth else "never pays"
    density = ""
    if found.density is not None and found.sent is not None:
        least = percent(min(found.density, 1.0))
        density = f"sends less below {least} of the values, here {percent(found.sent)}"
    method = estimate.scenario.file.communication.compression
    here = f"{method} over {found.ranks:,} ranks of {quantity(found.here, 'B/s')} each, overlap not counted"
    return [Fact("compression", pays, "; ".join(filter(None, (here, density))))]


def measured_title(estimate: Estimate) -> str:
    """Return the heading above what was measured; after a change, it is another run."""
    changed = ", measured without the changes above" if estimate.scenario.settings else ""
    return f"Against the published run{changed}"


def measured(estimate: Estimate) -> list[Fact]:
    """Return what a published run measured, beside what is predicted here."""
    found = estimate.scenario.file.measured
    if found is None:
        return []
    lines = [_against(row) for row in estimate.against()]
    if found.tflops_per_gpu is not None:
        how = f"counted as: {found.convention}" if found.convention else "how it counts is not known"
        lines.append(Fact("TFLOP/s per GPU", f"{found.tflops_per_gpu:g}", how))
    return [*lines, Fact("source", "", found.source)]


def bottleneck(estimate: Estimate) -> tuple[str, str]:
    """Return what limits the step with its runner-up, and what usually helps."""
    first, second = estimate.causes()[:2]
    named = f"{first.label}, {percent(first.share)} of a step; next: {second.label}, {percent(second.share)}"
    return named, first.remedy


def shortfall(estimate: Estimate) -> str:
    """Return how much is needed and how much is there."""
    if estimate.host_is_short:
        sizes = (estimate["host.memory"], estimate.given("cluster.host_memory"))
        needed, there = (quantity(size, "B") for size in sizes)
        return f"{needed} needed on the host of a node, {there} there"
    needed, there = (quantity(estimate[name], "B") for name in ("memory", "memory.capacity"))
    return f"{needed} needed per GPU at stage {estimate.fullest_stage}, {there} there"


def _model(estimate: Estimate) -> str:
    total, active = estimate["parameters.total"], estimate["parameters.active"]
    passed = f"{number(active, '1')} active per token" if active < total else ""
    return joined([estimate.scenario.model.name, f"{number(total, '1')} parameters", passed])


def _workload(estimate: Estimate) -> str:
    work = estimate.scenario.file.workload
    return joined(
        [
            f"{number(work.tokens, '1')} tokens" if work.tokens else "tokens not given",
            f"sequence {work.sequence_length:,}",
            f"batch {work.global_batch:,}",
            work.precision,
            work.optimizer,
        ]
    )


def _cluster(estimate: Estimate) -> str:
    scenario = estimate.scenario
    cluster, node = scenario.file.cluster, scenario.node
    fabric = cluster.network.fabric or (node.nics[0].network if node.nics else "")
    network = f"{fabric} {cluster.network.topology}" if cluster.nodes > 1 else ""
    plain = f"{cluster.nodes:,} nodes" if cluster.nodes > 1 else ""
    nodes = f"{cluster.nodes:,} x {node.name}" if cluster.node else plain
    return joined([nodes, f"{scenario.accelerators:,} x {scenario.accelerator.name}", network])


def _plan(estimate: Estimate) -> str:
    plan = estimate.scenario.file.plan
    sizes = [f"{name} {getattr(plan, key)}" for key, name in SIZES.items() if getattr(plan, key) > 1]
    split = "sequence parallel" if estimate.given("plan.sequence_parallel") else ""
    return joined(
        [
            *sizes,
            f"data {estimate.scenario.data}",
            f"micro-batch {plan.micro_batch}",
            f"ZeRO {estimate.given('plan.zero'):.0f}",
            "" if plan.shards is None else f"in groups of {plan.shards}",
            split,
            "" if plan.offload == "none" else f"offload {plan.offload}",
            _recomputation(plan),
        ]
    )


def _recomputation(plan: Plan) -> str:
    layers = "" if plan.recompute_layers is None else f" for {plan.recompute_layers} layers per stage"
    return f"recompute {plan.recompute}{layers}"


def _remark(estimate: Estimate) -> str:
    steps = estimate["run.steps"]
    known = "" if math.isnan(steps) else f"{steps:,.0f} steps"
    counted = STEPS_ALONE if estimate.scenario.run else WITHOUT_RUN
    return "; ".join(filter(None, (_likely(estimate, "run.time_to_train", "s"), known, counted)))


def _likely(estimate: Estimate, name: str, unit: str) -> str:
    found = estimate.interval(name)
    return "" if found is None else f"90 %: {span(found.low, found.high, unit)}"


def _evidence(estimate: Estimate) -> str:
    found = estimate.interval("step")
    return "" if found is None else f"{_likely(estimate, 'step', 's')}, from {found.evidence}"


def _memory(estimate: Estimate) -> Fact:
    unit, (needed, there) = scale([estimate["memory"], estimate["memory.capacity"]], "B")
    verdict = "fits" if estimate.fits else "does not fit"
    found = estimate.interval("memory")
    likely = "" if found is None else f"{_likely(estimate, 'memory', 'B')}, from {found.evidence}"
    where = "; ".join(filter(None, (f"{verdict} (stage {estimate.fullest_stage} is the fullest)", likely)))
    return Fact("memory", f"{needed} / {there} {unit}", where, GOOD if estimate.fits else BAD)


def _host(estimate: Estimate) -> list[Fact]:
    """Return what lies in the memory of the host, if anything does."""
    if not estimate["host.memory"]:
        return []
    unit, (needed, there) = scale([estimate["host.memory"], estimate.given("cluster.host_memory")], "B")
    known = not math.isnan(estimate.given("cluster.host_memory"))
    short = estimate.host_is_short
    verdict = "does not fit" if short else "fits" if known else "how much a node has is not known"
    size = f"{needed} / {there} {unit}" if known else f"{needed} {unit}"
    rate = quantity(estimate.given("cluster.host_update_rate"), "B/s")
    return [Fact("host memory", size, f"{verdict}; per node; states updated at {rate} there", BAD if short else GOOD)]


def _against(row: Against) -> Fact:
    long = row.name in {"time_to_train", "accelerator_time"}
    show = duration if long else (lambda value: number(value, row.unit))
    name = row.name.replace("_per_s_per_gpu", "/s per GPU").replace("_", " ")
    return Fact(name, show(row.measured), f"predicted {show(row.predicted)}, {change(row.error)}")


def _starred(estimate: Estimate, name: str, text: str) -> str:
    known = not math.isnan(estimate[name])
    return f"{text} *" if known and estimate.rests_on(name) else text
