"""Storage of every kind: what it gives, what is named as too narrow, caches and prefetching."""

import math

import numpy as np
import pytest

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.engine.supply import READ_STAGES
from aiplan.planning.storage import storage_answer

from .cases import LUSTRE, RUN

SHARED = [
    ident
    for ident in Catalog().ids("storage")
    if Catalog().find("storage", ident, Diagnostics()).entry.scope not in {"node", "device"}
]


@pytest.mark.parametrize("ident", SHARED)
def test_every_shared_system_of_the_catalog_works(ident, ask):
    entry = Catalog().find("storage", ident, Diagnostics()).entry
    bought = entry.read is None and any(tier.throughput for tier in entry.tiers)
    use = {"system": ident} | ({"capacity": "500 TiB", "tier": entry.tiers[0].name} if bought else {})
    answer = storage_answer(ask.resolved(RUN | {"storage": use})[0], Catalog())
    for way in ("read", "write"):
        assert 0 < answer.estimate[f"storage.{way}_low"] <= answer.estimate[f"storage.{way}"]
        assert answer.estimate[f"storage.{way}"] <= answer.estimate[f"storage.{way}_high"] < math.inf
        assert math.isfinite(getattr(answer.binding(way), way))
    assert answer.estimate["wallclock"] > 0


def test_google_file_system_of_the_paper(ask):
    """16 clients behind one link read 125 MB/s at most, 94 of which were seen; writes go out in three copies."""
    tree = {
        "model": "llama-3-8b",
        "workload": {"tokens": "1e9", "sequence_length": 2048, "global_batch": 16},
        "cluster": {
            "accelerator": "h100-sxm",
            "accelerators_per_node": 1,
            "nodes": 16,
            "network": {"fabric": "tcp-10g"},
        },
        "plan": {"zero": 3},
        "storage": "gfs-2003",
    }
    answer = storage_answer(ask.resolved(tree)[0], Catalog())
    stages = {stage.name: stage for stage in answer.stages}
    assert stages["clients"].read == 200e6
    assert answer.binding("read").name == "core"
    assert answer.binding("read").read == 125e6
    assert answer.estimate["storage.read_low"] == pytest.approx(94e6, rel=0.01)
    assert answer.binding("write").write == pytest.approx(67e6, rel=0.01)
    assert answer.estimate["storage.write"] == pytest.approx(35e6, rel=0.03)


def test_rates_that_come_with_capacity(of):
    answer = of(storage={"system": "fsx-lustre-persistent1", "tier": "50", "capacity": "4.8 TiB"})
    assert answer["storage.read.servers"] == pytest.approx(240e6)


def test_object_stores(of):
    """Connections that wait for the first byte, limits on requests, the ports of the nodes: the narrowest counts."""
    few = of(storage={"system": "s3-standard", "connections": 8})
    many = of(storage={"system": "s3-standard", "connections": 512})
    one = 16e6 / (0.150 + 16e6 / 88e6)
    assert few["storage.read.clients"] == pytest.approx(32 * 8 * one)
    assert many["storage.read.clients"] == pytest.approx(32 * 512 * one)
    small = of(storage={"system": "s3-standard", "connections": 512, "request": "8 kB", "prefixes": 1})
    assert small["storage.read.requests"] == pytest.approx(5500 * 8e3)
    assert of(storage="aliyun-oss")["storage.write.servers"] == 2.5e9


def test_files_on_few_targets_are_slow(of):
    """One writer without striping has one target; a wide stripe has them all."""
    narrow = of(storage=LUSTRE, checkpoint={"writers": "rank-0"})
    wide = of(storage=LUSTRE | {"stripe": 4}, checkpoint={"writers": "rank-0"})
    assert narrow["storage.write.targets"] == wide["storage.write.targets"] / 4 == 25e9
    assert of(storage=LUSTRE, checkpoint={})["storage.write.targets"] == 100e9


def test_a_starved_file_system_is_named(ask):
    use = {"system": "orangefs-pvfs", "servers": 1, "sample": "100 MB"}
    tree = RUN | {"storage": use, "reliability": {"fleet": "new-cluster"}}
    answer = storage_answer(ask.resolved(tree)[0], Catalog())
    assert not answer.met
    assert {need.name for need, stage in answer.holds_up if stage.name == "servers"} >= {"training data", "checkpoint"}
    assert answer.estimate.causes()[0].label == "waiting for data"
    assert answer.estimate["step.loading"] > 0.5 * answer.estimate["step"]
    assert answer.estimate["loading.utilisation"] == pytest.approx(
        1 - answer.estimate["step.loading"] / answer.estimate["step"]
    )
    assert storage_answer(ask.resolved(RUN)[0], Catalog()).met


def test_caches_help_from_the_second_epoch_on(of):
    slow = {"read": "1 GB/s", "write": "1 GB/s", "sample": "100 MB", "dataset": "100 TB"}
    memory = {"capacity": "2 TB", "policy": "keep", "partitioned": True}
    hits = {
        policy: of(storage=slow | {"cache": memory | {"policy": policy}})["loading.hits"]
        for policy in ("keep", "page-cache", "lru")
    }
    assert 0 < hits["lru"] < hits["page-cache"] < hits["keep"] < 0.64
    with_cache = of(storage=slow | {"cache": memory})
    assert with_cache["step.loading"] < of(storage=slow)["step.loading"]
    once = of(storage={key: value for key, value in slow.items() if key != "dataset"} | {"cache": memory})
    assert once["loading.hits"] == 0.0


def test_prefetching_hides_latency(of):
    far = {"read": "100 GB/s", "write": "10 GB/s", "latency": "40 s"}
    waits = [of(storage=far | {"prefetch": depth})["step.loading"] for depth in (0, 1, 2, 4)]
    assert waits == sorted(waits, reverse=True)
    assert waits[0] > waits[1] > 0 == waits[3]


def test_supply_names_every_stage(of):
    answer = of(storage=LUSTRE)
    narrowest = min(answer[f"storage.read.{stage}"] for stage in READ_STAGES)
    assert answer["storage.read"] == pytest.approx(0.8 * narrowest)
    assert np.isfinite(answer["storage.read"])
