"""What the generated pages share: it writes, compares, and keeps what is written by hand."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def outputs():
    spec = importlib.util.spec_from_file_location("docs_outputs", ROOT / "docs" / "outputs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_check_finds_what_is_missing_or_stale_and_writes_nothing(outputs, tmp_path, capsys):
    stale, missing = tmp_path / "stale.md", tmp_path / "missing.md"
    stale.write_text("old", encoding="utf-8")
    assert outputs.run("", {stale: "new", missing: "new"}, ["--check"]) == 1
    assert stale.read_text(encoding="utf-8") == "old"
    assert not missing.exists()
    assert capsys.readouterr().err == "stale.md is not up to date\nmissing.md is not up to date\n"


def test_written_files_pass_the_check(outputs, tmp_path):
    files = {tmp_path / "below" / "page.md": "text\n"}
    assert outputs.run("", files, []) == 0
    assert outputs.run("", files, ["--check"]) == 0


def test_blocks_replace_only_what_stands_between_their_marks(outputs, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "one\n<!-- generated: a -->\nold\n<!-- end -->\ntwo\n<!-- generated: b -->\nkept\n<!-- end -->\n",
        encoding="utf-8",
    )
    text = outputs.with_blocks(page, {"a": r"new \1"})
    assert text.startswith("one\n<!-- generated: a -->\n\nnew \\1\n\n<!-- end -->\ntwo\n")
    assert text.endswith("<!-- generated: b -->\nkept\n<!-- end -->\n")


def test_a_block_without_marks_is_refused(outputs, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing here\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no block 'a'"):
        outputs.with_blocks(page, {"a": "text"})


def test_a_bar_in_a_cell_does_not_split_it(outputs):
    assert outputs.table(("x", "y"), [("a | b", "c")]).splitlines()[-1] == "| a &#124; b | c |"
