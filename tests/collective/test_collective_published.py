"""Predictions against published plateaus and latencies; none of them is an input of a prediction."""

import csv
from pathlib import Path

import numpy as np
import pytest

from aiplan.catalog.load import Catalog
from aiplan.core.algorithms import OPERATIONS
from aiplan.core.nccl_tables import PCI_X16, PROTOCOLS
from aiplan.declare import Diagnostics
from aiplan.planning.collective import AUTO, predict
from aiplan.planning.machine import Machine, Wanted, machine_of_node
from aiplan.planning.nccl_model import Model, time_of

ORACLES = Path(__file__).parents[1] / "data" / "collective_oracles.csv"
ROWS = list(csv.DictReader(ORACLES.read_text(encoding="utf-8").splitlines()))
CATALOG = Catalog([ORACLES.parent / "collective_catalog"])
"""With machines on which someone measured, and that no vendor sells as they are."""
PLATEAU, LATENCY = 0.10, 0.25
POWERS = [2**power for power in range(3, 34)]


def rows(*uses):
    return [pytest.param(row, id=row["id"]) for row in ROWS if row["use"] in uses]


def machine(node, gpus, **more):
    diagnostics = Diagnostics()
    found = machine_of_node(Wanted(node, gpus=gpus, **more), CATALOG, diagnostics)
    diagnostics.raise_if_errors()
    return found


def answer(row):
    return predict(
        row["operation"],
        machine(row["node"], int(row["gpus"])),
        [int(row["size_bytes"])],
        [row["algorithm"]],
        row["protocol"] or AUTO,
    )


def error(row):
    found = answer(row)
    rate = found.algbw if row["use"] == "algbw" else found.busbw
    return rate(found.choice.time)[0] / 1e9 / float(row["published"]) - 1


@pytest.mark.parametrize("row", rows("plateau", "algbw"))
def test_plateaus_within_ten_percent(row):
    assert abs(error(row)) <= PLATEAU


@pytest.mark.parametrize("row", rows("pcie"))
def test_cards_behind_pcie_switches(row):
    """Cards of the Blackwell generation in slots of 48 GB/s, by NCCL's own figure."""
    slots = machine("dgx-h100", 8)._replace(
        link="pcie", link_bandwidth=PCI_X16[5] * 1e9, generation="blackwell", reduces_in_node=False
    )
    found = predict("all-reduce", slots, [int(row["size_bytes"])])
    assert found.busbw(found.choice.time)[0] / 1e9 == pytest.approx(float(row["published"]), rel=PLATEAU)
    assert "ll128" not in found.choice.protocol


@pytest.mark.parametrize("row", rows("miss"))
def test_what_is_called_a_miss_is_one(row):
    """If a better formula hits it, the row moves to the plateaus."""
    assert abs(error(row)) > PLATEAU


@pytest.mark.parametrize("row", rows("small"))
def test_latencies_within_a_quarter(row):
    """Over several nodes with InfiniBand or Slingshot; 8 bytes."""
    known = machine(row["node"], int(row["gpus"]))
    tree = time_of(Model(known), "all-reduce", "tree", PROTOCOLS.index("ll"), np.array([8.0]))[0]
    assert tree * 1e6 == pytest.approx(float(row["published"]), rel=LATENCY)
    chosen = predict("all-reduce", known, [8]).choice
    assert chosen.time[0] * 1e6 == pytest.approx(float(row["published"]), rel=LATENCY)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    ("node", "gpus"),
    [("dgx-h100", 8), ("dgx-h100", 1024), ("dgx-a100-80gb", 24), ("gb200-nvl72-tray", 144), ("dgx-1v", 16)],
)
@pytest.mark.parametrize("version", [(2, 10), (2, 18), (2, 22), (2, 27), (2, 30)])
def test_no_prediction_beats_the_bound(operation, node, gpus, version):
    found = predict(operation, machine(node, gpus, sharp=True), POWERS, ["all"], version=version)
    assert found.curves
    assert np.all(found.choice.time >= found.best.time)
    assert np.all(found.best.time >= found.bound * (1 - 1e-9))


def test_nccl_takes_the_fastest_of_what_it_has():
    found = predict("all-reduce", machine("dgx-h100", 32), POWERS, ["all"])
    own = np.stack([curve.time for curve in found.curves if curve.nccl])
    assert np.array_equal(found.choice.time, own.min(axis=0))
    assert set(found.choice.algorithm) == {"tree", "nvls-tree"}
    forced = predict("all-reduce", machine("dgx-h100", 32), POWERS, ["ring"], "simple")
    assert set(zip(forced.choice.algorithm, forced.choice.protocol, strict=True)) == {("ring", "simple")}


def test_crossovers_are_where_the_choice_changes():
    at = machine("dgx-h100", 32)
    found = predict("all-reduce", at, POWERS)
    assert found.crossovers
    for item in found.crossovers:
        around = predict("all-reduce", at, [int(item.size * 0.94), int(item.size * 1.01)])
        assert (around.choice.algorithm[1], around.choice.protocol[1]) == (item.algorithm, item.protocol)
        assert (around.choice.algorithm[0], around.choice.protocol[0]) != (item.algorithm, item.protocol)


def test_versions_differ_where_their_constants_do():
    at = machine("dgx-h100", 16)
    old, new = (
        predict("all-reduce", at, [8], ["tree"], "ll", version).choice.time[0] for version in ((2, 17), (2, 30))
    )
    assert old * 1e6 == pytest.approx(4.4 + 2 * (7 * 0.52 + 5.0), rel=1e-3)
    assert new * 1e6 == pytest.approx(6.8 + 2 * (7 * 0.6 + 5.0), rel=1e-3)


def test_one_gpu_takes_no_time():
    found = predict("all-reduce", machine("dgx-h100", 1), [8, 2**30], ["all"])
    assert not found.best.time.any()
    assert np.isnan(found.busbw(found.best.time)).all()


def test_more_ports_are_never_slower():
    one = machine("dgx-h100", 64)
    twice = one._replace(port_bandwidth=2 * one.port_bandwidth)
    assert isinstance(one, Machine)
    for operation in OPERATIONS:
        before, after = (predict(operation, at, POWERS, ["all"]) for at in (one, twice))
        assert np.all(after.best.time <= before.best.time * (1 + 1e-12))


def test_nine_of_ten_published_figures_lie_in_the_band():
    """Hits and misses together, and every miss for which a caution is given."""
    inside = {row["id"]: abs(error(row)) <= answer(row).band[0] for row in ROWS if row["use"] in {"plateau", "miss"}}
    assert np.mean(list(inside.values())) >= 0.9
    assert all(inside[row["id"]] for row in ROWS if row["use"] == "miss" and answer(row).cautions)


@pytest.mark.parametrize("version", [(2, 10), (2, 20), (2, 22)])
def test_the_share_of_ll(version):
    at = machine("dgx-a100-80gb", 8)
    shares = {name: Model(at, version, name).ll_share for name in ("all-reduce", "all-gather")}
    assert shares == (
        {"all-reduce": 0.5, "all-gather": 0.5} if version > (2, 20) else {"all-reduce": 0.25, "all-gather": 1 / 3}
    )
    assert Model(machine("dgx-a100-80gb", 16), version, "all-gather").ll_share == (0.5 if version > (2, 20) else 0.25)
