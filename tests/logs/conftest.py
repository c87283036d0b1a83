"""Small logs made by hand, each with one oddity, and what public logs measured: one row a size."""

import csv
import shutil
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from aiplan.adapters.nccl_log import read_log
from aiplan.declare import Diagnostics

FILES = Path(__file__).parent / "files"
DATA = Path(__file__).parents[1] / "data"
"""Sizes and times of public logs (the faster of out of place and in place), with the address of each in
`collective_logs.csv`."""


@pytest.fixture
def folder(folder, monkeypatch):
    """A folder with the logs."""
    shutil.copytree(FILES, folder, dirs_exist_ok=True)
    monkeypatch.setenv("COLUMNS", "100")
    return folder


@pytest.fixture(scope="session")
def read():
    """Read a log by name: its tables, and what is wrong with it."""

    def tables(name):
        diagnostics = Diagnostics()
        text = (FILES / f"{name}.txt").read_text(encoding="utf-8")
        return read_log(text, f"{name}.txt", diagnostics), diagnostics.items

    return tables


@pytest.fixture(scope="session")
def published():
    """Sizes in bytes and times in seconds of public logs, by id."""
    points = defaultdict(list)
    with (DATA / "collectives.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            points[row["log"]].append((float(row["size_bytes"]), float(row["time_us"]) / 1e6))
    return {name: tuple(np.array(column) for column in zip(*rows, strict=True)) for name, rows in points.items()}
