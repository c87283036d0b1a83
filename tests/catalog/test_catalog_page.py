"""The page on the catalog: its examples work, and its generated blocks are up to date."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from aiplan.catalog.load import Catalog
from aiplan.catalog.query import select
from aiplan.catalog.records import KINDS
from aiplan.declare import Diagnostics

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/catalog.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```yaml\n(.*?)```", PAGE, re.DOTALL))


@pytest.fixture
def my_catalog(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_up_to_date():
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/catalog_page.py"), "--check"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stderr}run: python docs/catalog_page.py"


def test_a_device_from_the_page_can_be_shown(run, my_catalog):
    code, out, err = run("catalog", "show", "x1", "--catalog", "my_catalog")
    assert (code, err) == (0, "")
    assert "450.0 GB/s" in out  # 18 links of 25 GB/s
    assert "2.000 PFLOP/s" in out  # fp8 with sparsity


def test_the_two_lines_from_the_page_replace_one_field(run, my_catalog):
    code, out, _ = run("catalog", "show", "h100-sxm", "--catalog", "my_catalog")
    assert code == 0
    assert "3000 GB/s   (from my_catalog/accelerators/h100-sxm.yaml:2)" in out
    assert "81559 MiB" in out


def test_every_condition_of_the_page_fits_something():
    table = PAGE.partition("## Conditions")[2].partition("## Fields")[0]
    found = [
        text for line in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for text in re.findall(r"`([^`]+)`", line)
    ]
    assert len(found) >= 7
    for text in found:
        diagnostics = Diagnostics()
        assert select(Catalog(), None, [text], diagnostics).entries, text
        assert diagnostics.items == []


def test_every_kind_has_its_fields():
    for kind in KINDS:
        assert f"### {kind}\n" in PAGE
