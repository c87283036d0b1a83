"""Whole trainings that were published, beside what is predicted."""

import pytest

from .cases import DAYS, LLAMA

BIGSCIENCE = frozenset({"bigscience-bloom"})


def test_llama_3_405b(ask):
    """419 interruptions in 54 days lie between what the rates of two other fleets say; the ratio is above 0.90."""
    window = 54 * 86400
    expected = {}
    for fleet in ("best", "llama-3", "rsc-1"):
        answer = ask.planned(LLAMA | {"reliability": {"fleet": fleet}})
        expected[fleet] = answer["reliability.rate"] * window
        assert 0.90 < answer["reliability.ettr"] < 0.97, fleet
    assert expected["best"] < 419 < expected["rsc-1"]
    assert expected["llama-3"] == pytest.approx(419)


BLOOM = {
    "model": "bloom-176b",
    "workload": {"tokens": "366e9", "sequence_length": 2048, "global_batch": 2048},
    "cluster": {"accelerator": "a100-sxm-80gb", "nodes": 48, "network": {"fabric": "omni-path-100", "ports": 4}},
    "plan": {
        "tensor": 4,
        "pipeline": 12,
        "count_embedding_as_layer": True,
        "micro_batch": 2,
        "sequence_parallel": False,
        "zero": 1,
        "recompute": "full",
        "attention": "fused-softmax",
    },
    "software": "megatron-deepspeed",
    "storage": "gpfs-jean-zay-2021",
    "checkpoint": {"mode": "sync", "interval": "3 h"},
    "reliability": {"fleet": "new-cluster", "spares": 4, "evaluation": {"every": 1000, "time": "12 min"}},
}


def test_bloom(ask):
    """117.5 days with pauses were published; the steps of that training are no evidence for the interval."""
    answer = ask.planned(BLOOM)
    found = answer.wallclock_interval(BIGSCIENCE)
    assert found.low < 117.5 * DAYS < found.high
    assert answer["wallclock"] == pytest.approx(117.5 * DAYS, rel=0.15)
    assert 2.3 * 2**40 * 0.96 < answer["checkpoint.bytes"] < 2.3 * 2**40
    assert answer["wallclock.evaluation"] / answer["wallclock.steps"] == pytest.approx(0.0070, rel=0.05)


OPT = {
    "model": "opt-175b",
    "workload": {"tokens": "300e9", "sequence_length": 2048, "global_batch": 992, "precision": "fp16"},
    "cluster": {"accelerator": "a100-sxm-80gb", "nodes": 124, "network": {"fabric": "ib-hdr", "ports": 8}},
    "plan": {"tensor": 8, "micro_batch": 8, "zero": 3, "recompute": "full"},
    "checkpoint": {"interval": "1 h", "bytes_per_parameter": 10},
    "reliability": {"fleet": "rsc-1", "detect": "30 min"},
}
GLM = BLOOM | {
    "model": "glm-130b",
    "workload": {"tokens": "400e9", "sequence_length": 2048, "global_batch": 4224, "precision": "fp16"},
    "cluster": {"accelerator": "a100-sxm-40gb", "nodes": 96, "network": {"fabric": "ib-hdr", "ports": 4}},
    "plan": BLOOM["plan"] | {"pipeline": 8, "micro_batch": 1},
    "storage": {"read": "20 GB/s", "write": "20 GB/s"},
    "reliability": {"fleet": "new-cluster"},
}


def test_opt_175b(ask):
    """Sixty days of the calendar were published, with weeks of manual restarts and of steps taken back.

    The wall clock knows neither: it is a lower bound, near the 33 days of training alone. The rate of another fleet
    gives fewer restarts than the hundred that were seen.
    """
    answer = ask.planned(OPT)
    assert 25 * DAYS < answer["wallclock"] < 40 * DAYS
    assert answer.wallclock_interval().high < 60 * DAYS
    assert answer["reliability.interruptions"] < 105


def test_glm_130b(ask):
    """58 days were published, instabilities included; the wall clock is a lower bound."""
    answer = ask.planned(GLM)
    assert 30 * DAYS < answer["wallclock"] < 58 * DAYS
    assert answer["run.goodput"] > 0.85
