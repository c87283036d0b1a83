"""A table of measured runs, one row a run, to scenarios.

The columns are those of our collection of published runs. A column that is missing or empty takes the default that
`DEFAULTS` states; what was assumed is kept with the row.
"""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiplan.adapters.nodes import tree
from aiplan.declare import Mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aiplan.declare import Node

ACCELERATORS = (
    (r"A100-40GB-SXM", "a100-sxm-40gb"),
    (r"A100-80GB-SXM|A100 ", "a100-sxm-80gb"),
    (r"A100.*PCIe", "a100-pcie-80gb"),
    (r"H100-96GB-HBM2e", "h100-sxm-96gb-hbm2e"),
    (r"H100-80GB-SXM|H100", "h100-sxm"),
    (r"H200", "h200"),
    (r"H800", "h800-sxm"),
    (r"GB200", "gb200"),
    (r"GB300", "gb300"),
    (r"B200", "b200"),
    (r"B300", "b300"),
    (r"V100-32GB-SXM3", "v100-sxm3-32gb"),
    (r"V100.*32GB", "v100-sxm2-32gb"),
    (r"V100", "v100-sxm2-16gb"),
    (r"MI250", "mi250x"),
    (r"MI300X", "mi300x"),
    (r"MI325X", "mi325x"),
    (r"MI350X", "mi350x"),
    (r"MI355X", "mi355x"),
    (r"TPU-v4", "tpu-v4"),
    (r"TPU-v5e", "tpu-v5e"),
    (r"TPU-v5p", "tpu-v5p"),
    (r"TPU-v6e|Trillium", "tpu-v6e"),
    (r"TPU-v7|Ironwood", "tpu-v7"),
)
FABRICS = (
    (r"EFA", "efa-p5", 32),
    (r"Omni-Path", "omni-path-100", 4),
    (r"1600 Gb/s RoCE", "roce-100g", 16),
    (r"XDR|8x 800", "ib-xdr", 8),
    (r"NDR|8x 400 Gb/s per node|400 Gb/s RDMA per GPU", "ib-ndr", 8),
    (r"400 Gb/s (RoCE|Ethernet)", "roce-400g", 8),
    (r"HDR 200", "ib-hdr", 8),
    (r"EDR 100", "ib-edr", 8),
    (r"800 Gb/s IB per node", "ib-hdr", 4),
    (r"DCN", "tpu-dcn-200g", 1),
)
PRECISIONS = (
    (r"NVFP4", "nvfp4"),
    (r"MXFP8", "mxfp8"),
    (r"fp8|float8", "fp8"),
    (r"bf16", "bf16"),
    (r"fp16", "fp16"),
    (r"tf32", "tf32"),
    (r"fp32", "fp32"),
)
SOFTWARE = (
    (r"nanotron", "nanotron"),
    (r"torchtitan|FSDP\+TP", "torchtitan"),
    (r"llm-foundry", "llm-foundry"),
    (r"Megatron-DeepSpeed|GPT-NeoX", "megatron-deepspeed"),
    (r"MaxText|Pax", "maxtext"),
    (r"Megatron-Bridge", "megatron-bridge"),
    (r"NeMo|Megatron-Core|TE ", "megatron-core"),
    (r"Megatron-LM", "megatron-lm-2021"),
    (r"DeepSpeed", "deepspeed"),
)


@dataclass(frozen=True, slots=True)
class Run:
    """A row: what it is, what it measured, and its scenario as a tree."""

    ident: str
    row: dict[str, str]
    scenario: Node
    assumed: tuple[str, ...]


def read_runs(lines: Iterable[str], name: str) -> Iterator[Run]:
    """Yield the runs of a CSV table."""
    for number, row in enumerate(csv.DictReader(lines), start=2):
        mark = Mark(name, number, 1, 2)
        values, assumed = scenario_of(row)
        yield Run(row.get("id") or f"row {number}", row, tree(values, mark, {}), tuple(assumed))


def scenario_of(row: dict[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Return a row as the values of a scenario, and what was assumed."""
    reader = _Row(row)
    gpus, per_node = reader.count("n_gpus"), reader.count("gpus_per_node", 8)
    precision = _match(PRECISIONS, reader.text("dtype"), "bf16")
    values = {
        "name": row.get("id"),
        "model": _model(reader),
        "workload": {
            "sequence_length": reader.count("seq_len"),
            "global_batch": reader.count("global_batch"),
            "precision": precision,
        },
        "cluster": _cluster(reader, gpus, per_node),
        "plan": _plan(reader),
        "software": _software(reader),
        "measured": _measured(reader),
    }
    return values, reader.assumed


class _Row:
    """Reads cells, and remembers what was assumed for empty ones."""

    def __init__(self, row: dict[str, str]) -> None:
        self.row = row
        self.assumed: list[str] = []

    def text(self, name: str) -> str:
        return (self.row.get(name) or "").strip()

    def count(self, name: str, default: int | None = None) -> int | None:
        cell = self.text(name)
        if cell:
            number = float(cell)
            return int(number) if number.is_integer() else None
        if default is not None:
            self.assumed.append(f"{name} {default}")
        return default

    def number(self, name: str) -> float | None:
        cell = self.text(name)
        return float(cell) if cell else None


def _match(table: tuple[tuple[str, str], ...], text: str, default: str) -> str:
    return next((value for pattern, value in table if re.search(pattern, text, re.IGNORECASE)), default)


def _model(row: _Row) -> dict[str, Any]:
    experts = row.count("n_experts", 0)
    notes = row.text("notes")
    head_dim = re.search(r"head_dim (\d+)", notes)
    model: dict[str, Any] = {
        "name": row.text("model_name") or "unnamed model",
        "layers": row.count("layers"),
        "hidden": row.count("hidden"),
        "heads": row.count("heads"),
        "kv_heads": row.count("kv_heads") or None,
        "head_dim": int(head_dim[1]) if head_dim else None,
        "ffn": row.count("ffn_hidden") or None,
        "gated": row.text("gated_mlp") == "yes",
        "vocab": row.count("vocab"),
        "tied": row.text("tied_embeddings") == "yes",
    }
    if row.text("gated_mlp") == "no":
        model |= {
            "positions": row.count("seq_len"),
            "norm": "layernorm",
            "bias": {"qkv": True, "attention_output": True, "mlp": True},
        }
    if experts:
        model["experts"] = {
            "count": experts,
            "top_k": row.count("top_k"),
            "ffn": row.count("moe_ffn_hidden") or row.count("ffn_hidden"),
        }
    return model


def _cluster(row: _Row, gpus: int | None, per_node: int | None) -> dict[str, Any]:
    inter = row.text("inter_node")
    fabric = next(((net, ports) for pattern, net, ports in FABRICS if re.search(pattern, inter)), None)
    if fabric is None:
        fabric = ("ib-ndr", per_node or 8)
    ports = re.match(r"(\d+)x", inter)
    each = per_node or 8
    return {
        "accelerator": _match(ACCELERATORS, row.text("accelerator"), row.text("accelerator")),
        "accelerators_per_node": each,
        "nodes": max(1, math.ceil((gpus or 1) / each)),
        "accelerators": gpus,
        "domain": 72 if "NVL72" in row.text("intra_node") else None,
        "network": {"fabric": fabric[0], "ports": int(ports[1]) if ports else fabric[1]},
    }


def _plan(row: _Row) -> dict[str, Any]:
    recompute = row.text("recompute")
    sharding = row.text("zero_stage_or_fsdp")
    zero = re.search(r"ZeRO-(\d)", sharding)
    pipeline, layers = row.count("pp", 1) or 1, row.count("layers") or 1
    interleave = row.count("vpp", 1) or 1
    flash = row.text("flash_attention")
    counted = layers % (pipeline * interleave) != 0 and (layers + 2) % (pipeline * interleave) == 0
    return {
        "tensor": row.count("tp", 1),
        "pipeline": pipeline,
        "interleave": interleave,
        "count_embedding_as_layer": counted or None,
        "context": row.count("cp", 1),
        "expert": row.count("ep", 1),
        "micro_batch": row.count("micro_batch", 1),
        "sequence_parallel": None
        if not row.text("sequence_parallel") or (row.count("tp", 1) or 1) == 1
        else row.text("sequence_parallel").startswith("yes"),
        "zero": int(zero[1]) if zero else 0 if sharding else None,
        "recompute": "full"
        if recompute.startswith("full")
        else "selective"
        if recompute.startswith("selective")
        else "none",
        "attention": "flash" if flash.startswith("yes") else "fused-softmax" if flash.startswith("no") else None,
    }


def _software(row: _Row) -> str:
    framework, year = row.text("framework"), row.text("year")
    if framework == "Megatron-LM":
        return {"2020": "megatron-lm-2021", "2021": "megatron-lm-2021", "2022": "megatron-lm-2022"}.get(
            year, "megatron-core"
        )
    return _match(SOFTWARE, framework, "megatron-core")


def _measured(row: _Row) -> dict[str, Any]:
    step, memory = row.number("measured_step_time_s"), row.number("measured_mem_gb_per_gpu")
    return {
        "step_time": f"{step!r} s" if step else None,
        "tokens_per_s_per_gpu": row.number("measured_tokens_per_s_per_gpu"),
        "memory": f"{memory!r} GB" if memory else None,
        "source": row.text("source_url") or "not stated",
    }
