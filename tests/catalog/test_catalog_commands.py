"""Golden output of `aiplan catalog`: exit code, standard output and standard error."""

import csv
import io
import json
import os
import re
import subprocess
import sys

import pytest

from aiplan.catalog.load import Catalog
from aiplan.catalog.records import KINDS
from aiplan.report.catalog_list import COLUMNS

FORMS = ("table", "plain", "json", "csv", "markdown")
TWO_LINES = "memory:\n  capacity: 80 GB\n"
BROKEN = "memory:\n  capacity: 80 GB/s\n  bandwith: 3 TB/s\n"


def as_file_name(words):
    return re.sub(r"[^a-z0-9]+", "-", words if isinstance(words, str) else " ".join(words)).strip("-") or "nothing"


@pytest.fixture
def mine(tmp_path, run):
    """Write one file of the folder `mine`, named on command lines as such."""

    def write(name, text):
        path = tmp_path / "mine" / f"{name}.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")

    return write


@pytest.mark.parametrize("kind", KINDS)
def test_list_of_a_kind(transcript, golden, kind):
    assert transcript("catalog", "list", kind) == golden


@pytest.mark.parametrize("form", FORMS)
def test_list_in_every_form(transcript, golden, form):
    where = ("--where", "vendor = AMD", "--where", "memory.capacity >= 192 GB")
    assert transcript("catalog", "list", "accelerators", *where, "--format", form) == golden


def test_list_of_all_kinds(transcript, golden):
    assert transcript("catalog", "list", "--where", "name ~ b300") == golden


def test_list_of_nothing(transcript, golden):
    assert transcript("catalog", "list", "links", "--where", "name ~ nothing like it") == golden


def test_list_on_a_narrow_terminal(transcript, golden):
    assert transcript("catalog", "list", "switches", "--where", "kind = infiniband", "--width", "60") == golden


@pytest.mark.parametrize("form", FORMS)
def test_show_in_every_form(transcript, golden, form):
    assert transcript("catalog", "show", "l40s", "--format", form) == golden


@pytest.mark.parametrize(
    "name", ["dgx-h100", "nvlink4", "ib-fdr", "qm9700-ndr", "fsx-lustre-persistent2", "regions/fr"], ids=as_file_name
)
def test_show_each_kind(transcript, golden, name):
    assert transcript("catalog", "show", name) == golden


def test_show_on_a_narrow_terminal(transcript, golden):
    assert transcript("catalog", "show", "ib-fdr", "--width", "40") == golden


def test_show_an_overlay(transcript, golden, mine):
    mine("networks/ib-ndr", "latency: 2 us\n")
    assert transcript("catalog", "show", "ib-ndr", "--catalog", "mine") == golden


@pytest.mark.parametrize(
    "words",
    [
        ("show", "h100"),
        ("show", "nodes/dgx-h10"),
        ("show", "nod/dgx-h100"),
        ("list", "node"),
        ("list", "accelerators", "--where", "memory.capacity >= 80"),
        ("list", "accelerators", "--where", "memory.capcity >= 80 GB"),
        ("list", "--catalog", "missing"),
        ("show",),
        ("lst",),
        (),
    ],
    ids=as_file_name,
)
def test_what_cannot_be_answered(transcript, golden, words):
    shown = transcript("catalog", *words)
    assert "\nexit 2\n--- stdout\n--- stderr\n" in shown
    assert shown == golden


@pytest.mark.parametrize("words", [(), ("list",), ("show",), ("lint",)], ids=as_file_name)
def test_help(transcript, golden, words):
    assert transcript("catalog", *words, "--help") == golden


def test_lint_clean(transcript, golden):
    assert transcript("catalog", "lint") == golden


@pytest.mark.parametrize("form", FORMS)
def test_lint_of_an_overlay(transcript, golden, mine, form):
    mine("links/nvlink4", "bandwidth_one_way: 50 GB/s\nachieved: {bandwidth_one_way: 60 GB/s, fitted_on: a | b}\n")
    shown = transcript("catalog", "lint", "--catalog", "mine", "--format", form)
    assert "\nexit 1\n" in shown
    assert shown == golden


def test_a_broken_overlay_stops_list_and_show(transcript, golden, mine):
    mine("accelerators/h100-sxm", BROKEN)
    assert transcript("catalog", "show", "h100-sxm", "--catalog", "mine") == golden
    code_and_rest = transcript("catalog", "list", "accelerators", "--catalog", "mine")
    assert "exit 2" in code_and_rest
    assert "mine/accelerators/h100-sxm.yaml:2:13" in code_and_rest


def test_overlay_by_environment_and_by_folder_of_the_project(run, mine, monkeypatch, tmp_path):
    mine("accelerators/h100-sxm", TWO_LINES)

    def capacity():
        _, out, _ = run("catalog", "list", "accelerators", "--where", "id = h100-sxm", "--format", "json")
        return json.loads(out)["result"]["entries"][0]["memory_capacity_bytes"]

    assert capacity() == 81559 * 2**20
    monkeypatch.setenv("AIPLAN_CATALOG", os.pathsep.join(["mine"]))
    assert capacity() == 80e9
    monkeypatch.delenv("AIPLAN_CATALOG")
    (tmp_path / "mine").rename(tmp_path / "hardware_catalog")
    assert capacity() == 80e9


def test_output_goes_to_a_file(run, tmp_path):
    _, printed, _ = run("catalog", "list", "switches", "--format", "csv")
    code, out, err = run("catalog", "list", "switches", "--format", "csv", "-o", "table.csv")
    assert (code, out, err) == (0, "", "wrote table.csv\n")
    assert (tmp_path / "table.csv").read_text(encoding="utf-8") == printed


def test_forms_for_programs_agree(run):
    rows = csv.DictReader(io.StringIO(run("catalog", "list", "accelerators", "--format", "csv")[1]))
    entries = json.loads(run("catalog", "list", "accelerators", "--format", "json")[1])["result"]["entries"]
    lines = run("catalog", "list", "accelerators", "--format", "plain")[1].splitlines()
    assert len(entries) == len(lines) - 1
    for row, entry, line in zip(rows, entries, lines[1:], strict=True):
        assert list(row.values()) == line.split("\t")
        assert row["memory_capacity_bytes"] == repr(entry["memory_capacity_bytes"])
        assert (row["power_w"] or "None") == str(entry["power_w"])


def test_the_same_question_gives_the_same_bytes(run):
    assert run("catalog", "show", "h100-sxm", "--format", "json") == run(
        "catalog", "show", "h100-sxm", "--format", "json"
    )


def test_text_of_a_user_is_shown_as_it_is(run, mine):
    text = 'name: "[/tmp] :x: <b>|"\nkind: pcie\nverified: false\nnotes: "\\e[31m"\nsources: [https://example.org/a]\n'
    mine("links/odd", text)
    code, out, _ = run("catalog", "show", "odd", "--catalog", "mine")
    assert code == 0
    assert "links/odd: [/tmp] :x: <b>|" in out
    assert "\x1b" not in out
    _, out, _ = run("catalog", "list", "--where", "id = odd", "--catalog", "mine", "--format", "markdown")
    assert r"\[/tmp\]" in out
    assert r"\|" in out


def test_every_kind_has_columns():
    assert set(COLUMNS) == set(KINDS)


def test_completion_reads_names_of_files_only():
    program = (
        "import sys; from aiplan.cli.catalog import complete_entry, complete_kind;"
        "print(complete_kind('no'), complete_entry('dgx-b'), complete_entry('links/pcie'));"
        "print(sorted({'yaml', 'numpy', 'rich', 'pandas'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "['nodes'] ['dgx-b200', 'dgx-b300'] ['links/pcie3', 'links/pcie4', 'links/pcie5', 'links/pcie6']\n[]\n"
    )


@pytest.mark.parametrize("words", [["--help"], ["list", "--help"], ["show", "--help"], ["lint", "--help"]])
def test_help_loads_nothing_heavy(words):
    program = (
        f"import sys; from aiplan.cli.main import main; main(['catalog', *{words}]);"
        "print(sorted({'yaml', 'numpy', 'rich', 'pandas'} & sys.modules.keys()), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_a_catalog_command_never_loads_numpy():
    program = (
        "import sys; from aiplan.cli.main import main; main(['catalog', 'lint']);"
        "print(sorted({'numpy', 'pandas'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


def test_ids_are_sorted():
    assert Catalog().ids("links") == sorted(Catalog().ids("links"))
