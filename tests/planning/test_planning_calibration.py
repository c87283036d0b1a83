"""Fitting constants: those that made-up measurements were made with are found again, but for the pull of usual values."""

import numpy as np
import pytest

from aiplan.engine.evaluate import evaluate
from aiplan.planning.calibration import calibrate
from aiplan.planning.constants import LEAST_RUNS, OF_SOFTWARE, constants
from aiplan.planning.estimate import columns, estimate
from aiplan.scenario.software import FITTED

TENSOR = (1, 2, 4, 8)
TRUE = {
    ("h100-sxm", "fitted.matmul_fraction"): 0.5,
    ("torchtitan", "kernel_share"): 0.9,
    ("pax", "kernel_share"): 0.7,
}


@pytest.fixture(scope="module")
def scenarios(ask):
    """Plans of dense models under three presets, on two accelerators."""
    found = []
    for software in ("megatron-core", "torchtitan", "pax", "megatron-lm-2022"):
        for model, sequence in (("llama-3-8b", 8192), ("llama-2-13b", 4096)):
            for tensor in TENSOR:
                tree = {
                    "model": model,
                    "workload": {"sequence_length": sequence, "global_batch": 64, "precision": "bf16"},
                    "cluster": {"node": "dgx-h100" if software != "megatron-lm-2022" else "dgx-a100-80gb", "nodes": 2},
                    "plan": {"tensor": tensor},
                    "software": software,
                }
                scenario, diagnostics = ask.resolved(tree)
                diagnostics.raise_if_errors()
                found.append(scenario)
    return found


def measured(scenarios, true):
    """Step times with other constants than those in the files."""
    inputs = columns(scenarios)
    for item in constants(scenarios, inputs):
        if (item.owner, item.key) in true:
            item.write(inputs, true[item.owner, item.key])
    return evaluate(inputs)["step"][0]


def fitted(answer, owner, key):
    return next(
        value
        for item, value in zip(answer.constants, answer.after, strict=True)
        if (item.owner, item.key) == (owner, key)
    )


def test_constants_are_found_again(scenarios):
    times = measured(scenarios, TRUE)
    answer = calibrate([(one, time, "lab") for one, time in zip(scenarios, times, strict=True)])
    for (owner, key), true in TRUE.items():
        assert fitted(answer, owner, key) == pytest.approx(true, rel=0.1), (owner, key)
    assert answer.errors(answer.ratio_after).median < 0.03 < answer.errors(answer.ratio_before).median


def test_a_wild_run_moves_little(scenarios):
    times = measured(scenarios, TRUE)
    times[3] *= 6.0
    answer = calibrate([(one, time, "lab") for one, time in zip(scenarios, times, strict=True)])
    assert fitted(answer, "torchtitan", "kernel_share") == pytest.approx(TRUE["torchtitan", "kernel_share"], rel=0.1)
    assert answer.errors(answer.ratio_after).median < 0.03


def test_without_a_source_only_the_others_count(scenarios):
    """Pax is measured by one source only: without it, its share is a usual value and its runs are off."""
    times = measured(scenarios, TRUE)
    sources = [one.file.software for one in scenarios]
    answer = calibrate(list(zip(scenarios, times, sources, strict=True)))
    usual = next(item.kind.usual for item in answer.constants if (item.owner, item.key) == ("pax", "kernel_share"))
    chosen = answer.sources == "pax"
    assert np.median(np.abs(answer.ratio_after[chosen] - 1)) < 0.03
    assert np.median(answer.ratio_without[chosen]) == pytest.approx(TRUE["pax", "kernel_share"] / usual, abs=0.12)


def test_one_source_has_no_other(scenarios):
    answer = calibrate([(one, found["step"], "lab") for one, found in zip(scenarios, estimate(scenarios), strict=True)])
    assert np.isnan(answer.ratio_without).all()
    assert answer.errors(answer.ratio_without) is None


def test_what_is_right_stays(scenarios):
    """Measurements made with the constants as they are move them by the pull of usual values alone."""
    times = [found["step"] for found in estimate(scenarios)]
    answer = calibrate([(one, time, "lab") for one, time in zip(scenarios, times, strict=True)])
    assert answer.errors(answer.ratio_before).worst == pytest.approx(0.0, abs=1e-12)
    assert answer.errors(answer.ratio_after).worst < 0.05


def test_constants_apply_where_they_play_a_part(scenarios):
    inputs = columns(scenarios)
    found = {(item.owner, item.key): item for item in constants(scenarios, inputs)}
    assert ("megatron-core", "expert_share") not in found  # no experts here
    assert ("a100-sxm-80gb", "fitted.attention_fraction") not in found  # not fused there
    assert found["pax", "kernel_share"].runs == 8
    assert all(item.runs >= LEAST_RUNS for item in found.values())
    assert found["h100-sxm", "fitted.matmul_fraction"].file == "hardware_catalog/accelerators/h100-sxm.yaml"
    assert found["pax", "kernel_share"].file == "scenarios/software/pax.yaml"


def test_every_fitted_constant_of_a_preset_is_known():
    assert set(OF_SOFTWARE) == set(FITTED)
