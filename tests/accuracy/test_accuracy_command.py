"""`aiplan accuracy`: what it prints, writes and refuses."""

import csv
import json
import math
import re
import statistics
from html import escape
from io import StringIO
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft7Validator

from aiplan.report.schemas import schema_of
from tests.page.dom import parsed, problems, words

GOLDENS = {
    "help": ["accuracy", "--help"],
    "table": ["accuracy", "lab.yaml"],
    "narrow": ["accuracy", "lab.yaml", "--width", "44", "--worst", "2"],
    "markdown": ["accuracy", "lab.yaml", "--format", "markdown", "--worst", "3"],
    "csv": ["accuracy", "lab.yaml", "--format", "csv"],
    "plain": ["accuracy", "lab.yaml", "--format", "plain"],
    "json": ["accuracy", "lab.yaml", "--format", "json"],
    "plans": ["accuracy", "plans.yaml"],
    "plans narrow": ["accuracy", "plans.yaml", "--width", "44", "--worst", "1"],
    "plans markdown": ["accuracy", "plans.yaml", "--format", "markdown"],
    "plans json": ["accuracy", "plans.yaml", "--format", "json"],
    "own table": ["accuracy", "table.csv"],
    "grades": ["accuracy", "lab.yaml", "--grades", "C", "--format", "csv"],
    "nothing counts": ["accuracy", "lab.yaml", "--grades", "A", "--set", "plan.tensor=3"],
    "neither": ["accuracy", "notes.txt", "scenario.yaml", "missing.csv", "empty"],
    "bad setting": ["accuracy", "lab.yaml", "--set", "plan.tensors=2"],
    "bad grade": ["accuracy", "--grades", "AX"],
    "broken yaml": ["accuracy", "broken.yaml"],
    "plot": ["accuracy", "lab.yaml", "--quiet", "--plot", "--worst", "0", "--width", "80"],
    "svg": ["accuracy", "lab.yaml", "--quiet", "--format", "plain", "--svg", "-", "--worst", "0"],
}


@pytest.fixture
def others(folder):
    """Files that are no runs."""
    (folder / "notes.txt").write_text("a, b\nsome: [notes\n")
    (folder / "scenario.yaml").write_text("model: llama-3-8b\nworkload: {}\n")
    (folder / "broken.yaml").write_text("base: {a: 1\nrows: []\n")
    (folder / "empty").mkdir()


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens(name, run, fixed, others, golden):
    assert run(*GOLDENS[name]).text == golden(name=name)


@pytest.fixture
def document(run):
    def load(*arguments):
        done = run("accuracy", *arguments, "--format", "json")
        assert (done.code, run("accuracy", *arguments, "--format", "json")) == (0, done)
        content = json.loads(done.out)
        Draft7Validator(schema_of("result")).validate(content)
        return content

    return load


def test_the_document_holds_what_was_compared(document, fixed):
    content = document("lab.yaml")
    rows = {row["id"]: row for row in content["result"]["rows"]}
    counted = [row for row in rows.values() if "skipped" not in row]
    assert content["schema"] == "aiplan.accuracy/1"
    assert len(rows) == 10
    assert [row["error"] for row in counted] == pytest.approx([factor - 1 for factor in fixed])
    # 64 sequences of 4,096 tokens on 32 accelerators at 8,192 tokens/s each
    assert rows["lab-3"]["measured_step_time_s"] == pytest.approx(64 * 4096 / (32 * 8192))
    assert rows["lab-1"]["measured_memory_bytes_per_gpu"] == 30e9
    assert rows["lab-2"]["measured_memory_bytes_per_gpu"] is None
    assert rows["lab-7"] == {"id": "lab-7", "source": "lab", "skipped": "grade C"}


def test_the_summary_is_that_of_the_rows(document, fixed):
    result = document("lab.yaml")["result"]
    summary, rows = result["summary"], [row for row in result["rows"] if "error" in row]
    errors = [row["error"] for row in rows]
    assert summary["n"] == len(errors) == 6
    assert summary["median_abs_error"] == pytest.approx(statistics.median(map(abs, errors)))
    assert summary["bias"] == pytest.approx(statistics.median(errors))
    assert summary["worst_abs_error"] == pytest.approx(max(map(abs, errors)))
    assert summary["p90_abs_error"] == pytest.approx(
        statistics.quantiles(map(abs, errors), n=10, method="inclusive")[-1]
    )
    inside = [low <= row["measured_step_time_s"] <= high for row in rows for low, high in [row["interval"]]]
    assert summary["interval_coverage"] == pytest.approx(sum(inside) / len(inside))
    for key, groups in summary.items():
        if key.startswith("by_"):
            assert sum(group["n"] for group in groups.values()) == 6
    assert sum(summary["skipped"].values()) == 4
    memory = [row["measured_memory_bytes_per_gpu"] for row in rows if row["measured_memory_bytes_per_gpu"]]
    assert summary["memory"]["bias"] == pytest.approx(statistics.median(33e9 / size - 1 for size in memory))


def test_order_and_scaling_are_those_of_the_rows(document, fixed):
    """Predicted are 11, 9.9, 15, 13, 8.4 and 12.75 s, measured 10, 11, 12, 13, 14 and 12.5 s."""
    summary = document("plans.yaml")["result"]["summary"]
    (group,) = summary["ranking"]["groups"]
    # ranks 3, 2, 5, 4, 1 and 1, 2, 3, 4, 5: differences 2, 0, 2, 0, 4
    assert group["spearman"] == summary["ranking"]["worst_spearman"] == pytest.approx(1 - 6 * 24 / (5 * 24))
    # the plan with 8.4 s took 14 s, and the best 10 s
    assert group["regret"] == summary["ranking"]["by_source"]["plans"]["worst_regret"] == pytest.approx(0.4)
    (group,) = summary["scaling"]["groups"]
    assert (group["kind"], group["gpus"]) == ("weak", [32, 64])
    assert group["measured_efficiency"] == pytest.approx(10 / 12.5)
    assert group["predicted_efficiency"] == pytest.approx(11 / 12.75)
    assert summary["scaling"]["by_kind"]["weak"]["bias"] == pytest.approx(11 / 12.75 - 10 / 12.5)
    assert summary["trainings"] is None


def test_page_has_order_and_scaling(run, folder, fixed):
    run("accuracy", "plans.yaml", "--html", "page.html")
    page = (folder / "page.html").read_text()
    tree = parsed(page)
    assert list(problems(tree)) == []
    assert {"Order of plans", "Scaling"} <= {words(node) for node in tree.iter("h2")}
    assert {"32 to 64", "+6.3 points"} <= {words(node) for node in tree.iter("td")}


def test_nothing_to_compare_is_still_an_answer(document):
    summary = document("lab.yaml", "--grades", "A", "--set", "plan.tensor=3")["result"]["summary"]
    assert (summary["n"], summary["bias"], summary["memory"]) == (0, None, None)


def test_records_agree_with_the_document(run, document, fixed):
    rows = document("lab.yaml")["result"]["rows"]
    done = run("accuracy", "lab.yaml", "--format", "csv")
    for row, record in zip(rows, csv.DictReader(StringIO(done.out)), strict=True):
        assert record["skipped"] == row.get("skipped", "")
        assert float(record["error"] or "nan") == pytest.approx(row.get("error", math.nan), nan_ok=True)


def test_a_table_through_a_pipe_equals_the_file(run, folder, fixed):
    text = (folder / "table.csv").read_bytes()
    from_file, piped = run("accuracy", "table.csv"), run("accuracy", "-", stdin=text)
    assert piped.out == from_file.out.replace("  table ", "  stdin ").replace("(table)", "(stdin)")
    assert piped.code == 0


def test_a_folder_is_its_files(run, folder, fixed):
    (folder / "runs").mkdir()
    (folder / "lab.yaml").rename(folder / "runs" / "lab.yaml")
    (folder / "table.csv").rename(folder / "runs" / "table.csv")
    assert run("accuracy", "runs").out == run("accuracy", "runs/lab.yaml").out


def test_settings_reach_every_run(document):
    plain, doubled = (
        [row.get("predicted_step_time_s", 0.0) for row in document("lab.yaml", *more)["result"]["rows"]]
        for more in ((), ("--set", "workload.global_batch=128"))
    )
    assert all(two > one for one, two in zip(plain, doubled, strict=True) if one)


def test_batch_equals_estimates_one_by_one(document):
    """A run predicted among others, and alone."""
    rows = document("lab.yaml")["result"]["rows"]
    alone = document("lab.yaml", "--grades", "A")["result"]["rows"]
    pairs = [(a, b) for a, b in zip(rows, alone, strict=True) if "error" in b]
    assert len(pairs) == 2
    assert all(a == b for a, b in pairs)


def test_plot_and_page_stand_alone(run, folder, fixed):
    done = run("accuracy", "lab.yaml", "--svg", "plot.svg", "--html", "page.html", "-o", "table.txt")
    assert (done.code, done.out) == (0, "")
    assert done.err == "wrote plot.svg\nwrote page.html\nwrote table.txt\n"
    svg, page = (folder / "plot.svg").read_text(), (folder / "page.html").read_text()
    tree = ET.fromstring(svg)  # noqa: S314  written by the command itself
    titles = [item.text for item in tree.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == 6
    assert "[lab-6] <b> | x: measured 2.50 s, +2.0 %" in titles
    told = parsed(page)
    assert list(problems(told)) == []
    tiles = next(node for node in told.iter("dl") if node.get("class") == "tiles")
    numbers = {words(tile[0]): words(tile[1][0]) for tile in tiles}
    assert [numbers[name] for name in ("runs compared", "median error", "bias")] == ["6", "10.0 %", "+1.0 %"]
    for text in (svg, page):
        assert "<script" not in text
        assert not re.search(r"href=\"[^#]|src=|url\(|@import", text)
        assert "<b>" not in text
    assert all(f"<title>{escape(title, quote=False)}</title>" in page for title in titles)


def test_points_lie_where_their_numbers_say(run, folder, fixed):
    run("accuracy", "lab.yaml", "--svg", "plot.svg")
    space = "{http://www.w3.org/2000/svg}"
    tree = ET.fromstring((folder / "plot.svg").read_text())  # noqa: S314  as above
    points = {item[0].text: item for item in tree.iter(f"{space}circle") if len(item)}
    up = {text.partition(":")[0]: float(item.get("cy")) for text, item in points.items()}
    across = {text.partition(":")[0]: float(item.get("cx")) for text, item in points.items()}
    # predicted over measured: 1.25, 1.1, 1, 0.6, and 1.25 lies as far above 1 as 0.8 below; higher is up
    assert up["lab-3"] < up["lab-1"] < up["lab-4"] < up["lab-5"]
    # measured 1 s, 2 s, 4 s, 8 s: equal steps
    steps = [across["lab-5"] - across["lab-3"], across["lab-1"] - across["lab-5"], across["lab-4"] - across["lab-1"]]
    assert steps == pytest.approx([steps[0]] * 3, abs=0.11)
    assert steps[0] > 0


def test_nothing_is_written_where_it_cannot_be(run, folder, fixed):
    done = run("accuracy", "lab.yaml", "--quiet", "--svg", "nowhere/plot.svg")
    assert done.code == 2
    assert "nowhere/plot.svg" in done.err
    assert done.out == ""
