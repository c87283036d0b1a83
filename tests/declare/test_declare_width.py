"""Findings in a terminal: sentences are broken between words, what they point at stays as it is."""

import os
import pty
import subprocess
import sys
import termios

from hypothesis import given
from hypothesis import strategies as st

from aiplan.declare import Diagnostic, Mark, render

WORDS = st.lists(st.text("abcdefgh'-_", min_size=1, max_size=18), min_size=1, max_size=30).map(" ".join)
LINE = "plan: {tensor: 8, pipeline: 4, this line of the file is longer than a narrow terminal, and stays on one line}"


@given(WORDS, WORDS, WORDS, st.integers(40, 120))
def test_no_word_is_lost_and_no_line_too_long(problem, expected, hint, width):
    found = [Diagnostic("AIP104", "error", problem, Mark("a.yaml", 1, 8, 14), expected, hint)]
    wide, narrow = render(found, {"a.yaml": LINE}), render(found, {"a.yaml": LINE}, width)
    assert narrow.split() == wide.split()
    assert all(len(line) <= width for line in narrow.splitlines() if LINE not in line and "^" not in line)
    assert f"1 | {LINE}" in narrow
    assert render(found, {"a.yaml": LINE}, 10_000) == wide


def test_errors_in_a_terminal_are_as_wide_as_it_is(tmp_path):
    (tmp_path / "a.yaml").write_text("modle: llama-3-70b\n", encoding="utf-8")
    ours, theirs = pty.openpty()
    try:
        os.set_blocking(ours, False)
        termios.tcsetwinsize(theirs, (24, 70))
        command = [sys.executable, "-m", "aiplan", "estimate", "a.yaml"]
        done = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=theirs, check=False)
        shown = os.read(ours, 100_000).decode().replace("\r\n", "\n")
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    assert "did you mean 'model'?" in shown
    assert all(len(line) <= 70 for line in shown.splitlines())
    piped = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert piped.stderr.split() == shown.split()
    assert max(map(len, piped.stderr.splitlines())) > 80
