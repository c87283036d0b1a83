"""Running commands in this process, golden files of what they print, and scenarios given as trees."""

import io
import json
import sys
from pathlib import Path
from typing import NamedTuple

import hypothesis
import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from aiplan.catalog.load import Catalog
from aiplan.cli.main import main
from aiplan.declare import Diagnostics, read
from aiplan.planning.estimate import estimate
from aiplan.scenario.files import Place
from aiplan.scenario.load import resolve_tree

hypothesis.settings.register_profile("suite", max_examples=45)
hypothesis.settings.load_profile("suite")

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


class Ask:
    """Questions about scenarios that are given as trees."""

    def __init__(self):
        self.catalog = Catalog()

    def resolved(self, tree):
        """Resolve a scenario; return it, and what is wrong with it."""
        diagnostics = Diagnostics()
        place = Place("case.yaml", Path("case.yaml"))
        text = json.dumps(tree).encode()
        return resolve_tree(read(text, place.name, diagnostics), place, self.catalog, diagnostics), diagnostics

    def planned(self, tree):
        """Estimate a scenario."""
        scenario, diagnostics = self.resolved(tree)
        diagnostics.raise_if_errors()
        return estimate([scenario])[0]

    def counted(self, model, sequence, precision="bf16", accelerator="h100-sxm", **plan):
        """Estimate a model on one accelerator, for its counts of parameters and operations."""
        return self.planned(
            {
                "model": model,
                "workload": {"sequence_length": sequence, "global_batch": 1, "precision": precision},
                "cluster": {"accelerator": accelerator, "accelerators_per_node": 1, "nodes": 1},
                "plan": plan,
            }
        )

    def refused(self, tree):
        """Return code, text and hint of every error of a scenario, joined."""
        scenario, diagnostics = self.resolved(tree)
        assert scenario is None
        return "\n".join(f"{item.code}: {item.problem} ({item.hint})" for item in diagnostics.items)

    @staticmethod
    def gpt(layers, hidden, heads):
        """Shape of a GPT as Megatron-LM trains it."""
        return {
            "layers": layers,
            "hidden": hidden,
            "heads": heads,
            "ffn": 4 * hidden,
            "gated": False,
            "vocab": 51200,
            "positions": 2048,
            "tied": True,
            "norm": "layernorm",
            "bias": {"qkv": True, "attention_output": True, "mlp": True},
        }

    def node(self, ident):
        """Return a node of the catalog."""
        return self._entry(self.catalog.node, ident)

    def peak(self, accelerator, dtype):
        """Dense peak of the catalog. [FLOP/s]"""
        return self._entry(self.catalog.accelerator, accelerator).compute[dtype]

    @staticmethod
    def _entry(look_up, ident):
        diagnostics = Diagnostics()
        found = look_up(ident, diagnostics)
        diagnostics.raise_if_errors()
        return found[0]


@pytest.fixture(scope="session")
def ask():
    return Ask()
