"""A folder of scenarios for commands to work in."""

import shutil
from pathlib import Path

import pytest

SCENARIOS = Path(__file__).parent / "scenarios"


@pytest.fixture
def folder(folder, monkeypatch):
    """A folder of its own with scenarios and their catalog."""
    shutil.copytree(SCENARIOS, folder, dirs_exist_ok=True)
    monkeypatch.setenv("COLUMNS", "100")
    return folder
