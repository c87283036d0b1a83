"""NCCL's tuning model: its constants as published, its forms, and what it shares with the plain alpha-beta forms."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiplan.core import all_reduces, busbw, gathers, nccl
from aiplan.core.nccl_tables import CEILINGS, NETWORK_SHARE, NVLINK, PCI_X16, PROTOCOLS, TUNINGS, tuning
from aiplan.core.net import Net

ORACLES = Path(__file__).parents[1] / "data" / "collective_oracles.csv"
ROWS = list(csv.DictReader(ORACLES.read_text(encoding="utf-8").splitlines()))


def rows(use):
    return [pytest.param(row, id=row["id"]) for row in ROWS if row["use"] == use]


def version(row):
    return tuple(int(part) for part in row["version"].split("."))


@pytest.mark.parametrize("row", rows("base"))
def test_base_latencies(row):
    assert tuning(version(row)).base[row["algorithm"]][PROTOCOLS.index(row["protocol"])] == float(row["published"])


@pytest.mark.parametrize("row", rows("hop"))
def test_hop_latencies(row):
    known = tuning(version(row)).hop[row["node"], row["algorithm"]]
    assert known[PROTOCOLS.index(row["protocol"])] == float(row["published"])


@pytest.mark.parametrize("row", rows("link"))
def test_links(row):
    assert NVLINK[row["node"]] == float(row["published"])


@pytest.mark.parametrize("row", rows("pci"))
def test_pci(row):
    assert PCI_X16[int(row["node"])] == float(row["published"])


@pytest.mark.parametrize("row", rows("port"))
def test_ports(row):
    """Rules of thumb per port; 46 to 48 of a port of 400 Gb/s."""
    assert NETWORK_SHARE * float(row["node"]) / 8 == pytest.approx(float(row["published"]), rel=0.05)


@pytest.mark.parametrize("row", rows("tree-latency"))
def test_tree_latency(row):
    ranks, nodes = float(row["gpus"]), float(row["node"])
    time = nccl.tree_time(0.0, ranks, nodes, 1e9, 6.8e-6, 0.6e-6, 5e-6)
    assert time * 1e6 == pytest.approx(float(row["published"]))


@pytest.mark.parametrize("row", rows("factor"))
def test_bus_factors(row):
    assert busbw.bus_factor_of(row["operation"], int(row["gpus"])) == pytest.approx(float(row["published"]))


def test_every_row_has_a_use_or_a_reason():
    uses = {"base", "hop", "link", "pci", "port", "tree-latency", "factor", "plateau", "algbw", "small", "pcie"}
    for row in ROWS:
        assert row["use"] in uses or (row["use"] in {"miss", "unused"} and len(row["reason"]) > 10), row["id"]
        assert row["published"]
        assert row["source"]
    assert len({row["id"] for row in ROWS}) == len(ROWS)


# ------------------------------------------------------------------ forms

bandwidths = st.floats(1e9, 1e12)
latencies = st.floats(1e-7, 1e-4)


@given(st.integers(8, 2**34), st.integers(2, 2048), bandwidths, latencies, latencies)
def test_a_ring_in_one_node_is_the_plain_ring(size, ranks, bandwidth, base, hop):
    net = Net(ranks, hop, bandwidth, launch=base)
    for steps, form in ((2 * (ranks - 1), all_reduces.ring), (ranks - 1, gathers.ring_all_gather)):
        theirs = nccl.ring_time(size, ranks, steps, 0, bandwidth, base, hop, 0.0)
        assert theirs == pytest.approx(float(form(size, ranks, net)))


def test_correction_of_the_tree_follows_its_table():
    sizes = np.array([1, 63, 64, 127, 128, 2**20, 2**28, 2**29, 2**33])
    assert list(nccl.tree_correction(sizes, 0)) == [1, 1, 1, 1, 1, 0.5, 1, 1, 1]
    assert list(nccl.tree_correction(sizes, 2)) == [1, 1, 0.9, 0.9, 0.9, 0.5, 0.9, 1, 1]
    assert nccl.tree_correction(2**20, np.array([0, 1, 2])).tolist() == [0.5, 0.6, 0.5]


def test_plateau_of_the_ring():
    assert nccl.plateau_factor(np.array([1e6, 1e3]), 16, 2, 24, 1.4).tolist() == [1.4, 1.0]
    assert nccl.plateau_factor(1e9, 8, 1, 24, 1.4) == 1


@pytest.mark.parametrize(
    ("asked", "since"),
    [((2, 6), (2, 7)), ((2, 17), (2, 7)), ((2, 22), (2, 19)), ((2, 27), (2, 23)), ((2, 30), (2, 28))],
)
def test_a_version_takes_the_last_range_that_is_not_younger(asked, since):
    assert tuning(asked).since == since


def test_tables_are_whole():
    for row in TUNINGS:
        assert {"tree", "ring", "nvls", "collnet"} <= set(row.base)
        assert all(("net", name) in row.hop and ("nvlink", name) in row.hop for name in ("tree", "ring", "collnet"))
    assert set(CEILINGS) == set(NVLINK)
    for known in CEILINGS.values():
        assert known.ll[0] >= known.ll[1] >= known.ll[2]
