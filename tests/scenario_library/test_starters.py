"""The starter scenarios load, fit into memory, and give answers within what runs reach."""

from math import isfinite
from pathlib import Path

import pytest

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics, render
from aiplan.planning.estimate import estimate
from aiplan.scenario.files import library_ids
from aiplan.scenario.load import load

STARTERS = library_ids("")
CATALOG = Catalog()


def answer(name):
    diagnostics = Diagnostics()
    scenario = load(name, CATALOG, diagnostics)
    assert diagnostics.items == [], render(diagnostics.items, diagnostics.sources)
    assert scenario is not None
    return estimate([scenario])[0]


def test_a_dozen():
    assert len(STARTERS) >= 12


@pytest.mark.parametrize("name", STARTERS)
def test_loads_fits_and_is_plausible(name):
    found = answer(name)
    assert found.fits
    assert 0.09 <= found.mfu <= 0.70
    assert all(isfinite(found[root]) for root in ("step", "memory", "run.time_to_train"))


@pytest.mark.parametrize("name", STARTERS)
def test_named_and_versioned(name):
    file = answer(name).scenario.file
    assert file.name
    assert file.schema_version == 1


def test_names_differ():
    names = [answer(name).scenario.file.name for name in STARTERS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", STARTERS)
def test_measured_blocks_have_a_source(name):
    measured = answer(name).scenario.file.measured
    assert measured is None or measured.source.startswith("https://")


# Published step times of exactly these layouts. The bound is wide: it catches a wrong layout, not a wrong constant.
@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("gpt3-175b-h100", 9.01),  # https://github.com/NVIDIA/dgxc-benchmarking/tree/35a9aec
        ("llama-3-8b-h100", 12.33),  # https://github.com/NVIDIA/dgxc-benchmarking/tree/85380ff
        ("llama-3-70b-h100", 14.67),
        ("llama-3.1-405b-h100", 19.87),
    ],
)
def test_step_time_is_near_the_published_one(name, published):
    assert answer(name)["step"] == pytest.approx(published, rel=0.2)


# Training FLOPs are fixed by the model: a second road to the step time through tokens per second and utilisation.
@pytest.mark.parametrize("name", STARTERS)
def test_step_time_and_utilisation_agree(name):
    found = answer(name)
    work = found.scenario.file.workload
    tokens = work.global_batch * work.sequence_length
    peak = found.scenario.values["cluster.matmul_peak"].number
    rate = found.mfu * peak * found.scenario.accelerators / found["flops_per_token.megatron"]
    assert rate * found["step"] == pytest.approx(tokens, rel=1e-9)


def test_folder_is_the_library():
    folder = Path(__file__).resolve().parents[2] / "scenarios"
    assert sorted(path.stem for path in folder.glob("*.yaml")) == STARTERS
