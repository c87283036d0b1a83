"""An indexed Job of Kubernetes, with a service to find each other by, that runs Megatron on the nodes of a scenario."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from aiplan.adapters.exports import megatron
from aiplan.adapters.exports.record import Export, title
from aiplan.adapters.exports.slurm import job_name, size

if TYPE_CHECKING:
    from aiplan.scenario.load import Scenario

RESOURCES = {
    "AMD": "amd.com/gpu",
    "Intel": "habana.ai/gaudi",
    "Google": "google.com/tpu",
    "AWS": "aws.amazon.com/neuron",
}
"""Names under which device plugins offer accelerators; others are NVIDIA's."""


def export(scenario: Scenario) -> Export:
    """Return a manifest: a pod for each node."""
    writer = megatron.arguments(scenario)
    nodes, each = size(scenario)
    name = job_name(scenario)
    maker = scenario.accelerator.name.split()[0]
    launch = [
        "torchrun",
        f"--nnodes={nodes}",
        f"--nproc_per_node={each}",
        "--rdzv_backend=c10d",
        f"--rdzv_endpoint={name}-0.{name}:29500",
        "pretrain_gpt.py",
    ]
    words = [word for flag, value in writer.settings for word in ([f"--{flag}", value] if value else [f"--{flag}"])]
    command = [f"            - {json.dumps(word)}" for word in [*launch, *words]]
    text = [
        f"# {title(scenario)}",
        f"# {megatron.REST}; put in your image; see 'aiplan export nccl-env --as kubernetes' for NCCL",
        *(f"# not said here: {remark}" for remark in writer.remarks),
        "apiVersion: v1",
        "kind: Service",
        "metadata:",
        f"  name: {name}",
        "spec:",
        "  clusterIP: None",
        f"  selector: {{job-name: {name}}}",
        "---",
        "apiVersion: batch/v1",
        "kind: Job",
        "metadata:",
        f"  name: {name}",
        "spec:",
        "  completionMode: Indexed",
        f"  completions: {nodes}",
        f"  parallelism: {nodes}",
        "  backoffLimit: 0",
        "  template:",
        "    spec:",
        f"      subdomain: {name}",
        "      restartPolicy: Never",
        "      containers:",
        "        - name: trainer",
        "          image: IMAGE",
        "          command:",
        *command,
        "          resources:",
        "            limits:",
        f"              {RESOURCES.get(maker, 'nvidia.com/gpu')}: {each}",
        "          volumeMounts:",
        "            - {name: shm, mountPath: /dev/shm}",
        "      volumes:",
        "        - name: shm",
        "          emptyDir: {medium: Memory}",
    ]
    return Export("\n".join(text) + "\n", tuple(writer.settings), tuple(writer.remarks))
