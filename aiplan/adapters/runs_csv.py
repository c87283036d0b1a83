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

from aiplan.adapters.benchmark_log import RESULTS, as_run, gated_by_count
from aiplan.adapters.model_names import known_model, library_model
from aiplan.adapters.nodes import tree
from aiplan.adapters.run_notes import container, noted_expert_tensor, noted_experts, noted_hosts, noted_shape
from aiplan.adapters.run_software import FUSED_EXPERTS, software_of
from aiplan.adapters.run_words import (
    BLANKS,
    PRECISIONS,
    WORDS,
    accelerator_of,
    match,
    network_of,
    other_memory,
    recompute_of,
    shards_of,
    zero_of,
)
from aiplan.declare import Diagnostics, InputError, Mark
from aiplan.scenario.legality import spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aiplan.declare import Node

ATTENTION = (
    (r"^(no|false|off|0)\b|fused.?softmax", "fused-softmax"),
    (r"unfused|eager|naive|math", "unfused"),
    (r"^(yes|true|on|1)\b|flash|\bfa-?\d|sdpa|cudnn|\bte\b|transformer.?engine|xformers|flex|splash|triton", "flash"),
)
"""Kernels by what a cell says of them."""
GRAPHS = ((r"CUDA graphs \(full_iteration\)", "full"), (r"CUDA graphs \(transformer_engine\)", "partial"))
DISPATCHES = ((r"hybridep", "hybridep"), (r"deepep", "deepep"))
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

LONGEST_NAME = 80
SHAPE = ("layers", "hidden", "heads", "kv_heads", "ffn_hidden", "vocab", "n_experts")
"""Columns of the shape of a model; if all are empty, its name may be that of one of the library."""
THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")


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
    reader.need("seq_len", "n_gpus")
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
        "plan": _plan(reader, gpus, per_node),
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
        """Return the text of a cell; empty if it says nothing."""
        cell = (self.row.get(name) or "").strip()
        return "" if cell.lower() in BLANKS else cell

    def need(self, *names: str) -> None:
        """Refuse a row in which a cell is empty that has no usual content."""
        for name in names:
            if not self.text(name):
                self.diagnostics.error("AIP103", f"{name} is empty", self.mark)

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
        plain = cell.replace(",", "") if THOUSANDS.fullmatch(cell) else cell
        try:
            number = float(plain or "nan")
        except ValueError:
            number = math.nan
        if cell and not 0 <= number < math.inf:
            self.refuse(name, "a number")
        return number if cell and 0 <= number < math.inf else None

    def match(self, name: str, table: tuple[tuple[str, str], ...], default: str) -> str:
        """Return what the table has for a cell; a default is noted."""
        found = match(table, self.text(name), "")
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


def _library_model(row: _Row) -> str | None:
    """Return the model of the library that a row names, if it says nothing of its shape."""
    return None if any(map(row.text, SHAPE)) else library_model(row.text("model_name"))


def _model(row: _Row) -> dict[str, Any] | str:
    named = _library_model(row)
    if named:
        row.assumed.append(f"model {named} of the library")
        return named
    experts = row.count("n_experts")
    notes, layers = row.text("notes"), row.count("layers") or 0
    gated = _gated(row)
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


def _gated(row: _Row) -> bool | None:
    """Return whether units are gated; where no cell says so, what the stated count of parameters agrees with."""
    counted = None if row.text("gated_mlp") or row.text("n_experts") else gated_by_count(row.row)
    if counted is None:
        return row.yes("gated_mlp")
    row.assumed.append(f"gated_mlp {'yes' if counted else 'no'}, which n_params_b agrees with")
    return counted


def _cluster(row: _Row, gpus: int | None, per_node: int | None) -> dict[str, Any]:
    inter, each, accelerator = row.text("inter_node"), per_node or 8, _accelerator(row)
    nodes = max(1, math.ceil((gpus or 1) / each))
    fabric, ports, stated = network_of(inter, accelerator, each)
    if nodes > 1 and not stated:
        row.assumed.append(f"inter_node {ports}x {fabric}")
    own_node = "Jean Zay" in inter and "A100" in row.text("accelerator")
    machine = {"node": JEAN_ZAY} if own_node else {"accelerator": accelerator, "accelerators_per_node": each}
    return machine | {
        "nodes": nodes,
        "accelerators": gpus,
        "domain": _domain(row, gpus),
        "hosts": _hosts(row, gpus or 1),
        "network": {"fabric": fabric, "ports": ports},
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
        return text
    found = accelerator_of(text)
    if other_memory(text, found):
        row.assumed.append(f"accelerator {found}, though with {other_memory(text, found)} of memory")
    return found


def _plan(row: _Row, gpus: int | None, per_node: int | None) -> dict[str, Any]:
    flags, tensor = _flags(row), row.count("tp", 1) or 1
    sequence_parallel = row.text("sequence_parallel").lower()
    return {
        "tensor": tensor,
        **_stages(row),
        "context": row.count("cp", 1),
        "expert": row.count("ep", 1),
        "expert_tensor": noted_expert_tensor(row.text("notes")),
        "micro_batch": row.count("micro_batch", 1),
        "sequence_parallel": sequence_parallel[:3] in {"yes", "tru"} if sequence_parallel and tensor > 1 else None,
        **_sharding(row, gpus or 1, per_node or 8, tensor),
        **_recompute(row),
        "cuda_graphs": match(GRAPHS, flags, "") or None,
        "dispatch": match(DISPATCHES, flags, "") or None,
        "overlap": _overlap(flags),
        "attention": match(ATTENTION, row.text("flash_attention"), "") or None,
    }


def _sharding(row: _Row, gpus: int, per_node: int, tensor: int) -> dict[str, int | None]:
    """Return the ZeRO stage and, where not all ranks share one copy, how many do."""
    text = row.text("zero_stage_or_fsdp")
    zero = zero_of(text)
    if text and zero is None:
        row.assumed.append("zero_stage_or_fsdp as the software has it by default")
    ranks = gpus // max(1, tensor * (row.count("pp") or 1))
    shards = shards_of(text, max(1, per_node // tensor))
    if not zero or not shards or shards >= ranks or ranks % shards:
        return {"zero": zero}
    row.assumed.append(f"copies of what is sharded {ranks // shards}, from zero_stage_or_fsdp")
    return {"zero": zero, "shards": shards}


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
    mode = recompute_of(text) or ""
    modules = re.search(r"\(([a-z_, ]+)\)", text) if mode == "selective" else None
    if modules and set(modules[1].split(", ")) <= CHEAP_MODULES:
        row.assumed.append(f"recompute none: {modules[1]} cost next to nothing to compute again")
        return {"recompute": "none"}
    if not mode:
        row.assumed.append("recompute none")
    layers = re.search(r"\b(\d{1,3}) layer", text) if mode == "full" else None
    return {"recompute": mode or "none", "recompute_layers": int(layers[1]) if layers else None}


def _stages(row: _Row) -> dict[str, Any]:
    """Return the pipeline; layers that do not divide are spread as evenly as they can be."""
    pipeline, interleave, layers = row.count("pp", 1) or 1, _interleave(row), _layers(row)
    stages: dict[str, Any] = {"pipeline": pipeline, "interleave": interleave}
    if pipeline > 1 and row.text("framework") == "nanotron" and row.text("layers"):
        return stages | {"stage_layers": _split_by_cost(row, layers, pipeline)}
    if layers % (pipeline * interleave) == 0:
        return stages
    if (layers + 2) % (pipeline * interleave) == 0:
        return stages | {"count_embedding_as_layer": True}
    if pipeline > layers:
        return stages
    row.assumed.append("layers spread evenly over stages")
    return stages | {"stage_layers": spread(layers, pipeline)}


def _layers(row: _Row) -> int:
    named = _library_model(row)
    known = known_model(named) if named else None
    return known.layers if known else row.count("layers") or 1


def _interleave(row: _Row) -> int:
    """Return the chunks of a stage: a count, or one behind the name of the schedule."""
    text = row.text("vpp")
    named = re.search(r"(?:interleav|vpp?\b|chunks?\b)[^\d]{0,9}(\d{1,3})\b", text, re.IGNORECASE)
    if named:
        return int(named[1])
    return 1 if re.fullmatch(r"1f1b|gpipe|afab|none|no", text, re.IGNORECASE) else row.count("vpp", 1) or 1


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
    found, assumed = software_of(row.text)
    row.assumed += [assumed] if assumed else []
    return found


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
