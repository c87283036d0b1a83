"""Arguments of Megatron-LM and Megatron-Core for the model, workload and plan of a scenario.

Names are those of https://github.com/NVIDIA/Megatron-LM (megatron/training/arguments.py).
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from aiplan.adapters.exports.record import Export, copies, on, overlaps, title, wide_gradients, zero_stage

if TYPE_CHECKING:
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.model import Experts, Model

REST = "add what is of your site: data, tokenizer, learning rate, checkpoints"
BACKENDS = {"flash": "flash", "unfused": "unfused", "fused-softmax": "local"}
PRECISIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "bf16": (("bf16", ""),),
    "fp16": (("fp16", ""),),
    "fp8": (("bf16", ""), ("fp8-format", "hybrid")),
    "mxfp8": (("bf16", ""), ("fp8-format", "e4m3"), ("fp8-recipe", "mxfp8")),
    "nvfp4": (("bf16", ""), ("fp4-format", "e2m1")),
}
SHARDING = {2: "optim_grads", 3: "optim_grads_params"}
OPTIMIZERS = {"adam": "adam", "sgd-momentum": "sgd", "sgd": "sgd"}
WIDTH = 110


class Writer:
    """Collects arguments and what cannot be said with them."""

    def __init__(self) -> None:
        self.settings: list[tuple[str, str]] = []
        self.remarks: list[str] = []

    def add(self, name: str, value: object = "") -> None:
        """Add an argument, or a switch."""
        self.settings.append((name, str(value)))

    def switch(self, name: str, *, when: bool) -> None:
        """Add a switch where it is on."""
        if when:
            self.add(name)

    def remark(self, text: str, *, when: bool = True) -> None:
        """Note what the arguments cannot say."""
        if when:
            self.remarks.append(text)


def arguments(scenario: Scenario) -> Writer:
    """Return the arguments of a scenario."""
    writer = Writer()
    _shape(writer, scenario)
    _workload(writer, scenario)
    _sizes(writer, scenario)
    _stages(writer, scenario)
    _states(writer, scenario)
    _kernels(writer, scenario)
    _overlap(writer, scenario)
    return writer


def export(scenario: Scenario) -> Export:
    """Return a file of arguments, with comments."""
    writer = arguments(scenario)
    head = [f"# {title(scenario)}", f"# {REST}", *(f"# not said here: {remark}" for remark in writer.remarks)]
    return Export("\n".join([*head, *lines(writer)]) + "\n", tuple(writer.settings), tuple(writer.remarks))


def lines(writer: Writer) -> list[str]:
    """Return the arguments as lines of readable length."""
    found = [""]
    for name, value in writer.settings:
        word = f"--{name} {shlex.quote(value)}" if value else f"--{name}"
        if found[-1] and len(found[-1]) + len(word) > WIDTH:
            found.append("")
        found[-1] = f"{found[-1]} {word}".strip()
    return found


def _shape(writer: Writer, scenario: Scenario) -> None:
    model = scenario.model
    writer.add("num-layers", model.layers)
    writer.add("hidden-size", model.hidden)
    width = model.ffn if model.ffn is not None else model.experts.ffn if model.experts else None
    if width is not None:
        writer.add("ffn-hidden-size", width)
    writer.add("num-attention-heads", model.heads)
    _attention(writer, model)
    writer.switch("swiglu", when=model.gated)
    rows = model.positions or model.context_length or scenario.file.workload.sequence_length
    writer.add("max-position-embeddings", rows)
    writer.add("position-embedding-type", "learned_absolute" if model.positions else "rope")
    _norms(writer, model)
    _biases(writer, model)
    writer.switch("untie-embeddings-and-output-weights", when=not model.tied)
    _vocabulary(writer, model, scenario.file.plan.tensor)
    if model.experts is not None:
        _experts(writer, model, model.experts)
    if model.mtp_layers:
        writer.add("mtp-num-layers", model.mtp_layers)
    writer.remark("attention and feed-forward side by side", when=model.parallel_block)
    writer.remark("attention sinks", when=model.attention_sinks)


def _attention(writer: Writer, model: Model) -> None:
    latent, groups = model.latent_attention, model.kv_heads or model.heads
    if latent is not None:
        writer.add("multi-latent-attention")
        if latent.query_rank:
            writer.add("q-lora-rank", latent.query_rank)
        names = {"kv-lora-rank": latent.key_value_rank, "qk-head-dim": latent.nope_dim}
        names |= {"qk-pos-emb-head-dim": latent.rope_dim, "v-head-dim": latent.value_dim}
        for name, value in names.items():
            writer.add(name, value)
        return
    if groups != model.heads:
        writer.add("group-query-attention")
        writer.add("num-query-groups", groups)
    if model.head_dim is not None and model.head_dim * model.heads != model.hidden:
        writer.add("kv-channels", model.head_dim)
    writer.switch("qk-layernorm", when=model.qk_norm == "head")
    writer.remark("norms of the whole width of queries and keys", when=model.qk_norm == "full")
    if model.window is not None:
        writer.add("window-size", f"{model.window.size},0")
        some = model.window.layers is not None and model.window.layers != model.layers
        writer.remark(f"which {model.window.layers} layers have the window", when=some)


def _norms(writer: Writer, model: Model) -> None:
    writer.add("normalization", "RMSNorm" if model.norm == "rmsnorm" else "LayerNorm")
    writer.remark(f"norms of the kind {model.norm}", when=model.norm not in {"rmsnorm", "layernorm"})
    writer.remark("a norm behind the embedding", when=model.embedding_norm)
    writer.remark(f"{model.norms_per_layer} norms per layer", when=model.norms_per_layer != 2)


def _biases(writer: Writer, model: Model) -> None:
    bias = model.bias
    every = bias.qkv and bias.attention_output and bias.mlp
    writer.switch("disable-bias-linear", when=not every)
    writer.switch("add-qkv-bias", when=bias.qkv and not every)
    writer.remark("biases of some matrices only", when=not every and (bias.attention_output or bias.mlp))
    writer.remark("a bias of the output head", when=bias.head)


def _vocabulary(writer: Writer, model: Model, tensor: int) -> None:
    """Add the rows as they are: with the multiple that Megatron would not pad them to."""
    writer.add("vocab-size", model.vocab)
    whole = next((step for step in (128, 64, 32, 16, 8, 4, 2, 1) if model.vocab % (step * tensor) == 0), None)
    writer.add("make-vocab-size-divisible-by", whole or 1)
    writer.remark(f"{model.vocab} rows of the vocabulary, which tensor {tensor} pads", when=whole is None)


def _experts(writer: Writer, model: Model, experts: Experts) -> None:
    writer.add("num-experts", experts.count)
    writer.add("moe-router-topk", experts.top_k)
    writer.add("moe-ffn-hidden-size", experts.ffn)
    if experts.shared_ffn:
        writer.add("moe-shared-expert-intermediate-size", experts.shared_ffn)
    writer.switch("moe-shared-expert-gate", when=experts.shared_gate)
    writer.switch("moe-router-enable-expert-bias", when=experts.router_bias)
    some = experts.layers or model.layers
    if some == model.layers:
        return
    if not experts.interleaved:
        writer.add("moe-layer-freq", f"([0]*{model.layers - some}+[1]*{some})")
    elif model.layers % some == 0:
        writer.add("moe-layer-freq", model.layers // some)
    else:
        writer.remark(f"which {some} layers have experts")


def _workload(writer: Writer, scenario: Scenario) -> None:
    work, plan = scenario.file.workload, scenario.file.plan
    writer.add("seq-length", work.sequence_length)
    writer.add("micro-batch-size", plan.micro_batch)
    writer.add("global-batch-size", work.global_batch)
    if work.tokens is not None:
        writer.add("train-samples", round(work.tokens / work.sequence_length))
    for name, value in PRECISIONS.get(work.precision, ()):
        writer.add(name, value)
    writer.remark(f"the precision {work.precision}", when=work.precision == "tf32")
    writer.add("optimizer", OPTIMIZERS.get(work.optimizer, "adam"))
    writer.remark(f"the states of {work.optimizer}", when=work.optimizer not in {"adam", "sgd-momentum"})


def _sizes(writer: Writer, scenario: Scenario) -> None:
    plan = scenario.file.plan
    writer.add("tensor-model-parallel-size", plan.tensor)
    writer.add("pipeline-model-parallel-size", plan.pipeline)
    if plan.context > 1:
        writer.add("context-parallel-size", plan.context)
    if scenario.model.experts is not None:
        writer.add("expert-model-parallel-size", plan.expert)
        writer.add("expert-tensor-parallel-size", plan.expert_tensor)
    writer.switch("sequence-parallel", when=on(scenario, "sequence_parallel"))


def _stages(writer: Writer, scenario: Scenario) -> None:
    plan, layers = scenario.file.plan, scenario.model.layers
    chunks = plan.pipeline * plan.interleave
    if plan.interleave > 1 and layers % chunks == 0 and not plan.count_embedding_as_layer:
        writer.add("num-layers-per-virtual-pipeline-stage", layers // chunks)
    elif plan.interleave > 1:
        writer.add("num-virtual-stages-per-pipeline-rank", plan.interleave)
    if plan.count_embedding_as_layer:
        writer.add("account-for-embedding-in-pipeline-split")
        writer.add("account-for-loss-in-pipeline-split")
    split = plan.stage_layers
    if len(split) < 2:
        return
    if len(set(split[1:-1])) <= 1:
        writer.add("decoder-first-pipeline-num-layers", split[0])
        writer.add("decoder-last-pipeline-num-layers", split[-1])
    else:
        writer.remark(f"stages of {', '.join(str(count) for count in split)} layers")


def _states(writer: Writer, scenario: Scenario) -> None:
    plan, stage = scenario.file.plan, zero_stage(scenario)
    if stage >= 2:
        writer.add("use-megatron-fsdp")
        writer.add("data-parallel-sharding-strategy", SHARDING[stage])
    writer.switch("use-distributed-optimizer", when=stage >= 1)
    if copies(scenario) > 1:
        writer.add("num-distributed-optimizer-instances", copies(scenario))
    writer.switch("optimizer-cpu-offload", when=plan.offload != "none")
    writer.remark("weights on the host", when=plan.offload == "all")
    if wide_gradients(scenario):
        writer.add("accumulate-allreduce-grads-in-fp32")
    elif scenario.file.workload.precision != "fp16":
        writer.add("grad-reduce-in-bf16")
    if plan.recompute == "selective":
        writer.add("recompute-granularity", "selective")
    if plan.recompute != "full":
        return
    count, rest = divmod(plan.recompute_layers or 1, plan.interleave if plan.recompute_layers else 1)
    writer.add("recompute-granularity", "full")
    writer.add("recompute-method", "block" if plan.recompute_layers else "uniform")
    writer.add("recompute-num-layers", max(1, count))
    writer.remark(f"{plan.recompute_layers} layers of a stage, in chunks of it", when=rest > 0)


def _kernels(writer: Writer, scenario: Scenario) -> None:
    plan = scenario.file.plan
    writer.add("attention-backend", BACKENDS[plan.attention or scenario.software.attention])
    if plan.cuda_graphs != "none":
        writer.add("enable-cuda-graph")
    if plan.cuda_graphs == "full":
        writer.add("cuda-graph-scope", "full_iteration")
    if scenario.model.experts is None:
        return
    dispatch = plan.dispatch or scenario.software.dispatch
    writer.add("moe-token-dispatcher-type", "alltoall" if dispatch == "all-to-all" else "flex")
    if dispatch != "all-to-all":
        writer.add("moe-flex-dispatcher-backend", dispatch)


def _overlap(writer: Writer, scenario: Scenario) -> None:
    writer.switch("overlap-grad-reduce", when=overlaps(scenario, "gradients"))
    writer.switch("overlap-param-gather", when=overlaps(scenario, "parameters"))
    writer.switch("tp-comm-overlap", when=overlaps(scenario, "tensor"))
    experts = scenario.model.experts is not None and overlaps(scenario, "expert")
    writer.switch("overlap-moe-expert-parallel-comm", when=experts)
    sends, chunks = overlaps(scenario, "pipeline"), scenario.file.plan.interleave > 1
    writer.switch("no-overlap-p2p-communication", when=chunks and not sends)
