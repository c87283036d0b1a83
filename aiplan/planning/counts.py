"""How many accelerators a model and a batch can be spread over, whatever the plan; and how few could ever be enough."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from aiplan.engine.counts import flops_per_token, parameters
from aiplan.planning.estimate import columns
from aiplan.scenario.layout_rules import divides, kv_heads_divide, sequence_divides
from aiplan.scenario.legality import divisors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aiplan.scenario.load import Scenario

MOST = 2**20
"""Accelerators beyond which nothing is looked for."""


def possible_counts(scenario: Scenario, most: int = MOST) -> NDArray[np.int64]:
    """Return the numbers of accelerators, in whole nodes, for which there is any legal layout, in rising order.

    A number is possible if it is the product of tensor parallel ranks that divide the heads, context parallel ranks
    that divide the sequence, stages that divide the layers and replicas that divide the batch.

    Parameters
    ----------
    scenario : Scenario
        Says model, sequence, batch and node.
    most : int
        The largest number of interest.
    """
    model, work = scenario.model, scenario.file.workload
    tensor = [size for size in divisors(model.heads) if _splits_model(scenario, size)]
    context = [size for size in divisors(work.sequence_length) if sequence_divides(work.sequence_length, size)]
    stages = sorted({*divisors(model.layers), *divisors(model.layers + 2)})
    found = np.ones(1, dtype=np.int64)
    for sizes in (tensor, context, stages, divisors(work.global_batch)):
        found = np.unique(np.outer(found, np.array(sizes, dtype=np.int64)))
        found = found[found <= most]
    whole: NDArray[np.int64] = found[found % scenario.node.accelerators == 0]
    return whole


def _splits_model(scenario: Scenario, tensor: int) -> bool:
    """Whether a model can be split over so many tensor parallel ranks."""
    model = scenario.model
    kv_heads = model.latent_attention is not None or kv_heads_divide(model.kv_heads or model.heads, tensor)
    return bool(kv_heads and (model.ffn is None or divides(model.ffn, tensor)))


def accelerator_seconds_at_peak(scenario: Scenario) -> float:
    """Return the time that a training takes on one accelerator at its dense peak, which no plan can beat."""
    values = columns([scenario])
    operations = float(flops_per_token(values, "megatron").max()) * scenario.values["workload.tokens"].number
    return operations / scenario.values["cluster.matmul_peak"].number


def fewest_for_weights(scenario: Scenario) -> int:
    """Return the accelerators whose memory holds the weights once, which is fewer than any plan needs."""
    values = scenario.values
    held = float(parameters(columns([scenario]).model).total.max()) * values["workload.weight_bytes"].number
    return math.ceil(held / values["cluster.memory_capacity"].number)
