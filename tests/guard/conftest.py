"""A folder of scenarios that are right, doubtful and broken, and a policy for them."""

import shutil
from pathlib import Path

import pytest

FILES = Path(__file__).parent / "files"


@pytest.fixture
def folder(folder, monkeypatch):
    shutil.copytree(FILES, folder, dirs_exist_ok=True)
    monkeypatch.setenv("COLUMNS", "100")
    return folder
