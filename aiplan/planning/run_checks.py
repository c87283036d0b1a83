"""Checkpoints that cannot be made as asked: what only the length of a step and the rates of storage tell."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aiplan.declare import Mark
from aiplan.planning.estimate import estimate
from aiplan.scenario.legality import Fault
from aiplan.scenario.run_records import Checkpoint
from aiplan.units import duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.estimate import Estimate
    from aiplan.scenario.load import Scenario


CODE = "AIP382"


def impossible(scenario: Scenario) -> list[tuple[Fault, Mark | None]]:
    """Return what is wrong with the intervals that a scenario gives, and where; nothing if it leaves them to a rule."""
    saves = scenario.file.checkpoint
    if not isinstance(saves, Checkpoint):
        return []
    asked = [("checkpoint.interval", saves.interval), ("checkpoint.storage_interval", saves.storage_interval)]
    given = [(path, value) for path, value in asked if isinstance(value, float)]
    if not given:
        return []
    answer = estimate([scenario])[0]
    return [
        (fault, _mark(scenario, path)) for path, interval in given for fault in _faults(answer, path, interval, saves)
    ]


def _faults(answer: Estimate, path: str, interval: float, saves: Checkpoint) -> Iterator[Fault]:
    to_storage = path.endswith("storage_interval") or saves.mode in {"sync", "async"}
    work, drain = answer["run.time_to_train"], answer["checkpoint.drain"]
    copied, stall = answer["checkpoint.replica"], answer["checkpoint.stall"]
    if math.isfinite(work) and interval > work:
        yield Fault(
            CODE,
            f"{path} is {duration(interval)}, and all steps take {duration(work)}: none is ever made",
            path,
            "a shorter interval, or interval: auto",
        )
    if interval < answer["step"]:
        yield Fault(
            CODE,
            f"{path} is {duration(interval)}, and a step takes {duration(answer['step'])}",
            path,
            "at least one step, or interval: auto",
        )
    busy = drain if to_storage else copied
    if busy > interval + stall:
        where = "storage" if to_storage else "the peer"
        yield Fault(
            CODE,
            f"{path} is {duration(interval)}, and a save is on {where} only after {duration(busy)}",
            path,
            f"at least {duration(busy)}, faster storage, or interval: auto",
        )


def _mark(scenario: Scenario, path: str) -> Mark | None:
    value = scenario.run.get(path)
    where = "" if value is None else value.origin.where
    if where.startswith("--"):
        return Mark(where, 1, 1, 2)
    file, _, line = where.rpartition(":")
    return Mark(file, int(line), 1, 2) if line.isdigit() else None
