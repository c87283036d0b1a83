"""What the notes of a run say about its shape that has no column of its own."""

from __future__ import annotations

import re
from typing import Any

LATENT_ATTENTION = {"query_rank": 1536, "key_value_rank": 512, "nope_dim": 128, "rope_dim": 64, "value_dim": 128}
"""Widths of multi-head latent attention as DeepSeek-V2, DeepSeek-V3 and Kimi K2 have them."""

LATE_BELOW = {16: 355e9, 32: 190e9, 64: 130e9, 128: 90e9, 256: 60e9, 512: 30e9}
"""Rate of a job's own all-reduce test over so many ranks below which its hosts were late. [B/s]

Two groups of the jobs of nanotron's benchmark that do not meet: 174 and 211 GB/s on 32 ranks, 103 and 164 on 64, 56 and
147 on 128, 29 and 173 on 256, 14 and 179 on 512. https://huggingface.co/spaces/nanotron/ultrascale-playbook
"""


def noted_hosts(notes: str, accelerators: int) -> str | None:
    """Return how the hosts of a job were, where the notes state the all-reduce test that it printed at its start."""
    found = re.search(r"NCCL all-reduce (\d{1,4}(?:\.\d{1,4})?) GB/s", notes)
    least = next((rate for ranks, rate in reversed(LATE_BELOW.items()) if ranks <= accelerators), 0.0)
    return None if found is None else "late" if float(found[1]) * 1e9 < least else "prompt"


def container(notes: str) -> str:
    """Return the release of the container that a run was made in, as "25.11"; empty if the notes do not say."""
    found = re.search(r"container (\d\d\.\d\d)", notes)
    return found[1] if found else ""


def noted_shape(notes: str, layers: int) -> dict[str, Any]:
    """Return parts of a model's shape that are stated in the notes."""
    shape: dict[str, Any] = {}
    head_dim = re.search(r"head_dim (\d{1,6})\b", notes)
    if head_dim:
        shape["head_dim"] = int(head_dim[1])
    if re.search(r"\bMLA\b", notes):
        shape["latent_attention"] = LATENT_ATTENTION
    if "alternating" in notes and "window" in notes:
        shape["window"] = {"size": 128, "layers": layers // 2}
    if re.search(r"MTP layer (counted|on)", notes):
        shape["mtp_layers"] = 1
    return shape


def noted_experts(notes: str, layers: int, width: int) -> dict[str, Any]:
    """Return what the notes state about the layers with experts; `width` is that of one routed expert."""
    experts: dict[str, Any] = {}
    dense = re.search(r"first (\d{1,3}) layers dense|dense_layers=(\d{1,3})", notes)
    count = int(next(text for text in dense.groups() if text)) if dense else int("first layer dense" in notes)
    if 0 < count < layers:
        experts["layers"] = layers - count
    if "every 2nd layer MoE" in notes and layers > 1:
        experts |= {"layers": layers // 2, "interleaved": True}
    shared = re.search(r"(?:(\d{1,3}) )?shared experts?(?: (?:of )?(\d{1,6}))?", notes)
    if shared:
        experts["shared_ffn"] = int(shared[1] or 1) * int(shared[2] or width)
    return experts


def noted_expert_tensor(notes: str) -> int | None:
    """Return the tensor parallel ranks inside an expert, where the notes state them."""
    found = re.search(r"(?:expert TP \(ETP\)|ETP) (\d{1,4})\b", notes)
    return int(found[1]) if found else None
