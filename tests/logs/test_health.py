"""What is impossible or unhealthy is said, and nothing else."""

import numpy as np
import pytest

from aiplan.adapters.nccl_lines import Half, Row
from aiplan.adapters.nccl_log import Table
from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.planning.health import expected_algbw, least_through_node, usual_through_node
from aiplan.planning.log_files import limits_of
from aiplan.planning.measured import measure

SIZES = [2**power for power in range(10, 34)]


def table(operation="all_reduce", ranks=8, nodes=1, latency=20e-6, busbw=350e9, times=None):
    """A table whose times follow a line to a plateau of busbw."""
    passes = {"all_reduce": 2.0, "all_gather": 1.0, "all_to_all": 1.0}.get(operation)
    factor = 1.0 if passes is None else passes * (ranks - 1) / ranks or 1.0
    times = [latency + size * factor / busbw for size in SIZES] if times is None else times
    rows = tuple(
        Row(n, size, None, "float", "sum", -1, (Half(time, size / time, size / time * factor, 0.0),))
        for n, (size, time) in enumerate(zip(SIZES, times, strict=False), 1)
    )
    return Table("made.log", operation, ranks, nodes, "float", "sum", -1, rows, ())


def limits(link=None, network=None, ports=None, nodes=None, share=0.8):
    diagnostics = Diagnostics()
    found = limits_of(link, network, ports, nodes, share, Catalog(), diagnostics)
    diagnostics.raise_if_errors()
    return found


def flags(made, **given):
    return [(flag.kind, flag.text) for flag in measure(made, limits(**given)).flags]


def test_a_healthy_table_has_no_flags():
    assert flags(table()) == []
    assert flags(table(), link="nvlink4") == []
    assert flags(table(ranks=16, nodes=2, busbw=370e9), network="ib-ndr", ports=8) == []


@pytest.mark.parametrize(
    ("made", "given", "kind", "words"),
    [
        (table(ranks=1), {}, "impossible", "one rank sends nothing"),
        (table(busbw=9e12), {}, "impossible", "no accelerator sends that much"),
        (table("all_gather", busbw=500e9), {"link": "nvlink4"}, "impossible", "its links nvlink4 carry 450 GB/s"),
        (table(busbw=900e9), {"link": "nvlink4"}, "impossible", "its links nvlink4 carry 450 GB/s"),
        (table(busbw=200e9), {"link": "nvlink4"}, "unhealthy", "links nvlink4 usually give"),
        (table(ranks=16, nodes=2, busbw=900e9), {"network": "ib-ndr", "ports": 8}, "impossible", "8 ports of ib-ndr"),
        (table(ranks=16, nodes=2, busbw=200e9), {"network": "ib-ndr", "ports": 8}, "unhealthy", "8 ports of ib-ndr"),
    ],
)
def test_flagged(made, given, kind, words):
    found = flags(made, **given)
    assert [level for level, _ in found] == [kind]
    assert words in found[0][1]


def test_reduction_in_the_switch_may_pass_the_rate_of_the_links():
    """Eight ranks that send their buffer once reach 2 (8 - 1) / 8 of the links' rate as busbw."""
    assert flags(table(busbw=700e9), link="nvlink4") == []
    assert flags(table("all_gather", busbw=440e9), link="nvlink4") == []


def test_a_spike_and_a_dip_are_told_apart():
    times = [20e-6 + size / 200e9 for size in SIZES]
    spike, dip = list(times), list(times)
    spike[3] *= 5
    dip[-2] *= 1.5
    assert [text.split(":")[0] for _, text in flags(table(times=spike))] == ["not monotone", "bandwidth breaks in"]
    assert [text.split(":")[0] for _, text in flags(table(times=dip))] == ["bandwidth breaks in"]


def test_the_share_is_the_users():
    made = table(busbw=250e9)
    assert flags(made, link="nvlink4", share=0.5) == []
    assert [kind for kind, _ in flags(made, link="nvlink4", share=0.9)] == ["unhealthy"]


def test_small_sizes_are_no_plateau():
    made = table(busbw=100e9)
    assert flags(made._replace(rows=made.rows[:8]), link="nvlink4") == []


@pytest.mark.parametrize("ranks", [8, 16, 64, 1024])
@pytest.mark.parametrize("operation", ["all_reduce", "all_gather", "all_to_all", "broadcast"])
def test_no_algorithm_sends_less_than_the_least(operation, ranks):
    for nodes in (2, 4, 8):
        made = table(operation, ranks=ranks, nodes=nodes)
        assert least_through_node(made, nodes) <= usual_through_node(made, nodes) + 1e-12


def test_all_to_all_through_a_node_counted_message_by_message():
    ranks, nodes, per_pair = 16, 4, 1 / 16
    here = range(ranks // nodes)
    crossing = sum(per_pair for source in here for target in range(ranks) if target not in here and source != target)
    assert least_through_node(table("all_to_all", ranks=ranks), nodes) == pytest.approx(crossing)


def test_expectation_is_the_narrower_of_link_and_network():
    made = table(ranks=16, nodes=2)
    both = limits(link="nvlink4", network="ib-ndr", ports=8)
    assert expected_algbw(made, 2, both)[1] == "links nvlink4"
    assert expected_algbw(made, 2, limits(link="nvlink4", network="ib-ndr", ports=1))[1] == "1 ports of ib-ndr"
    assert np.isclose(expected_algbw(made, 2, limits(network="ib-ndr", ports=8))[0], 8 * 48e9 / 1.875)
