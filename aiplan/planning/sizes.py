"""All legal parallel sizes of a model on so many accelerators, as columns; and what rules out the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.scenario.layout_rules import (
    chunks_divide,
    divides,
    kv_heads_divide,
    rounds_divide,
    sequence_divides,
)
from aiplan.scenario.legality import divisors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from aiplan.scenario.load import Scenario
    from aiplan.scenario.model import Model

    Whole = NDArray[np.int64]
    Table = dict[str, Whole]


class Sizes(NamedTuple):
    """Parallel sizes, one layout per place: equally long columns of whole numbers, in rising order.

    `ends` is 1 where embedding and head take the place of one layer each.
    """

    tensor: Whole
    context: Whole
    pipeline: Whole
    ends: Whole
    expert: Whole
    expert_tensor: Whole
    interleave: Whole
    micro_batch: Whole
    data: Whole

    def __len__(self) -> int:
        """Return how many layouts there are, not how many columns."""
        return int(self.tensor.size)

    def at(self, where: Whole | slice) -> Sizes:
        """Return some of the layouts."""
        return Sizes(*(column[where] for column in self))

    def row(self, index: int) -> tuple[int, ...]:
        """Return one layout."""
        return tuple(int(column[index]) for column in self)


class _Funnel:
    """Layouts put together one size at a time; what breaks a rule falls out at once and is counted."""

    def __init__(self) -> None:
        self.table: Table = {"tensor": np.ones(1, dtype=np.int64)}
        self.fallen: dict[str, int] = {}

    def cross(self, name: str, choices: Sequence[int]) -> None:
        """Combine all layouts with all choices of one more size."""
        rows, count = next(iter(self.table.values())).size, len(choices)
        self.table = {key: np.repeat(column, count) for key, column in self.table.items()}
        self.table[name] = np.tile(np.array(choices, dtype=np.int64), rows)

    def keep(self, rule: str, kept: NDArray[np.bool_] | bool) -> None:  # noqa: FBT001 - what a rule answers
        """Drop the layouts that break a rule."""
        kept = np.broadcast_to(np.asarray(kept), next(iter(self.table.values())).shape)
        dropped = int(kept.size - np.count_nonzero(kept))
        if dropped:
            self.fallen[rule] = self.fallen.get(rule, 0) + dropped
            self.table = {key: column[kept] for key, column in self.table.items()}

    def __getitem__(self, name: str) -> Whole:
        return self.table[name]


def legal_sizes(scenario: Scenario, wanted: Callable[[Table], NDArray[np.bool_]]) -> tuple[Sizes, dict[str, int]]:
    """Return the legal sizes, and how many combinations each rule, or what is wanted, has thrown out on the way.

    Parameters
    ----------
    scenario : Scenario
        Says model, sequence, batch and accelerators.
    wanted : callable
        Takes the columns so far and says which layouts a condition on the plan allows; it is asked after each size.

    Notes
    -----
    Tensor, context and pipeline run over the divisors of the accelerators, interleaving over those of the layers,
    experts over those of their number, micro-batches over those of the batch; an expert is split over a divisor of
    the tensor parallel ranks.
    """
    model, work, total = scenario.model, scenario.file.workload, scenario.accelerators
    funnel, ranks = _Funnel(), divisors(total)
    funnel.cross("tensor", ranks)
    _keep_widths(funnel, model)
    funnel.cross("context", ranks)
    funnel.keep("accelerators do not divide", divides(total, funnel["tensor"], funnel["context"]))
    funnel.keep("sequence does not divide", sequence_divides(work.sequence_length, funnel["context"]))
    funnel.cross("pipeline", [size for size in ranks if size <= model.layers + 2])
    shards = funnel["tensor"] * funnel["context"] * funnel["pipeline"]
    funnel.keep("accelerators do not divide", divides(total, shards))
    funnel.table["data"] = total // (funnel["tensor"] * funnel["context"] * funnel["pipeline"])
    funnel.keep("batch does not divide", divides(work.global_batch, funnel["data"]))
    layers = _keep_stages(funnel, model, always=scenario.file.plan.count_embedding_as_layer)
    funnel.keep("condition", wanted(funnel.table))
    _keep_experts(funnel, model, total)
    funnel.cross("interleave", [size for size in range(1, model.layers + 3) if any(divides(n, size) for n in layers)])
    counted = model.layers + 2 * funnel["ends"]
    funnel.keep("layers do not divide", chunks_divide(counted, funnel["pipeline"], funnel["interleave"]))
    funnel.keep("condition", wanted(funnel.table))
    funnel.cross("micro_batch", divisors(work.global_batch))
    each = funnel["micro_batch"] * funnel["data"]
    funnel.keep("batch does not divide", divides(work.global_batch, each))
    count = work.global_batch // (funnel["micro_batch"] * funnel["data"])
    funnel.keep(
        "micro-batches not in rounds of the stages", rounds_divide(count, funnel["pipeline"], funnel["interleave"])
    )
    funnel.keep("condition", wanted(funnel.table))
    return Sizes(*(funnel[name] for name in Sizes._fields)), funnel.fallen


def _keep_widths(funnel: _Funnel, model: Model) -> None:
    tensor, kv_heads = funnel["tensor"], model.kv_heads or model.heads
    kept = divides(model.heads, tensor)
    if model.latent_attention is None:
        kept = kept & kv_heads_divide(kv_heads, tensor)
    funnel.keep("heads do not divide", kept)
    if model.ffn is not None:
        funnel.keep("feed-forward width does not divide", divides(model.ffn, funnel["tensor"]))


def _keep_stages(funnel: _Funnel, model: Model, *, always: bool) -> tuple[int, ...]:
    """Split layers evenly; where that cannot be, or it is asked for, with the two ends counted as a layer each."""
    plain, counted = model.layers, model.layers + 2
    funnel.cross("ends", (0, 1))
    pipeline, ends = funnel["pipeline"], funnel["ends"]
    even = divides(plain, pipeline)
    with_ends = divides(counted, pipeline) & (pipeline > 1) & (always | ~even)
    uneven = int(np.count_nonzero(~(even | with_ends)[ends == 0]))
    if uneven:
        funnel.fallen["layers do not divide"] = uneven
    kept = np.where(ends == 0, even & ~(with_ends & always), with_ends)
    funnel.table = {key: column[kept] for key, column in funnel.table.items()}
    return plain, counted


def _keep_experts(funnel: _Funnel, model: Model, total: int) -> None:
    if model.experts is None:
        funnel.cross("expert", (1,))
        funnel.cross("expert_tensor", (1,))
        return
    funnel.cross("expert_tensor", divisors(total))
    funnel.keep("experts split further than tensor", divides(funnel["tensor"], funnel["expert_tensor"]))
    funnel.keep("expert width does not divide", divides(model.experts.ffn, funnel["expert_tensor"]))
    funnel.cross("expert", divisors(model.experts.count))
    per_stage = total // funnel["pipeline"]
    funnel.keep("experts do not divide", divides(per_stage, funnel["expert"], funnel["expert_tensor"]))
