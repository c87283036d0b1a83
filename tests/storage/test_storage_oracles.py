"""Published and derived figures of storage, checkpoints and failures; contradictions are kept, not fitted."""

import csv
from pathlib import Path

import pytest

from aiplan.catalog.load import Catalog
from aiplan.core import checkpoint, goodput, loading, reliability, save_intervals, storage
from aiplan.declare import Diagnostics

with (Path(__file__).parent.parent / "data" / "storage_oracles.csv").open(encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))
USED = {row["id"]: row for row in ROWS if row["check"]}
SCALE = {
    "GiB": 2**30,
    "TiB": 2**40,
    "TB": 1e12,
    "min": 60.0,
    "h": 3600.0,
    "MB/s": 1e6,
    "GB/s": 1e9,
    "s": 1.0,
    "-": 1.0,
    "1/s": 1.0,
}
DAY = 86400.0
GPUS_PER_NODE = 8


def fleet_rate(gpus, per_1000_node_days):
    return reliability.job_rate(gpus / GPUS_PER_NODE, per_1000_node_days / 1000 / DAY, 1.0, 1.0)


def linear_ettr(rate, interval, stall, restart):
    """Return the ratio to first order in the rate: https://arxiv.org/abs/2410.21680, equation 2."""
    return (1 - rate * (restart + interval / 2)) / (1 + stall / interval)


def young_ettr(gpus, per_1000_node_days, restart, stall):
    rate = fleet_rate(gpus, per_1000_node_days)
    return goodput.ettr(rate, save_intervals.young(stall, 1 / rate, restart), stall, restart, 0.0)


def fleet_ettr(gpus, per_1000_node_days, restart, stall, interval):
    return goodput.ettr(fleet_rate(gpus, per_1000_node_days), interval, stall, restart, 0.0)


def llama3():
    """Published interruptions, 9 minutes to restart, saves that stall for 5 s and are durable after 60 s more."""
    rate = reliability.observed_rate(419, 1, 54 * DAY)
    interval = save_intervals.not_before(save_intervals.exact(5.0, 1 / rate, 540.0), 65.0, 5.0)
    return goodput.ettr(rate, interval, 5.0, 540.0, 60.0)


def linear_agrees(gpus, per_1000_node_days, restart, stall):
    rate = fleet_rate(gpus, per_1000_node_days)
    interval = save_intervals.young(stall, 1 / rate, restart)
    exact = goodput.ettr(rate, interval, stall, restart, 0.0)
    return abs(linear_ettr(rate, interval, stall, restart) / exact - 1)


def s3_reads():
    """Return the reads per second and prefix that the catalog has."""
    return Catalog().find("storage", "s3-standard", Diagnostics()).entry.requests_per_prefix.read


CHECKS = {
    "checkpoint_bytes": checkpoint.checkpoint_bytes,
    "stall_overhead": lambda stall, interval: 1 - goodput.ettr(0.0, interval, stall, 0.0, 0.0),
    "transfer_time": lambda size, bandwidth: storage.transfer_time(size, bandwidth, 1.0, 0.0, 1.0),
    "ratio": lambda over, under: over / under,
    "daly": save_intervals.daly,
    "tenth": save_intervals.tenth,
    "exact": save_intervals.exact,
    "most_available": save_intervals.most_available,
    "ettr": goodput.ettr,
    "read_demand": loading.read_demand,
    "gfs_read": lambda clients, per_client, link: storage.narrowest(
        storage.clients_bandwidth(clients, per_client), link
    ),
    "servers_bandwidth": storage.servers_bandwidth,
    "capacity_bandwidth": storage.capacity_bandwidth,
    "requests_bandwidth": lambda prefixes, size: storage.requests_bandwidth(prefixes, s3_reads(), size),
    "slots_bandwidth": storage.slots_bandwidth,
    "mtbf": lambda interruptions, parts, days: (
        1 / (parts * reliability.observed_rate(interruptions, parts, days * DAY))
    ),
    "sum": lambda parts: parts,
    "llama3": llama3,
    "fleet_mtbf": lambda gpus, per_1000_node_days: 1 / fleet_rate(gpus, per_1000_node_days),
    "fleet_mtbf_differs": lambda gpus, per_1000_node_days: 1 / fleet_rate(gpus, per_1000_node_days),
    "young_ettr": young_ettr,
    "fleet_ettr": fleet_ettr,
    "fleet_ettr_at_least": fleet_ettr,
    "linear_agrees": linear_agrees,
    "part_mtbf": lambda parts, mtbf_h: 1 / reliability.job_rate(parts, 1 / (mtbf_h * 3600), 1.0, 1.0),
    "goodput": goodput.goodput,
    "spares_needed": reliability.spares_needed,
    "lru_hit_rate": loading.lru_hit_rate,
}
AT_LEAST = {"llama3", "fleet_ettr_at_least"}
AT_MOST = {"linear_agrees"}


def number(text):
    return float(sum(map(float, text.split("+"))))


def answer(row):
    given = dict(item.split("=") for item in row["inputs"].split(";") if item)
    return float(CHECKS[row["check"]](**{key: number(text) for key, text in given.items()}))


@pytest.mark.parametrize("name", USED)
def test_oracle(name):
    row = USED[name]
    published, found = float(row["value"]) * SCALE[row["unit"]], answer(row)
    tolerance = float(row["tolerance"])
    if row["check"] in AT_LEAST:
        assert published <= found < 1
    elif row["check"] in AT_MOST:
        assert found <= published
    elif row["check"].endswith("_differs"):
        assert 1.2 < found / published < tolerance, "a contradiction of the source: it stays one"
    else:
        assert found == pytest.approx(published, rel=tolerance)


def test_every_row_is_used_or_says_why_not():
    assert len(ROWS) == 92
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert bool(row["check"]) != row["note"].startswith("not used: "), row["id"]
    assert {row["check"] for row in USED.values()} == CHECKS.keys()


def test_exact_interval_at_other_rates():
    assert float(save_intervals.exact(5.0, 360.0, 0.0)) == pytest.approx(56.7140, rel=1e-5)
    assert float(save_intervals.exact(5.0, 15.0, 0.0)) == pytest.approx(9.16650, rel=1e-5)


def test_observed_shares_of_the_gfs_bounds():
    bound = storage.narrowest(storage.clients_bandwidth(16, 12.5e6), 125e6)
    assert 94e6 / bound == pytest.approx(0.75, abs=0.01)
    assert 35e6 / float(storage.servers_bandwidth(16, 12.5e6, 3)) == pytest.approx(0.53, abs=0.01)
