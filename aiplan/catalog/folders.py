"""Where the data files lie: inside an installed package, or beside the package in a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def data_folder(name: str) -> Path:
    """Return the folder `hardware_catalog` or `scenarios` that came with this program."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_data" / name
    return installed if installed.is_dir() else package.parent / name
