"""Rows of a benchmark log: other names for some columns, and what the log leaves unsaid."""

from __future__ import annotations

import math
import re

from aiplan.core import transformer

LOG_COLUMNS = ("job_id", "zero_stage")
"""Columns that mark a table as the log of nanotron's benchmark; https://github.com/huggingface/nanotron"""

VERSIONS = ((13_400_000, ""), (13_600_000, "nanotron-2024"), (14_090_000, "nanotron-early-2025"), (14_400_000, ""))
"""Presets by the job numbers below which runs of the public benchmark are theirs; none below the first or after.

Inferred from measured memory and from step times that were fifty times too long until the pipeline was mended.
https://huggingface.co/spaces/nanotron/ultrascale-playbook
"""

RESULTS = {"oom": False, "out of memory": False, "ok": True, "success": True, "fits": True}
"""Whether a plan fitted, by what the log says became of it."""


def as_run(row: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return a row under the names of a table of runs, and what was assumed.

    Parameters
    ----------
    row : dict
        Cells by column, as read; one with the usual columns comes back as it is.
    """
    if not all(row.get(name) for name in LOG_COLUMNS):
        return row, []
    given = {
        "id": row["job_id"],
        "framework": "nanotron",
        "zero_stage_or_fsdp": f"ZeRO-{row['zero_stage']}" if row["zero_stage"].strip() != "0" else "none",
    }
    assumed = []
    if not row.get("framework"):
        assumed.append("framework nanotron, whose benchmark logs job_id and zero_stage")
    gated = None if row.get("gated_mlp") else gated_by_count(row)
    if gated is not None:
        given["gated_mlp"] = "yes" if gated else "no"
        assumed.append(f"gated_mlp {given['gated_mlp']}, which n_params_b agrees with")
    return given | {name: cell for name, cell in row.items() if cell}, assumed


def version(ident: str) -> str:
    """Return the preset of the nanotron that ran a job of the public benchmark; empty for any other run."""
    job = re.fullmatch(r"(?:hf-)?([0-9]{8})(?:-[0-9])?", ident)
    return next((preset for below, preset in VERSIONS if job and int(job[1]) < below), "")


def gated_by_count(row: dict[str, str]) -> bool | None:
    """Return whether gated units meet the stated count of parameters better than plain ones; None if not stated."""
    names = ("n_params_b", "layers", "hidden", "ffn_hidden", "heads", "vocab")
    try:
        stated, layers, hidden, ffn, heads, vocab = (float(row.get(name) or "nan") for name in names)
        kv_heads = float(row.get("kv_heads") or heads)
        ends = vocab * hidden * (1 if (row.get("tied_embeddings") or "").strip().lower() == "yes" else 2)
        attention = transformer.attention_parameters(hidden, heads, kv_heads, hidden / heads, 0.0, 0.0)
        plain, gated = (
            layers * (attention + transformer.mlp_parameters(hidden, ffn, kind, 0.0)) + ends for kind in (0.0, 1.0)
        )
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    distance = abs(gated - stated * 1e9), abs(plain - stated * 1e9)
    return None if math.isnan(distance[0]) else bool(distance[0] < distance[1])
