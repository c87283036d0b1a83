"""Which runs were measured under the same conditions, and in the same layout."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from aiplan.planning.accuracy import Comparison
    from aiplan.scenario.load import Scenario
    from aiplan.scenario.model import Model
    from aiplan.scenario.runs import MeasuredRun

UNNAMED = "unnamed model"
ORIGIN_PARTS = 8
"""Parts of an address up to the first folder of a repository at some revision: another release, or another submitter
of a round of results, differs there."""
REPEATS_DIFFER = 0.03
"""Standard deviation of the logarithm of step times of the same layout under the same conditions, of the repeats in
scenarios/published/bigscience-bloom.yaml. Repeats of other sources, some of them of later releases, differ by 0.5 to
16 %."""

Item = TypeVar("Item")


class Conditions(NamedTuple):
    """What runs have in common that may be compared with each other, batch and number of accelerators apart."""

    source: str
    origin: str
    model: str
    shape: Model
    sequence_length: int
    precision: str
    optimizer: str
    accelerator: str
    machine: tuple[Hashable, ...]
    software: str


def conditions(run: MeasuredRun, scenario: Scenario) -> Conditions:
    """Return the conditions under which a run was measured."""
    file = scenario.file
    return Conditions(
        source=run.source,
        origin=_origin(file.measured.source if file.measured else ""),
        model=_model(scenario),
        shape=scenario.model,
        sequence_length=file.workload.sequence_length,
        precision=file.workload.precision,
        optimizer=file.workload.optimizer,
        accelerator=scenario.accelerator.name,
        machine=_machine(scenario),
        software=file.software,
    )


def layout(scenario: Scenario, without: frozenset[str] = frozenset()) -> tuple[Hashable, ...]:
    """Return a plan in full, what it leaves to the software filled in: equal for the same layout written differently.

    Parameters
    ----------
    scenario : Scenario
        A resolved scenario.
    without : frozenset of str
        Dotted names that do not matter.
    """
    numbers = tuple(
        (name, None if math.isnan(value.number) else value.number)
        for name, value in scenario.values.items()
        if name.startswith("plan.") and name not in without
    )
    return (numbers, *((name, tuple(counts)) for name, counts in scenario.stages.items()))


def grouped(items: Iterable[Item], key: Callable[[Item], Hashable]) -> list[list[Item]]:
    """Return items with the same key together, groups and members in their first order."""
    found: dict[Hashable, list[Item]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return list(found.values())


def planned(items: Iterable[Comparison]) -> list[tuple[Comparison, Scenario]]:
    """Return the comparisons that have a prediction, with their scenarios."""
    return [(item, item.run.scenario) for item in items if item.estimate is not None and item.run.scenario is not None]


def _origin(address: str) -> str:
    return "/".join(address.split("/")[:ORIGIN_PARTS])


def _model(scenario: Scenario) -> str:
    """Return the name of a model, or its layers and width if it has none."""
    model = scenario.model
    return f"{model.layers} layers, width {model.hidden:,}" if model.name == UNNAMED else model.name


def _machine(scenario: Scenario) -> tuple[Hashable, ...]:
    """Return the accelerator, its node and the network; what was measured of a network on the day is left out."""
    cluster, node = scenario.file.cluster, scenario.node
    network = cluster.network
    wiring = (network.fabric, network.ports, network.topology, network.oversubscription)
    return (cluster.node, node.accelerator, node.accelerators, cluster.domain, wiring)
