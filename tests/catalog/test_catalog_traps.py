"""Mistakes that were seen in published hardware tables, each kept out by a test of its own.

The numbers are typed from data sheets and vendors' documents, named in each test; none is read from the catalog.
"""

import re

import pytest

from aiplan.catalog.derived import sparse_peaks
from aiplan.catalog.load import Catalog
from aiplan.catalog.records import KINDS
from aiplan.declare import Diagnostics

TERA, GIGA, MIB = 1e12, 1e9, 2**20
GIGABIT = 1e9 / 8


def one_way(shelf, name):
    """Bandwidth of all scale-up links of an accelerator."""
    use = shelf(f"accelerators/{name}").scale_up
    return use.count * shelf(f"links/{use.link}").bandwidth_one_way


@pytest.mark.parametrize(
    ("name", "bf16", "fp8"),
    [
        ("h100-sxm", 989.4, 1978.9),  # https://resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet
        ("h100-pcie", 756, 1513),
        ("a100-sxm-80gb", 312, None),  # https://www.nvidia.com/en-us/data-center/a100/
        ("rtx-a6000", 154.8, None),  # 309.7 is the sparse figure
        ("l4", 121, 242),
        ("b200", 2250, 4500),  # 9000 is the sparse fp8 figure
    ],
)
def test_trap_01_dense_not_sparse(shelf, name, bf16, fp8):
    compute = shelf(f"accelerators/{name}").compute
    assert compute["bf16"] == pytest.approx(bf16 * TERA, rel=0.01)
    assert compute.get("fp8") == (None if fp8 is None else pytest.approx(fp8 * TERA, rel=0.01))


def test_trap_01_the_headline_is_derived(shelf):
    assert sparse_peaks(shelf("accelerators/h100-sxm"))["fp8"] == pytest.approx(3957.8 * TERA, rel=1e-3)
    assert "fp64" not in sparse_peaks(shelf("accelerators/h100-sxm"))


def test_trap_02_sparse_factor_is_not_always_two(shelf):
    for name in ("v100-sxm2-32gb", "t4", "mi250x", "tpu-v4", "ascend-910b2", "gaudi3"):
        assert sparse_peaks(shelf(f"accelerators/{name}")) == {}, name
    assert sparse_peaks(shelf("accelerators/b300"))["fp4"] == pytest.approx(18000 * TERA, rel=1e-3)
    assert sparse_peaks(shelf("accelerators/gb300"))["fp4"] == pytest.approx(20000 * TERA, rel=1e-3)
    assert not {"fp4", "fp6"} & sparse_peaks(shelf("accelerators/mi355x")).keys()
    assert sparse_peaks(shelf("accelerators/trainium2"))["bf16"] == pytest.approx(2563 * TERA, rel=1e-2)


@pytest.mark.parametrize(
    ("name", "dtype", "tflops", "gigabytes", "devices"),
    [
        ("gb200", "bf16", 2500, 186, 1),  # a superchip has two GPUs: 10 PFLOP/s with sparsity
        ("h100-nvl", "bf16", 835.5, 94, 1),  # early brochures print the pair
        ("tpu-v3", "bf16", 123, 32, 1),  # 420 is a board of four chips
        ("mi250x", "fp16", 383, 128, 2),  # two devices of 191.5
        ("ascend-910c", "fp16", 752, 128, 2),  # two dies
        ("tpu-v7", "bf16", 2307, 192, 2),
        ("b200", "bf16", 2250, 180, 1),  # 90 GB is one die
        ("b300", "bf16", 2250, 288, 1),  # 144 GB is one die
    ],
)
def test_trap_03_one_product_is_neither_die_nor_pair_nor_board(shelf, name, dtype, tflops, gigabytes, devices):
    entry = shelf(f"accelerators/{name}")
    assert entry.compute[dtype] == pytest.approx(tflops * TERA, rel=0.01)
    assert entry.memory.capacity == pytest.approx(gigabytes * GIGA, rel=0.1)
    assert entry.devices == devices


def test_trap_04_blackwell_ultra_lost_int8_and_fp64(shelf):
    compute = shelf("accelerators/b300").compute
    assert compute["int8"] == pytest.approx(153.5 * TERA)
    assert compute["fp64"] == pytest.approx(1.25 * TERA)


def test_trap_05_h100_pcie_is_not_a_slow_sxm(shelf):
    pcie, sxm = shelf("accelerators/h100-pcie"), shelf("accelerators/h100-sxm")
    assert (pcie.multiprocessors, sxm.multiprocessors) == (114, 132)
    assert (pcie.memory.bandwidth, sxm.memory.bandwidth) == (2.0e12, 3.35e12)
    assert (pcie.power, sxm.power) == (350, 700)
    assert shelf(f"links/{pcie.scale_up.link}").topology == "pair"
    # 4096 operations per multiprocessor and cycle at 1830 MHz make the SXM peak; at the 1980 MHz boost they would not
    assert sxm.compute["bf16"] == pytest.approx(132 * 1830e6 * 4096, rel=1e-3)
    assert sxm.clock == 1980e6


def test_trap_06_a100_40gb_and_80gb_differ_in_memory_only(shelf):
    small, large = shelf("accelerators/a100-sxm-40gb"), shelf("accelerators/a100-sxm-80gb")
    assert (small.memory.bandwidth, large.memory.bandwidth) == (1555e9, 2039e9)
    assert shelf("accelerators/a100-pcie-80gb").memory.bandwidth == 1935e9
    assert small.compute == large.compute


def test_trap_07_b200_as_sold_in_hgx_has_180_gb(shelf):
    assert shelf("accelerators/b200").memory.capacity == 180 * 2**30
    assert shelf("accelerators/b200").memory.bandwidth == 7.7e12
    assert shelf("accelerators/gb200").memory.capacity == 189471 * MIB
    assert shelf("accelerators/gb200").memory.bandwidth == 8e12


@pytest.mark.parametrize(
    ("name", "mebibytes"),
    [
        ("h100-sxm", 81559),
        ("h200", 143771),
        ("b300", 275040),
        ("gb300", 284208),
        ("a100-sxm-40gb", 40441),
        ("l40s", 46068),
    ],  # memory that the drivers report
)
def test_trap_08_capacity_is_bytes_and_the_label_a_name(shelf, name, mebibytes):
    memory = shelf(f"accelerators/{name}").memory
    assert memory.capacity == mebibytes * MIB
    assert memory.label.endswith(" GB")


@pytest.mark.parametrize(
    ("name", "gigabytes"),
    [("v100-sxm2-32gb", 150), ("a100-sxm-80gb", 300), ("h100-sxm", 450), ("b200", 900), ("gb300", 900)],
)
def test_trap_09_nvlink_is_one_way(shelf, name, gigabytes):
    assert one_way(shelf, name) == pytest.approx(gigabytes * GIGA)  # half of what the vendor prints


def test_trap_09_pcie_and_switches_are_one_way(shelf):
    assert shelf("links/pcie5").bandwidth_one_way == 63e9
    assert shelf("switches/qm9700-ndr").capacity_one_way == pytest.approx(25.6e12 / 8)
    assert shelf("switches/sn5600-spectrum4").capacity_one_way == pytest.approx(51.2e12 / 8)
    # more switch chips add no bandwidth to an accelerator
    assert shelf("nodes/dgx-h100").scale_up.switches == 4
    assert one_way(shelf, shelf("nodes/dgx-h100").accelerator) == pytest.approx(450e9)


@pytest.mark.parametrize(
    ("name", "pair", "peers"),
    [("mi300x", 64, 7), ("ascend-910b2", 28, 7)],
)
def test_trap_10_a_pair_of_a_mesh_gets_one_link(shelf, name, pair, peers):
    entry = shelf(f"accelerators/{name}")
    link = shelf(f"links/{entry.scale_up.link}")
    assert (link.bandwidth_one_way, entry.scale_up.count) == (pair * GIGA, peers)
    assert link.topology == "full-mesh"


def test_trap_10_meshes_are_not_called_switched(shelf):
    assert shelf("nodes/hgx-mi300x").scale_up.topology == "full-mesh"
    assert shelf("nodes/dgx-1v").scale_up.topology == "cube-mesh"


def test_trap_11_bits_are_not_bytes(shelf):
    node = shelf("nodes/aws-p5.48xlarge")  # 3200 Gigabit: https://aws.amazon.com/ec2/instance-types/p5/
    (ports,) = node.nics
    assert ports.count * shelf(f"networks/{ports.network}").bandwidth_one_way == 400e9
    assert one_way(shelf, "tpu-v5p") == 600e9  # 4800 Gb/s: https://docs.cloud.google.com/tpu/docs/v5p


def test_trap_12_fdr_is_not_56(shelf):
    assert shelf("networks/ib-fdr").bandwidth_one_way == pytest.approx(4 * 14.0625e9 * 64 / 66 / 8, rel=1e-3)
    assert shelf("switches/sx6036-fdr").port_bandwidth_one_way == pytest.approx(54.54 * GIGABIT, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "ports", "rate"),
    [
        ("gcp-a3-highgpu-8g", 4, 200),  # 1000 with the front end
        ("gcp-a3-megagpu-8g", 8, 200),  # 1800
        ("gcp-a3-ultragpu-8g", 8, 400),  # 3600
        ("gcp-a4-highgpu-8g", 8, 400),  # 3600
        ("aws-p5.48xlarge", 32, 100),
        ("aws-p5en.48xlarge", 16, 200),
        ("aws-p6-b200.48xlarge", 8, 400),
        ("oci-bm.gpu.h100.8", 16, 200),
        ("oci-bm.gpu.h200.8", 8, 400),
    ],
)
def test_trap_13_accelerator_ports_leave_the_front_end_out(shelf, name, ports, rate):
    (row,) = shelf(f"nodes/{name}").nics
    assert (row.count, shelf(f"networks/{row.network}").bandwidth_one_way) == (ports, rate * GIGABIT)


def test_trap_14_model_constants_are_not_wire_latency(shelf):
    for name, step in (("efa-p5", 75e-6), ("efa-p5en", 35e-6), ("efa-p3dn", 150e-6)):  # tuner of aws-ofi-nccl
        entry = shelf(f"networks/{name}")
        assert entry.collective_latency == step
        assert entry.latency is None
    assert shelf("networks/ib-hdr").latency == 0.6e-6  # published, above EDR because of error correction
    assert shelf("networks/ib-edr").latency == 0.5e-6
    assert shelf("networks/ib-ndr").latency is None  # no published value was found


def test_trap_15_reduction_in_the_switch_is_a_flag_not_more_bandwidth(shelf):
    assert shelf("links/nvswitch3").in_network_reduction
    assert not shelf("links/nvswitch2").in_network_reduction
    for name in ("nvlink3", "nvlink4", "nvlink5"):
        link = shelf(f"links/{name}")
        assert link.achieved.bandwidth_one_way < link.bandwidth_one_way


def test_trap_16_benchmark_mb_is_mib(shelf):
    # https://github.com/mlcommons/storage_results_v1.0: 99712 MB in its results are MiB, 104.6 GB/s
    assert round(99712 * MIB / GIGA, 1) == 104.6
    assert "99712 MiB/s (104.6 GB/s)" in shelf("storage/ddn-ai400x2t").notes


def test_trap_17_no_bandwidth_was_cut_by_the_80_percent_rule(shelf):
    # https://github.com/mlcommons/storage_results_v1.0 describes one appliance
    assert (shelf("storage/ddn-ai400x2t").read, shelf("storage/ddn-ai400x2t").write) == (115e9, 75e9)


@pytest.mark.parametrize(
    ("name", "tflops", "share"),
    [
        ("a100-sxm-80gb", 271.2, 0.87),
        ("h100-sxm", 794.5, 0.80),
        ("b200", 1745, 0.78),
        ("gb200", 1822, 0.73),
        ("gaudi3", 1243, 0.68),
    ],  # https://github.com/stas00/ml-engineering/blob/master/compute/accelerator/README.md
)
def test_trap_18_peak_is_not_reachable(shelf, name, tflops, share):
    entry = shelf(f"accelerators/{name}")
    assert entry.achieved.matmul["bf16"] == pytest.approx(tflops * TERA, rel=0.01)
    assert entry.achieved.matmul["bf16"] / entry.compute["bf16"] == pytest.approx(share, abs=0.01)


def test_trap_19_module_box_and_all_in_power_are_three_fields(shelf):
    node = shelf("nodes/dgx-h100")
    assert shelf("accelerators/h100-sxm").power == 700
    assert node.power == 10200  # https://docs.nvidia.com/dgx/dgxh100-user-guide/
    assert node.power_per_accelerator == 1730
    assert shelf("nodes/dgx-b200").power == 14300


def test_trap_20_copied_system_descriptions_are_not_believed(shelf):
    assert shelf("nodes/coreweave-gb200-tray").memory == 960e9  # two Grace of 480 GB, HBM not counted in
    assert shelf("nodes/coreweave-gb200-tray").accelerators == 4
    assert shelf("nodes/gb200-nvl72").memory == 36 * 480e9
    (ports,) = shelf("nodes/oci-bm.gpu.h200.8").nics
    assert shelf(f"networks/{ports.network}").kind == "roce"  # the copied text says InfiniBand


def test_trap_21_broken_rows_of_good_files(shelf):
    assert shelf("regions/azure-finland-central").carbon == pytest.approx(0.077 / 3.6e6)
    assert shelf("regions/azure-germany-west-central").carbon == pytest.approx(0.402 / 3.6e6)
    assert not shelf("regions/azure-finland-central").verified
    assert all(price.terms != "spot" for price in shelf("accelerators/tpu-v4").prices)
    assert shelf("accelerators/mi300x").memory.bandwidth == 5.3e12  # not 10.3
    assert shelf("accelerators/mi325x").memory.capacity == pytest.approx(256 * 2**30)  # not 288 GB
    assert shelf("accelerators/v100-sxm2-16gb").compute["fp16"] == pytest.approx(125e12)  # not 130, a V100S


def test_trap_22_prices_are_dated_points():
    catalog, diagnostics = Catalog(), Diagnostics()
    rows = [
        price
        for kind in KINDS
        for ident in catalog.ids(kind)
        for name in ("prices", "per_hour")
        for price in getattr(catalog.find(kind, ident, diagnostics).entry, name, ())
        if not isinstance(price, float)
    ]
    assert len(rows) > 100
    for price in rows:
        assert not price.verified or re.match(r"20\d\d", price.as_of)


def test_trap_22_old_and_new_prices_stand_side_by_side(shelf):
    def dollars(name, provider, date):
        (row,) = [row for row in shelf(f"accelerators/{name}").prices if (row.provider, row.as_of) == (provider, date)]
        return round(row.per_hour[0] * 3600, 2)

    assert dollars("a100-sxm-80gb", "Lambda", "2025-10") == 1.79
    assert dollars("a100-sxm-80gb", "Lambda", "2026-09-20") == 2.79
    assert dollars("h100-sxm", "Lambda", "2025-10") == 2.49
    assert dollars("h100-sxm", "Lambda", "2026-09-20") == 3.99
    p5 = [row for row in shelf("nodes/aws-p5.48xlarge").per_hour if row.terms == "on-demand"]
    assert [round(row.per_hour[0] * 3600, 2) for row in p5] == [55.04]
    assert {"h100-sxm", "h100-pcie", "h100-nvl"} <= set(Catalog().ids("accelerators"))
