"""An estimate costs the same whatever the size of the cluster: as many calls, on as many numbers."""

import numpy as np
import pytest

from aiplan.core import formula
from aiplan.engine.evaluate import evaluate
from aiplan.planning.estimate import columns

WHOLE = {"topology": "fat-tree", "switch": "q3400-xdr", "ports": 4}
NARROW = {"topology": "dragonfly-plus"}
PLANS = {
    "tensor": {"tensor": 8},
    "pipeline": {"tensor": 2, "pipeline": 4},
    "sharded": {"tensor": 2, "pipeline": 4, "interleave": 2, "zero": 1},
}


def tree(accelerators, network, plan):
    return {
        "model": "llama-3-8b",
        "workload": {"sequence_length": 8192, "global_batch": 2_000_000, "tokens": 15e12},
        "cluster": {
            "node": "dgx-h100",
            "nodes": accelerators // 8,
            "network": network,
        },
        "plan": plan,
    }


@pytest.fixture
def counted(ask, monkeypatch):
    """Count the calls of closed forms that an estimate makes, and the numbers that come out of them."""

    def count(scenario):
        sizes = []
        monkeypatch.setattr(formula.Recording, "add", lambda _, call: sizes.append(np.size(call.result)))
        found, diagnostics = ask.resolved(scenario)
        diagnostics.raise_if_errors()
        values = columns([found])
        assert float(values.cluster.accelerators.item()) == scenario["cluster"]["nodes"] * 8
        with formula.recording():
            evaluate(values)
        return len(sizes), sum(sizes)

    return count


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_a_million_accelerators_take_as_many_numbers_as_eight(plan, counted):
    small, large = counted(tree(8, WHOLE, plan)), counted(tree(1_000_000, WHOLE, plan))
    assert small[0] > 500
    assert small == large


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_tiers_that_slow_traffic_take_some_more_but_not_with_size(plan, counted):
    small, large = counted(tree(8_000, NARROW, plan)), counted(tree(1_000_000, NARROW, plan))
    assert small == large
    assert large[0] < 1.05 * counted(tree(8, NARROW, plan))[0]


def test_more_stages_take_no_more_numbers_where_they_are_alike(counted):
    four, all_layers = (counted(tree(1_000_000, WHOLE, {"pipeline": stages})) for stages in (4, 32))
    assert four == all_layers
