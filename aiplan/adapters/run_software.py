"""Software presets by what a table of runs says of framework, release and year."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiplan.adapters.benchmark_log import version
from aiplan.adapters.run_notes import container
from aiplan.adapters.run_words import match

if TYPE_CHECKING:
    from collections.abc import Callable

SOFTWARE = (
    (r"nanotron", "nanotron"),
    (r"torchtitan|FSDP\+TP|OLMo.?core", "torchtitan"),
    (r"llm-foundry", "llm-foundry"),
    (r"Megatron-DeepSpeed|GPT-NeoX", "megatron-deepspeed"),
    (r"Pax", "pax"),
    (r"MaxText|Levanter|axlearn", "maxtext"),
    (r"Megatron.?Bridge", "megatron-bridge"),
    (r"NeMo Megatron", "nemo-megatron"),
    (r"(?<!\w)AutoModel", "pytorch-fsdp"),
    (r"NeMo", "nemo"),
    (r"Megatron.?Core|\bMCore|\bTE\b|MegaScale", "megatron-core"),
    (r"Megatron.?LM", "megatron-lm"),
    (r"DeepSpeed|\bZeRO\b", "deepspeed"),
    (r"FSDP|PyTorch|torchtune|Accelerate|Lightning|Transformers|Hugging ?Face|\bTRL\b", "pytorch-fsdp"),
)
SHARDERS = ((r"FSDP|SHARD", "pytorch-fsdp"), (r"ZeRO-?[23]", "deepspeed"))
"""Presets for software of no known name, by how it shards."""
COMPILED = re.compile(r"(?<!no )(?<!no torch\.)(?<!not )(?<!un)compile")
"""Of PyTorch FSDP: the model is compiled, as it is in torchtitan."""
MEGATRON_LM = {"2020": "megatron-lm-2020", "2021": "megatron-lm-2021", "2022": "megatron-lm-2022"}
"""Presets of Megatron-LM by the year of a run; megatron-core in any other."""
FUSED_EXPERTS = "26.06"
"""Release of Megatron-Bridge from which the kernels round experts are fused."""
UNFUSED_EXPERTS = "2024"
"""Last year in which Megatron-Core, under NeMo, sorted tokens by expert with kernels of its own.

https://github.com/NVIDIA/Megatron-LM/blob/main/CHANGELOG.md, 0.11: permutation fused by Transformer Engine.
"""
UNCOMPILED_LOSS = "2024"
"""Last year in which torchtitan did not compile its loss."""


def software_of(text: Callable[[str], str]) -> tuple[str, str]:
    """Return the preset of a run, and what was assumed for it, empty if nothing was.

    Software of no known name is taken by how it shards.

    Parameters
    ----------
    text : callable
        Returns the text of a cell by the name of its column.
    """
    framework, year = text("framework"), text("year")
    if framework == "nanotron" and version(text("id")):
        return version(text("id")), f"software {version(text('id'))}, from the job number"
    named = match(SOFTWARE, framework, "")
    found = named or match(SHARDERS, text("zero_stage_or_fsdp"), "other")
    return _of_its_time(found, text, year), "" if named else f"framework {found}"


def _of_its_time(found: str, text: Callable[[str], str], year: str) -> str:
    """Return the preset of the release, or of the year, that a run was made with."""
    told = f"{text('framework')}; {text('overlap_flags')}; {text('dtype')}"
    if found == "pytorch-fsdp" and COMPILED.search(told):
        found = "torchtitan"
    if found == "nemo" and (re.search(r"\b2[34]\.\d\d\b", text("source_title")) or "0" < year <= UNFUSED_EXPERTS):
        return "nemo-2024"
    if found == "megatron-lm":
        return MEGATRON_LM.get(year, "megatron-core")
    if found == "torchtitan" and year and year <= UNCOMPILED_LOSS:
        return "torchtitan-2024"
    fused = found == "megatron-bridge" and container(text("notes")) >= FUSED_EXPERTS
    return "megatron-bridge-2026" if fused else found
