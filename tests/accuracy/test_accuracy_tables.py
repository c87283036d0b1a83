"""Runs in a CSV table: what a row means, what is assumed, and that no text at all is too much."""

import csv
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aiplan.adapters.runs_csv import COLUMNS, is_table, read_runs, scenario_of, unused_columns
from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics, InputError
from aiplan.planning.accuracy import compare_runs
from aiplan.planning.run_files import measured_runs
from aiplan.planning.variants import Source

TABLE = Path(__file__).parent / "runs" / "table.csv"
CATALOG = Catalog()
GOOD = {
    "id": "mine",
    "layers": "16",
    "hidden": "2048",
    "heads": "16",
    "ffn_hidden": "8192",
    "vocab": "32000",
    "seq_len": "4096",
    "gated_mlp": "yes",
    "accelerator": "A100-80GB-SXM",
    "n_gpus": "16",
    "tp": "2",
    "pp": "2",
    "global_batch": "64",
    "measured_step_time_s": "2.5",
}


def text_of(*rows):
    target = StringIO()
    writer = csv.DictWriter(target, dict.fromkeys(key for row in rows for key in row))
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue()


def read(text, diagnostics=None):
    found = diagnostics or Diagnostics()
    runs = measured_runs([Source("-", text.encode("utf-8", "surrogatepass"))], CATALOG, found)
    found.raise_if_errors()
    return runs


def only(**cells):
    (run,) = read(text_of(GOOD | cells))
    return run


def test_the_four_rows_of_the_table():
    good, text, unknown, sparse = read(TABLE.read_text())
    assert (good.ident, good.quality, good.problem, good.scenario.file.plan.tensor) == ("mine-1", "A", "", 2)
    assert (text.scenario, text.problem) == (None, "layers is not a number: 'sixteen'")
    assert unknown.scenario is None
    assert "abacus-9000" in unknown.problem
    assert (sparse.ident, sparse.quality) == ("row 5", "B")
    assert {"tp 1", "pp 1", "dtype bf16", "gpus_per_node 8"} <= set(sparse.assumed)
    assert good.scenario.file.measured.memory == 24e9


def test_a_row_means_what_its_columns_say():
    run = only(n_gpus="32", gpus_per_node="4", seq_len="8192", micro_batch="2", recompute="full", dtype="amp_fp16")
    scenario = run.scenario
    assert run.problem == ""
    assert scenario.accelerators == 32
    assert scenario.file.cluster.nodes == 32 // 4
    assert scenario.data == 32 // (2 * 2)
    assert scenario.file.workload.precision == "fp16"
    assert (scenario.file.plan.micro_batch, scenario.file.plan.recompute) == (2, "full")
    assert scenario.model.layers == 16
    assert not any(text.startswith(("recompute", "dtype", "micro_batch")) for text in run.assumed)


@pytest.mark.parametrize(
    ("notes", "size", "kind"),
    [
        ("", 40e9, "device"),
        ("nvidia-smi on the last stage", 40e9, "device"),
        ("memory column = peak reserved", 40e9, "reserved"),
        ("GiB, peak allocated", 40 * 2**30, "allocated"),
    ],
)
def test_notes_say_what_memory_counts(notes, size, kind):
    measured = only(measured_mem_gb_per_gpu="40", notes=notes).scenario.file.measured
    assert (measured.memory, measured.memory_kind) == (size, kind)


@pytest.mark.parametrize(
    ("name", "ident"),
    [
        ("A100-80GB-SXM", "a100-sxm-80gb"),
        ("A100 PCIe 80GB", "a100-pcie-80gb"),
        ("A100-40GB-PCIe", "a100-pcie-40gb"),
        ("H100-80GB-SXM", "h100-sxm"),
        ("H100-PCIe", "h100-pcie"),
        ("H100 NVL", "h100-nvl"),
        ("h100-pcie", "h100-pcie"),
        ("mi300x", "mi300x"),
        ("GB200", "gb200"),
        ("B200-180GB-SXM", "b200"),
        ("TPU-v5p", "tpu-v5p"),
    ],
)
def test_names_of_accelerators(name, ident):
    values, _ = scenario_of(GOOD | {"accelerator": name})
    assert values["cluster"]["accelerator"] == ident


@pytest.mark.parametrize(
    ("column", "cell", "problem"),
    [
        ("layers", "16.5", "layers is not a whole number: '16.5'"),
        ("layers", "-3", "layers is not a number: '-3'"),
        ("layers", "1e400", "layers is not a number: '1e400'"),
        ("layers", "1e30", "layers is not a whole number: '1e30'"),
        ("n_gpus", "nan", "n_gpus is not a number: 'nan'"),
        ("gated_mlp", "perhaps", "gated_mlp is not yes or no: 'perhaps'"),
        ("measured_step_time_s", "fast", "measured_step_time_s is not a number: 'fast'"),
        ("accelerator", "9" * 5000, f"accelerator is not the name of one: '{'9' * 80}...'"),
        ("tp", "3", "16 heads do not divide over tensor 3"),
        ("global_batch", "", "missing key 'global_batch'"),
        ("accelerator", "../../secrets", "no entry '../../secrets' in accelerators"),
    ],
)
def test_a_bad_cell_leaves_its_row_out(column, cell, problem):
    good, bad = read(text_of(GOOD, GOOD | {column: cell}))
    assert good.problem == ""
    assert bad.scenario is None
    assert problem in bad.problem
    assert [bool(item.problem) for item in compare_runs([good, bad])] == [False, True]


def test_all_bad_cells_of_a_row_are_told():
    run = only(layers="x", hidden="y", measured_mem_gb_per_gpu="z")
    assert [text.partition(" ")[0] for text in run.problem.split("; ")] == [
        "layers",
        "hidden",
        "measured_mem_gb_per_gpu",
    ]


def test_columns_in_any_order_with_a_byte_order_mark_and_crlf():
    plain = text_of(GOOD)
    turned = text_of(dict(reversed(GOOD.items())))
    for text in (plain, turned, "\ufeff" + plain, plain.replace("\r\n", "\n")):
        (run,) = read(text)
        assert (run.ident, run.problem) == ("mine", "")
        assert run.scenario.values.keys() == read(plain)[0].scenario.values.keys()


def test_what_is_a_table():
    assert is_table(",".join(GOOD))
    assert not is_table("schema_version: 1\nname: x\n")
    assert not is_table("")
    assert not is_table("id,layers\n")
    assert unused_columns(",".join([*GOOD, "mood"])) == ["mood"]


def test_a_field_that_is_too_long_is_bad_input():
    text = text_of(GOOD | {"notes": "x" * 200_000})
    with pytest.raises(InputError, match="cannot be read as a table"):
        read(text)


CELLS = st.one_of(
    st.text(max_size=12),
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(["0", "1", "2", "8", "64", "1e9", "9" * 5000, "yes", "no", "A100-80GB-SXM", "h100-sxm", "full"]),
    st.sampled_from(["head_dim 0", "head_dim " + "9" * 40, "NCCL all-reduce 1.2.3 GB/s (intra", "9" * 4400 + "x NDR"]),
    st.sampled_from(["ZeRO-3", "ZeRO-9", "NVL72", "../x", "\x00", "\u0664", "1_0", "__", "[a]", "{", "null", "~"]),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows=st.lists(st.dictionaries(st.sampled_from(sorted(COLUMNS)), CELLS, max_size=12), min_size=1, max_size=3))
def test_no_cell_is_too_much(rows):
    text = text_of(*(dict.fromkeys(GOOD, "") | GOOD | row for row in rows))
    try:
        runs = read(text)
    except InputError:
        return
    assert len(runs) <= len(rows)
    for item in compare_runs(runs, grades="ABC"):
        assert bool(item.problem) == (item.estimate is None)


@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=200), headed=st.booleans())
def test_no_text_is_too_much(text, headed):
    whole = ",".join(GOOD) + "\n" + text if headed else text
    if not headed:
        with pytest.raises(InputError):
            read(whole)
        return
    runs = read(whole)
    assert len(runs) == len(list(read_runs(StringIO(whole, newline=""), "x.csv")))
    assert all((run.scenario is None) == bool(run.problem) for run in runs)


@pytest.mark.parametrize(
    ("notes", "ranks", "hosts"),
    [
        ("NCCL all-reduce 174.59 GB/s (intra-node 427.08)", 32, "late"),
        ("NCCL all-reduce 211.16 GB/s (intra-node 453.1)", 32, "prompt"),
        ("NCCL all-reduce 13.05 GB/s (intra-node 414.64)", 512, "late"),
        ("NCCL all-reduce 45.14 GB/s (intra-node 45.98)", 8, "prompt"),
        ("no test", 512, "prompt"),
    ],
)
def test_hosts_are_late_where_the_test_of_the_job_says_so(notes, ranks, hosts):
    run = only(notes=notes, n_gpus=str(ranks), global_batch=str(2 * ranks))
    assert run.scenario.file.cluster.hosts == hosts
    assert any("hosts late" in text for text in run.assumed) == (hosts == "late")


@pytest.mark.parametrize(
    ("cells", "software"),
    [
        ({"framework": "NeMo (Megatron-Core)", "source_title": "DGX Cloud 24.11.1", "year": "2025"}, "nemo-2024"),
        ({"framework": "NeMo (Megatron-Core)", "source_title": "DGX Cloud 25.05", "year": "2025"}, "nemo"),
        ({"framework": "NeMo (Megatron-Core)", "year": "2024"}, "nemo-2024"),
        ({"framework": "NeMo (Megatron-Core)"}, "nemo"),
        ({"framework": "Megatron-Bridge", "notes": "NeMo container 26.08"}, "megatron-bridge-2026"),
        ({"framework": "Megatron-Bridge", "notes": "NeMo container 25.11"}, "megatron-bridge"),
    ],
)
def test_the_release_of_a_program_has_its_preset(cells, software):
    assert only(**cells).scenario.file.software == software


@pytest.mark.parametrize(
    ("release", "flags", "graphs", "dispatch", "hidden"),
    [
        ("25.09", "", "full", None, False),
        ("25.11", "", "partial", "hybridep", False),
        ("26.08", "", "full", "hybridep", True),
        ("26.08", "CUDA graphs (transformer_engine)", "partial", None, False),
    ],
)
def test_recipes_of_megatron_bridge_in_a_rack_have_graphs(release, flags, graphs, dispatch, hidden):
    experts = {"n_experts": "16", "top_k": "2", "moe_ffn_hidden": "4096", "accelerator": "GB200", "gpus_per_node": "4"}
    run = only(
        **experts, framework="Megatron-Bridge", notes=f"NeMo container {release}", overlap_flags=flags, pp="1", ep="8"
    )
    plan = run.scenario.file.plan
    assert (plan.cuda_graphs, plan.dispatch, bool(plan.overlap.expert)) == (graphs, dispatch, hidden)
    assert any("recipes" in text for text in run.assumed) == (not flags)
