"""The plans that a search goes through: legal parallel sizes, crossed with the options that matter for each.

Sizes are the last axis of every array; every option is an axis of its own before the stages. A term is thus computed
once for each combination of what it depends on, and the rest is broadcasting: the same formulas as for one estimate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from aiplan.engine.inputs import SCALAR_NAMES, STAGE_NAMES, Inputs, StageInputs, assembled, stage_inputs
from aiplan.planning.sizes import Sizes, legal_sizes
from aiplan.scenario.communication import check as check_communication
from aiplan.scenario.host import check as check_offload
from aiplan.scenario.layout_rules import splits_sequence
from aiplan.scenario.legality import stage_layers
from aiplan.scenario.load import stages_of
from aiplan.scenario.pieces import FULLY_SHARDED, beside, check_sharding
from aiplan.scenario.records import Overlap, Plan, ScenarioFile
from aiplan.scenario.resolve import resolve_layout
from aiplan.scenario.resolve_run import run_values
from aiplan.scenario.values import derived

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping

    from numpy.typing import NDArray

    from aiplan.core.arrays import Array
    from aiplan.engine.run_inputs import RunInputs
    from aiplan.scenario.load import Scenario

    Choice = Mapping[str, Any]
    Wanted = Callable[[dict[str, NDArray[np.int64]]], NDArray[np.bool_]]

AS_THEY_ARE = ("tensor", "context", "pipeline", "interleave", "expert", "expert_tensor", "micro_batch", "data")
"""Sizes that go into the formulas as the numbers they are."""


UNSHARDED = "no sharding goes with the communication"
TOKENS = 1e12
"""Tokens to compare plans by where a scenario does not say how many it trains on."""


class Axis(NamedTuple):
    """An option: its name, and the fields of a plan that each choice sets."""

    name: str
    choices: tuple[Choice, ...]


class Matters(NamedTuple):
    """Which options make a difference to a layout."""

    splits: bool
    tensor: bool
    stages: bool
    ranks: bool
    experts: bool


class Group(NamedTuple):
    """Layouts for which the same options matter: the sizes, the options, and the inputs along these."""

    sizes: Sizes
    axes: tuple[Axis, ...]
    along: dict[str, Array]

    @property
    def options(self) -> int:
        """Combinations of options of each layout."""
        return int(np.prod([len(axis.choices) for axis in self.axes], dtype=np.int64))

    def choice(self, index: int) -> dict[str, Any]:
        """Return the fields that one combination of options sets."""
        where = np.unravel_index(index, [len(axis.choices) for axis in self.axes])
        chosen: dict[str, Any] = {}
        for axis, place in zip(self.axes, where, strict=True):
            chosen |= axis.choices[int(place)]
        return chosen


class Space(NamedTuple):
    """All plans of a scenario, and how many combinations of sizes fell out before anything was computed.

    `run` is what the scenario says of the run as a whole; None if it does not.
    """

    scenario: Scenario
    groups: tuple[Group, ...]
    fallen: dict[str, int]
    run: RunInputs | None = None

    @property
    def plans(self) -> int:
        """Plans that are legal and distinct."""
        return sum(len(group.sizes) * group.options for group in self.groups)

    @property
    def layouts(self) -> int:
        """Combinations of sizes that are legal."""
        return sum(len(group.sizes) for group in self.groups)

    def plan(self, group: int, layout: int, option: int) -> Plan:
        """Return a plan as it would stand in a file."""
        found = self.groups[group]
        chosen = found.choice(option)
        sizes = dict(zip(Sizes._fields, found.sizes.row(layout), strict=True))
        return planned(self.scenario, sizes, chosen)

    def inputs(self, group: int, start: int, stop: int) -> Inputs:
        """Return the inputs of some layouts of a group with all of their options."""
        found = self.groups[group]
        sizes = found.sizes.at(slice(start, stop))
        columns = {name: np.full((1, 1), value.number) for name, value in self.scenario.values.items()}
        columns |= found.along
        if np.isnan(columns["workload.tokens"]).any():
            columns["workload.tokens"] = np.full((1, 1), TOKENS)
        columns |= {f"plan.{name}": getattr(sizes, name).astype(float)[None, :] for name in AS_THEY_ARE}
        return assembled(columns, _stages(self.scenario, sizes))


def space(scenario: Scenario, wanted: Wanted) -> Space:
    """Return all plans of a scenario that a condition on the sizes allows.

    Parameters
    ----------
    scenario : Scenario
        Says model, workload and machine. What a search does not vary (attention kernel, graphs, dispatch, precision)
        stays as its plan and its software preset have it.
    wanted : callable
        Takes columns of sizes and says which of them a condition allows.
    """
    sizes, fallen = legal_sizes(scenario, wanted)
    groups = []
    for matters, where in _alike(scenario, sizes):
        if all(axis.choices for axis in _axes(scenario, matters)):
            groups.append(_group(scenario, sizes.at(where), matters))
        else:
            fallen[UNSHARDED] = fallen.get(UNSHARDED, 0) + len(where)
    return Space(scenario, tuple(groups), fallen, _run(scenario))


def sized(scenario: Scenario) -> Scenario:
    """Return a scenario with some tokens if it does not say how many: enough to compare plans by."""
    if not math.isnan(scenario.values["workload.tokens"].number):
        return scenario
    work = type(scenario.file.workload)(**(vars(scenario.file.workload) | {"tokens": TOKENS}))
    parts = scenario.parts._replace(file=ScenarioFile(**(vars(scenario.file) | {"workload": work})))
    values = scenario.values | {"workload.tokens": derived(TOKENS, "not given: plans are compared by a trillion")}
    return scenario._replace(values=values, run=run_values(parts, values))


def _run(scenario: Scenario) -> RunInputs | None:
    """Return what a scenario says of the run as a whole, the same for all plans; what the plan decides is not in it."""
    if not scenario.run:
        return None
    from aiplan.engine.run_inputs import run_inputs  # noqa: PLC0415 - most searches do without

    return run_inputs([{name: value.number for name, value in sized(scenario).run.items()}], (1, 1))


def planned(scenario: Scenario, sizes: Mapping[str, int], chosen: Choice) -> Plan:
    """Return a scenario's plan with sizes and options in place of its own."""
    own = scenario.file.plan
    overlap = {name.removeprefix("overlap."): value for name, value in chosen.items() if name.startswith("overlap.")}
    fields = {name: value for name, value in chosen.items() if not name.startswith("overlap.")}
    given = {name: size for name, size in sizes.items() if name not in {"data", "ends"}}
    dropped = {"data": None, "shards": None, "stage_layers": (), "recompute_layers": None}
    return Plan(
        **(
            vars(own)
            | dropped
            | given
            | fields
            | {
                "count_embedding_as_layer": bool(sizes["ends"]),
                "overlap": Overlap(**(vars(own.overlap) | overlap)),
            }
        )
    )


def _alike(scenario: Scenario, sizes: Sizes) -> Iterator[tuple[Matters, NDArray[np.int64]]]:
    """Yield the layouts for which the same options matter."""
    flags = np.stack(
        [
            splits_sequence(scenario.file.workload.sequence_length, sizes.tensor, sizes.context),
            sizes.tensor > 1,
            sizes.pipeline > 1,
            (sizes.data * sizes.context > 1) | (scenario.model.experts is not None),
            sizes.expert > 1,
        ]
    )
    codes = np.packbits(flags, axis=0, bitorder="little")[0]
    for code in np.unique(codes):
        where = np.flatnonzero(codes == code)
        yield Matters(*(bool(flag) for flag in flags[:, where[0]])), where


def _axes(scenario: Scenario, matters: Matters) -> list[Axis]:
    """Return the options that matter, each with the choices that are legal."""
    yes_no, pieces = (True, False), beside(scenario.file.communication)
    found = [Axis("recompute", tuple({"recompute": kind} for kind in ("none", "selective", "full")))]
    if matters.splits:
        found.append(Axis("sequence_parallel", tuple({"sequence_parallel": on} for on in yes_no)))
    elif matters.tensor:
        found.append(Axis("sequence_parallel", ({"sequence_parallel": False},)))
    if matters.ranks:
        found.append(Axis("zero", _sharding(scenario, stages=matters.stages)))
        found.append(_overlap("gradients", pieces))
    elif scenario.file.communication.prefetch is not None:
        found.append(Axis("zero", ()))  # a single rank has nothing to gather
    for name, matter in (("tensor", matters.tensor), ("pipeline", matters.stages), ("expert", matters.experts)):
        if matter:
            found.append(_overlap(name, pieces))
    return found


def _overlap(kind: str, pieces: Container[str]) -> Axis:
    """Return a kind of overlap on and off; on only where communication goes in pieces beside computation."""
    return Axis(
        f"overlap.{kind}", tuple({f"overlap.{kind}": on} for on in ((True,) if kind in pieces else (True, False)))
    )


def _sharding(scenario: Scenario, *, stages: bool) -> tuple[Choice, ...]:
    """Return what can be sharded, with and without weights gathered beside the forward pass where any are."""
    wanted, most = scenario.file.communication, scenario.software.zero_with_pipeline if stages else 3
    offload = scenario.file.plan.offload
    choices: list[Choice] = []
    for zero in range(most + 1):
        stays = stages and scenario.software.stays_gathered and zero == FULLY_SHARDED
        if any((*check_communication(wanted, zero), *check_sharding(wanted, zero), *check_offload(offload, zero))):
            continue
        if wanted.prefetch is None:
            choices += [{"zero": zero, "overlap.parameters": on} for on in ((True, False) if zero else (False,))]
        elif not stays:
            choices.append({"zero": zero, "overlap.parameters": True})
    return tuple(choices)


def _group(scenario: Scenario, sizes: Sizes, matters: Matters) -> Group:
    """Resolve the options of layouts that are alike; choices that come to the same as one before are left out."""
    first = dict(zip(Sizes._fields, sizes.row(0), strict=True))
    axes = _axes(scenario, matters)
    base: dict[str, Any] = {}
    for axis in axes:
        base |= axis.choices[0]

    def resolved(*changes: Choice) -> dict[str, float]:
        chosen = dict(base)
        for change in changes:
            chosen |= change
        file = ScenarioFile(**(vars(scenario.file) | {"plan": planned(scenario, first, chosen)}))
        values = resolve_layout(scenario.parts._replace(file=file, origins={}))
        numbers = {name: values[name].number for name in values if name in _DECIDED}
        return {name: number for name, number in numbers.items() if number == number}  # noqa: PLR0124 - not NaN

    tables = [[resolved(choice) for choice in axis.choices] for axis in axes]
    kept = [_distinct(table) for table in tables]
    axes = [Axis(axis.name, tuple(axis.choices[i] for i in keep)) for axis, keep in zip(axes, kept, strict=True)]
    tables = [[table[i] for i in keep] for table, keep in zip(tables, kept, strict=True)]
    return Group(sizes, tuple(axes), _along(axes, tables, resolved))


_DECIDED = set(SCALAR_NAMES) - {f"plan.{name}" for name in AS_THEY_ARE}
"""Inputs that are resolved for every option, if the plan decides them."""


def _distinct(table: list[dict[str, float]]) -> list[int]:
    """Return the choices that differ from all before them."""
    return [i for i, values in enumerate(table) if values not in table[:i]]


def _along(
    axes: list[Axis], tables: list[list[dict[str, float]]], resolved: Callable[..., dict[str, float]]
) -> dict[str, Array]:
    """Return every input that the plan decides, with an axis of its own for each option that it depends on.

    An input that more than one option changes is resolved for all combinations of these.
    """
    found: dict[str, Array] = {}
    dimensions = len(axes) + 2
    for name, number in resolved().items():
        on = [place for place, table in enumerate(tables) if any(values[name] != number for values in table)]
        shape = [1] * dimensions
        for place in on:
            shape[place] = len(tables[place])
        if len(on) <= 1:
            numbers = [values[name] for values in tables[on[0]]] if on else [number]
        else:
            where = np.ndindex(*(len(tables[place]) for place in on))
            numbers = [
                resolved(*(axes[place].choices[i] for place, i in zip(on, combination, strict=True)))[name]
                for combination in where
            ]
        found[name] = np.array(numbers, dtype=float).reshape(shape if on else (1, 1))
    return found


def _stages(scenario: Scenario, sizes: Sizes) -> StageInputs:
    """Return the stages of each layout; shorter pipelines are filled up with stages of zero copies."""
    distinct, where = np.unique(sizes.pipeline * 2 + sizes.ends, return_inverse=True)
    one = dict.fromkeys(Sizes._fields, 1)
    plans = [planned(scenario, one | {"pipeline": int(key) // 2, "ends": int(key) % 2}, {}) for key in distinct]
    splits = [stage_layers(scenario.model, plan) or () for plan in plans]
    stages = stage_inputs([stages_of(scenario.model, split) for split in splits])
    return StageInputs(**{name: getattr(stages, name)[:, where] for name in STAGE_NAMES})
