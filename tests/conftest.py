"""Running commands in this process, and golden files of exit code, standard output and standard error."""

import io
import sys
from typing import NamedTuple

import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from aiplan.cli.main import main

SETTINGS = (
    "AIPLAN_CATALOG",
    "AIPLAN_FORMAT",
    "AIPLAN_NO_COLOR",
    "AIPLAN_VERBOSE",
    "COLUMNS",
    "FORCE_COLOR",
    "NO_COLOR",
    "TERM",
)


class Ran(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def text(self):
        return f"exit {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


class TextFile(SingleFileSnapshotExtension):
    """One readable file a golden."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def golden(snapshot):
    return snapshot.use_extension(TextFile)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, and an environment without settings."""
    monkeypatch.chdir(tmp_path)
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def run(folder, capsys, monkeypatch):
    """Run a command in this process, in the folder."""

    def once(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return once
