"""What the READMEs say that a command prints is what it prints."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md"])
def test_shown_lines_are_printed(page, run):
    shown = re.search(r"```text\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)[1]
    printed = run("estimate", ROOT / "scenarios" / "gpt3-175b-a100.yaml").out
    lines = {" ".join(line.split()) for line in printed.splitlines()}
    for line in shown.splitlines():
        assert any(known.startswith(" ".join(line.split())) for known in lines), line
