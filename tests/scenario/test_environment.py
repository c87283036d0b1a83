"""Environment variables: the catalog of them, what is said of a block, and what is recommended."""

import csv
import re
from pathlib import Path

import pytest

from aiplan.catalog import nccl
from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics, InputError, read
from aiplan.planning.nccl_environment import nccl_environment
from aiplan.scenario.environment import USERS
from aiplan.scenario.files import Place
from aiplan.scenario.load import resolve_tree
from aiplan.scenario.variables import NEVER

CATALOG = Catalog()
FOLDER = Path(__file__).resolve().parents[2] / "hardware_catalog"
A100, H100 = "dgx-a100-80gb", "dgx-h100"
TEXT = """\
model: {{layers: 8, hidden: 1024, heads: 16, ffn: 4096, gated: false, vocab: 32000}}
workload: {{sequence_length: 1024, global_batch: 1024, precision: bf16}}
cluster: {{node: {node}, nodes: {nodes}, network: {{topology: {topology}{network}}}}}
environment: {{{block}}}
"""

SINCE = Path(__file__).parents[1] / "data" / "nccl_since.csv"
"""First versions as https://github.com/NVIDIA/nccl/blob/master/docs/userguide/source/env.rst states them."""


def test_first_versions_are_those_of_the_documentation_or_marked():
    with SINCE.open() as file:
        stated = {row["variable"]: row["since"] for row in csv.DictReader(file)}
    ours = nccl.variables()
    assert {name: ours[name].since for name in stated if name in ours} == {n: v for n, v in stated.items() if n in ours}
    for name, variable in ours.items():
        assert variable.since_unverified == (variable.since is not None and name not in stated), name


def load(block="", node=A100, nodes=4, topology="fat-tree", network=""):
    diagnostics = Diagnostics()
    text = TEXT.format(node=node, nodes=nodes, topology=topology, block=block, network=network)
    tree = read(text.encode(), "lab.yaml", diagnostics)
    return resolve_tree(tree, Place("lab.yaml", Path("lab.yaml")), CATALOG, diagnostics), diagnostics


def said(block, **where):
    _, diagnostics = load(block, **where)
    return diagnostics.items


def fabric(name, ports=8):
    return f", fabric: {name}, ports: {ports}"


WRONG = {
    "NCCL_NET_GDR_LEVEL: PXD": ("AIP331", "PXB"),
    "NCCL_NET_GDR_LEVEL: pxb": ("AIP331", "PXB"),
    "NCCL_P2P_LEVEL: NVLINK": ("AIP331", "LOC, NVL"),
    "NCCL_IB_TIMEOUT: 1000": ("AIP331", "from 0 to 31"),
    "NCCL_IB_TIMEOUT: 22s": ("AIP331", "from 0 to 31"),
    "NCCL_ALGO: Rings": ("AIP331", "Ring"),
    "NCCL_ALGO: 'ring;allreduced:tree'": ("AIP331", "Ring"),
    "NCCL_PROTO: LL12": ("AIP331", "LL128"),
    "NCCL_DEBUG: VERBOSE": ("AIP331", "VERSION"),
    "NCCL_DEBUG_SUBSYS: 'INIT,NETWORK'": ("AIP331", "NET"),
    "NCCL_NTHREADS: 100": ("AIP331", "128"),
    "NCCL_IB_HCA: 'mlx5_0 mlx5_1'": ("AIP331", "commas"),
    "NCCL_CROSS_NIC: 3": ("AIP331", "from 0 to 2"),
    "NCCL_IB_HCAS: mlx5": ("AIP330", "NCCL_IB_HCA"),
    "NCLL_DEBUG: INFO": ("AIP330", "NCCL_DEBUG"),
    "NCCL_TREE_THRESHOLD: 0": ("AIP330", "NCCL_ALGO"),
    "NCCL_IB_CUDA_SUPPORT: 1": ("AIP330", "NCCL_NET_GDR_LEVEL"),
    "NCCL_WHATEVER_THIS_IS: 1": ("AIP330", ""),
}
"""A variable that is wrong wherever it stands, the code of what is said, and what the way out names."""


@pytest.mark.parametrize("block", WRONG)
def test_wrong(block):
    (item,) = said(block)
    code, way_out = WRONG[block]
    assert (item.level, item.code) == ("warning", code)
    assert way_out in f"{item.hint} {item.expected}"
    assert item.mark.line == 4
    assert item.mark.column == len("environment: {") + 1 + (block.index(":") + 2 if code == "AIP331" else 0)


AGAINST = {
    "verbs on EFA": ("NCCL_IB_HCA: mlx5", {"network": fabric("efa-p5")}),
    "EFA on InfiniBand": ("FI_PROVIDER: efa", {}),
    "RoCE on InfiniBand": ("NCCL_IB_GID_INDEX: 3", {}),
    "NVLS on A100": ("NCCL_NVLS_ENABLE: 1", {}),
    "NVLink between nodes of one": ("NCCL_MNNVL_ENABLE: 1", {"node": H100}),
    "no verbs on InfiniBand": ("NCCL_IB_DISABLE: 1", {}),
    "sockets on InfiniBand": ("NCCL_NET: Socket", {}),
    "no direct exchange": ("NCCL_NET_GDR_LEVEL: LOC", {}),
    "no direct exchange, old": ("NCCL_NET_GDR_LEVEL: 0", {}),
    "direct exchange on TCP": ("NCCL_NET_GDR_LEVEL: PXB", {"network": fabric("tcp-25g", 1)}),
    "no NVLink": ("NCCL_P2P_DISABLE: 1", {}),
    "no NVLink by level": ("NCCL_P2P_LEVEL: LOC", {}),
    "crossing rails": ("NCCL_CROSS_NIC: 1", {"topology": "rail-optimized"}),
    "no PXN on rails": ("NCCL_PXN_DISABLE: 1", {"topology": "rail-optimized"}),
    "too many sockets": ("NCCL_SOCKET_NTHREADS: 16, NCCL_NSOCKS_PERTHREAD: 8", {}),
    "channels": ("NCCL_MIN_NCHANNELS: 16, NCCL_MAX_NCHANNELS: 8", {}),
    "NCCL on a TPU": ("NCCL_DEBUG: INFO", {"node": "gcp-tpu-v5p-host"}),
}


@pytest.mark.parametrize("name", AGAINST)
def test_against_the_hardware(name):
    block, where = AGAINST[name]
    (item,) = said(block, **where)
    assert (item.level, item.code) == ("warning", "AIP332"), item
    assert item.hint


FITTING = (
    ("NCCL_NET_GDR_LEVEL: PXB, NCCL_IB_HCA: '=mlx5_0:1,mlx5_1', NCCL_IB_TIMEOUT: 22, NCCL_ALGO: '^nvls'", {}),
    ("NCCL_NVLS_ENABLE: 1", {"node": H100}),
    ("NCCL_NVLS_ENABLE: 0", {}),
    ("NCCL_CROSS_NIC: 1, NCCL_PXN_DISABLE: 1", {}),
    ("FI_PROVIDER: efa", {"network": fabric("efa-p5")}),
    ("NCCL_IB_GID_INDEX: 3, NCCL_IB_TC: 106", {"network": fabric("roce-400g")}),
    ("NCCL_IB_DISABLE: 1, NCCL_SOCKET_NTHREADS: 8, NCCL_NSOCKS_PERTHREAD: 8", {"network": fabric("tcp-25g", 1)}),
    ("NCCL_ALGO: 'ring;allreduce:tree', NCCL_PROTO: '^LL128', NCCL_DEBUG: info, NCCL_BUFFSIZE: 0x400000", {}),
    ("NCCL_IB_HCA: mlx5, NCCL_NET_GDR_LEVEL: LOC", {"nodes": 1}),
    ("OMP_NUM_THREADS: 8, CUDA_DEVICE_MAX_CONNECTIONS: 1, PATH: '/usr/bin'", {}),
    ("", {}),
)


@pytest.mark.parametrize(("block", "where"), FITTING)
def test_nothing_to_say(block, where):
    assert [item for item in said(block, **where) if item.code.startswith("AIP33")] == []


@pytest.mark.parametrize(
    ("value", "operations"),
    [
        ("tree", ["all-gather and reduce-scatter"]),
        ("nvls", ["all-reduce", "all-gather and reduce-scatter"]),
        ("^ring", ["all-gather and reduce-scatter"]),
        ("'^ring,tree'", ["all-reduce", "all-gather and reduce-scatter"]),
        ("'ring;allreduce:nvls'", ["all-reduce"]),
        ("ring", []),
    ],
)
def test_forbidden_algorithm(value, operations):
    found = [item for item in said(f"NCCL_ALGO: {value}", node=H100) if item.code == "AIP333"]
    assert [item.problem.rpartition(" times ")[2] for item in found] == operations


@pytest.mark.parametrize("name", ["A-B", "1A", "'A B; rm'", "'x=y'"])
def test_name_that_no_variable_can_have(name):
    scenario, diagnostics = load(f"{name}: 1")
    assert scenario is None
    assert [(item.level, item.code) for item in diagnostics.items] == [("error", "AIP330")]


def test_catalog_of_variables():
    known = nccl.variables()
    assert len(known) > 120
    for name, variable in known.items():
        assert re.fullmatch(r"(NCCL|FI)_[A-Z0-9_]+", name)
        assert variable.source.startswith("https://")
        assert not variable.replaced_by or variable.replaced_by in known
        assert variable.kind not in {"level", "choice", "words"} or variable.choices
        assert not variable.since or re.fullmatch(r"2\.\d+(\.\d+)?", variable.since)
        if variable.kind in {"flag", "integer", "choice", "level"} and re.fullmatch(r"-?\w+", variable.default or ""):
            unset = variable.default in {"none", "any", "all"} or (variable.default or "").endswith(".so")
            assert unset or nccl.wrong(name, variable.default) is None, name


def test_levels_are_those_of_nccl():
    """As its documentation lists them, and the distance that switches off."""
    documented = {"LOC", "PIX", "PXB", "PHB", "SYS"}
    assert documented < set(nccl.variables()["NCCL_NET_GDR_LEVEL"].choices)
    assert documented | {"NVL"} <= set(nccl.variables()["NCCL_P2P_LEVEL"].choices)
    assert "LOC" in NEVER


NODES = sorted(path.stem for path in (FOLDER / "nodes").glob("*.yaml"))


@pytest.mark.parametrize("topology", ["fat-tree", "rail-optimized"])
@pytest.mark.parametrize("node", NODES)
def test_what_is_recommended_is_sound(node, topology):
    """For every node of the catalog: known names, good values, nothing against the hardware."""
    scenario, diagnostics = load(node=node, topology=topology)
    if scenario is None:
        assert {item.code for item in diagnostics.items} <= {"AIP203", "AIP301", "AIP306"}
        return
    if scenario.system.vendor not in USERS:
        with pytest.raises(InputError, match="without NCCL"):
            nccl_environment(scenario)
        return
    answer = nccl_environment(scenario)
    names = [setting.name for setting in answer.settings]
    assert len(names) == len(set(names))
    assert all(setting.why and setting.default and setting.source for setting in answer.settings)
    block = ", ".join(f"{setting.name}: '{setting.value}'" for setting in answer.settings)
    assert said(block, node=node, topology=topology) == []


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"topology": "rail-optimized"}, {"NCCL_CROSS_NIC": "0", "NCCL_PXN_DISABLE": "0", "NCCL_IB_HCA": "mlx5"}),
        ({"nodes": 64}, {"NCCL_IB_TIMEOUT": "22"}),
        ({"network": fabric("roce-400g")}, {"NCCL_IB_GID_INDEX": "3", "NCCL_IB_TC": "106"}),
        ({"network": fabric("efa-p5")}, {"FI_PROVIDER": "efa", "NCCL_BUFFSIZE": "8388608"}),
        ({"network": fabric("slingshot-11")}, {"NCCL_NET": "AWS Libfabric"}),
        ({"network": fabric("tcp-25g", 1)}, {"NCCL_IB_DISABLE": "1", "NCCL_SOCKET_NTHREADS": "4"}),
        ({"network": fabric("gcp-a3-mega")}, {"NCCL_PROTO": "Simple", "NCCL_FASTRAK_CTRL_DEV": "eth0"}),
        ({"node": H100}, {"NCCL_NVLS_ENABLE": "2", "NCCL_NET_GDR_LEVEL": "PIX"}),
        ({"network": fabric("ib-hdr", 4)}, {"NCCL_NET_GDR_LEVEL": "PXB"}),
        ({"block": "NCCL_IB_TIMEOUT: 20, MY_OWN: 1", "nodes": 64}, {"NCCL_IB_TIMEOUT": "20", "MY_OWN": "1"}),
    ],
)
def test_recommended(where, expected):
    scenario, _ = load(**where)
    found = {setting.name: setting.value for setting in nccl_environment(scenario).settings}
    assert expected.items() <= found.items()


def test_one_node_needs_no_network():
    scenario, _ = load(nodes=1, node=H100)
    assert [setting.name for setting in nccl_environment(scenario).settings] == ["NCCL_DEBUG", "NCCL_NVLS_ENABLE"]
