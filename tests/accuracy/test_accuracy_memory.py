"""Runs that count for memory: files as tables, tables under other names, plans that fitted or ran out, the interval."""

import csv
import json
import math
from io import StringIO

import pytest
from jsonschema import Draft7Validator

from aiplan.adapters.benchmark_log import as_run, version
from aiplan.adapters.runs_csv import is_table, unused_columns
from aiplan.catalog.load import Catalog
from aiplan.declare import Diagnostics, InputError
from aiplan.planning import evidence
from aiplan.planning.accuracy import compare_runs
from aiplan.planning.intervals import coverage, fitted_stretch
from aiplan.planning.memory_accuracy import fits
from aiplan.planning.run_files import measured_runs
from aiplan.planning.variants import Source
from aiplan.report.schemas import schema_of

CATALOG = Catalog()
LOG = {
    "job_id": "31415926",
    "n_params_b": "8.86",
    "layers": "32",
    "hidden": "4096",
    "ffn_hidden": "14336",
    "heads": "32",
    "kv_heads": "32",
    "vocab": "131072",
    "tied_embeddings": "no",
    "seq_len": "4096",
    "n_gpus": "8",
    "tp": "4",
    "pp": "2",
    "dp": "1",
    "zero_stage": "0",
    "micro_batch": "1",
    "global_batch": "8",
    "accelerator": "H100-80GB-SXM",
    "result": "OOM",
}


def text_of(*rows):
    target = StringIO()
    writer = csv.DictWriter(target, dict.fromkeys(key for row in rows for key in row))
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue()


def read(text):
    found = Diagnostics()
    runs = measured_runs([Source("-", text.encode())], CATALOG, found)
    found.raise_if_errors()
    return runs


@pytest.fixture
def result(run, folder):
    def load(*arguments):
        done = run("accuracy", *arguments, "--format", "json")
        assert done.code == 0, done.err
        content = json.loads(done.out)
        Draft7Validator(schema_of("result")).validate(content)
        return content["result"]

    return load


# ------------------------------------------------------------------ a file of runs as a table


def test_rows_in_lists_mean_what_mappings_mean(folder):
    table = (folder / "memory.yaml").read_text()
    head, _, rest = table.partition("columns: [")
    columns, *rows = (line.strip(" -[]").split(", ") for line in rest.splitlines() if line != "rows:")
    mappings = [
        ", ".join(f"{name}: {cell}" for name, cell in zip(columns, row, strict=True) if cell != "~") for row in rows
    ]
    listed, mapped = read(table), read(head + "rows:\n" + "".join(f"  - {{{row}}}\n" for row in mappings))
    assert [(run.ident, run.quality, run.problem) for run in listed] == [
        (run.ident, run.quality, run.problem) for run in mapped
    ]
    for one, other in zip(listed, mapped, strict=True):
        assert one.scenario.file == other.scenario.file
    assert listed[0].scenario.file.plan.tensor == 2
    assert listed[2].scenario.file.plan.tensor == 1


def test_a_part_of_a_source_is_that_source(folder):
    assert {run.source for run in read((folder / "memory.yaml").read_text())} == {"lab"}


@pytest.mark.parametrize(
    ("old", "new", "problem", "line"),
    [
        ("[m-fits, A, 2, ~, 40 GB, ~]", "[m-fits, A, 2]", "a row of 3 values for 6 columns", 15),
        ("[m-fits, A, 2, ~, 40 GB, ~]", "m-fits", "a row is a mapping of dotted paths to values, or a list", 15),
        ("columns: [id, quality,", "columns: [id, [quality],", "columns is a list of dotted paths", 13),
    ],
)
def test_a_faulty_table_is_refused_with_its_place(folder, old, new, problem, line):
    with pytest.raises(InputError) as failure:
        read((folder / "memory.yaml").read_text().replace(old, new))
    found = failure.value.diagnostics[0]
    assert problem in found.problem
    assert found.mark.line == line


def test_a_faulty_cell_leaves_its_row_out(folder):
    first, *rest = read((folder / "memory.yaml").read_text().replace("40 GB", "40 Gs"))
    assert first.scenario is None
    assert "40 Gs" in first.problem
    assert not any(run.problem for run in rest)


# ------------------------------------------------------------------ a log under other names


def test_a_log_is_a_table_whose_columns_all_mean_something():
    text = text_of(LOG)
    assert is_table(text)
    assert unused_columns(text) == []


def test_a_row_of_a_log(ask):
    (run,) = read(text_of(LOG))
    plan, measured = run.scenario.file.plan, run.scenario.file.measured
    assert (run.ident, run.problem, run.scenario.file.software) == ("31415926", "", "nanotron")
    assert (plan.tensor, plan.pipeline, plan.zero, plan.micro_batch) == (4, 2, 0, 1)
    assert (measured.fits, measured.memory, measured.step_time) == (False, None, None)
    assert {"gated_mlp yes, which n_params_b agrees with", "dtype bf16"} <= set(run.assumed)
    assert "framework nanotron, whose benchmark logs job_id and zero_stage" in run.assumed


@pytest.mark.parametrize(
    ("cells", "gated"),
    [
        ({}, "yes"),
        # a plain block has two matrices of 4,096 x 14,336, not three
        ({"n_params_b": str(8.86 - 32 * 4096 * 14336 / 1e9)}, "no"),
        ({"n_params_b": ""}, None),
        ({"hidden": "wide"}, None),
        ({"heads": "0"}, None),
        ({"gated_mlp": "no"}, "no"),
    ],
)
def test_gated_units_follow_from_the_parameters(cells, gated):
    row, _ = as_run(LOG | cells)
    assert row.get("gated_mlp") == gated


def test_a_usual_row_stays_as_it_is():
    row = {"id": "mine", "layers": "16", "job_id": ""}
    assert as_run(row) == (row, [])


@pytest.mark.parametrize(("result", "fitted"), [("OOM", False), ("out of memory", False), ("ok", True), ("", None)])
def test_what_became_of_a_plan(result, fitted):
    (run,) = read(text_of(LOG | {"result": result}))
    assert run.scenario.file.measured.fits is fitted


def test_a_result_that_is_none():
    (run,) = read(text_of(LOG | {"result": "perhaps"}))
    assert run.scenario is None
    assert run.problem == "result is not oom or out of memory or ok or success or fits: 'perhaps'"


def test_a_log_measures_rank_0_in_binary_units():
    row = LOG | {"result": "", "measured_mem_gb_per_gpu": "40", "framework": "nanotron", "notes": "peak reserved"}
    measured = read(text_of(row))[0].scenario.file.measured
    assert (measured.memory, measured.memory_kind, measured.memory_stage) == (40 * 2**30, "reserved", "first")


@pytest.mark.parametrize(
    ("ident", "preset"),
    [
        ("hf-13436292", "nanotron-2024"),
        ("13490827-2", "nanotron-2024"),
        ("hf-13849064", "nanotron-early-2025"),
        ("14098540", ""),
        ("12345678", ""),
        ("31415926", ""),
        ("lab-13849064", ""),
    ],
)
def test_versions_of_the_public_benchmark(ident, preset):
    assert version(ident) == preset


# ------------------------------------------------------------------ what is counted and shown


def test_runs_without_a_step_time_count_for_memory(result, fixed):
    """33e9 bytes are predicted for every run, of which 3e9 are out of the allocator's sight."""
    found = result("memory.yaml")
    rows = {row["id"]: row for row in found["rows"]}
    assert found["summary"]["n"] == 0
    assert found["summary"]["skipped"] == {"grade C": 1}
    assert rows["m-poor"] == {"id": "m-poor", "source": "lab", "skipped": "grade C"}
    assert rows["m-fits"]["predicted_memory_bytes_per_gpu"] == 33e9
    assert rows["m-fits"]["measured_memory_bytes_per_gpu"] == 40e9
    assert (rows["m-fits"]["fits_predicted"], rows["m-fits"]["fits_measured"]) == (True, True)
    assert (rows["m-ran-out"]["fits_predicted"], rows["m-ran-out"]["fits_measured"]) == (True, False)
    assert rows["m-ran-out"]["measured_memory_bytes_per_gpu"] is None
    memory = found["summary"]["memory"]
    assert memory["n"] == 2
    assert memory["bias"] == pytest.approx((33 / 40 + 33 / 70) / 2 - 1)
    assert memory["by_kind"]["device"]["n"] == 2


def test_the_table_of_what_fitted(result):
    """One sequence of 4,096 tokens fits 80 GB, 64 of them do not; whatever was measured."""
    found = result("memory.yaml")["summary"]["fits"]
    assert found["fitted"] == {"predicted_fits": 2, "predicted_does_not_fit": 1}
    assert found["ran_out"] == {"predicted_fits": 1, "predicted_does_not_fit": 1}
    assert found["balanced_accuracy"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert {miss["id"] for miss in found["misses"]} == {"m-ran-out-against", "m-fitted-against"}
    for miss in found["misses"]:
        over = miss["needed_memory_bytes_per_gpu"] / miss["memory_capacity_bytes"] - 1
        assert miss["over_limit"] == pytest.approx(over)
        assert (over > 0) is not miss["fits_predicted"]


def test_every_format_shows_the_table_and_the_misses(run, folder):
    page = run("accuracy", "memory.yaml", "--quiet", "--html", "-", "-o", "table.txt").out
    page = page.replace("\N{NO-BREAK SPACE}", " ")
    for text in (
        run("accuracy", "memory.yaml", "--width", "120").out,
        run("accuracy", "memory.yaml", "--format", "markdown").out,
        page,
    ):
        assert "balanced accuracy 58.3 %; 2 misses, 2 of them more than 10 % off the limit" in text
        assert "predicted not to fit" in text
        assert "m-ran-out-against" in text
    for form in ("csv", "plain"):
        assert "fits_predicted" in run("accuracy", "memory.yaml", "--format", form).out.splitlines()[0]


def test_nothing_is_said_about_fits_that_nobody_measured(result, run):
    assert result("lab.yaml", "--grades", "C")["summary"]["fits"] is None
    assert "Fits into memory" not in run("accuracy", "lab.yaml", "--grades", "C").out


def test_balanced_accuracy_needs_both_kinds(folder):
    runs = [run for run in read((folder / "memory.yaml").read_text()) if run.ident.startswith("m-fit")]
    found = fits(item.footprint for item in compare_runs(runs))
    assert found.ran_out_as_predicted == found.ran_out_against == 0
    assert math.isnan(found.balanced_accuracy)
    assert fits([]) is None


# ------------------------------------------------------------------ the interval


def test_the_interval_of_memory(run, folder, fixed):
    (folder / "mine.yaml").write_text(
        "model: llama-3-8b\nworkload: {sequence_length: 8192, global_batch: 128}\n"
        "cluster: {node: dgx-a100-80gb, nodes: 4}\nplan: {tensor: 2, pipeline: 2, recompute: full}\n"
    )
    found = json.loads(run("estimate", "mine.yaml", "--format", "json").out)
    Draft7Validator(schema_of("result")).validate(found)
    found = found["result"]
    low, high = (end / found["memory_bytes_per_gpu"] for end in found["memory_interval_bytes_per_gpu"])
    # predicted over measured of the 25 runs: 0.8 to 1.28 in steps of 0.02, median 1.04
    assert low == pytest.approx(1 / 1.04 * (1.04 / 1.275) ** 1.2, rel=0.01)
    assert high == pytest.approx(1 / 1.04 * (1.04 / 0.806) ** 1.2, rel=0.01)
    assert found["memory_interval_evidence"] == "25 runs with megatron, device memory"
    text = " ".join(run("estimate", "mine.yaml", "--width", "200").out.split())
    assert "from 25 runs with megatron, device memory" in text


def test_like_runs_of_memory():
    """The same software and kind first, then the same software, then all."""
    table = evidence.published_memory()
    kinds = {(software, kind) for software, kind in zip(table.accelerator, table.family, strict=True)}
    assert {("nanotron", "reserved"), ("megatron", "device"), ("megatron", "allocated")} <= kinds
    assert [evidence.software_family(name) for name in ("nanotron-2024", "megatron-bridge", "pax")] == [
        "nanotron",
        "megatron",
        "pax",
    ]


def test_a_source_is_no_evidence_for_its_own_memory(folder):
    """A run read again under another name."""
    (run,) = read(text_of(LOG | {"job_id": "hf-13436338"}))
    assert "nanotron-ultrascale" in evidence.memory_sources(run)
    (other,) = read(text_of(LOG))
    assert "nanotron-ultrascale" not in evidence.memory_sources(other)


def test_the_interval_of_memory_covers_other_sources(record_property):
    """Nominal: 90 %. With the stretch of all sources it is met; without the source it is not, and the page says so."""
    table = evidence.published_memory()
    share, count = coverage(table)
    record_property("coverage", share)
    assert count > 1000
    assert 0.65 <= share <= 0.97
    assert table.stretch == pytest.approx(fitted_stretch(table), rel=1e-6)
