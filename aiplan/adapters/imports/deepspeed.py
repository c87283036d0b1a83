"""DeepSpeed JSON: batch, precision, ZeRO stage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.adapters.imports import batches
from aiplan.adapters.imports.document import JSON, YAML
from aiplan.adapters.imports.kind import Kind
from aiplan.declare import Scalar

if TYPE_CHECKING:
    from aiplan.adapters.imports.document import Document
    from aiplan.adapters.imports.kind import Harmless
    from aiplan.adapters.imports.ledger import Got, Ledger

MARKS = {"zero_optimization", "train_micro_batch_size_per_gpu", "train_batch_size"}
SHAPE = {"num_layers", "num-layers", "hidden_size", "hidden-size"}
WHOLE, TWO_BYTES = {"fp32", "float32"}, {"bf16", "bfloat16", "fp16", "float16"}
HOSTS = ("cpu", "nvme")
OFFLOAD = "plan.offload"
HARMLESS: Harmless = tuple(
    (pattern, why)
    for why, patterns in {
        "how the optimizer steps": (
            "*.params.*",
            "scheduler.*",
            "gradient_clipping",
            "fp16.*",
            "bf16.*",
            "amp.*",
            "*grad_scaling*",
        ),
        "sizes of buffers": (
            "*bucket_size",
            "*sub_group_size",
            "*max_live*",
            "*max_reuse*",
            "*threshold",
            "*pin_memory",
            "*buffer*",
            "*prefetch*",
            "aio.*",
            "*round_robin*",
            "*fast_init",
        ),
        "how the code runs": (
            "*allgather_partitions",
            "*reduce_scatter",
            "*contiguous_gradients",
            "*16bit_weights*",
            "*ignore_unused*",
            "zero_allow_untested*",
            "zero_force_ds*",
            "communication_*",
            "prescale_gradients",
            "*gather_16bit*",
            "*fp16_master*",
            "sparse_gradients",
            "disable_allgather",
            "*legacy*",
            "compile.*",
        ),
        "logs and checks": (
            "steps_per_print",
            "wall_clock*",
            "dump_state",
            "flops_profiler*",
            "tensorboard*",
            "wandb*",
            "comms_logger*",
            "csv_monitor*",
            "checkpoint.*",
            "*elastic*",
            "memory_breakdown",
            "monitor*",
            "*_name_or_path",
        ),
        "takes effect only where the program asks for it": ("activation_checkpointing.*",),
    }.items()
    for pattern in patterns
)


def detect(document: Document) -> bool:
    """Whether a document is a configuration of DeepSpeed."""
    keys = document.names
    return document.form in {JSON, YAML} and bool(keys & MARKS) and not keys & SHAPE


def read(ledger: Ledger) -> None:
    """Take batch, precision and sharding."""
    micro = batches.automatic(ledger, batches.MICRO, "train_micro_batch_size_per_gpu")
    total = batches.automatic(ledger, batches.BATCH, "train_batch_size")
    batches.batch(ledger, micro, accumulation(ledger), total)
    precision(ledger)
    zero(ledger)
    _optimizer(ledger)
    ledger.put("plan.tensor", ledger.count("tensor_parallel.autotp_size", "tensor_parallel.tp.tp_size"))
    _gradients(ledger)
    ledger.default("software", "deepspeed", "the preset of DeepSpeed")


def accumulation(ledger: Ledger) -> Got | None:
    """Return how many micro-batches a step adds up."""
    return batches.automatic(ledger, batches.ACCUMULATION, "gradient_accumulation_steps")


def precision(ledger: Ledger) -> None:
    """Take the data type; both open, or both on, is no choice."""
    found = {name: ledger.got(f"{name}.enabled") for name in ("bf16", "fp16", "fp8")}
    on = {name: got for name, got in found.items() if got is not None and got.value is True}
    open_ones = [got for got in found.values() if got is not None and got.text.lower() == "auto"]
    if len(on) > 1:
        first, second = list(on.values())[:2]
        ledger.diagnostics.error(
            "AIP342",
            f"{first.key} and {second.key} are both on",
            second.mark,
            expected=f"{first.key} is set at {first.mark.where}",
            hint="keep one of the two",
        )
    elif on:
        name, got = next(iter(on.items()))
        ledger.put("workload.precision", got, name)
    elif open_ones:
        names = " and ".join(got.key for got in open_ones)
        ledger.ask("workload.precision", open_ones[0], f"{names}: 'auto'")
    else:
        ledger.default("workload.precision", "fp32", "neither fp16 nor bf16 is on")


def zero(ledger: Ledger) -> None:
    """Take the ZeRO stage, and say what is kept on the host."""
    block = ledger.document.at("zero_optimization")
    if isinstance(block, Scalar):
        old = ledger.flag("zero_optimization")
        ledger.put("plan.zero", old, int(bool(old and old.value)))
        return
    stage = ledger.count("zero_optimization.stage", minimum=0)
    if stage is not None and stage.value > 3:
        ledger.wrong(stage, f"ZeRO has the stages 0 to 3, not {stage.value}")
    elif not ledger.put("plan.zero", stage):
        ledger.default("plan.zero", 0, "no zero_optimization.stage")
    number = ledger.number("plan.zero")
    overlap = ledger.got("zero_optimization.overlap_comm")
    if overlap is not None and isinstance(overlap.value, bool):
        ledger.put("plan.overlap.gradients", overlap)
        ledger.put("plan.overlap.parameters", overlap)
    elif block is not None:
        why = "on by default with stage 3, off else"
        ledger.default("plan.overlap.gradients", number == 3, why)
        ledger.default("plan.overlap.parameters", number == 3, why)
    _host(ledger)


def _host(ledger: Ledger) -> None:
    """Take what lies on the host, and say what has no model."""
    on_host(
        ledger,
        ledger.word("zero_optimization.offload_optimizer.device"),
        ledger.word("zero_optimization.offload_param.device"),
    )
    old = ledger.flag("zero_optimization.cpu_offload")
    if old is not None and old.value:
        ledger.put(OFFLOAD, old, "optimizer")
    shared = ledger.got("zero_optimization.mics_shard_size")
    if shared is not None and shared.value not in {0, -1}:
        ledger.put("plan.shards", ledger.as_count(shared))
    for name in ("zero_hpz_partition_size", "zero_quantized_weights", "zero_quantized_gradients"):
        got = ledger.got(f"zero_optimization.{name}")
        if got is not None and got.value not in {1, 0, -1}:
            ledger.skip(got.key, got.mark, "not modelled")


def on_host(ledger: Ledger, optimizer: Got | None, weights: Got | None) -> None:
    """Take the devices that optimizer states and weights are offloaded to: the memory of the host has a model."""
    here, there = ([got for got in (optimizer, weights) if got is not None and got.text == word] for word in HOSTS)
    for got in there:
        unmodelled(ledger, got, "drives of a node are not modelled")
    if optimizer in here:
        ledger.put(OFFLOAD, optimizer, "all" if weights in here else "optimizer")
    elif here:
        unmodelled(ledger, here[0], "weights on the host with their optimizer states elsewhere are not modelled")
    for device in (optimizer, weights):
        if device is not None and device.text not in {*HOSTS, "none", ""}:
            ledger.wrong(device, f"'{device.text[:40]}' is none of none, cpu, nvme")


def unmodelled(ledger: Ledger, got: Got, why: str) -> None:
    """Say that something is kept elsewhere in a way that has no model."""
    ledger.skip(got.key, got.mark, why)
    ledger.warn(
        f"{got.key} is not modelled: everything is kept on the accelerator",
        got.mark,
        "memory is over-estimated and the step under-estimated",
    )


def _optimizer(ledger: Ledger) -> None:
    got = ledger.word("optimizer.type")
    name = got.text.replace("_", "") if got else ""
    if got is None:
        ledger.default("workload.optimizer", "adam", "no optimizer.type: the program brings its own")
    elif "onebit" in name or "zeroone" in name:
        ledger.put("workload.optimizer", got, "adam")
        ledger.put("communication.compression", got, "1bit")
    elif "adam" in name or "lamb" in name:
        ledger.put("workload.optimizer", got, "adam")
    elif name == "sgd":
        ledger.put("workload.optimizer", got, "sgd-momentum")
    else:
        ledger.refuse(f"the optimizer '{got.text[:40]}' is not modelled", got.mark, "Adam and SGD are")


def _gradients(ledger: Ledger) -> None:
    got = ledger.word("data_types.grad_accum_dtype")
    if got is not None and got.text in WHOLE | TWO_BYTES:
        ledger.put("plan.gradient_precision", got, "fp32" if got.text in WHOLE else "bf16")


KIND = Kind("deepspeed-json", "DeepSpeed configuration", "batch, precision, ZeRO stage", detect, read, HARMLESS)
