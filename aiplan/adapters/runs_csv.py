"""A table of measured runs, one row a run, to scenarios.

The columns are those of `COLUMNS`. A cell that is missing or empty takes a default where there is a usual one; what was
assumed is kept with the row, and so is what is wrong with it.
"""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiplan.adapters.benchmark_log import RESULTS, as_run, version
from aiplan.adapters.nodes import tree
from aiplan.adapters.run_notes import container, noted_expert_tensor, noted_experts, noted_hosts, noted_shape
from aiplan.declare import Diagnostics, InputError, Mark
from aiplan.scenario.legality import spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aiplan.declare import Node

ACCELERATORS = (
    (r"A100.*40GB.*PCIe|A100.*PCIe.*40GB", "a100-pcie-40gb"),
    (r"A100.*PCIe", "a100-pcie-80gb"),
    (r"A100-40GB-SXM", "a100-sxm-40gb"),
    (r"A100-80GB-SXM|A100 ", "a100-sxm-80gb"),
    (r"H100.*PCIe", "h100-pcie"),
    (r"H100.*NVL", "h100-nvl"),
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
    (r"Pax", "pax"),
    (r"MaxText", "maxtext"),
    (r"Megatron-Bridge", "megatron-bridge"),
    (r"NeMo Megatron", "nemo-megatron"),
    (r"NeMo", "nemo"),
    (r"Megatron-Core|TE ", "megatron-core"),
    (r"Megatron-LM", "megatron-lm-2021"),
    (r"DeepSpeed", "deepspeed"),
)
GRAPHS = ((r"CUDA graphs \(full_iteration\)", "full"), (r"CUDA graphs \(transformer_engine\)", "partial"))
DISPATCHES = ((r"hybridep", "hybridep"), (r"deepep", "deepep"))
FUSED_EXPERTS = "26.06"
"""Release of Megatron-Bridge from which the kernels round experts are fused."""
RACKS = re.compile(r"GB[23]00")
RECIPES = (
    (FUSED_EXPERTS, "CUDA graphs (full_iteration); hybridep; MoE all-to-all overlap"),
    ("25.11", "CUDA graphs (transformer_engine); hybridep"),
    ("", "CUDA graphs (full_iteration)"),
)
"""What Megatron-Bridge switches on for experts in a rack, by the first container that does.

https://github.com/NVIDIA-NeMo/Megatron-Bridge/tree/main/scripts/performance/configs
"""
CHEAP_MODULES = {"layernorm", "moe_act", "mla_up_proj", "mlp"}
"""Parts of a layer that Megatron-Core computes again without the attention core."""
UNFUSED_EXPERTS = "2024"
"""Last year in which Megatron-Core, under NeMo, sorted tokens by expert with kernels of its own."""
UNCOMPILED_LOSS = "2024"
"""Last year in which torchtitan did not compile its loss."""
RACK = 72
JEAN_ZAY = "jean-zay-a100"
"""Node of which transfers between accelerators use a part of the links only."""

_COLUMNS = """
id source_title source_url year model_name family n_params_b layers hidden ffn_hidden heads kv_heads vocab seq_len
gated_mlp tied_embeddings n_experts top_k moe_ffn_hidden accelerator n_gpus gpus_per_node intra_node inter_node
framework dtype tp pp vpp cp ep dp sequence_parallel zero_stage_or_fsdp micro_batch global_batch recompute
flash_attention dist_optimizer overlap_flags measured_step_time_s measured_tflops_per_gpu tflops_convention
measured_mfu_pct measured_tokens_per_s_per_gpu measured_mem_gb_per_gpu derived_fields complete quality notes
job_id zero_stage result
"""
COLUMNS = frozenset(_COLUMNS.split())
"""Columns of such a table; others are not used."""

TELLING_COLUMNS = 4
"""Of these columns, so many make a CSV file a table of runs."""

MOST = 10_000_000
"""No count in a row is larger."""

WORDS = {"yes": True, "true": True, "no": False, "false": False}

LONGEST_NAME = 80

CATALOG_ID = re.compile(r"[a-z0-9][a-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class Run:
    """A row: what it is, what it measured, and its scenario as a tree; None if cells of it cannot be read."""

    ident: str
    row: dict[str, str]
    scenario: Node | None
    assumed: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def cell(self, name: str) -> str:
        """Return the text of a cell; empty if there is none."""
        return (self.row.get(name) or "").strip()


def is_table(text: str) -> bool:
    """Whether text starts with the heading of a table of runs."""
    return len(COLUMNS & set(_heading(text))) >= TELLING_COLUMNS


def unused_columns(text: str) -> list[str]:
    """Return the columns of a table that mean nothing here."""
    return [name for name in _heading(text) if name not in COLUMNS]


def _heading(text: str) -> list[str]:
    try:
        return next(csv.reader([text.lstrip("\ufeff").partition("\n")[0].rstrip("\r")]), [])
    except csv.Error:
        return []


def read_runs(lines: Iterable[str], name: str) -> Iterator[Run]:
    """Yield the runs of a CSV table; a row with a cell that cannot be read has problems and no scenario.

    Parameters
    ----------
    lines : iterable of str
        The table, heading first.
    name : str
        What the table is called in messages.

    Raises
    ------
    InputError
        It is not CSV.
    """
    reader = csv.DictReader(lines)
    try:
        for row in reader:
            mark = Mark(name, reader.line_num, 1, 2)
            yield _run(row, mark)
    except csv.Error as problem:
        diagnostics = Diagnostics()
        hint = "save the table as CSV with commas, text in double quotes"
        diagnostics.error("AIP113", f"'{name}' cannot be read as a table: {problem}", hint=hint)
        raise diagnostics.failure() from None


def _run(cells: dict[str, str], mark: Mark) -> Run:
    row, renamed = as_run(cells)
    ident = (row.get("id") or "").strip() or f"row {mark.line}"
    try:
        values, assumed = scenario_of(row, mark)
    except InputError as failure:
        return Run(ident, row, None, problems=tuple(item.problem for item in failure.diagnostics))
    return Run(ident, row, tree(values, mark, {}), (*renamed, *assumed))


def scenario_of(row: dict[str, str], mark: Mark | None = None) -> tuple[dict[str, Any], list[str]]:
    """Return a row as the values of a scenario, and what was assumed.

    Raises
    ------
    InputError
        A cell is not what its column holds.
    """
    reader = _Row(row, mark)
    gpus, per_node = reader.count("n_gpus"), reader.count("gpus_per_node", 8)
    values = {
        "name": row.get("id"),
        "model": _model(reader),
        "workload": {
            "sequence_length": reader.count("seq_len"),
            "global_batch": reader.count("global_batch"),
            "precision": reader.match("dtype", PRECISIONS, "bf16"),
        },
        "cluster": _cluster(reader, gpus, per_node),
        "plan": _plan(reader),
        "software": _software(reader),
        "measured": _measured(reader),
    }
    reader.diagnostics.raise_if_errors()
    return values, reader.assumed


class _Row:
    """Reads cells; remembers what was assumed for empty ones, and which ones cannot be read."""

    def __init__(self, row: dict[str, str], mark: Mark | None) -> None:
        self.row = row
        self.mark = mark
        self.assumed: list[str] = []
        self.diagnostics = Diagnostics()

    def text(self, name: str) -> str:
        return (self.row.get(name) or "").strip()

    def count(self, name: str, default: int | None = None) -> int | None:
        if not self.text(name):
            if default is not None:
                self.assumed.append(f"{name} {default}")
            return default
        number = self.number(name)
        if number is None:
            return None
        if number.is_integer() and number <= MOST:
            return int(number)
        self.refuse(name, "a whole number")
        return None

    def number(self, name: str) -> float | None:
        cell = self.text(name)
        try:
            number = float(cell or "nan")
        except ValueError:
            number = math.nan
        if cell and not 0 <= number < math.inf:
            self.refuse(name, "a number")
        return number if cell and 0 <= number < math.inf else None

    def match(self, name: str, table: tuple[tuple[str, str], ...], default: str) -> str:
        """Return what the table has for a cell; a default is noted."""
        found = _match(table, self.text(name), "")
        if not found:
            self.assumed.append(f"{name} {default}")
        return found or default

    def yes(self, name: str) -> bool | None:
        """Return what a cell says, or None if it is empty, which counts as no."""
        cell = self.text(name).lower()
        if not cell:
            self.assumed.append(f"{name} no")
            return None
        if cell not in WORDS:
            self.refuse(name, "yes or no")
        return WORDS.get(cell)

    def refuse(self, name: str, kind: str) -> None:
        cell = self.text(name)
        shown = cell if len(cell) <= LONGEST_NAME else f"{cell[:LONGEST_NAME]}..."
        problem = f"{name} is not {kind}: '{shown}'"
        if all(item.problem != problem for item in self.diagnostics.items):
            self.diagnostics.error("AIP103", problem, self.mark)


def _match(table: tuple[tuple[str, str], ...], text: str, default: str) -> str:
    return next((value for pattern, value in table if re.search(pattern, text, re.IGNORECASE)), default)


def _model(row: _Row) -> dict[str, Any]:
    experts = row.count("n_experts")
    notes, layers = row.text("notes"), row.count("layers") or 0
    gated = row.yes("gated_mlp")
    model: dict[str, Any] = {
        "name": row.text("model_name") or "unnamed model",
        "layers": row.count("layers"),
        "hidden": row.count("hidden"),
        "heads": row.count("heads"),
        "kv_heads": row.count("kv_heads") or None,
        "ffn": row.count("ffn_hidden") or None,
        "gated": bool(gated),
        "vocab": row.count("vocab"),
        "tied": bool(row.yes("tied_embeddings")),
    }
    if gated is False:
        model |= {
            "positions": row.count("seq_len"),
            "norm": "layernorm",
            "bias": {"qkv": True, "attention_output": True, "mlp": True},
        }
    if experts:
        width = row.count("moe_ffn_hidden") or row.count("ffn_hidden")
        own = {"count": experts, "top_k": row.count("top_k"), "ffn": width}
        model["experts"] = own | noted_experts(notes, layers, width or 0)
    return model | noted_shape(notes, layers)


def _cluster(row: _Row, gpus: int | None, per_node: int | None) -> dict[str, Any]:
    inter = row.text("inter_node")
    fabric = next(((net, ports) for pattern, net, ports in FABRICS if re.search(pattern, inter)), None)
    if fabric is None:
        fabric = ("ib-ndr", per_node or 8)
        row.assumed.append(f"inter_node {fabric[0]}")
    each, ports = per_node or 8, re.match(r"(\d{1,4})x", inter)
    nodes = max(1, math.ceil((gpus or 1) / each))
    own_node = "Jean Zay" in inter and "A100" in row.text("accelerator")
    machine = {"node": JEAN_ZAY} if own_node else {"accelerator": _accelerator(row), "accelerators_per_node": each}
    return machine | {
        "nodes": nodes,
        "accelerators": gpus,
        "domain": _domain(row, gpus),
        "hosts": _hosts(row, gpus or 1),
        "network": {
            "fabric": fabric[0],
            "ports": int(ports[1]) if ports else fabric[1],
        },
    }


def _hosts(row: _Row, gpus: int) -> str | None:
    found = noted_hosts(row.text("notes"), gpus)
    if found == "late":
        row.assumed.append("hosts late, from the all-reduce test in the notes")
    return found


def _domain(row: _Row, gpus: int | None) -> int | None:
    """Return the accelerators of a scale-up network that spans nodes: a rack, or a slice of a TPU pod."""
    if "NVL72" in row.text("intra_node"):
        return RACK
    return gpus if row.text("inter_node").startswith("ICI within slice") else None


def _accelerator(row: _Row) -> str:
    """Return the id of the catalog; text that looks like one is one."""
    text = row.text("accelerator")
    if len(text) > LONGEST_NAME:
        row.refuse("accelerator", "the name of one")
    return text if CATALOG_ID.fullmatch(text) else _match(ACCELERATORS, text, text)


def _plan(row: _Row) -> dict[str, Any]:
    sharding, flash, flags = row.text("zero_stage_or_fsdp"), row.text("flash_attention"), _flags(row)
    zero = re.search(r"ZeRO-(\d)", sharding)
    tensor, sequence_parallel = row.count("tp", 1) or 1, row.text("sequence_parallel")
    return {
        "tensor": tensor,
        **_stages(row),
        "context": row.count("cp", 1),
        "expert": row.count("ep", 1),
        "expert_tensor": noted_expert_tensor(row.text("notes")),
        "micro_batch": row.count("micro_batch", 1),
        "sequence_parallel": sequence_parallel.startswith("yes") if sequence_parallel and tensor > 1 else None,
        "zero": int(zero[1]) if zero else 0 if sharding else None,
        **_recompute(row),
        "cuda_graphs": _match(GRAPHS, flags, "") or None,
        "dispatch": _match(DISPATCHES, flags, "") or None,
        "overlap": _overlap(flags),
        "attention": "flash" if flash.startswith("yes") else "fused-softmax" if flash.startswith("no") else None,
    }


def _flags(row: _Row) -> str:
    """Return what of graphs and overlap a row states; of Megatron-Bridge in a rack, else what the recipes switch on."""
    stated, release = row.text("overlap_flags"), container(row.text("notes"))
    bridge = re.search("Megatron-Bridge", row.text("framework")) and RACKS.search(row.text("accelerator"))
    if stated or not (bridge and release and row.count("n_experts")):
        return stated
    usual = next(flags for since, flags in RECIPES if release >= since)
    row.assumed.append(f"{usual}, as the recipes of container {release} have it")
    return usual


def _overlap(flags: str) -> dict[str, bool] | None:
    found = {
        kind: True for kind, text in (("expert", "MoE all-to-all overlap"), ("tensor", "async TP")) if text in flags
    }
    return found or None


def _recompute(row: _Row) -> dict[str, Any]:
    text = row.text("recompute")
    mode = next((mode for mode in ("full", "selective", "none") if text.startswith(mode)), "")
    modules = re.search(r"\(([a-z_, ]+)\)", text) if mode == "selective" else None
    if modules and set(modules[1].split(", ")) <= CHEAP_MODULES:
        row.assumed.append(f"recompute none: {modules[1]} cost next to nothing to compute again")
        return {"recompute": "none"}
    if not mode:
        row.assumed.append("recompute none")
    layers = re.match(r"full for (\d{1,3}) layer", text)
    return {"recompute": mode or "none", "recompute_layers": int(layers[1]) if layers else None}


def _stages(row: _Row) -> dict[str, Any]:
    """Return the pipeline; layers that do not divide are spread as evenly as they can be."""
    pipeline, layers = row.count("pp", 1) or 1, row.count("layers") or 1
    interleave = row.count("vpp", 1) or 1
    stages: dict[str, Any] = {"pipeline": pipeline, "interleave": interleave}
    if pipeline > 1 and row.text("framework") == "nanotron":
        return stages | {"stage_layers": _split_by_cost(row, layers, pipeline)}
    if layers % (pipeline * interleave) == 0:
        return stages
    if (layers + 2) % (pipeline * interleave) == 0:
        return stages | {"count_embedding_as_layer": True}
    if pipeline > layers:
        return stages
    row.assumed.append("layers spread evenly over stages")
    return stages | {"stage_layers": spread(layers, pipeline)}


def _split_by_cost(row: _Row, layers: int, pipeline: int) -> list[int]:
    """Spread layers as nanotron does: a stage is full once it costs its share, or as many blocks are left as stages.

    A layer costs its weights, the output head its matrix; https://huggingface.co/spaces/nanotron/predict_memory.
    """
    hidden, ffn, vocab = (row.count(name) or 1 for name in ("hidden", "ffn_hidden", "vocab"))
    layer, head = hidden * (4 * hidden + 3 * ffn), hidden * vocab
    stages, stage = [0] * pipeline, 0
    for index in range(layers):
        stages[stage] += 1
        left, full = layers - index, stages[stage] * layer * pipeline >= layers * layer + head
        stage += stage + 1 < pipeline and (full or left < pipeline - stage)
    return stages


def _software(row: _Row) -> str:
    framework, year = row.text("framework"), row.text("year")
    if framework == "Megatron-LM":
        return {"2020": "megatron-lm-2020", "2021": "megatron-lm-2021", "2022": "megatron-lm-2022"}.get(
            year, "megatron-core"
        )
    if framework == "nanotron" and version(row.text("id")):
        row.assumed.append(f"software {version(row.text('id'))}, from the job number")
        return version(row.text("id"))
    found = row.match("framework", SOFTWARE, "megatron-core")
    if found == "nemo" and (re.search(r"\b2[34]\.\d\d\b", row.text("source_title")) or "0" < year <= UNFUSED_EXPERTS):
        return "nemo-2024"
    if found == "torchtitan" and year and year <= UNCOMPILED_LOSS:
        return "torchtitan-2024"
    fused = found == "megatron-bridge" and container(row.text("notes")) >= FUSED_EXPERTS
    return "megatron-bridge-2026" if fused else found


def _measured(row: _Row) -> dict[str, Any]:
    step, memory = row.number("measured_step_time_s"), row.number("measured_mem_gb_per_gpu")
    notes = row.text("notes").lower()
    # nanotron's benchmark logs what rank 0 reserved, in bytes over 1024^3 whatever the heading says
    log = row.text("framework") == "nanotron"
    unit = "GiB" if log or "gib" in notes else "GB"
    kind = next((kind for kind in ("reserved", "allocated") if kind in notes), None)
    result = row.text("result").lower()
    if result and result not in RESULTS:
        row.refuse("result", " or ".join(RESULTS))
    return {
        "step_time": f"{step!r} s" if step else None,
        "tokens_per_s_per_gpu": row.number("measured_tokens_per_s_per_gpu"),
        "memory": f"{memory!r} {unit}" if memory else None,
        "memory_kind": kind if memory else None,
        "memory_stage": "first" if memory and log else None,
        "fits": RESULTS.get(result),
        "source": row.text("source_url") or "not stated",
    }
