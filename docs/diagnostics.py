"""The page of all codes: what each means, why it matters, an example, and what to write instead.

`python docs/diagnostics.py` writes `docs/diagnostics.md`; `--check` exits 1 if it differs.
"""

from __future__ import annotations

import sys

from outputs import DOCS, run

from aiplan.report.code.markdown import page
from aiplan.report.code.pages import base, pages

PAGE = DOCS / "diagnostics.md"
HEAD = """# Diagnostics

Every error and warning has a code, and a code means the same for good. `aiplan explain AIP102` shows its part of this
page in the terminal. An example that names no file is part of the scenario below, and `aiplan check` tells its code.

"""
PARTS = {
    "AIP1": "The file and its values",
    "AIP2": "The catalog",
    "AIP3": "Plan, workload, communication and environment",
    "AIP4": "What a check holds an estimate to",
}


def text() -> str:
    """Return the page."""
    parts = [f"{HEAD}```yaml\n{base()}```\n"]
    for prefix, title in PARTS.items():
        parts.append(f"## {title}\n")
        parts += [page(one) for code, one in pages().items() if code.startswith(prefix)]
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(run(__doc__ or "", {PAGE: text()}))
