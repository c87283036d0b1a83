"""Descriptions of nodes: links, distances, ports, and which of them carry traffic."""

from pathlib import Path

import pytest

FILES = Path(__file__).parent / "files"


def matrix(paths, read, ports=0):
    """Write a matrix from the path between each two devices, and read it."""
    count = len(paths) - ports
    names = [f"GPU{i}" for i in range(count)] + [f"NIC{i}" for i in range(ports)]
    rows = [f"{name} {' '.join(row)}" for name, row in zip(names, paths, strict=True)]
    return read(("topo.txt", "     " + " ".join(names) + " CPU Affinity\n" + "\n".join(rows) + "\n"))


def test_matrix(read):
    found = read(("topo.txt", (FILES / "matrix.txt").read_text(encoding="utf-8"))).imported
    node = found.machine
    assert (node.accelerators, node.links, node.domain, node.pairs) == (4, (12, 12), 4, {"NV": 6})
    assert node.numa == (0, 0, 1, 1)
    assert [(port.name, port.distance, port.nearest, port.for_traffic) for port in node.ports] == [
        ("mlx5_0", "PXB", (0, 1), True),
        ("NIC1", "PIX", (2, 3), True),
        ("NIC2", "SYS", (0, 1, 2, 3), False),
    ]
    facts = {path: fact.value for path, fact in found.facts.items()}
    assert facts == {"cluster.accelerators_per_node": 4, "cluster.network.ports": 2, "cluster.domain": 4}
    assert "A100" in found.open[0].why


def test_links_in_pairs(read):
    paths = [
        ["X", "NV4", "SYS", "SYS"],
        ["NV4", "X", "SYS", "SYS"],
        ["SYS", "SYS", "X", "NV4"],
        ["SYS", "SYS", "NV4", "X"],
    ]
    found = matrix(paths, read).imported
    assert (found.machine.domain, found.machine.pairs) == (2, {"NV": 2, "SYS": 4})
    assert any("2 of 4" in caution.problem for caution in found.cautions)


def test_no_links(read):
    found = matrix([["X", "PHB"], ["PHB", "X"]], read).imported
    assert (found.machine.domain, found.machine.links) == (1, (0, 0))
    assert "cluster.domain" not in found.facts


def test_two_ports_of_a_card_count_once_where_neither_is_near(read):
    far = [["X", "NODE", "NODE"], ["NODE", "X", "PIX"], ["NODE", "PIX", "X"]]
    near = [["X", "PXB", "PXB"], ["PXB", "X", "PIX"], ["PXB", "PIX", "X"]]
    assert matrix(far, read, ports=2).imported.machine.traffic_ports == 1
    assert matrix(near, read, ports=2).imported.machine.traffic_ports == 2


def test_all_ports_carry_traffic_where_none_is_near(read):
    assert (
        matrix(
            [["X", "SYS", "SYS"], ["SYS", "X", "SYS"], ["SYS", "SYS", "X"]], read, ports=2
        ).imported.machine.traffic_ports
        == 2
    )


def test_an_odd_number_is_warned_of(read):
    found = matrix([["X" if i == j else "PHB" for i in range(3)] for j in range(3)], read).imported
    assert any("3 accelerators" in caution.problem for caution in found.cautions)


@pytest.mark.parametrize(
    ("paths", "code", "word"),
    [
        ([["X", "GNS"], ["GNS", "X"]], "AIP340", "topo -p2p"),
        ([["X", "NV2"], ["NV4", "X"]], "AIP342", "GPU0 to GPU1"),
        ([["X", "ABC"], ["ABC", "X"]], "AIP103", "ABC"),
        ([["X"], ["X"]], "AIP103", "columns"),
    ],
)
def test_matrices_that_are_none(paths, code, word, read):
    found = matrix(paths, read)
    assert found.codes[0] == code
    assert word in found.problems[0]


def test_a_matrix_that_breaks_off(read):
    text = (FILES / "matrix.txt").read_text(encoding="utf-8")
    found = read(("topo.txt", text[: text.index("GPU2\tNV12\tNV12")]))
    assert found.codes == ["AIP340"]
    assert "GPU2" in found.problems[0]


def test_topology_of_nccl(read):
    found = read(("topo.xml", (FILES / "node.xml").read_text(encoding="utf-8"))).imported
    node = found.machine
    assert (node.accelerators, node.links, node.domain, node.pairs) == (4, (18, 18), 4, {"NV": 6})
    assert [(port.name, port.distance, port.nearest, port.bits_per_s) for port in node.ports] == [
        ("mlx5_0", "PIX", (0, 1), 400e9),
        ("mlx5_1", "PIX", (2, 3), 400e9),
    ]
    facts = {path: fact.value for path, fact in found.facts.items()}
    assert facts["cluster.network.fabric"] == "ib-ndr"
    assert "H100" in found.open[0].why


def test_distances_in_the_tree(read):
    text = (FILES / "node.xml").read_text(encoding="utf-8")
    bare = read(("topo.xml", text.replace("nvlink", "other"))).imported.machine
    assert bare.pairs == {"PIX": 2, "SYS": 4}
    assert not bare.domain_known


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("<system><cpu></system>", "AIP101"),
        ("<system><cpu/></system>", "AIP340"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><system>&b;</system>', "AIP101"),
        ("<machine/>", "AIP341"),
    ],
)
def test_xml_that_is_no_node(text, code, read):
    assert read(("topo.xml", text)).codes == [code]
