"""nanotron YAML: model, batch, layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.adapters.imports import hf_config, hf_families
from aiplan.adapters.imports.document import YAML
from aiplan.adapters.imports.kind import Kind
from aiplan.adapters.imports.ledger import Got
from aiplan.declare import Mapping

if TYPE_CHECKING:
    from aiplan.adapters.imports.document import Document
    from aiplan.adapters.imports.kind import Harmless
    from aiplan.adapters.imports.ledger import Ledger

SHAPE = "model.model_config"
PRECISIONS = {"bfloat16": "bf16", "bf16": "bf16", "float16": "fp16", "fp16": "fp16", "float32": "fp32", "fp32": "fp32"}
HARMLESS: Harmless = (
    *tuple(
        (pattern, why)
        for why, patterns in {
            "logs, data, checkpoints": (
                "checkpoints.*",
                "data.*",
                "data_stages*",
                "general.*",
                "logging.*",
                "lighteval*",
                "profiler*",
                "tokenizer.*",
                "s3_upload*",
                "metrics_logging*",
                "doremi.*",
                "experiment_logger*",
            ),
            "how the optimizer steps": ("optimizer.*",),
            "the code that runs": (
                "*ddp_bucket*",
                "*init_method*",
                "*pp_engine",
                "*tp_recompute_allgather",
                "*limit_*",
                "*val_check*",
                "*_attn_impl*",
                "*_fused*",
                "*_use_*",
                "*is_*_config",
                "*flex_attention*",
                "*capacity_factor*",
                "*z_loss*",
                "*no_rope_layer*",
            ),
        }.items()
        for pattern in patterns
    ),
    *hf_config.KIND.harmless,
)


def detect(document: Document) -> bool:
    """Whether a document is a configuration of nanotron."""
    shape = isinstance(document.at(SHAPE), Mapping)
    return document.form == YAML and (shape or document.names >= {"parallelism", "tokens", "model"})


def read(ledger: Ledger) -> None:
    """Take model, batch and layout."""
    _shape(ledger)
    _plan(ledger)
    _vocabulary(ledger)
    micro, accumulated = ledger.count("tokens.micro_batch_size"), ledger.count("tokens.batch_accumulation_per_replica")
    ledger.put("workload.sequence_length", ledger.count("tokens.sequence_length"))
    ledger.put("plan.micro_batch", micro)
    data = ledger.number("plan.data")
    if micro is not None and data:
        times = accumulated.value if accumulated else 1
        ledger.put("workload.global_batch", micro, micro.value * times * data, "micro-batch x accumulation x dp")
    steps, batch = ledger.count("tokens.train_steps"), ledger.number("workload.global_batch")
    if steps is not None and batch and ledger.number("workload.sequence_length"):
        tokens = steps.value * batch * ledger.number("workload.sequence_length")
        ledger.put("workload.tokens", steps, tokens, "steps x batch x sequence")
    dtype = ledger.word("model.dtype")
    if dtype is not None and dtype.text in PRECISIONS:
        ledger.put("workload.precision", dtype, PRECISIONS[dtype.text])
    elif dtype is not None:
        ledger.wrong(dtype, f"'{dtype.text[:40]}' is no data type that is known", f"known: {', '.join(PRECISIONS)}")
    whole = ledger.flag("optimizer.accumulate_grad_in_fp32")
    if whole is not None:
        ledger.put("plan.gradient_precision", whole, "fp32" if whole.value else "bf16")
    ledger.default("software", "nanotron", "the preset of nanotron")


def _shape(ledger: Ledger) -> None:
    """Take the shape: keys are those of the hub."""
    node = ledger.document.at(SHAPE)
    if not isinstance(node, Mapping):
        ledger.missing(SHAPE)
        return
    ledger.below = SHAPE
    named = next((key for key, _ in node.items if key.text.startswith("is_") and key.text.endswith("_config")), None)
    kind = Got("nanotron", SHAPE, named.mark if named else node.mark, "llama")
    family = hf_families.LLAMA._replace(title="nanotron")
    if named is not None and named.text == "is_starcoder2_config":
        family = hf_families.FAMILIES["starcoder2"]
    hf_config.read_shape(ledger, family, kind)
    _experts(ledger)
    ledger.below = ""


def _experts(ledger: Ledger) -> None:
    """Take experts: older files have their keys beside the others, newer ones in `moe_config`."""
    count = ledger.count("moe_num_experts", "moe_config.num_experts")
    if count is None or count.value == 1:
        return
    ledger.put("model.experts.count", count)
    ledger.need("model.experts.top_k", "num_experts_per_tok", "moe_config.top_k", "moe_config.num_experts_per_token")
    ledger.need("model.experts.ffn", "moe_config.moe_intermediate_size", "intermediate_size")
    ledger.facts.pop("model.ffn", None)
    shared, on = (
        ledger.count("moe_config.shared_expert_intermediate_size", minimum=0),
        ledger.flag("moe_config.enable_shared_expert"),
    )
    if shared is not None and on is not None and on.value:
        ledger.put("model.experts.shared_ffn", shared)


def _plan(ledger: Ledger) -> None:
    names = {
        "data": ("dp",),
        "tensor": ("tp",),
        "pipeline": ("pp",),
        "context": ("context_parallel_size", "cp"),
        "expert": ("expert_parallel_size", "ep"),
    }
    for field, keys in names.items():
        ledger.put(f"plan.{field}", ledger.count(*(f"parallelism.{key}" for key in keys)))
    product = 1
    for field in ("data", "tensor", "pipeline", "context"):
        product *= max(1, ledger.number(f"plan.{field}"))
    if "plan.data" in ledger.facts:
        fact = ledger.facts["plan.data"]
        why = "dp x tp x pp x cp"
        ledger.facts["cluster.accelerators"] = fact._replace(path="cluster.accelerators", value=product, why=why)
    if ledger.number("plan.expert") > 1:
        ledger.warn("expert parallel ranks are taken from those of the stage", ledger.facts["plan.expert"].mark)
    mode = ledger.word("parallelism.tp_mode")
    if mode is not None and ledger.number("plan.tensor") > 1:
        ledger.put("plan.sequence_parallel", mode, mode.text == "reduce_scatter")
    ledger.put("plan.zero", ledger.count("optimizer.zero_stage", minimum=0))
    again = ledger.flag("parallelism.recompute_layer")
    if again is not None:
        ledger.put("plan.recompute", again, "full" if again.value else "none")
    beside = ledger.flag("parallelism.tp_linear_async_communication")
    if ledger.number("plan.tensor") > 1:
        ledger.put("plan.overlap.tensor", beside)


def _vocabulary(ledger: Ledger) -> None:
    """Fill the table up to a multiple, as nanotron does."""
    step, fact = ledger.count("model.make_vocab_size_divisible_by"), ledger.facts.get("model.vocab")
    if step is None or fact is None or not isinstance(fact.value, int):
        return
    whole = step.value * max(1, ledger.number("plan.tensor"))
    rows = -(-fact.value // whole) * whole
    if rows != fact.value:
        ledger.facts["model.vocab"] = fact._replace(value=rows, why=f"in multiples of {whole}")


KIND = Kind("nanotron-yaml", "nanotron configuration", "model, workload, plan", detect, read, HARMLESS)
