"""What an estimate says of the run as a whole: storage, checkpoints, failures, cost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from aiplan.engine.tree import BRANCHES, RUN_ROOTS
from aiplan.report.facts import Fact
from aiplan.report.text import joined, number, percent, span
from aiplan.units import duration, quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.estimate import Estimate
    from aiplan.report.records import Cell

KEYS = {
    "wallclock_s": ("wallclock", "s"),
    "goodput": ("run.goodput", ""),
    "ettr": ("reliability.ettr", ""),
    "interruptions": ("reliability.interruptions", ""),
    "mtbf_s": ("reliability.mtbf", "s"),
    "restart_s": ("reliability.restart", "s"),
    "checkpoint_bytes": ("checkpoint.bytes", "B"),
    "checkpoint_interval_s": ("checkpoint.interval", "s"),
    "checkpoint_storage_interval_s": ("checkpoint.storage_interval", "s"),
    "checkpoint_stall_s": ("checkpoint.stall", "s"),
    "checkpoint_drain_s": ("checkpoint.drain", "s"),
    "checkpoint_load_s": ("checkpoint.load", "s"),
    "storage_read_bytes_per_s": ("storage.read", "B/s"),
    "storage_write_bytes_per_s": ("storage.write", "B/s"),
    "data_demand_bytes_per_s": ("loading.demand", "B/s"),
    "data_stall_per_step_s": ("step.loading", "s"),
    "whole_run_cost_usd": ("total.cost", "USD"),
    "whole_run_energy_j": ("total.energy", "J"),
    "whole_run_carbon_kg": ("total.carbon", "kg"),
    "facility_power_w": ("total.power", "W"),
    "cost_per_trillion_tokens_usd": ("total.cost_per_trillion_tokens", "USD"),
}
"""Keys of the document, the terms they are, and the unit in records."""
TREES = {"wallclock": "value_s", "total.cost": "value_usd", "total.energy": "value_j"}


def scalars(estimate: Estimate) -> dict[str, Any]:
    """Return the single numbers by their keys; none if the scenario asks for steps only."""
    return {key: estimate[name] for key, (name, _) in KEYS.items()} if estimate.scenario.run else {}


def document(estimate: Estimate) -> dict[str, Any]:
    """Return the run as a whole as a mapping of keys to numbers and trees."""
    found = estimate.wallclock_interval()
    return {
        **scalars(estimate),
        "wallclock_interval_s": None if found is None else [found.low, found.high],
        **{name.replace(".", "_"): _branch(estimate, name, name, key) for name, key in TREES.items()},
    }


def _branch(estimate: Estimate, name: str, root: str, key: str) -> dict[str, Any]:
    whole = estimate[root]
    return {
        "name": name,
        "label": BRANCHES[name].label,
        key: estimate[name],
        "share": estimate[name] / whole if whole else math.nan,
        "children": [_branch(estimate, child, root, key) for child in BRANCHES[name].children],
    }


def records(estimate: Estimate) -> Iterator[tuple[Cell, ...]]:
    """Yield the single numbers as records: name, value, unit."""
    for key, (name, unit) in KEYS.items():
        yield key, estimate[name], unit


def facts(estimate: Estimate) -> list[Fact]:
    """Return the lines of the headline."""
    likely = estimate.wallclock_interval()
    ends = (estimate["run.wallclock_low"], estimate["run.wallclock_high"])
    between = (
        f"90 %: {span(likely.low, likely.high, 's')}" if likely else f"chance of interruptions: {span(*ends, 's')}"
    )
    spread = f"one in {duration(estimate['reliability.mtbf'])}" if estimate["reliability.rate"] else "none"
    lines = [
        Fact("wall clock", duration(estimate["wallclock"]), between),
        Fact("goodput", percent(estimate["run.goodput"]), "steps over wall clock"),
        Fact("interruptions", number(estimate["reliability.interruptions"], "1"), f"{spread} while it trains"),
    ]
    if estimate.scenario.run["checkpoint.made"].number:
        lines.append(_saves(estimate))
    if estimate["step.loading"]:
        share = estimate["step.loading"] / estimate["step"]
        lines.append(Fact("data", f"{percent(share)} of a step", "training waits for data"))
    return [*lines, *_totals(estimate)]


def _saves(estimate: Estimate) -> Fact:
    size, every = quantity(estimate["checkpoint.bytes"], "B si"), duration(estimate["checkpoint.interval"])
    drain = estimate["checkpoint.drain"]
    durable = f"durable {duration(drain)} later" if drain else "durable at once"
    return Fact("checkpoints", f"{size} every {every}", f"stall {duration(estimate['checkpoint.stall'])}, {durable}")


def _totals(estimate: Estimate) -> list[Fact]:
    parts = [
        f"{label} {quantity(estimate[name], 'USD')}"
        for name, label in (("total.cost.spares", "spare nodes"), ("total.cost.storage", "storage"))
        if estimate[name] > 0
    ]
    each = estimate["total.cost_per_trillion_tokens"]
    per = "" if math.isnan(each) else f"{quantity(each, 'USD')} per trillion tokens"
    return [
        Fact("cost", quantity(estimate["total.cost"], "USD"), joined(["whole run", *parts, per])),
        Fact("energy", quantity(estimate["total.energy"], "J"), f"{quantity(estimate['total.power'], 'W')} facility"),
        Fact("carbon", quantity(estimate["total.carbon"], "kg")),
    ]


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the run as a whole."""
    from aiplan.report.schema_parts import INTERVAL, UNKNOWN, closed

    trees = {name.replace(".", "_"): {"$ref": f"#/definitions/{name.replace('.', '_')}"} for name in RUN_ROOTS}
    return closed(dict.fromkeys(KEYS, UNKNOWN) | {"wallclock_interval_s": INTERVAL} | trees)
