"""The band of the formulas, from public logs of systems that the catalog has (tests/data/collective_logs.csv)."""

import csv
from pathlib import Path

import numpy as np
import pytest

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.planning.collective import AUTO, predict
from aiplan.planning.collective_band import FROM, HEALTHY, WELL_RUN, cautions
from aiplan.planning.machine import Wanted, machine_of_node

DATA = Path(__file__).parents[1] / "data"
NODES = {
    "log-04": "dgx-a100-80gb",
    "log-05": "aws-p4d.24xlarge",
    "log-06": "dgx-a100-40gb",
    "log-07": "dgx-a100-40gb",
    "log-08": "dgx-a100-40gb",
    "log-09": "dgx-a100-40gb",
    "log-10": "dgx-a100-40gb",
    "log-12": "alps-gh200",
    "log-14": "gcp-a3-megagpu-8g",
    "log-15": "aws-p5.48xlarge",
    "log-16": "dgx-h100",
    "log-18": "aws-p5.48xlarge",
}
"""Nodes of the catalog by log; the others ran on systems that it does not have."""


def table(name):
    with (DATA / name).open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture(scope="module")
def points():
    """System, part of the sizes, and how far off the time is; systems with a caution apart; errors of the times."""
    logs = {row["log"]: row for row in table("collective_logs.csv")}
    usual, cautioned, errors = [], [], []
    for name, node in NODES.items():
        rows = [row for row in table("collectives.csv") if row["log"] == name and int(row["size_bytes"])]
        operation, ranks = logs[name]["operation"].replace("_", "-"), int(logs[name]["ranks"])
        machine = machine_of_node(Wanted(node, None, ranks), Catalog(), Diagnostics())
        sizes = sorted({int(row["size_bytes"]) for row in rows})
        times = {int(row["size_bytes"]): float(row["time_us"]) * 1e-6 for row in rows}
        answer = predict(operation, machine, sizes, (AUTO,))
        found = cautioned if cautions(operation, machine) else usual
        for size, time, share in zip(sizes, answer.choice.time, answer.band, strict=True):
            off = max(times[size] / time, time / times[size]) - 1.0
            found.append((node, int(np.searchsorted(FROM, size, side="right")) - 1, off, float(share)))
            errors.append(abs(float(time) / times[size] - 1.0))
    return usual, cautioned, errors


def ninth_decile(points, part):
    """Nine in ten sizes are not further off, each system weighing the same."""
    here = sorted((off, node) for node, where, off, _ in points if where == part)
    nodes = [node for _, node in here]
    weights = np.cumsum([1.0 / nodes.count(node) for node in nodes])
    return here[int(np.searchsorted(weights, 0.9 * weights[-1]))][0]


@pytest.mark.parametrize("part", range(len(FROM)))
def test_nine_in_ten_sizes_are_within_the_band_and_it_is_no_wider(points, part):
    usual, _, _ = points
    assert 0.8 * HEALTHY[part] <= ninth_decile(usual, part) <= HEALTHY[part]


def test_what_cautions_say_holds(points):
    _, cautioned, _ = points
    assert np.mean([off <= share for *_, off, share in cautioned]) >= 0.85


@pytest.mark.parametrize("node", ["dgx-h100", "aws-p5.48xlarge"])
def test_well_run_systems_are_as_near_as_is_said(points, node):
    """One GPU a process: nine in ten sizes of every part but the shoulder of one."""
    usual, _, _ = points
    near = [off <= WELL_RUN[part] for name, part, off, _ in usual if name == node]
    assert np.mean(near) >= 0.9


def test_the_grade_of_formulas_is_as_the_page_says(points):
    *_, errors = points
    said = (DATA.parents[1] / "docs" / "collectives-measured.md").read_text(encoding="utf-8")
    figures = np.median(errors), np.quantile(errors, 0.9), np.mean(np.array(errors) <= 0.1)
    row = " | ".join(f"{100 * figure:.1f} %" for figure in figures)
    assert f"| datasheets | formulas of algorithms and links | {row} |" in said
    assert f"{len(errors)} sizes of {len(NODES)} public logs" in said
