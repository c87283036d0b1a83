"""Runs of a lab that does not exist, and predictions and evidence that never change."""

import itertools
import shutil
from pathlib import Path

import pytest

from aiplan.planning import accuracy, evidence
from aiplan.planning.estimate import Estimate
from aiplan.planning.intervals import Like, residuals

RUNS = Path(__file__).parent / "runs"
RESERVED = {
    "memory.reserved": 3e9,
    "memory.fragmentation": 1e9,
    "memory.cached": 0.0,
    "memory.capacity": 80e9,
}
FACTORS = (1.1, 0.9, 1.25, 1.0, 0.6, 1.02)
"""Predicted over measured step time of the runs that count, in their order."""


@pytest.fixture
def folder(folder, monkeypatch):
    """A folder with the runs."""
    shutil.copytree(RUNS, folder, dirs_exist_ok=True)
    monkeypatch.setenv("COLUMNS", "80")
    return folder


@pytest.fixture
def fixed(monkeypatch):
    """Predictions and published residuals that no change of a closed form moves."""

    def predict(scenarios):
        return [
            Estimate(
                item,
                "megatron",
                {"step": factor * (accuracy.measured_step_time(item) or 1.0), "memory": 33e9} | RESERVED,
            )
            for item, factor in zip(scenarios, itertools.cycle(FACTORS))
        ]

    like = Like("A100", "dense", "1 to 8")
    rows = [(f"p-{index}", f"source-{index % 4}", like, 0.8 + 0.02 * index) for index in range(25)]
    monkeypatch.setattr(accuracy, "estimate", predict)
    memory = [
        (f"m-{index}", f"source-{index % 4}", Like("megatron", "device", ""), 0.8 + 0.02 * index) for index in range(25)
    ]
    monkeypatch.setattr(evidence, "published", lambda: residuals(rows, 1.2))
    monkeypatch.setattr(evidence, "published_memory", lambda: residuals(memory, 1.2))
    caches = (
        evidence.published_interval,
        evidence._source_by_id,
        evidence._memory_interval,
        evidence._memory_source_by_id,
    )
    for cache in caches:
        cache.cache_clear()
    yield FACTORS
    for cache in caches:
        cache.cache_clear()
