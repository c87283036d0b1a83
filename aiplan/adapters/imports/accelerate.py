"""Hugging Face Accelerate YAML: processes, precision, FSDP or DeepSpeed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.adapters.imports import batches, deepspeed
from aiplan.adapters.imports.document import JSON, YAML
from aiplan.adapters.imports.kind import Kind

if TYPE_CHECKING:
    from aiplan.adapters.imports.document import Document
    from aiplan.adapters.imports.kind import Harmless
    from aiplan.adapters.imports.ledger import Ledger

MARKS = {"distributed_type", "fsdp_config", "deepspeed_config", "parallelism_config", "megatron_lm_config"}
STRATEGIES = {
    "full_shard": 3,
    "1": 3,
    "shard_grad_op": 2,
    "2": 2,
    "no_shard": 0,
    "3": 0,
    "hybrid_shard": 3,
    "4": 3,
    "hybrid_shard_zero2": 2,
    "5": 2,
}
HYBRID = {"hybrid_shard", "4", "hybrid_shard_zero2", "5"}
TYPES = {"NO", "MULTI_GPU", "FSDP", "DEEPSPEED", "MEGATRON_LM"}
HARMLESS: Harmless = tuple(
    (pattern, why)
    for why, patterns in {
        "how processes find each other": (
            "machine_rank",
            "main_process_*",
            "rdzv*",
            "same_network",
            "main_training_function",
            "enable_cpu*",
            "deepspeed_config.deepspeed_hostfile",
            "*launcher*",
            "compute_environment",
            "tpu_*",
            "gpu_ids",
            "use_cpu",
            "debug",
            "mpirun*",
            "commands",
            "command_file",
            "fork_launch",
        ),
        "how the code runs": (
            "*auto_wrap*",
            "*backward_prefetch*",
            "*forward_prefetch*",
            "*cpu_ram*",
            "*state_dict*",
            "*sync_module*",
            "*use_orig*",
            "*zero3_*",
            "*transformer_layer*",
            "dynamo_config*",
            "*min_num_params*",
            "downcast_bf16",
            "*gradient_clipping*",
            "fp8_config*",
            "*fsdp_version",
        ),
    }.items()
    for pattern in patterns
)


def detect(document: Document) -> bool:
    """Whether a document is a configuration of Accelerate."""
    return document.form in {YAML, JSON} and bool(document.names & MARKS)


def read(ledger: Ledger) -> None:
    """Take processes, precision and sharding."""
    kind = ledger.got("distributed_type")
    name = kind.text.upper() if kind is not None else "NO"
    if kind is not None and name not in TYPES:
        ledger.refuse(
            f"distributed_type '{kind.text[:40]}' is not modelled", kind.mark, f"known: {', '.join(sorted(TYPES))}"
        )
        return
    ledger.put("cluster.nodes", ledger.count("num_machines"))
    processes = ledger.count("num_processes")
    if not ledger.put("cluster.accelerators", processes) and name == "NO" and kind is not None:
        ledger.default("cluster.accelerators", 1, "one process without distribution", kind.mark)
    _precision(ledger)
    _parallel(ledger)
    if name == "FSDP":
        _fsdp(ledger)
    elif name == "DEEPSPEED":
        _deepspeed(ledger)
    elif name == "MEGATRON_LM":
        _megatron(ledger)
    else:
        ledger.default("plan.zero", 0, f"distributed_type {name} copies the whole model", kind and kind.mark)
    accumulated = batches.automatic(ledger, batches.ACCUMULATION, "gradient_accumulation_steps")
    ledger.put(batches.ACCUMULATION, accumulated)
    preset = {"DEEPSPEED": "deepspeed", "MEGATRON_LM": "megatron-core"}.get(name, "torchtitan")
    ledger.default("software", preset, "the nearest preset", kind and kind.mark)


def _precision(ledger: Ledger) -> None:
    got = ledger.word("mixed_precision")
    if got is None:
        ledger.default("workload.precision", "fp32", "no mixed_precision")
    elif got.text in {"bf16", "fp16", "fp8"}:
        ledger.put("workload.precision", got, got.text)
    elif got.text in {"no", "false", "none"}:
        ledger.put("workload.precision", got, "fp32")
    else:
        ledger.wrong(got, f"'{got.text[:40]}' is none of no, fp16, bf16, fp8")


def _parallel(ledger: Ledger) -> None:
    """Take sizes of parallel groups, whose product is the number of processes."""
    names = {"tensor": "tp_size", "context": "cp_size", "replicas": "dp_replicate_size", "shards": "dp_shard_size"}
    found = {
        field: ledger.count(f"parallelism_config.parallelism_config_{key}", f"parallelism_config.{key}")
        for field, key in names.items()
    }
    ledger.put("plan.tensor", found["tensor"])
    ledger.put("plan.context", found["context"])
    replicas, shards = found["replicas"], found["shards"]
    either = replicas or shards
    if either is not None:
        count = (replicas.value if replicas else 1) * (shards.value if shards else 1)
        ledger.put("plan.data", either, count, "replicas x shards")
    if shards is not None and shards.value > 1:
        batches.copies(ledger, replicas)


def _fsdp(ledger: Ledger) -> None:
    strategy = ledger.word("fsdp_config.fsdp_sharding_strategy")
    again = ledger.got("fsdp_config.fsdp_reshard_after_forward")
    if strategy is not None:
        name = strategy.text.removeprefix("_")
        if name in STRATEGIES:
            ledger.put("plan.zero", strategy, STRATEGIES[name])
        else:
            ledger.wrong(
                strategy, f"'{strategy.text[:40]}' is no sharding strategy", "FULL_SHARD, SHARD_GRAD_OP, NO_SHARD"
            )
        if name in HYBRID:
            batches.in_node(ledger, strategy)
    elif again is not None and again.text.lower() in {"true", "false", "full_shard", "shard_grad_op", "no_shard"}:
        word = again.text.lower()
        ledger.put("plan.zero", again, {"true": 3, "false": 2}.get(word) or STRATEGIES.get(word, 3))
    else:
        ledger.default("plan.zero", 3, "FSDP shards everything by default")
    recompute = ledger.flag("fsdp_config.fsdp_activation_checkpointing")
    if recompute is not None:
        ledger.put("plan.recompute", recompute, "full" if recompute.value else "none")
    host = ledger.flag("fsdp_config.fsdp_offload_params")
    if host is not None and host.value:
        ledger.put(deepspeed.OFFLOAD, host, "all")


def _deepspeed(ledger: Ledger) -> None:
    inside = "deepspeed_config"
    stage = ledger.count(f"{inside}.zero_stage", minimum=0)
    ledger.put("plan.zero", stage)
    ledger.put(
        batches.ACCUMULATION, batches.automatic(ledger, batches.ACCUMULATION, f"{inside}.gradient_accumulation_steps")
    )
    names = ("offload_optimizer_device", "offload_param_device")
    deepspeed.on_host(ledger, *(ledger.word(f"{inside}.{name}") for name in names))
    other = ledger.got(f"{inside}.deepspeed_config_file")
    if other is not None:
        ledger.warn(
            f"the DeepSpeed configuration '{other.text}' is not read",
            other.mark,
            "name it too: aiplan import takes several files",
        )
        ledger.skip(other.key, other.mark, "another file, which was not named", matters=False)


def _megatron(ledger: Ledger) -> None:
    inside = "megatron_lm_config.megatron_lm"
    for field, key in (("tensor", "tp_degree"), ("pipeline", "pp_degree")):
        ledger.put(f"plan.{field}", ledger.count(f"{inside}_{key}"))
    ledger.put("plan.sequence_parallel", ledger.flag(f"{inside}_sequence_parallelism"))
    ledger.put(batches.ACCUMULATION, ledger.count(f"{inside}_num_micro_batches"))
    split = ledger.flag(f"{inside}_use_distributed_optimizer")
    ledger.put("plan.zero", split, int(bool(split and split.value)))
    some = ledger.flag(f"{inside}_recompute_activations")
    ledger.put("plan.recompute", some, "selective" if some and some.value else "none")


KIND = Kind("accelerate-yaml", "Accelerate configuration", "processes, precision, sharding", detect, read, HARMLESS)
