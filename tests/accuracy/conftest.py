"""Runs of a lab that does not exist, predictions and evidence that never change, and golden files."""

import io
import itertools
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from aiplan.cli.main import main
from aiplan.planning import accuracy, evidence
from aiplan.planning.estimate import Estimate
from aiplan.planning.intervals import Like, residuals

RUNS = Path(__file__).parent / "runs"
SETTINGS = ("AIPLAN_CATALOG", "AIPLAN_FORMAT", "AIPLAN_NO_COLOR", "AIPLAN_VERBOSE", "FORCE_COLOR", "NO_COLOR", "TERM")
FACTORS = (1.1, 0.9, 1.25, 1.0, 0.6, 1.02)
"""Predicted over measured step time of the runs that count, in their order."""


class Ran(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def text(self):
        return f"exit {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


class TextFile(SingleFileSnapshotExtension):
    """One readable file a golden."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def golden(snapshot):
    return snapshot.use_extension(TextFile)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the runs, and an environment without settings."""
    shutil.copytree(RUNS, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.fixture
def run(folder, capsys, monkeypatch):
    """Run a command in this process."""

    def once(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return once


@pytest.fixture
def fixed(monkeypatch):
    """Predictions and published residuals that no change of a closed form moves."""

    def predict(scenarios):
        return [
            Estimate(item, "megatron", {"step": factor * accuracy.measured_step_time(item), "memory": 33e9})
            for item, factor in zip(scenarios, itertools.cycle(FACTORS))
        ]

    like = Like("A100", "dense", "1 to 8")
    rows = [(f"p-{index}", f"source-{index % 4}", like, 0.8 + 0.02 * index) for index in range(25)]
    monkeypatch.setattr(accuracy, "estimate", predict)
    monkeypatch.setattr(evidence, "published", lambda: residuals(rows, 1.2))
    caches = (evidence.published_interval, evidence._source_by_id)
    for cache in caches:
        cache.cache_clear()
    yield FACTORS
    for cache in caches:
        cache.cache_clear()
