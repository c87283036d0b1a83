"""States in the memory of the host: what leaves the device, what the host needs, and how long it takes there."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import Ask

GIB = 2**30


def llama(**plan):
    nodes = plan.pop("nodes", 4)
    return {
        "model": "llama-3-8b",
        "workload": {"sequence_length": 4096, "global_batch": 256},
        "cluster": {"node": "dgx-h100", "nodes": nodes},
        "plan": {"zero": 3, **plan},
        "software": "deepspeed",
    }


def test_states_leave_the_device_and_nothing_else(ask):
    kept, some, every = (ask.planned(llama(offload=offload)) for offload in ("none", "optimizer", "all"))
    for name in ("memory.optimizer", "memory.gradients"):
        assert kept[name] > 0 == some[name] == every[name]
    assert kept["memory.weights"] == some["memory.weights"] > 0 == every["memory.weights"]
    for name in ("memory.activations", "memory.logits", "memory.gathered"):
        assert kept[name] == some[name] == every[name]
    assert kept["host.memory"] == 0
    assert kept["step.offload"] == 0 == some["step.optimizer"]


def test_gradients_that_are_not_sharded_stay(ask):
    """With stage 1 every rank adds up all gradients, on the device."""
    first, second = (ask.planned(llama(zero=zero, offload="optimizer")) for zero in (1, 2))
    assert first["memory.gradients"] > 0 == second["memory.gradients"]


def test_the_host_holds_what_left(ask):
    """8.03 billion parameters over 4 nodes: 12 bytes of Adam, the gradient and the weight that goes back."""
    kept, found = (ask.planned(llama(offload=offload)) for offload in ("none", "optimizer"))
    left = 8 * (kept["memory.optimizer"] + kept["memory.gradients"] + kept["memory.weights"])
    assert found["host.memory"] == pytest.approx(left, rel=1e-12)
    assert found["host.memory"] == pytest.approx(8.03e9 / 4 * 16, rel=0.01)
    assert found.given("cluster.host_memory") == 2048e9


@pytest.mark.parametrize("offload", ["optimizer", "all"])
@pytest.mark.parametrize("batch", [32, 256])
def test_time_against_two_streams_and_a_host(offload, batch, ask):
    """Played for a rank: copies beside passes, then the host goes over the states of the whole node, shard by shard."""
    tree = llama(offload=offload)
    tree["workload"]["global_batch"] = batch
    found = ask.planned(tree)
    values = {name: value.number for name, value in found.scenario.values.items()}
    shard = found["parameters.total"] / 32
    rounds = batch // 32
    wide, narrow = values["workload.gradient_bytes"], values["workload.weight_bytes"]
    update = sum(
        shard * (2 * values["workload.optimizer_bytes"] + 3 * wide + narrow) / values["cluster.host_update_rate"]
        for _ in range(8)
    )
    link, compute = values["cluster.host_link"], found["step.compute"] / rounds
    copies = 0.0
    for _ in range(rounds):
        free = {"forward": compute / 3, "backward": 2 * compute / 3}
        copies += max(0.0, shard * wide / link - free["backward"])
        if offload == "all":
            copies += sum(max(0.0, shard * narrow / link - seconds) for seconds in free.values())
    assert copies == 0.0, "a shard of 0.25 billion weights crosses the link within a pass"
    assert found["step.offload"] == pytest.approx(max(update, shard * narrow / link), rel=1e-6)


def test_copies_show_where_passes_are_short(ask):
    """One token's worth of work cannot cover gigabytes over PCIe."""
    tree = llama(offload="all", nodes=1)
    tree["workload"] = {"sequence_length": 16, "global_batch": 8}
    found = ask.planned(tree)
    assert found["step.offload"] > 3 * found["step.compute"]
    slower = ask.planned(tree | {"cluster": {"node": "dgx-a100-80gb", "nodes": 1}})
    assert slower["step.offload"] > found["step.offload"], "PCIe 4 against 5"


def test_two_reports_of_whole_nodes(ask):
    """Qwen 72B on 4 nodes of A100 took 10 s for an update, GLM-4.5-Air on 4 of H100 9.6 s: the rate lies between."""
    for model, node, seconds in (("qwen2.5-72b", "dgx-a100-80gb", 10.0), ("glm-4.5-air", "dgx-h100", 9.6)):
        tree = {
            "model": model,
            "workload": {"sequence_length": 4096, "global_batch": 32},
            "cluster": {"node": node, "nodes": 4},
            "plan": {"zero": 3, "offload": "optimizer", "gradient_precision": "fp32"},
            "software": "deepspeed",
        }
        assert ask.planned(tree)["step.offload"] == pytest.approx(seconds, rel=0.3)


@given(st.sampled_from([1, 2, 4, 8]), st.floats(20, 800))
@settings(max_examples=12, deadline=None, derandomize=True)
def test_more_nodes_and_faster_hosts_are_never_slower(nodes, rate):
    ask = Ask()
    base = llama(offload="optimizer", nodes=nodes)
    base["cluster"]["host_update_rate"] = f"{rate:.3f} GB/s"
    more = llama(offload="optimizer", nodes=2 * nodes)
    more["cluster"]["host_update_rate"] = f"{rate:.3f} GB/s"
    fast = json.loads(json.dumps(base))
    fast["cluster"]["host_update_rate"] = f"{2 * rate:.3f} GB/s"
    slow, wide, quick = (ask.planned(tree) for tree in (base, more, fast))
    assert wide["step.offload"] <= slow["step.offload"]
    assert quick["step.offload"] <= slow["step.offload"]
    assert wide["host.memory"] < slow["host.memory"]


def test_a_host_that_is_too_small(run, folder):
    tree = llama(offload="optimizer", nodes=1, zero=2, gradient_precision="fp32")
    tree["model"] = "llama-3-70b"
    (folder / "case.yaml").write_text(json.dumps(tree | {"cluster": {"node": "aws-p4d.24xlarge", "nodes": 1}}), "utf-8")
    done = run("estimate", "case.yaml", "--set", "plan.zero=3", "--set", "plan.offload=all", "--width", "110")
    assert done.code == 1
    assert "needed on the host of a node" in done.err
    assert "host memory" in done.out


@pytest.mark.parametrize(("offload", "zero"), [("optimizer", 0), ("all", 1), ("all", 2)])
def test_what_is_refused(offload, zero, ask):
    assert "AIP314" in ask.refused(llama(zero=zero, offload=offload))


def test_a_search_keeps_what_lies_on_the_host(run, folder):
    (folder / "case.yaml").write_text(json.dumps(llama(offload="all", nodes=1)), encoding="utf-8")
    done = run("search", "case.yaml", "--top", "3", "--format", "json")
    assert done.code == 0, done.err
    rows = json.loads(done.out)["result"]["best"]
    assert {row["zero"] for row in rows} == {3}
