"""Late hosts, stragglers, and gradients that are reduced once the backward pass is over."""

import pytest

from aiplan.catalog.load import Catalog
from aiplan.planning.estimate import estimate
from aiplan.planning.variants import Source, assignments, load_source

CATALOG = Catalog()
SMALL = (
    "plan.micro_batch=1",
    "workload.global_batch=2048",
    "plan.pipeline=1",
    "plan.interleave=1",
    "plan.recompute=none",
)


def answer(*changes, name="gpt3-175b-a100"):
    loaded = load_source(Source(name), CATALOG, assignments(changes))
    assert loaded.scenario is not None, loaded.diagnostics.items
    return estimate([loaded.scenario])[0]


def host(*changes):
    return answer("model=gpt3-1.3b", *SMALL, *changes)["step.host"]


def test_late_hosts_delay_tensor_parallel_ranks_only():
    alone, together = "plan.tensor=1", "plan.tensor=8"
    assert host(alone, "cluster.hosts=late") == host(alone)
    assert host(together, "cluster.hosts=late") > 3.0 * host(together)


def test_graphs_spare_late_hosts_too():
    assert host("plan.tensor=8", "cluster.hosts=late", "plan.cuda_graphs=full") == 0.0


@pytest.mark.parametrize(("zero", "nodes", "late"), [(0, 16, True), (1, 16, False), (0, 1, False)])
def test_late_hosts_hold_up_reductions_between_nodes_beside_the_backward_pass(zero, nodes, late):
    """Of nanotron: gradients without ZeRO are reduced bucket by bucket, sharded ones at once; one node has no late host."""
    changes = ("model=gpt3-1.3b", "software=nanotron", "plan.tensor=1", f"plan.zero={zero}", f"cluster.nodes={nodes}")
    prompt, held_up = (
        answer(*SMALL, *changes, f"cluster.hosts={hosts}")["step.data.gradients"] for hosts in ("prompt", "late")
    )
    assert (held_up > prompt) == late


def test_the_delay_of_a_reduction_grows_with_the_ranks_of_the_job():
    changes = ("model=gpt3-1.3b", "software=nanotron", "plan.tensor=1", "plan.zero=0")
    few, many = (
        answer(*SMALL, *changes, f"cluster.nodes={nodes}", "cluster.hosts=late")["step.data.gradients"]
        - answer(*SMALL, *changes, f"cluster.nodes={nodes}")["step.data.gradients"]
        for nodes in (8, 32)
    )
    assert many == pytest.approx(4.0 * few)


def test_a_layer_takes_as_long_as_the_slowest_host_however_small_it_is():
    """Twice the tokens in half the micro-batches: half the time, where the host sets the pace."""
    one = answer("model=gpt3-1.3b", *SMALL, "plan.tensor=8", "cluster.hosts=late")
    two = answer("model=gpt3-1.3b", *SMALL[1:], "plan.micro_batch=2", "plan.tensor=8", "cluster.hosts=late")
    busy = [found["step.host"] + found["step.compute"] + found["step.tensor"] for found in (one, two)]
    assert busy[0] / busy[1] == pytest.approx(2.0, rel=0.05)


def test_stragglers_are_the_same_share_of_what_a_node_does():
    few, many = answer("cluster.nodes=16"), answer("cluster.nodes=128")
    shares = [found["step.stragglers"] / (found["step"] - found["step.stragglers"]) for found in (few, many)]
    harmonic = [sum(1.0 / count for count in range(2, nodes + 1)) for nodes in (16, 128)]
    assert shares[1] / shares[0] == pytest.approx(harmonic[1] / harmonic[0])


def test_nanotron_reduces_after_the_backward_pass_and_all_of_the_gradients():
    """An all-reduce is a reduce-scatter and an all-gather; without ZeRO the backward pass hides part of it."""
    sharded = answer("software=nanotron", "plan.zero=1", "plan.pipeline=1", "plan.interleave=1")
    scattered = answer(
        "software=megatron-core", "plan.zero=1", "plan.pipeline=1", "plan.interleave=1", "plan.overlap.gradients=false"
    )
    whole = answer("software=nanotron", "plan.zero=0", "plan.pipeline=1", "plan.interleave=1")
    assert sharded["step.data.gradients"] == pytest.approx(2.0 * scattered["step.data.gradients"], rel=0.02)
    assert whole["step.data.gradients"] < sharded["step.data.gradients"]


def test_a_tied_table_inside_a_node_goes_over_its_links():
    changes = ("model=gpt3-1.3b", "plan.tensor=1", "plan.pipeline=8", "plan.interleave=1", "workload.global_batch=64")
    small, large = (
        answer(*changes, f"cluster.nodes={nodes}", "plan.micro_batch=1")["step.data.embedding"] for nodes in (1, 2)
    )
    assert 0.0 < small < 0.3 * large
