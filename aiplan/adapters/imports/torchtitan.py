"""torchtitan TOML: which model, batch, layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.adapters.imports import batches, named_models
from aiplan.adapters.imports.document import TOML
from aiplan.adapters.imports.kind import Kind
from aiplan.declare import Diagnostics, Scalar
from aiplan.scenario.files import find_in_library
from aiplan.scenario.lookup import load_model

if TYPE_CHECKING:
    from aiplan.adapters.imports.document import Document
    from aiplan.adapters.imports.kind import Harmless
    from aiplan.adapters.imports.ledger import Got, Ledger

TABLES = {"parallelism", "training", "model", "activation_checkpoint", "experimental"}
DEGREES = {
    "tensor": "tensor_parallel_degree",
    "pipeline": "pipeline_parallel_degree",
    "context": "context_parallel_degree",
    "expert": "expert_parallel_degree",
    "expert_tensor": "expert_tensor_parallel_degree",
}
CONVERTERS = (("quantize.linear.mx", "mxfp8"), ("mx", "mxfp8"), ("quantize.linear.float8", "fp8"), ("float8", "fp8"))
HARMLESS: Harmless = tuple(
    (pattern, why)
    for why, patterns in {
        "logs, evaluation, checkpoints": (
            "job.*",
            "profiling.*",
            "metrics.*",
            "checkpoint.*",
            "validation.*",
            "comm.*",
            "debug.*",
            "*memory_estimation*",
            "*.dump_folder",
            "fault_tolerance.*",
        ),
        "how the optimizer steps": (
            "optimizer.*",
            "lr_scheduler.*",
            "*.max_norm",
            "*.warmup_steps",
            "*.seed",
            "*.deterministic",
        ),
        "data and tokenizer": ("*.dataset*", "*tokenizer*", "*.hf_assets_path", "*.data_parallel_*loader*"),
        "the code that runs": (
            "compile.*",
            "*.filter_fqns",
            "*.precompute*",
            "*.gc_*",
            "*.components",
            "*.print_after*",
            "*.use_for_integration*",
            "*.disable_loss_parallel",
            "*.selective_ac_option",
            "*.early_stop",
            "*per_op_sac*",
            "*.fsdp_*all_gather*",
            "*.enable_fsdp_float8*",
            "*.enable_compiled*",
            "*_symm_mem*",
            "*cp_rotate*",
            "*.context_parallel_rotate*",
            "*.recipe_name",
            "*.norm_type",
            "*.rope*",
            "*.force_recompute*",
            "*.preserve_rng_state",
            "*.determinism_check",
        ),
    }.items()
    for pattern in patterns
)


def detect(document: Document) -> bool:
    """Whether a document is a job of torchtitan."""
    return document.form == TOML and len(document.names & TABLES) >= 2


def read(ledger: Ledger) -> None:
    """Take model, batch and layout."""
    _model(ledger)
    sizes = {field: _degree(ledger, key) for field, key in DEGREES.items()}
    for field, got in sizes.items():
        ledger.put(f"plan.{field}", got)
    _chunks(ledger)
    _data(ledger)
    _batch(ledger)
    _precision(ledger)
    mode = ledger.word("activation_checkpoint.mode")
    if mode is not None and mode.text in {"none", "selective", "full"}:
        ledger.put("plan.recompute", mode, mode.text)
    elif mode is None:
        ledger.default("plan.recompute", "selective", "torchtitan's default")
    else:
        ledger.wrong(mode, f"'{mode.text[:40]}' is none of none, selective, full")
    ledger.put(
        "plan.overlap.tensor",
        ledger.flag("parallelism.enable_async_tensor_parallel", "experimental.enable_async_tensor_parallel"),
    )
    host = ledger.flag("training.enable_cpu_offload")
    if host is not None and host.value:
        ledger.put("plan.offload", host, "all")
    steps = ledger.count("training.steps")
    ledger.put(batches.STEPS, steps)
    ledger.default("software", "torchtitan", "the preset of torchtitan")


def _degree(ledger: Ledger, key: str) -> Got | None:
    return ledger.count(f"parallelism.{key}", f"training.{key}", f"experimental.{key}")


def _model(ledger: Ledger) -> None:
    name, size = ledger.got("model.name"), ledger.got("model.flavor")
    assets = ledger.document.text_at("model.hf_assets_path")
    if name is None or size is None:
        ledger.missing("model.name", "model.flavor")
        return
    found = named_models.flavor(name.text, size.text) or named_models.published(assets)
    if found is None:
        ledger.ask("model", size, f"the shape of {name.text} {size.text} is not in the file; give a model")
        return
    ledger.put("model", size, found, f"{name.text} {size.text} by the library of models")


def _chunks(ledger: Ledger) -> None:
    """Take the chunks of a stage from the layers of each, where the file says them."""
    each, stages = _degree(ledger, "pipeline_parallel_layers_per_stage"), ledger.number("plan.pipeline")
    schedule = ledger.got("parallelism.pipeline_parallel_schedule", "experimental.pipeline_parallel_schedule")
    name = ledger.value("model")
    place = find_in_library("models", str(name)) if name is not None else None
    found = load_model(place, Diagnostics()) if place is not None and each is not None else None
    if each is None or found is None or stages < 2:
        return
    layers = found[0].layers
    if layers % (stages * each.value):
        text = f"{layers} layers do not divide over {stages} stages in parts of {each.value}"
        ledger.diagnostics.error("AIP307", text, each.mark)
        return
    chunks = layers // (stages * each.value)
    ledger.put("plan.interleave", each, chunks, "layers / (stages x layers of a part)")
    if chunks > 1 and schedule is None:
        ledger.warn("several parts of a stage need an interleaved schedule", each.mark)


def _data(ledger: Ledger) -> None:
    """Take how data parallel ranks are sharded; -1 means all that are left."""
    shards = ledger.got(
        "parallelism.data_parallel_shard_degree", "training.data_parallel_shard_degree", "training.data_parallel_degree"
    )
    copies = _degree(ledger, "data_parallel_replicate_degree")
    again = ledger.word("parallelism.fsdp_reshard_after_forward")
    if shards is not None and shards.value != -1:
        shards = ledger.as_count(shards)
    many = copies.value if copies else 1
    if shards is not None and shards.value != -1:
        ledger.put("plan.data", shards, shards.value * many, "shards x replicas")
    alone = shards is not None and shards.value == 1
    if alone and shards is not None:
        ledger.put("plan.zero", shards, 0, "copies of the whole model")
    elif again is not None and again.text == "never":
        ledger.put("plan.zero", again, 2, "parameters stay gathered")
    elif not ledger.put("plan.zero", shards, 3, "parameters are sharded"):
        ledger.default("plan.zero", 3, "parameters are sharded over all ranks by default")
    if not alone:
        batches.copies(ledger, copies)


def _batch(ledger: Ledger) -> None:
    """Take the batch: `local_batch_size` is what a data parallel rank gets in a step."""
    ledger.put("workload.sequence_length", ledger.count("training.seq_len"))
    local = ledger.count("training.local_batch_size", "training.batch_size")
    total = ledger.got("training.global_batch_size")
    micro = ledger.count(
        "parallelism.pipeline_parallel_microbatch_size", "experimental.pipeline_parallel_microbatch_size"
    )
    if total is not None and total.value != -1:
        ledger.put("workload.global_batch", ledger.as_count(total))
    if local is None:
        return
    if ledger.number("plan.pipeline") <= 1:
        ledger.put("plan.micro_batch", local)
        if "workload.global_batch" not in ledger.facts:
            ledger.put(batches.ACCUMULATION, local, 1, "a step is one micro-batch")
        return
    size = micro.value if micro else 1
    if local.value % size:
        ledger.wrong(local, f"{local.value} is not a multiple of the micro-batch {size}")
        return
    if not ledger.put("plan.micro_batch", micro):
        ledger.default("plan.micro_batch", 1, "pipelines take one sequence at a time by default")
    ledger.put(batches.ACCUMULATION, local, local.value // size, "local batch / micro-batch")


def _precision(ledger: Ledger) -> None:
    """Take the type of the matmuls, which converters make narrower than the others, and that of gradients."""
    wide = ledger.word("training.mixed_precision_param")
    if not _converted(ledger) and not ledger.put(
        "workload.precision", wide, "fp32" if wide and wide.text == "float32" else "bf16"
    ):
        ledger.default("workload.precision", "bf16", "torchtitan's default")
    reduced = ledger.word("training.mixed_precision_reduce")
    ledger.put("plan.gradient_precision", reduced, "bf16" if reduced and reduced.text == "bfloat16" else "fp32")


def _converted(ledger: Ledger) -> bool:
    """Take the narrow type that a converter asks for; say whether one does."""
    converters = ledger.items("model.converters")
    names = [node.text for node in converters[0] if isinstance(node, Scalar)] if converters else []
    old = ledger.flag("float8.enable_float8_linear", "float8.enable_fp8_linear")
    for name, precision in CONVERTERS:
        if name in names and converters:
            ledger.default("workload.precision", precision, f"converters: {name}", converters[1])
            return True
    return old is not None and old.value and ledger.put("workload.precision", old, "fp8")


KIND = Kind("torchtitan-toml", "torchtitan job", "model by name, batch, plan", detect, read, HARMLESS)
