"""What the arguments of Megatron-LM and Megatron-Core say about batch, precision and layout."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiplan.adapters.imports import batches

if TYPE_CHECKING:
    from aiplan.adapters.imports.arguments import Arguments
    from aiplan.adapters.imports.ledger import Got

SHARDING = {"no_shard": 0, "optim": 1, "optim_grads": 2, "optim_grads_params": 3}
BACKENDS = {"flash": "flash", "fused": "flash", "unfused": "unfused", "local": "fused-softmax"}
OFFLOADS = ("cpu-offloading", "fine-grained-activation-offloading")
TOKENS = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
_STAGE = re.compile(r"(\d{1,6}(?:\.\d+)?)([KMBT]?):(\d{1,9})")


def workload(arguments: Arguments) -> None:
    """Take batch, sequence, tokens, precision and optimizer."""
    ledger = arguments.ledger
    arguments.put("workload.sequence_length", "seq-length", "encoder-seq-length")
    arguments.put("plan.micro_batch", "micro-batch-size")
    if arguments.put("workload.global_batch", "global-batch-size") is None:
        _scheduled(arguments)
    rising = arguments.got("rampup-batch-size")
    if rising is not None:
        ledger.skip(rising.key, rising.mark, "the batch while it rises is not modelled", matters=False)
        ledger.warn("the batch rises at first; the whole training is estimated at its final size", rising.mark)
    _tokens(arguments)
    _precision(arguments)
    optimizer = arguments.word("optimizer")
    if optimizer is not None and "sgd" in optimizer.text:
        ledger.put("workload.optimizer", optimizer, "sgd-momentum")
    elif optimizer is not None and "adam" not in optimizer.text and "distributed" not in optimizer.text:
        ledger.refuse(f"the optimizer '{optimizer.text[:40]}' is not modelled", optimizer.mark, "adam and sgd are")
    else:
        ledger.default("workload.optimizer", "adam", "as by default", optimizer and optimizer.mark)


def _scheduled(arguments: Arguments) -> None:
    """Take the last batch of a schedule."""
    got = arguments.got("step-batch-size-schedule")
    stages = _STAGE.findall(got.text) if got is not None else []
    if got is None or not stages:
        return
    arguments.ledger.put("workload.global_batch", got, int(stages[-1][2]), "the last batch of the schedule")
    if len(stages) > 1:
        listed = ", ".join(stage[2] for stage in stages)
        arguments.ledger.warn(f"the batch changes ({listed}); the whole training is estimated at the last", got.mark)


def _tokens(arguments: Arguments) -> None:
    ledger = arguments.ledger
    sequence, batch = ledger.number("workload.sequence_length"), ledger.number("workload.global_batch")
    samples, steps, tokens = (arguments.count(name) for name in ("train-samples", "train-iters", "train-tokens"))
    if tokens is not None:
        ledger.put("workload.tokens", tokens)
    elif samples is not None and sequence:
        ledger.put("workload.tokens", samples, samples.value * sequence, "samples x sequence")
    elif steps is not None and sequence and batch:
        ledger.put("workload.tokens", steps, steps.value * batch * sequence, "steps x batch x sequence")


def _precision(arguments: Arguments) -> None:
    ledger = arguments.ledger
    narrow, recipe = arguments.got("fp8-format", "fp8"), arguments.word("fp8-recipe")
    four = arguments.got("fp4-format", "fp4")
    half = arguments.on("bf16") or arguments.on("fp16")
    name = "bf16" if arguments.on("bf16") else "fp16"
    if four is not None and four.value is not False:
        ledger.put("workload.precision", four, "nvfp4")
    elif narrow is not None and narrow.value is not False and narrow.text.lower() not in {"false", "none"}:
        mx = recipe is not None and "mx" in recipe.text
        ledger.put("workload.precision", narrow, "mxfp8" if mx else "fp8")
    elif not ledger.put("workload.precision", half, name):
        ledger.default("workload.precision", "fp32", "neither --bf16 nor --fp16")
    whole = arguments.on("accumulate-allreduce-grads-in-fp32", "grad-reduce-in-fp32")
    if ledger.put("plan.gradient_precision", whole, "fp32"):
        arguments.on("grad-reduce-in-bf16")
    elif not ledger.put("plan.gradient_precision", arguments.on("grad-reduce-in-bf16"), "bf16"):
        wide = name == "bf16" or half is None
        why = "gradients are added up in fp32 with bf16" if wide else "gradients stay in two bytes with fp16"
        ledger.default("plan.gradient_precision", "fp32" if wide else "bf16", why, half and half.mark)


def plan(arguments: Arguments) -> None:
    """Take the parallel layout."""
    ledger = arguments.ledger
    sizes = {
        "tensor": ("tensor-model-parallel-size",),
        "pipeline": ("pipeline-model-parallel-size",),
        "context": ("context-parallel-size",),
        "expert": ("expert-model-parallel-size",),
    }
    for field, names in sizes.items():
        if arguments.put(f"plan.{field}", *names) is None:
            ledger.default(f"plan.{field}", 1, f"no --{names[0]}")
    inside = arguments.count("expert-tensor-parallel-size")
    if not ledger.put("plan.expert_tensor", inside) and "model.experts.count" in ledger.facts:
        ledger.default("plan.expert_tensor", ledger.number("plan.tensor"), "as --tensor-model-parallel-size")
    split = arguments.on("sequence-parallel")
    if ledger.number("plan.tensor") == 1 and split is not None:
        ledger.skip(split.key, split.mark, "one tensor parallel rank: nothing to split", matters=False)
    else:
        arguments.switch("plan.sequence_parallel", "sequence-parallel")
    _chunks(arguments)
    _stages(arguments)
    _sharding(arguments)
    _recompute(arguments)
    _kernels(arguments)
    _overlap(arguments)


def _chunks(arguments: Arguments) -> None:
    ledger = arguments.ledger
    layers, stages = ledger.number("model.layers"), ledger.number("plan.pipeline")
    each, chunks = (
        arguments.count("num-layers-per-virtual-pipeline-stage"),
        arguments.count("num-virtual-stages-per-pipeline-rank", "virtual-pipeline-model-parallel-size"),
    )
    if chunks is not None:
        ledger.put("plan.interleave", chunks)
    elif each is not None and layers and stages:
        if layers % (stages * each.value):
            text = f"{layers} layers do not divide over {stages} stages in chunks of {each.value}"
            ledger.diagnostics.error("AIP307", text, each.mark)
            return
        ledger.put("plan.interleave", each, layers // (stages * each.value), "layers / (stages x layers of a chunk)")


def _stages(arguments: Arguments) -> None:
    ledger = arguments.ledger
    layers, stages = ledger.number("model.layers"), ledger.number("plan.pipeline")
    both = arguments.on("account-for-embedding-in-pipeline-split"), arguments.on("account-for-loss-in-pipeline-split")
    method = arguments.word("pp-partition-method")
    if method is not None and "embedding" in method.text:
        ledger.put("plan.count_embedding_as_layer", method, True, "embedding and head count as layers")
    if all(both):
        ledger.put("plan.count_embedding_as_layer", both[0], True)
    elif any(both):
        one = both[0] or both[1]
        ledger.refuse(
            "embedding or head alone counted as a layer is not modelled", one and one.mark, "count both, or none"
        )
    first = arguments.count("decoder-first-pipeline-num-layers")
    last = arguments.count("decoder-last-pipeline-num-layers")
    if (first is None and last is None) or not layers or stages < 2:
        return
    ends = [end.value for end in (first, last) if end is not None]
    rest, between = layers - sum(ends), stages - len(ends)
    mark = (first or last or both[0]).mark  # type: ignore[union-attr]
    if rest < 0 or (rest % between if between else rest):
        text = f"{layers} layers do not divide: {rest} are left for {between} stages"
        ledger.diagnostics.error("AIP305", text, mark)
        return
    middle = [rest // between] * between if between else []
    split = [*([first.value] if first else []), *middle, *([last.value] if last else [])]
    ledger.facts["plan.stage_layers"] = ledger.facts["plan.pipeline"]._replace(
        path="plan.stage_layers", value=split, mark=mark, taken=True, why="first, middle and last stages"
    )


def _sharding(arguments: Arguments) -> None:
    ledger = arguments.ledger
    strategy, shards = (
        arguments.word("data-parallel-sharding-strategy"),
        arguments.on("use-megatron-fsdp", "use-custom-fsdp"),
    )
    whole, stage = arguments.on("use-torch-fsdp2", "fsdp"), arguments.count("zero-stage", minimum=0)
    split = arguments.on("use-distributed-optimizer", "overlap-param-gather-with-optimizer-step")
    if shards is not None and strategy is not None and strategy.text in SHARDING:
        ledger.put("plan.zero", strategy, SHARDING[strategy.text])
    elif whole is not None or shards is not None:
        ledger.put("plan.zero", whole or shards, 3)
    elif stage is not None and stage.value == 0 and arguments.on("deepspeed") and arguments.on("bf16"):
        ledger.put("plan.zero", stage, 1, "with bf16 the optimizer of Megatron-DeepSpeed shards its states by itself")
    elif stage is not None:
        ledger.put("plan.zero", stage)
    elif not ledger.put("plan.zero", split, 1):
        ledger.default("plan.zero", 0, "no --use-distributed-optimizer")
    instances = arguments.count("num-distributed-optimizer-instances")
    if ledger.number("plan.zero"):
        batches.copies(ledger, instances)
    _on_host(arguments)
    for name in OFFLOADS:
        got = arguments.on(name)
        if got is not None:
            ledger.skip(got.key, got.mark, "activations on the host are not modelled")
            ledger.warn(f"{got.key} is not modelled: activations are kept on the accelerator", got.mark)


def _on_host(arguments: Arguments) -> None:
    """Take optimizer states on the host, all of them."""
    ledger = arguments.ledger
    offloaded, share = (
        arguments.on("optimizer-cpu-offload", "cpu-optimizer"),
        arguments.got("optimizer-offload-fraction"),
    )
    if offloaded is None:
        return
    if share is not None and share.value != 1:
        ledger.skip(share.key, share.mark, "a part of the states on the host is not modelled")
        ledger.warn(f"{share.key} {share.text[:20]} is not modelled: all states are taken as on the host", share.mark)
    ledger.put("plan.offload", offloaded, "optimizer")


def _recompute(arguments: Arguments) -> None:
    ledger = arguments.ledger
    how, method = arguments.word("recompute-granularity"), arguments.word("recompute-method")
    count = arguments.count("recompute-num-layers")
    old = arguments.on("checkpoint-activations")
    some = arguments.on("recompute-activations")
    if how is not None and how.text in {"full", "selective"}:
        ledger.put("plan.recompute", how, how.text)
    elif old is not None:
        ledger.put("plan.recompute", old, "full")
    elif not ledger.put("plan.recompute", some, "selective"):
        ledger.default("plan.recompute", "none", "no --recompute-granularity")
    full = ledger.value("plan.recompute") == "full"
    if full and count is not None and method is not None and method.text == "block":
        chunks = max(1, ledger.number("plan.interleave"))
        ledger.put("plan.recompute_layers", count, count.value * chunks, "layers of a chunk x chunks of a stage")


def _kernels(arguments: Arguments) -> None:
    ledger = arguments.ledger
    backend, flash = arguments.word("attention-backend"), arguments.on("use-flash-attn", "use-flash-attention")
    if backend is not None and backend.text in BACKENDS:
        ledger.put("plan.attention", backend, BACKENDS[backend.text])
    else:
        ledger.put("plan.attention", flash, "flash")
    graphs, scope = arguments.on("enable-cuda-graph", "external-cuda-graph"), arguments.word("cuda-graph-scope")
    kind = arguments.word("cuda-graph-impl")
    if graphs is not None or (kind is not None and kind.text != "none"):
        whole = scope is not None and "full_iteration" in scope.text
        ledger.put("plan.cuda_graphs", graphs or kind, "full" if whole else "partial")
    sends, backend = arguments.word("moe-token-dispatcher-type"), arguments.word("moe-flex-dispatcher-backend")
    deep = arguments.on("moe-enable-deepep")
    if "model.experts.count" not in ledger.facts:
        return
    if backend is not None and backend.text in {"deepep", "hybridep"}:
        ledger.put("plan.dispatch", backend, backend.text)
    elif deep is not None:
        ledger.put("plan.dispatch", deep, "deepep")
    elif not ledger.put("plan.dispatch", sends, "all-to-all"):
        ledger.default("plan.dispatch", "all-to-all", "no --moe-token-dispatcher-type")


def _overlap(arguments: Arguments) -> None:
    ledger = arguments.ledger
    arguments.switch("plan.overlap.gradients", "overlap-grad-reduce")
    arguments.switch("plan.overlap.parameters", "overlap-param-gather")
    arguments.switch("plan.overlap.tensor", "tp-comm-overlap")
    arguments.switch("plan.overlap.expert", "overlap-moe-expert-parallel-comm")
    off, on = arguments.on("no-overlap-p2p-communication"), arguments.on("overlap-p2p-communication")
    chunks = ledger.number("plan.interleave") > 1
    if on is not None or off is not None:
        ledger.put("plan.overlap.pipeline", on or off, on is not None)
    elif chunks:
        ledger.default("plan.overlap.pipeline", True, "sends overlap with interleaving, unless turned off")


def cluster(arguments: Arguments) -> None:
    """Take the number of accelerators, if something says it."""
    ledger = arguments.ledger
    world, nodes = _known(arguments, "world-size"), _known(arguments, "nnodes", "nodes", "num-nodes")
    each = _per_node(arguments)
    if nodes is not None:
        ledger.put("cluster.nodes", nodes)
    if world is not None:
        ledger.put("cluster.accelerators", world)
    elif nodes is not None and each is not None:
        ledger.put("cluster.accelerators", each, nodes.value * each.value, "nodes x processes of a node")
    if each is not None:
        ledger.put("_accelerators_per_node", each)


def _known(arguments: Arguments, *names: str) -> Got | None:
    """Return the first of some counts that is a number: others are variables of the place where it runs."""
    found = [got for got in (arguments.got(name) for name in names) if got is not None and isinstance(got.value, int)]
    return arguments.ledger.as_count(found[0]) if found else None


def _per_node(arguments: Arguments) -> Got | None:
    given = arguments.got("gres")
    names = ("nproc-per-node", "gpus-per-node", "devices", "ntasks-per-node")
    per_node = _known(arguments, *names)
    digits = re.search(r"gpu:(?:[\w.-]+:)?(\d{1,3})$", given.text) if given is not None else None
    if given is not None and digits is not None:
        return given._replace(value=int(digits[1]))
    return per_node
