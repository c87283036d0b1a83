"""Published step times and memory of Megatron-LM on A100, predicted with the one set of constants of the catalog.

The constants were fitted on the SC21 rows; the rows of Korthikanti et al. were held out.
"""

import csv
import json
from pathlib import Path
from statistics import median

import pytest

from aiplan.catalog.load import Catalog
from aiplan.core import memory, pipeline
from aiplan.declare import Diagnostics, read
from aiplan.planning.estimate import estimate
from aiplan.scenario.files import Place
from aiplan.scenario.load import load, resolve_tree

CATALOG = Catalog()
GIB = 2.0**30
DAY = 86_400.0
SEQUENCE = 2048
VOCAB = 51_200
SHAPE = ("layers", "hidden", "heads")
LAYOUT = ("tensor", "pipeline", "interleave", "micro_batch")

with (Path(__file__).parent.parent / "data" / "published_a100.csv").open(encoding="utf-8") as table:
    ROWS = {row["name"]: row for row in csv.DictReader(table)}
FITTED = [name for name in ROWS if name.startswith("sc21-")]
HELD_OUT = [name for name in ROWS if name.startswith("kort-")]


def scenario(row):
    """Resolve the run of a row."""
    model = {name: int(row[name]) for name in SHAPE} | {
        "ffn": 4 * int(row["hidden"]),
        "gated": False,
        "vocab": VOCAB,
        "positions": SEQUENCE,
        "tied": True,
        "norm": "layernorm",
        "bias": {"qkv": True, "attention_output": True, "mlp": True},
    }
    tree = {
        "model": model,
        "workload": {"sequence_length": SEQUENCE, "global_batch": int(row["global_batch"]), "precision": "fp16"},
        "cluster": {"node": "dgx-a100-80gb", "nodes": int(row["gpus"]) // 8},
        "plan": {name: int(row[name]) for name in LAYOUT}
        | {"recompute": row["recompute"], "sequence_parallel": row["sequence_parallel"] == "true"},
        "software": row["software"],
    }
    diagnostics = Diagnostics()
    place = Place(f"{row['name']}.yaml", Path(f"{row['name']}.yaml"))
    resolved = resolve_tree(read(json.dumps(tree).encode(), place.name, diagnostics), place, CATALOG, diagnostics)
    diagnostics.raise_if_errors()
    return resolved


@pytest.fixture(scope="module")
def estimates():
    """All rows as one batch."""
    return dict(zip(ROWS, estimate([scenario(row) for row in ROWS.values()]), strict=True))


def error(estimates, name):
    """Relative error of a predicted step time."""
    return estimates[name]["step"] / float(ROWS[name]["step_time_s"]) - 1.0


def test_all_rows_are_there():
    assert len(FITTED) == 10
    assert len(HELD_OUT) == 9
    assert {ROWS[name]["software"] for name in FITTED} == {"megatron-lm-2021"}
    assert {ROWS[name]["software"] for name in HELD_OUT} == {"megatron-lm-2022"}
    assert all(row["source"].startswith("https://") for row in ROWS.values())


@pytest.mark.parametrize("name", FITTED)
def test_published_rates_are_those_of_the_step_times(estimates, name):
    """The SC21 table prints TFLOP/s, from 96 B s l h^2 (1 + s / 6h + V / 16lh) with full recompute."""
    row = ROWS[name]
    layers, hidden, batch = (int(row[key]) for key in ("layers", "hidden", "global_batch"))
    factor = 1 + SEQUENCE / (6 * hidden) + VOCAB / (16 * layers * hidden)
    flops = 96 * batch * SEQUENCE * layers * hidden**2 * factor
    published = float(row["step_time_evidence"].rpartition(" ")[2])
    assert flops / (float(row["step_time_s"]) * int(row["gpus"])) / 1e12 == pytest.approx(published, rel=0.005)
    counted = estimates[name]["flops_per_token.hardware"] * batch * SEQUENCE
    assert counted == pytest.approx(flops, rel=1e-9)


@pytest.mark.parametrize("name", ROWS)
def test_step_time(estimates, name):
    assert abs(error(estimates, name)) < 0.10


def test_held_out_step_times(estimates):
    errors = [abs(error(estimates, name)) for name in HELD_OUT]
    assert max(errors) < 0.10
    assert median(errors) < 0.05


def test_full_recompute_costs_at_least_a_quarter(estimates):
    """Table 5: 29 to 32 % more than selective recompute with sequence parallelism."""
    for size in ("22b", "175b", "530b", "1t"):
        assert estimates[f"kort-{size}-full"]["step"] > 1.25 * estimates[f"kort-{size}"]["step"]


def test_gpt3_takes_34_days():
    """300 B tokens on 1,024 A100. https://arxiv.org/abs/2104.04473, section 5.1"""
    diagnostics = Diagnostics()
    resolved = load("gpt3-175b-a100", CATALOG, diagnostics)
    diagnostics.raise_if_errors()
    assert 33 < estimate([resolved])[0]["run.time_to_train"] / DAY < 35


# ------------------------------------------------------------------ activation memory

ACTIVATIONS = [
    ("kort-22b", 59.25, 9.56),
    ("kort-175b", 66.84, 12.35),
    ("kort-530b", 114.02, 23.08),
    ("kort-1t", 131.25, 26.56),
]
"""GiB per GPU, analytical: nothing recomputed; selective recompute with sequence parallelism."""


def first_stage_bytes(row, *, recomputed):
    """Activations of the layers of the first stage. [B]"""
    hidden, heads, tensor = (int(row[name]) for name in ("hidden", "heads", "tensor"))
    stages, micro_batch = int(row["pipeline"]), int(row["micro_batch"])
    shards = tensor if recomputed else 1
    layer = memory.layer_activation_bytes(hidden, hidden, hidden, 8 * hidden, tensor, shards, shards, 2, 1, 0)
    scores = 0.0 if recomputed else memory.score_bytes(heads, SEQUENCE, tensor, 2, 1)
    flying = pipeline.micro_batches_in_flight(stages, 0, int(row["interleave"]), int(row["global_batch"]) / micro_batch)
    layers = int(row["layers"]) / stages
    return memory.stage_activation_bytes(layer + scores, layers, micro_batch * SEQUENCE, flying, 0.0)


@pytest.mark.parametrize(("name", "whole", "selective"), ACTIVATIONS)
def test_activation_memory(name, whole, selective):
    """https://arxiv.org/abs/2205.05198, figures per GPU re-printed with the validation data of
    https://github.com/calculon-ai/calculon/blob/main/calculon/llm/validation.py
    """
    assert first_stage_bytes(ROWS[name], recomputed=False) / GIB == pytest.approx(whole, rel=0.01)
    assert first_stage_bytes(ROWS[name], recomputed=True) / GIB == pytest.approx(selective, rel=0.01)
