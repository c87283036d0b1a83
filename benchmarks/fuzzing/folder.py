"""A folder of two hundred scenarios, thirty of them broken, each in another way."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

BROKEN = (
    ("tokens: 100B", "tokens: 100 GB"),
    ("tokens: 100B", "tokens: many"),
    ("tokens: 100B", "tokens: -1"),
    ("tokens: 100B", "tokns: 100B"),
    ("sequence_length: 8192", "sequence_length: 8k"),
    ("sequence_length: 8192", "sequence_length: 0"),
    ("sequence_length: 8192, ", ""),
    ("global_batch: 128", "global_batch: 127"),
    ("global_batch: 128", "global_batch: 1.5"),
    ("global_batch: 128", "global_batch: 128, global_batch: 256"),
    ("dgx-h100", "dgx-h10"),
    ("dgx-h100", "3"),
    ("nodes: 4", "nodes: 04"),
    ("nodes: 4", "nodes: null"),
    ("nodes: 4}", "nodes: 4"),
    ("nodes: 4", "nodes: &n 4"),
    ("cluster:", "clustr:"),
    ("tensor: 2", "tensor: 3"),
    ("tensor: 2", "tensor: 2, expert: 2"),
    ("tensor: 2", "tensor: 2, interleave: 2"),
    ("tensor: 2", "tensor: 2, pipeline: 7"),
    ("selective", "some"),
    ("selective", "selective, sequence_parallel: no"),
    ("schema_version: 1", "schema_version: 9"),
    ("schema_version: 1", "<<<<<<< ours"),
    ("llama-3-8b", "llama-3-9b"),
    ("model:", "\tmodel:"),
    ("fits,", "fitz,"),
    ("mfu >= 40 %", "mfu >= 40 days"),
    ("expect:", "notes: [3]\nexpect:"),
)
"""What is put in place of what, in a scenario that is right."""
SOUND = 170


def write_folder(good: Path, target: Path) -> set[str]:
    """Write the folder beside a scenario that is right, and return the names of what is broken.

    Every tenth of the rest does not meet what it expects.
    """
    text = good.read_text(encoding="utf-8")
    target.mkdir()
    for index, (old, new) in enumerate(BROKEN):
        if old not in text:
            raise ValueError(f"{good} has no {old!r}")
        (target / f"b{index:03}.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    for index in range(SOUND):
        asked = text.replace("mfu >= 40 %", "mfu >= 60 %") if index % 10 == 0 else text
        sized = asked.replace("nodes: 4", f"nodes: {2 ** (index % 5)}")
        (target / f"g{index:03}.yaml").write_text(sized, encoding="utf-8")
    return {f"{target.name}/b{index:03}.yaml" for index in range(len(BROKEN))}
