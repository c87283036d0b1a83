"""Saved results held to rules: what a scenario expected when it was estimated, a policy, and whether the plan fits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from aiplan.declare import Diagnostics, Mark
from aiplan.planning.saved import results
from aiplan.scenario.conditions import CHOICES, FIELDS, Condition, read_condition
from aiplan.units import UnitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

KEYS = {
    "step": ("step_time_s",),
    "run.time_to_train": ("time_to_train_s",),
    "wallclock": ("wallclock_s", "time_to_train_s"),
    "run.goodput": ("goodput",),
    "total.cost": ("whole_run_cost_usd", "cost_usd"),
    "total.energy": ("whole_run_energy_j", "energy_j"),
    "total.carbon": ("whole_run_carbon_kg", "carbon_kg"),
    "total.power": ("facility_power_w",),
    "run.tokens_per_s_per_gpu": ("tokens_per_s_per_gpu",),
    "utilisation": ("mfu",),
    "utilisation.hardware": ("hfu",),
    "memory.capacity": ("memory_capacity_bytes",),
    "cluster.accelerators": ("gpus",),
}
"""Terms that conditions ask, and where a result has them: that of the run as a whole before that of steps alone."""
WHOLES = {field.whole for field in FIELDS.values() if field.whole}
"""Terms that shares are shares of: nothing is a share of 0."""


def terms_of(document: Mapping[str, Any]) -> Callable[[str], float]:
    """Return a function that returns the terms of a saved result by name; unknown is NaN."""
    found, inputs = results(document), document["inputs"]
    branches = dict(_branches(found["step"], "value_s")) | dict(_branches(found["memory"], "value_bytes"))

    def term(name: str) -> float:
        if name in KEYS:
            number = _number(next((found[key] for key in KEYS[name] if key in found), None))
            return number if number or name not in WHOLES else math.nan
        if name == "memory.needed":
            return _number(found["memory"]["value_bytes"]) - branches.get("memory.cached", 0.0)
        if name == "plan.recompute":
            said = inputs.get("fields", {}).get(name, {}).get("text", CHOICES["recompute"][0])
            return float(CHOICES["recompute"].index(said)) if said in CHOICES["recompute"] else math.nan
        if name.startswith("plan."):
            return _number(inputs.get("values", {}).get(name, {}).get("value"))
        return branches.get(name, math.nan)

    return term


def expected(document: Mapping[str, Any]) -> Iterator[tuple[Condition, Mark | None]]:
    """Yield what the scenario of a saved result expected of itself, and where that stood.

    Raises
    ------
    InputError
        A condition there is none that this program knows.
    """
    for name, field in document["inputs"].get("fields", {}).items():
        if name.startswith("expect["):
            try:
                yield read_condition(field["text"]), _mark(field["where"])
            except UnitError as fault:
                diagnostics = Diagnostics()
                diagnostics.error("AIP210", fault.problem, _mark(field["where"]), hint=fault.hint)
                raise diagnostics.failure() from None


def _mark(where: str) -> Mark | None:
    file, _, line = where.rpartition(":")
    return Mark(file, int(line), 1, 2) if line.isdecimal() and int(line) else None


def _branches(node: Mapping[str, Any], key: str) -> Iterator[tuple[str, float]]:
    yield node["name"], _number(node[key])
    for child in node["children"]:
        yield from _branches(child, key)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
