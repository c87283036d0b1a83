"""Rates of links and shares of payload against published figures (tests/data/link_oracles.csv)."""

import csv
from pathlib import Path

import pytest

from aiplan.catalog.load import Catalog
from aiplan.core.lines import payload_share
from aiplan.declare import Diagnostics

with (Path(__file__).parents[1] / "data" / "link_oracles.csv").open(encoding="utf-8") as lines:
    ROWS = list(csv.DictReader(lines))
IN_CATALOG = {
    "infiniband fdr x4": ("network", "ib-fdr"),
    "infiniband edr x4": ("network", "ib-edr"),
    "infiniband hdr x4": ("network", "ib-hdr"),
    "infiniband ndr x4": ("network", "ib-ndr"),
    "pcie 3 x16": ("link", "pcie3"),
    "pcie 4 x16": ("link", "pcie4"),
    "pcie 5 x16": ("link", "pcie5"),
}
BITS = {"Gb/s": 1e9 / 8, "GB/s": 1e9}
ROCE_OVERHEAD = 82


def rows(use):
    return [pytest.param(row, id=row["key"]) for row in ROWS if row["use"] == use]


def published(key):
    row = next(row for row in ROWS if row["key"] == key)
    return float(row["value"]) * BITS[row["unit"]]


def mtu(row):
    words = row["key"].split()
    return int(words[words.index("mtu") + 1])


@pytest.mark.parametrize("key", IN_CATALOG)
def test_the_catalog_agrees(key):
    kind, ident = IN_CATALOG[key]
    entry = getattr(Catalog(), kind)(ident, Diagnostics())[0]
    assert entry.bandwidth_one_way == pytest.approx(published(key), rel=1e-3)


@pytest.mark.parametrize("row", rows("share"))
def test_headers_of_roce(row):
    assert payload_share(mtu(row), ROCE_OVERHEAD) == pytest.approx(float(row["value"]), abs=1e-4)


@pytest.mark.parametrize("row", rows("goodput"))
def test_measured_goodput_is_just_below_what_headers_leave(row):
    rate = 400.0 if "400g" in row["key"] else 100.0
    most = rate * payload_share(mtu(row), ROCE_OVERHEAD)
    assert 0.98 * most < float(row["value"]) < most * 1.0005


def test_measured_pcie_stays_below_the_line():
    line = Catalog().link("pcie5", Diagnostics())[0].bandwidth_one_way
    assert 0.85 * line < published("pcie 5 x16 write between devices") < line
    assert 0.85 * 2 * line < published("pcie 5 x16 both ways") < 2 * line


def test_every_row_has_a_use_or_a_reason():
    unused = [row for row in ROWS if row["use"].startswith("unused: ")]
    assert {row["use"] for row in ROWS if row not in unused} == {"catalog", "share", "goodput", "below", "both"}
    assert {row["key"] for row in ROWS if row["use"] == "catalog"} == set(IN_CATALOG)
