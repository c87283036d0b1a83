"""The scripts that write the pages, as modules."""

import importlib
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def script(monkeypatch):
    """Import a script of `docs` by its name."""
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module
