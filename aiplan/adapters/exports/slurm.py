"""A script for Slurm (https://slurm.schedmd.com/sbatch.html) that runs Megatron on the nodes of a scenario."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiplan.adapters.exports import megatron
from aiplan.adapters.exports.record import Export, title

if TYPE_CHECKING:
    from aiplan.scenario.load import Scenario

HOUR = 3600.0


def export(scenario: Scenario) -> Export:
    """Return a script: one task a node, which starts a process for each accelerator."""
    writer = megatron.arguments(scenario)
    nodes, each = size(scenario)
    text = [
        "#!/bin/bash",
        f"# {title(scenario)}",
        f"# {megatron.REST}; see 'aiplan export nccl-env' for NCCL",
        *(f"# not said here: {remark}" for remark in writer.remarks),
        f"#SBATCH --job-name={job_name(scenario)}",
        f"#SBATCH --nodes={nodes}",
        "#SBATCH --ntasks-per-node=1",
        f"#SBATCH --gpus-per-node={each}",
        "#SBATCH --exclusive",
        "",
        "set -euo pipefail",
        'export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)',
        "export CUDA_DEVICE_MAX_CONNECTIONS=1",
        "",
        "MEGATRON_ARGS=(",
        *(f"    {line}" for line in megatron.lines(writer)),
        ")",
        "",
        f"srun torchrun --nnodes={nodes} --nproc_per_node={each} --rdzv_backend=c10d \\",
        '    --rdzv_endpoint="$MASTER_ADDR:29500" --rdzv_id="$SLURM_JOB_ID" \\',
        '    pretrain_gpt.py "${MEGATRON_ARGS[@]}"',
    ]
    return Export("\n".join(text) + "\n", tuple(writer.settings), tuple(writer.remarks))


def size(scenario: Scenario) -> tuple[int, int]:
    """Return nodes and accelerators of each that the job has."""
    each = min(scenario.node.accelerators, scenario.accelerators)
    return -(-scenario.accelerators // each), each


def job_name(scenario: Scenario) -> str:
    """Return the name as other programs take names: lower case, letters, digits and dashes."""
    plain = re.sub(r"[^a-z0-9]+", "-", scenario.name.lower()).strip("-")
    return plain[:40].strip("-") or "training"
