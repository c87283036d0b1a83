"""The answer for one scenario as records for grep, awk and spreadsheets: name, value in base units, unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiplan.engine.tree import RUN_ROOTS
from aiplan.report.estimate import run
from aiplan.report.estimate.document import INTERVALS, MEMORY_INTERVAL, compression, scalars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aiplan.planning.estimate import Estimate
    from aiplan.report.estimate import Answer
    from aiplan.report.records import Cell

HEADER = ("name", "value", "unit")
UNITS = {
    "time_to_train_s": "s",
    "step_time_s": "s",
    "tokens_per_s": "tokens/s",
    "tokens_per_s_per_gpu": "tokens/s",
    "model_flops_per_s_per_gpu": "FLOP/s",
    "tflops_per_gpu": "TFLOP/s",
    "flops_per_token": "FLOP",
    "peak_flops_per_s": "FLOP/s",
    "memory_bytes_per_gpu": "B",
    "memory_capacity_bytes": "B",
    "cost_usd": "USD",
    "price_usd_per_gpu_hour": "USD/h",
    "energy_j": "J",
    "energy_kwh": "kWh",
    "carbon_kg": "kg",
}


def rows(answer: Answer) -> Iterator[tuple[Cell, ...]]:
    """Yield the scenario, the single numbers, and every term of both trees."""
    estimate = answer.estimate
    scenario = estimate.scenario
    yield "scenario", scenario.name, ""
    yield "source", scenario.source, ""
    for setting in scenario.settings:
        yield "setting", setting, ""
    for name, value in scalars(estimate).items():
        yield name, value, UNITS.get(name, "")
    for name, key in (INTERVALS | MEMORY_INTERVAL).items():
        found = estimate.interval(name)
        if found is not None:
            unit = "B" if name == "memory" else key.rpartition("_")[2].replace("usd", "USD")
            yield f"{key}.low", found.low, unit
            yield f"{key}.high", found.high, unit
            yield f"{key}.evidence", found.evidence, ""
    yield from _compression(estimate)
    if estimate.scenario.run:
        yield from run.records(estimate)
    for root in ("step", "memory", *(RUN_ROOTS if estimate.scenario.run else ())):
        for row in estimate.rows(root):
            yield row.name, row.value, row.unit
    for item in estimate.assumptions():
        if item.matters:
            yield f"assumption:{item.name}", item.value, ""


def _compression(estimate: Estimate) -> Iterator[tuple[Cell, ...]]:
    for name, value in compression(estimate).items():
        if value is not None:
            yield f"compression.{name}", value, "B/s" if name.endswith("_per_s") else ""
