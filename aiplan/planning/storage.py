"""What a training asks of its storage, what the storage gives, and what to buy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from aiplan.core import storage
from aiplan.declare import Diagnostics
from aiplan.engine.supply import READ_STAGES, WRITE_STAGES
from aiplan.planning.estimate import Estimate, estimate
from aiplan.scenario.values import derived
from aiplan.units import duration, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.catalog.load import Catalog
    from aiplan.catalog.records import Storage
    from aiplan.scenario.load import Scenario

GUIDANCE = ("superpod-h100-good", "superpod-h100-better", "superpod-h100-best")
UNIT_NODES = 32
"""Nodes that the levels of guidance are stated for; more of them need as much more."""
USUAL_SHARE = 0.09
"""Share of the interval that a save takes in the field: 3.6 of 40 minutes.

https://sc25.conference-program.com/presentation/?id=ws_pdswwip108&sess=sess202
"""
FILLED = 0.8
"""Share of a large volume that can be filled before it slows down.

https://github.com/stas00/ml-engineering/blob/master/storage/README.md
"""
MONTH = 365.25 / 12 * 86400.0
NAMES = {
    "servers": "the servers",
    "requests": "the limit on requests",
    "clients": "the clients of the nodes",
    "network": "the network ports of the nodes",
    "core": "the network before the servers",
    "targets": "the targets that files are striped over",
}


class Stage(NamedTuple):
    """A stage that bytes pass: its name, and the most it lets through; infinite if nothing is known of it."""

    name: str
    read: float
    write: float


class Need(NamedTuple):
    """Something that training asks of storage: bytes, the rate asked, the rate there is, how long it takes."""

    name: str
    way: str
    size: float
    demand: float
    supply: float
    time: float
    note: str
    met: bool


class Level(NamedTuple):
    """A level of guidance: read and write rates for as many nodes, and whether they are enough."""

    name: str
    read: float
    write: float
    enough: bool


@dataclass(frozen=True, slots=True)
class StorageAnswer:
    """Demand against supply of the storage of one scenario."""

    estimate: Estimate
    stages: tuple[Stage, ...]
    needs: tuple[Need, ...]
    levels: tuple[Level, ...]

    @property
    def met(self) -> bool:
        """Whether storage holds nothing up."""
        return all(need.met for need in self.needs)

    def binding(self, way: str) -> Stage:
        """Return the narrowest stage on the way in or out."""
        return min(self.stages, key=lambda stage: getattr(stage, way))

    @property
    def holds_up(self) -> list[tuple[Need, Stage]]:
        """What is asked and not given, with the stage that is too narrow for it."""
        return [(need, self.binding(need.way)) for need in self.needs if not need.met]

    @property
    def capacity(self) -> float:
        """Bytes to provision: what is kept over the share of a volume that can be filled."""
        return self.estimate["storage.kept"] / FILLED

    @property
    def month(self) -> float:
        """Cost of a month of what is provisioned, or of what is needed; NaN if the price is unknown."""
        given = self.estimate.given("storage.capacity")
        price = self.estimate.given("storage.price")
        return float(storage.storage_cost(given or self.capacity, price, MONTH)) if price else math.nan


def storage_answer(scenario: Scenario, catalog: Catalog) -> StorageAnswer:
    """Put what a training asks of its storage beside what it gives.

    Parameters
    ----------
    scenario : Scenario
        With a storage block.
    catalog : Catalog
        Where the levels of guidance are looked up.

    Raises
    ------
    InputError
        The scenario says nothing of storage.
    """
    if scenario.file.storage in {None, "none"}:
        diagnostics = Diagnostics()
        hint = "add e.g. storage: {system: lustre-oss-modern, servers: 4}, or --set storage=s3-standard"
        diagnostics.error("AIP106", f"{scenario.name} says nothing of its storage", hint=hint)
        raise diagnostics.failure()
    answer = estimate([scenario])[0]
    stages = tuple(
        Stage(
            name,
            answer[f"storage.read.{name}"] if name in READ_STAGES else math.inf,
            answer[f"storage.write.{name}"],
        )
        for name in WRITE_STAGES
    )
    needs = tuple(_needs(scenario, answer))
    return StorageAnswer(answer, stages, needs, _levels(answer, needs, catalog))


def _needs(scenario: Scenario, answer: Estimate) -> list[Need]:
    """Return what training asks: data, checkpoints, restarts."""
    return [_data(answer), *(_saves(scenario, answer) if answer.given("checkpoint.made") else ())]


def _data(answer: Estimate) -> Need:
    batch = answer.given("workload.global_batch") * answer.given("storage.record")
    stall, fetch = answer["step.loading"], answer["loading.fetch"]
    note = (
        f"training waits {quantity(stall / answer['step'], '%')} of a step for it"
        if stall
        else "hidden behind the steps"
    )
    supply = batch / fetch if fetch else math.inf
    return Need("training data", "read", batch, answer["loading.demand"], supply, fetch, note, met=not stall)


def _saves(scenario: Scenario, answer: Estimate) -> Iterator[Need]:
    """Yield what a checkpoint asks at the interval that is best if storage were no limit, and what a restart asks."""
    size, write = answer["checkpoint.bytes"], answer["storage.write"]
    asynchronous = bool(answer.given("checkpoint.asynchronous"))
    wanted = estimate([_unlimited(scenario)])[0]["checkpoint.storage_interval"]
    interval = wanted if asynchronous else answer["checkpoint.storage_interval"]
    demand = float(storage.required_bandwidth(size, interval, 1.0 if asynchronous else USUAL_SHARE))
    why = "done before the next" if asynchronous else f"{quantity(USUAL_SHARE, '%')} of the interval, as is usual"
    note = f"every {duration(interval)}, {why}"
    yield Need("checkpoint", "write", size, demand, write, answer["checkpoint.write"], note, met=write >= demand)
    back, load = answer["checkpoint.restore_bytes"], answer["checkpoint.load"]
    rest = answer["reliability.restart"] - load
    if rest > 0:
        demand = float(storage.required_bandwidth(back, rest, 1.0))
        note = f"no longer than the {duration(rest)} that the rest of a restart takes"
        read = answer["storage.read"]
        yield Need("restart", "read", back, demand, read, load, note, met=load <= rest)


def _unlimited(scenario: Scenario) -> Scenario:
    """Return a scenario whose storage limits nothing."""
    rates = [f"storage.write_{name}" for name in ("system", "requests", "client")]
    free = dict.fromkeys([*rates, "storage.network", "storage.core", "storage.target"], derived(math.inf, "no limit"))
    return scenario._replace(run=scenario.run | free)


def _levels(answer: Estimate, needs: tuple[Need, ...], catalog: Catalog) -> tuple[Level, ...]:
    """Return the levels of guidance for as many nodes, and whether each covers what is asked."""
    units = max(answer.given("storage.nodes") / UNIT_NODES, 1.0)
    read = max(need.demand for need in needs if need.way == "read")
    write = max((need.demand for need in needs if need.way == "write"), default=0.0)
    found = []
    for ident in GUIDANCE:
        entry: Storage | None = (catalog.storage(ident, Diagnostics()) or (None,))[0]
        if entry is not None and entry.read and entry.write:
            rates = entry.read * units, entry.write * units
            found.append(Level(entry.name, *rates, enough=rates[0] >= read and rates[1] >= write))
    return tuple(found)
