"""`aiplan scale` against published scaling: one scenario written here, the measured times read from the files of runs."""

from typing import NamedTuple

import pytest

from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics
from aiplan.planning.accuracy import compare_runs
from aiplan.planning.run_files import measured_runs
from aiplan.planning.scale import Request, scale
from aiplan.planning.variants import Source

GPT3 = """
model: {layers: 96, hidden: 12288, heads: 96, kv_heads: 96, ffn: 49152, gated: false, vocab: 51200, tied: true,
  positions: 2048, norm: layernorm, bias: {qkv: true, attention_output: true, mlp: true}}
workload: {sequence_length: 2048, global_batch: BATCH, precision: PRECISION}
plan: {tensor: 4, pipeline: 8, interleave: 12, micro_batch: 1, zero: 1, attention: flash, sequence_parallel: true}
"""
LLAMA_70B = """
model: {layers: 80, hidden: 8192, heads: 64, kv_heads: 8, ffn: 28672, gated: true, vocab: 128256}
workload: {sequence_length: 8192, global_batch: BATCH, precision: PRECISION}
plan: {tensor: 4, pipeline: 4, interleave: 5, context: 2, micro_batch: 1, zero: 1, attention: flash,
  sequence_parallel: true}
"""
LLAMA_405B = """
model: {layers: 126, hidden: 16384, heads: 128, kv_heads: 8, ffn: 53248, gated: true, vocab: 128256}
workload: {sequence_length: 8192, global_batch: BATCH, precision: PRECISION}
plan: {tensor: 8, pipeline: 9, interleave: 7, context: 2, micro_batch: 1, zero: 1, attention: flash,
  sequence_parallel: true}
"""
REST = """
cluster: {accelerator: h100-sxm, accelerators_per_node: 8, nodes: NODES, network: {fabric: ib-ndr, ports: 8}}
software: nemo
"""


class Case(NamedTuple):
    """A scenario at its smallest size, the runs with it on more and more GPUs, and how far off is allowed."""

    text: str
    batch: int
    precision: str
    kind: str
    runs: dict[int, str]
    within: float


CASES = {
    "Llama 3.1 405B, DGX Cloud": Case(
        LLAMA_405B, 252, "bf16", "weak", {576: "dgxc-026", 1152: "dgxc-027", 2304: "dgxc-028"}, 0.03
    ),
    "Llama 3 70B fp8, DGX Cloud": Case(
        LLAMA_70B,
        128,
        "fp8",
        "weak",
        {64: "dgxc-017", 128: "dgxc-018", 256: "dgxc-019", 512: "dgxc-020", 1024: "dgxc-021", 2048: "dgxc-022"},
        0.04,
    ),
    "GPT-3 175B, DGX Cloud": Case(
        GPT3,
        256,
        "bf16",
        "weak",
        {128: "dgxc-035", 256: "dgxc-036", 512: "dgxc-037", 1024: "dgxc-038", 2048: "dgxc-039"},
        0.02,
    ),
    "GPT-3 175B fp8, MLPerf, weak": Case(
        GPT3, 2048, "fp8", "weak", {4096: "mlperf-011", 6144: "mlperf-012", 8192: "mlperf-008"}, 0.01
    ),
    "GPT-3 175B fp8, MLPerf, strong": Case(GPT3, 2048, "fp8", "strong", {512: "mlperf-013", 4096: "mlperf-011"}, 0.01),
    "GPT-3 175B fp8, MLPerf, most": Case(GPT3, 2560, "fp8", "weak", {10240: "mlperf-009", 10752: "mlperf-010"}, 0.01),
}


@pytest.fixture(scope="module")
def compared():
    runs = measured_runs([Source("dgx-cloud-nemo"), Source("mlperf-training")], Catalog(), Diagnostics())
    return {item.run.ident: item for item in compare_runs(runs)}


@pytest.mark.parametrize("name", CASES)
def test_published_scaling(name, compared):
    case = CASES[name]
    smallest = min(case.runs)
    text = (case.text + REST).replace("BATCH", str(case.batch)).replace("PRECISION", case.precision)
    source = Source("", text.replace("NODES", str(smallest // 8)).encode())
    answer = scale(source, Catalog(), (), Request(tuple(sorted(case.runs)), (case.kind,)))
    [curve] = answer.curves
    first = compared[case.runs[smallest]].measured_step_time
    for size in curve.sizes:
        item = compared[case.runs[size.accelerators]]
        assert size.estimate["step"] == pytest.approx(item.predicted_step_time, rel=1e-9), "the run is that scenario"
        batch = item.run.scenario.file.workload.global_batch
        assert batch == size.batch
        measured = (batch / (item.measured_step_time * size.accelerators)) / (case.batch / (first * smallest))
        assert curve.efficiency(size) == pytest.approx(measured, abs=case.within)
