"""The page on topologies names every kind, and its pictures are what the command draws."""

from pathlib import Path

import pytest

from aiplan.core.topologies.registry import KINDS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "topologies.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_kind_has_its_row(kind):
    assert f"\n| `{kind}` |" in PAGE


@pytest.mark.parametrize("kind", ["fat-tree", "dragonfly"])
def test_picture_is_current(kind, run, folder):
    run("topology", "--gpus", "4096", "--kinds", "fat-tree", "--draw", kind, "--svg", "now.svg")
    assert (folder / "now.svg").read_text(encoding="utf-8") == (DOCS / "pictures" / f"{kind}.svg").read_text(
        encoding="utf-8"
    )
    assert f"pictures/{kind}.svg" in PAGE
