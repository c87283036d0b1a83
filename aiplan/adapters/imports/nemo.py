"""NeMo and Megatron-Bridge YAML: model, workload, layout. Keys are those of Megatron with other names in places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.adapters.imports import megatron_fields, megatron_plan
from aiplan.adapters.imports.arguments import Arguments, plain
from aiplan.adapters.imports.document import JSON, YAML, scalars
from aiplan.adapters.imports.interpolate import interpolated
from aiplan.adapters.imports.kind import Kind
from aiplan.adapters.imports.ledger import Got
from aiplan.adapters.imports.megatron_args import HARMLESS as MEGATRON
from aiplan.declare import Mapping, Scalar

if TYPE_CHECKING:
    from aiplan.adapters.imports.document import Document
    from aiplan.adapters.imports.kind import Harmless
    from aiplan.adapters.imports.ledger import Ledger
    from aiplan.declare import Node

NAMES = {
    "encoder-seq-length": "seq-length",
    "sequence-length": "seq-length",
    "activations-checkpoint-granularity": "recompute-granularity",
    "activations-checkpoint-method": "recompute-method",
    "activations-checkpoint-num-layers": "recompute-num-layers",
    "overlap-grad-sync": "overlap-grad-reduce",
    "overlap-param-sync": "overlap-param-gather",
    "ub-tp-comm-overlap": "tp-comm-overlap",
    "overlap-p2p-comm": "overlap-p2p-communication",
    "num-moe-experts": "num-experts",
    "qk-head-dim": "qk-head-dim",
    "num-nodes": "nnodes",
    "max-steps": "train-iters",
    "moe-deepep": "moe-enable-deepep",
}
"""Names that differ from those of Megatron's arguments."""
PLACES = {
    "tokenizer.type": "tokenizer-type",
    "tokenizer.model": "tokenizer-model",
    "tokenizer.merge_file": "merge-file",
    "optim.name": "optim-name",
}
"""Names that mean something else in other places of the file."""
SECTIONS = {
    "model",
    "trainer",
    "train",
    "ddp",
    "optimizer",
    "dataset",
    "optim",
    "mixed_precision",
    "dist",
    "comm_overlap",
}
ASIDE = ("data.", "nsys_profile", "optim.sched", "params_dtype")
IGNORED = (
    "run.",
    "exp_manager.",
    "hydra.",
    "defaults",
    "checkpoint.",
    "logger.",
    "rng.",
    "scheduler.",
    "validation.",
    "profiling.",
    "rerun_state",
)
HARMLESS: Harmless = (
    *MEGATRON,
    *tuple(
        (pattern, why)
        for why, patterns in {
            "the code that runs": (
                "mcore-gpt",
                "transformer-engine",
                "megatron-amp*",
                "grad-*",
                "sync-batch*",
                "gradient-*",
                "onnx*",
                "apex-*",
                "use-cpu*",
                "pre-process",
                "post-process",
                "persist-*",
                "headscale",
                "transformer-block-type",
                "openai-gelu",
                "normalize-*",
                "attention-type",
                "scale-*",
                "native-amp*",
                "fp32-*",
                "fp16-*",
                "resume-*",
                "batch-p2p*",
                "gc-*",
                "sharp",
                "contiguous-*",
                "bucket-*",
                "deteministic*",
                "defer-*",
                "wgrad-*",
                "cross-entropy*",
                "fsdp-*",
                "cpu-offloading-*",
                "num-micro-batches-with*",
                "activations-checkpoint-layers*",
                "apply-*",
                "use-scaled*",
                "do-layer-norm*",
                "layernorm-*",
                "bias-*",
                "masked-*",
                "name",
                "accelerator",
                "use-distributed-sampler",
                "accumulate-grad-batches",
                "enable-checkpointing",
                "logger",
                "use-flash*",
                "onnx-safe",
                "barrier*",
                "window-attn*",
                "bert-*",
                "target",
                "-target-",
                "*-cls",
                "fp8-*",
            ),
            "how the optimizer steps": (
                "max-epochs",
                "max-time",
                "betas",
                "*lr*",
                "constant-steps",
                "warmup-*",
                "*weight-decay*",
            ),
            "logs and evaluation": (
                "log-*",
                "val-*",
                "limit-*",
                "num-sanity*",
                "enabled",
                "trace",
                "start-step",
                "end-step",
                "ranks",
                "gen-shape",
                "restore-from*",
            ),
            "data and tokenizer": (
                "library",
                "type",
                "model",
                "vocab-file",
                "merge-file",
                "delimiter",
                "use-fast",
                "sentencepiece-*",
                "splits-string",
                "skip-warmup",
                "dataloader-*",
                "index-mapping*",
                "data-*",
                "num-workers",
                "seed",
            ),
        }.items()
        for pattern in patterns
    ),
)


def detect(document: Document) -> bool:
    """Whether a document is a training of NeMo or Megatron-Bridge."""
    inside = document.at("model")
    names = {key.text for key, _ in inside.items} if isinstance(inside, Mapping) else set()
    around = document.names & (SECTIONS | {"exp_manager", "run"})
    return (
        document.form in {YAML, JSON}
        and len(around) >= 2
        and len(names & {"num_layers", "hidden_size", "num_attention_heads"}) >= 2
    )


def read(ledger: Ledger) -> None:
    """Take model, workload and layout."""
    root = ledger.document.root
    if root is None:
        return
    ledger.document = ledger.document._replace(root=interpolated(root, ("training",)))
    if _other_network(ledger):
        return
    arguments = Arguments(ledger)
    for path, node, _ in scalars(ledger.document.root or root):
        _argument(arguments, path, node)
    _adapt(arguments)
    megatron_fields.model(arguments)
    megatron_plan.workload(arguments)
    megatron_plan.plan(arguments)
    megatron_plan.cluster(arguments)
    bridge = ledger.document.names & {"ddp", "train"}
    ledger.default("software", "megatron-bridge" if bridge else "nemo", "the preset of the program")
    arguments.finish(HARMLESS)


def _argument(arguments: Arguments, path: str, node: Node) -> None:
    """Take a key as an argument of Megatron, if it stands where those stand."""
    ledger = arguments.ledger
    section, _, rest = path.partition(".")
    name = plain(path.rpartition(".")[2])
    mark = node.mark
    if path.startswith(IGNORED) or section not in SECTIONS or any(part in path for part in ASIDE):
        ledger.skip(path, mark, "data, logs, checkpoints, evaluation", matters=False)
        return
    if not isinstance(node, Scalar):
        return
    ledger.used.add(path)
    name = PLACES.get(rest, NAMES.get(name, name))
    if node.value is not None:
        arguments.add(name, Got(node.value, path, node.mark, node.text))


def _other_network(ledger: Ledger) -> bool:
    """Note that a file describes BERT, T5 or another network: they have the same keys."""
    named = {
        path: ledger.document.text_at(path).lower()
        for path in ("name", "exp_manager.name", "model.tokenizer.type", "run.name")
    }
    for what, why in (
        ("bert", "an encoder without a decoder"),
        ("t5", "an encoder with a decoder"),
        ("vit", "a vision network"),
        ("retro", "a network that reads retrieved text"),
    ):
        for path, text in named.items():
            if what in text.replace("_", " ").replace("megatron ", "").split() or text.startswith(
                (what, f"megatron_{what}")
            ):
                node = ledger.document.at(path)
                ledger.refuse(
                    f"'{text[:60]}' is {why}; decoder-only transformers are supported", node.mark if node else None
                )
                return True
    return False


def _adapt(arguments: Arguments) -> None:
    """Turn what is said the other way round, or in another place, into arguments of Megatron."""
    values = arguments.values
    shared = arguments.got("share-embeddings-and-output-weights")
    if shared is not None and shared.value is False:
        values["untie-embeddings-and-output-weights"] = shared._replace(value=True, text="true")
    bias = arguments.got("bias", "add-bias-linear")
    if bias is not None and bias.value is False:
        values["disable-bias-linear"] = bias._replace(value=True, text="true")
    gated = arguments.got("gated-linear-unit")
    if gated is not None and gated.value is True:
        values["swiglu"] = gated
    precision = arguments.word("precision", "mixed-precision")
    for name in ("bf16", "fp16"):
        if precision is not None and name in precision.text and name not in values:
            values[name] = precision._replace(value=True, text="true")
    optimizer = arguments.word("optim-name")
    if optimizer is not None and "dist" in optimizer.text:
        values.setdefault("use-distributed-optimizer", optimizer._replace(value=True, text="true"))
    reduced = arguments.word("grad-sync-dtype")
    if reduced is not None and reduced.text in {"bf16", "bfloat16"}:
        values["grad-reduce-in-bf16"] = reduced._replace(value=True, text="true")


KIND = Kind("nemo-yaml", "NeMo or Megatron-Bridge training", "model, workload, plan", detect, read, HARMLESS)
