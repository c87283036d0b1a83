"""Runs of a lab that does not exist, and predictions and evidence that never change."""

import itertools
import shutil
from pathlib import Path

import pytest

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.planning import accuracy, evidence
from aiplan.planning.accuracy import Comparison, measured_step_time
from aiplan.planning.estimate import Estimate
from aiplan.planning.intervals import Like, residuals
from aiplan.planning.run_files import measured_runs
from aiplan.planning.variants import Source

RUNS = Path(__file__).parent / "runs"
RESERVED = {
    "memory.reserved": 3e9,
    "memory.fragmentation": 1e9,
    "memory.cached": 0.0,
    "memory.capacity": 80e9,
    "memory.needed": 60e9,
    "host.memory": 0.0,
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
    some = like._replace(software="megatron")  # known, and too few to be the only evidence
    rows = [
        (f"p-{index}", f"source-{index % 4}", like if index % 2 else some, 0.8 + 0.02 * index) for index in range(25)
    ]
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


BASE = """\
schema_version: 1
name: Made up
source: https://example.org/lab
base:
  model: {layers: 16, hidden: 2048, heads: 16, ffn: 8192, gated: true, vocab: 32000}
  workload: {sequence_length: 1000, global_batch: 64, precision: bf16}
  cluster: {accelerator: a100-sxm-80gb, accelerators_per_node: 8, nodes: 4, network: {fabric: ib-hdr, ports: 8}}
  plan: {micro_batch: 1}
  software: megatron-core
  measured: {source: https://example.org/lab}
rows:
"""


@pytest.fixture
def made_up(tmp_path):
    """Runs of a file with these rows on top of a common base."""

    def read(rows, name="lab"):
        path = tmp_path / f"{name}.yaml"
        path.write_text(BASE + "".join(f"  - {{{row}}}\n" for row in rows))
        diagnostics = Diagnostics()
        found = measured_runs([Source(str(path))], Catalog(), diagnostics)
        diagnostics.raise_if_errors()
        assert not [run.problem for run in found if run.scenario is None]
        return found

    return read


@pytest.fixture
def compared(made_up):
    """Runs with what differs from the base, and their predicted and measured step times."""

    def compare(rows, name="lab"):
        texts = [
            f"id: {name}-{index}, {row}, measured.step_time: {time} s" for index, (row, _, time) in enumerate(rows)
        ]
        return [
            Comparison(run, Estimate(run.scenario, "megatron", {"step": predicted}), measured_step_time(run.scenario))
            for run, (_, predicted, _) in zip(made_up(texts, name), rows, strict=True)
        ]

    return compare
