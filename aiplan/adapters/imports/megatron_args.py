"""Arguments of Megatron-LM and Megatron-Core: lines of a shell, or the same names as keys of YAML."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiplan.adapters.imports import megatron_fields, megatron_plan
from aiplan.adapters.imports.arguments import Arguments, from_words, plain
from aiplan.adapters.imports.document import SHELL, YAML, scalars
from aiplan.adapters.imports.kind import Kind
from aiplan.adapters.imports.ledger import Got
from aiplan.adapters.imports.shell_words import words
from aiplan.declare import Mapping, Scalar

if TYPE_CHECKING:
    from aiplan.adapters.imports.document import Document
    from aiplan.adapters.imports.kind import Harmless
    from aiplan.adapters.imports.ledger import Ledger

SHAPE = {"num-layers", "hidden-size", "num-attention-heads"}
LAYOUT = {"tensor-model-parallel-size", "pipeline-model-parallel-size", "micro-batch-size"}
OTHER_SCRIPTS = {
    "pretrain_bert": "BERT, an encoder without a decoder",
    "pretrain_t5": "T5, an encoder with a decoder",
    "pretrain_mamba": "a hybrid of attention and state-space layers",
    "pretrain_retro": "a network that attends to retrieved text",
    "pretrain_vision": "a vision network",
    "pretrain_ict": "an encoder without a decoder",
    "pretrain_vlm": "a network that attends to images",
}
OTHER_FLAGS = {
    "hybrid-override-pattern": "a hybrid of attention and state-space layers",
    "hybrid-layer-pattern": "a hybrid of attention and state-space layers",
    "hybrid-attention-ratio": "a hybrid of attention and state-space layers",
    "is-hybrid-model": "a hybrid of attention and state-space layers",
    "encoder-num-layers": "an encoder with a decoder",
    "decoder-num-layers": "an encoder with a decoder",
    "bert-no-binary-head": "BERT, an encoder without a decoder",
    "retro-add-retriever": "a network that attends to retrieved text",
}
HARMLESS: Harmless = tuple(
    (pattern, why)
    for why, patterns in {
        "how the optimizer steps": (
            "lr",
            "lr-*",
            "min-lr",
            "*-lr",
            "decoupled-*",
            "*weight-decay*",
            "adam-*",
            "clip-grad",
            "loss-scale*",
            "initial-loss-scale",
            "hysteresis",
            "sgd-momentum",
            "*warmup*",
            "override-opt*",
            "use-checkpoint-opt*",
            "exit-*",
        ),
        "initial values, dropout, seeds": (
            "*init-method*",
            "*dropout*",
            "seed",
            "*init-std*",
            "perform-initialization",
            "init-*",
        ),
        "data and tokenizer": (
            "data-*",
            "*-data-path",
            "split",
            "*tokenizer*",
            "vocab-file",
            "merge-file",
            "num-workers",
            "mmap*",
            "no-mmap*",
            "*dataset*",
            "*-split-paths*",
            "valid-*",
            "tiktoken-*",
            "reset-*",
            "eod-*",
            "dataloader-*",
            "create-attention-mask*",
            "no-create-attention*",
            "mock-data",
            "num-dataset*",
            "blend*",
            "full-validation",
        ),
        "logs, evaluation, checkpoints": (
            "log-*",
            "save*",
            "load*",
            "tensorboard*",
            "wandb*",
            "eval-*",
            "timing-*",
            "profile*",
            "no-load-*",
            "no-save-*",
            "ckpt-*",
            "dist-ckpt*",
            "async-save",
            "*checkpoint-activations-*",
            "finetune",
            "use-persistent-ckpt*",
            "auto-detect*",
            "kill-switch-path",
            "*-activation-checkpointing",
            "*-ckpt-*",
            "use-dist-ckpt*",
            "no-ckpt*",
            "no-log*",
            "check-*",
            "no-check*",
            "memory-snapshot*",
            "record-memory*",
        ),
        "how processes find each other": (
            "distributed-*",
            "master-*",
            "node-rank",
            "rdzv*",
            "local-rank",
            "nccl-communicator*",
            "use-tp-pp-dp*",
            "max-restarts",
            "tee",
            "redirects",
            "log-dir",
            "job-name",
            "partition",
            "account",
            "time",
            "exclusive",
            "output",
            "error",
            "mem",
            "cpus-per-task",
            "overcommit",
            "dependency",
            "mail-*",
            "container-*",
            "ntasks",
            "qos",
            "constraint",
            "reservation",
            "manual-gc*",
            "no-use-tokenizer*",
            "mpi",
            "kill-on-bad-exit",
            "jobid",
            "label",
            "unbuffered",
            "segment",
            "wait",
            "hint",
            "start-method",
        ),
        "positions without parameters": ("rotary-*", "*rope*", "mrope*", "beta-fast", "beta-slow", "mscale*"),
        "a constant in a formula of no weight": (
            "*epsilon*",
            "norm-eps",
            "*softmax*",
            "*in-fp32",
            "apply-query-key*",
            "no-query-key*",
        ),
        "the code that runs": (
            "use-mcore-models",
            "transformer-impl",
            "no-*-fusion",
            "*-fusion",
            "no-persist*",
            "use-legacy*",
            "deterministic*",
            "distributed-backend",
            "use-cpu-init*",
            "moe-grouped-gemm",
            "moe-use-legacy*",
            "moe-permute*",
            "no-async*",
            "te-*",
            "enable-experimental",
            "use-precision*",
            "no-gradient-accumulation*",
            "fp8-margin",
            "fp8-amax*",
            "fp8-interval",
            "fp8-param-gather",
            "attention-softmax*",
            "empty-unused*",
            "overlap-param-gather-*",
            "align-*",
            "delay-*",
            "calculate-per-token-loss",
            "ddp-*",
            "pp-partition-method",
            "deepspeed*",
            "abort-on-*",
            "cross-entropy-*",
            "recompute-modules",
            "distribute-saved*",
        ),
        "how the router weighs experts": (
            "moe-aux*",
            "moe-router-*",
            "moe-z-*",
            "moe-input-jitter*",
            "moe-expert-capacity*",
            "moe-pad-*",
            "moe-token-drop*",
            "moe-per-layer-logging",
            "moe-shared-expert-overlap",
        ),
    }.items()
    for pattern in patterns
)


def detect_args(document: Document) -> bool:
    """Whether lines of a shell give arguments of Megatron."""
    if document.form != SHELL:
        return False
    flags = {plain(name) for name in re.findall(r"--([A-Za-z][\w-]*)", document.text)}
    return len(flags & (SHAPE | LAYOUT)) >= 2 or any(name in document.text for name in OTHER_SCRIPTS)


def read_args(ledger: Ledger) -> None:
    """Take the arguments of a command line or script."""
    arguments = Arguments(ledger)
    found = words(ledger.document.text, ledger.document.name)
    for word in found:
        for script, what in OTHER_SCRIPTS.items():
            if script in word.text and word.text.endswith(".py"):
                ledger.refuse(f"{script} trains {what}; decoder-only transformers are supported", word.mark)
                return
    from_words(arguments, found)
    _read(arguments)


def detect_yaml(document: Document) -> bool:
    """Whether YAML gives arguments of Megatron by their names."""
    if document.form != YAML or not isinstance(document.root, Mapping):
        return False
    names = {plain(path.rpartition(".")[2]) for path, _, _ in scalars(document.root)}
    dashed = any(path.rpartition(".")[2].startswith("--") for path, _, _ in scalars(document.root))
    return (dashed and len(names & (SHAPE | LAYOUT)) >= 2) or (names >= SHAPE and bool(names & LAYOUT))


def read_yaml(ledger: Ledger) -> None:
    """Take arguments that are keys of YAML, with or without dashes in front."""
    arguments = Arguments(ledger)
    root = ledger.document.root
    for path, node, _ in scalars(root) if root is not None else ():
        name = path.rpartition(".")[2]
        inside = path.startswith(("ENV_VARS.", "METRICS", "TEST_TYPE", "LAUNCHER", "ARTIFACTS", "BEFORE_SCRIPT"))
        if inside or not isinstance(node, Scalar):
            ledger.skip(path, node.mark, "how a test is run", matters=False)
            continue
        ledger.used.add(path)
        arguments.add(plain(name), Got(node.value, path, node.mark, node.text))
    _read(arguments)


def _read(arguments: Arguments) -> None:
    ledger = arguments.ledger
    for name, what in OTHER_FLAGS.items():
        got = arguments.on(name)
        if got is not None:
            ledger.refuse(f"{got.key} means {what}; decoder-only transformers are supported", got.mark)
            return
    megatron_fields.model(arguments)
    megatron_plan.workload(arguments)
    megatron_plan.plan(arguments)
    megatron_plan.cluster(arguments)
    if arguments.on("deepspeed"):
        ledger.default("software", "megatron-deepspeed", "the preset of Megatron-DeepSpeed")
    ledger.default("software", "megatron-core", "the preset of Megatron-Core")
    arguments.finish(HARMLESS)


ARGS = Kind("megatron-args", "Megatron-LM arguments (shell)", "model, workload, plan", detect_args, read_args)
YAML_KIND = Kind("megatron-yaml", "Megatron-LM arguments (YAML)", "model, workload, plan", detect_yaml, read_yaml)
