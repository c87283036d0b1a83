"""Layouts to stand in for one that was not published: the fastest of a plain grid of legal ones."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from aiplan.declare import Diagnostics
from aiplan.engine.counts import parameters
from aiplan.engine.evaluate import evaluate
from aiplan.engine.inputs import inputs
from aiplan.planning.estimate import columns
from aiplan.scenario.layout_rules import splits_sequence
from aiplan.scenario.legality import check_plan, stage_layers
from aiplan.scenario.load import resolve_tree, stages_of
from aiplan.scenario.records import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aiplan.catalog.load import Catalog
    from aiplan.declare import Node
    from aiplan.planning.variants import Setting
    from aiplan.scenario.files import Place
    from aiplan.scenario.load import Scenario

STAGES = (1, 2, 3, 4, 6, 8, 12, 16)
MOST_CHUNKS = 8
MOST_EXPERT_RANKS = 64
MOST_MICRO_BATCH_TOKENS = 65_536
LONG_SEQUENCE = 8192
"""From here on, context parallel is tried."""
RECOMPUTE = ("none", "full")
SHARDED = 3
MOST_SHARDS = 4
"""Parts of a model (tensor x pipeline) that are tried, over the fewest that hold its weights and gradients."""
WEIGHT_AND_GRADIENT_BYTES = 6
OPTION = "a layout of our own"
"""What messages call these settings."""


class Layout(NamedTuple):
    """What is tried of a plan; everything else stays as it is."""

    tensor: int
    pipeline: int
    interleave: int
    context: int
    expert: int
    zero: int
    micro_batch: int
    recompute: str


def layouts(scenario: Scenario) -> list[Layout]:
    """Return the legal layouts of a grid.

    Tensor parallel in powers of two up to the node; pipelines of 1, 2, 3, 4, 6, 8, 12 and 16 stages (and of as many as
    the plan has), without chunks and with as many as there can be (8 at most); context parallel 1 and 2 from 8,192
    tokens on;
    expert parallel in powers of two up to 64, at least a node where there are as many experts; ZeRO-1, or all
    parameters sharded without a pipeline; micro-batches in powers of two up to 65,536 tokens; activations kept or
    recomputed in full. A model is cut into four times as many parts as its weights and gradients need, no more.

    Parameters
    ----------
    scenario : Scenario
        Says model, workload and machine; its own plan fills in what is not tried.
    """
    legal = (layout for layout in _grid(scenario) if _legal(scenario, layout))
    return [kept for layout in legal for kept in _memory_kept(layout)]


def fastest(
    tree: Node, place: Place, catalog: Catalog, scenario: Scenario, settings: Sequence[Setting] = ()
) -> Scenario | None:
    """Return a scenario with the layout of the grid that is fastest of those that fit into memory; None if none fits.

    Parameters
    ----------
    tree : Node
        What the scenario was resolved from.
    place : Place
        Where that comes from.
    catalog : Catalog
        Where ids are looked up.
    scenario : Scenario
        The scenario, resolved.
    settings : sequence of tuple
        Settings from the command line: they come on top, so none may be about the plan.
    """
    tried = layouts(scenario)
    if not tried:
        return None
    terms = _evaluated(tried, tree, place, catalog, scenario, settings)
    step = np.where(terms["memory"] <= terms["memory.capacity"], terms["step"], np.inf)[0]
    best = int(np.argmin(step))
    return planned(tree, place, catalog, tried[best], settings) if np.isfinite(step[best]) else None


def planned(
    tree: Node, place: Place, catalog: Catalog, layout: Layout, settings: Sequence[Setting] = ()
) -> Scenario | None:
    """Return a scenario with a layout in place of its own."""
    changes = [(f"plan.{name}", str(value), OPTION) for name, value in layout._asdict().items()]
    return resolve_tree(tree, place, catalog, Diagnostics(), [*changes, *settings])


def _evaluated(
    tried: Sequence[Layout],
    tree: Node,
    place: Place,
    catalog: Catalog,
    scenario: Scenario,
    settings: Sequence[Setting],
) -> dict[str, np.ndarray]:
    """Return the terms of all layouts, evaluated as one batch.

    Layouts are resolved once for each kind; plain numbers and the stages, on which no other value rests, are put in.
    """
    one_of_each = {_kind(scenario, layout): layout for layout in tried}
    found = {kind: planned(tree, place, catalog, layout, settings) for kind, layout in one_of_each.items()}
    resolved = {
        kind: {name: value.number for name, value in (one or scenario).values.items()} for kind, one in found.items()
    }
    rows = [resolved[_kind(scenario, layout)] | _numbers(scenario, layout) for layout in tried]
    split = {pipeline: _stages(scenario, pipeline) for pipeline in {layout.pipeline for layout in tried}}
    return evaluate(inputs(rows, [split[layout.pipeline] for layout in tried]))


def _kind(scenario: Scenario, layout: Layout) -> tuple[bool, int]:
    """Return what of a layout other values rest on."""
    return splits_sequence(scenario.file.workload.sequence_length, layout.tensor, layout.context), layout.zero


def _numbers(scenario: Scenario, layout: Layout) -> dict[str, float]:
    """Return the values of a layout that go into the formulas as they are."""
    plain = {
        "tensor": layout.tensor,
        "context": layout.context,
        "pipeline": layout.pipeline,
        "interleave": layout.interleave,
        "expert": layout.expert,
        "micro_batch": layout.micro_batch,
        "data": scenario.accelerators // _shards(layout),
        "copies": 1,
        "recompute_selective": layout.recompute == "selective",
        "recompute_full": layout.recompute == "full",
    }
    return {f"plan.{name}": float(value) for name, value in plain.items()}


def _shards(layout: Layout) -> int:
    return layout.tensor * layout.pipeline * layout.context


def _stages(scenario: Scenario, pipeline: int) -> dict[str, list[float]]:
    plan = _plan(scenario, {"pipeline": pipeline})
    return stages_of(scenario.model, stage_layers(scenario.model, plan) or ())


def _grid(scenario: Scenario) -> Iterator[Layout]:
    work = scenario.file.workload
    micro_batches = _powers(max(1, min(MOST_MICRO_BATCH_TOKENS // work.sequence_length, work.global_batch)))
    contexts = (1, 2) if work.sequence_length >= LONG_SEQUENCE else (1,)
    for tensor, pipeline in _parts(scenario):
        yield from itertools.starmap(
            Layout,
            itertools.product(
                (tensor,),
                (pipeline,),
                _chunks(scenario, pipeline),
                contexts,
                _expert_ranks(scenario),
                (1,),
                micro_batches,
                RECOMPUTE[:1],
            ),
        )


def _memory_kept(layout: Layout) -> Iterator[Layout]:
    """Yield a layout with what makes no difference to whether it is legal: sharding and recomputation."""
    for zero in (1, SHARDED) if layout.pipeline == 1 else (1,):
        for recompute in RECOMPUTE:
            yield layout._replace(zero=zero, recompute=recompute)


def _parts(scenario: Scenario) -> list[tuple[int, int]]:
    """Return how many ways a model may be cut: over tensor parallel ranks, and into stages."""
    weights = float(parameters(columns([scenario]).model).total[0, 0])
    needed = WEIGHT_AND_GRADIENT_BYTES * weights / scenario.values["cluster.memory_capacity"].number
    most = MOST_SHARDS * max(1.0, needed)
    stages = sorted({*STAGES, scenario.file.plan.pipeline})
    every = itertools.product(_powers(scenario.node.accelerators), stages)
    return [(tensor, pipeline) for tensor, pipeline in every if tensor * pipeline <= most]


def _powers(most: int) -> list[int]:
    """Return the powers of two up to a number."""
    return [2**exponent for exponent in range(most.bit_length())]


def _chunks(scenario: Scenario, pipeline: int) -> list[int]:
    """Return the chunks a stage may have: one, and the most that layers divide into."""
    layers = scenario.model.layers + 2 * scenario.file.plan.count_embedding_as_layer
    possible = [chunks for chunks in _powers(MOST_CHUNKS) if pipeline > 1 and layers % (pipeline * chunks) == 0]
    return sorted({1, max(possible, default=1)})


def _expert_ranks(scenario: Scenario) -> list[int]:
    experts = scenario.model.experts
    if experts is None:
        return [1]
    ranks = _powers(min(experts.count, MOST_EXPERT_RANKS))
    return [rank for rank in ranks if rank >= min(ranks[-1], scenario.node.accelerators)]


def _legal(scenario: Scenario, layout: Layout) -> bool:
    """Whether a layout can run at all; the rules that most of them break come first, for they cost least."""
    data, rest = divmod(scenario.accelerators, _shards(layout))
    if rest or not data or scenario.file.workload.global_batch % (data * layout.micro_batch):
        return False
    plan = _plan(scenario, layout._asdict())
    return not any(check_plan(scenario.model, scenario.file.workload, plan, scenario.accelerators))


def _plan(scenario: Scenario, changes: dict[str, object]) -> Plan:
    return Plan(**(vars(scenario.file.plan) | {"shards": None} | changes))
