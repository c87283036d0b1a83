"""Generated pages and schemas are what their scripts write today.

`docs/tables.py` fits all constants again without each source: `.ci/run` checks it.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "script",
    ["schemas.py", "scheduling_page.py", "what_if.py", "scaling.py", "diagnostics.py", "report_page.py"],
)
def test_up_to_date(script):
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / script), "--check"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stderr}run: python docs/{script}"
