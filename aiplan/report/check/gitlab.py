"""A check as a report of Code Quality, which GitLab shows in a merge request, at the lines that it names.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiplan.report import documents
from aiplan.report.check import wording
from aiplan.report.check.identity import told
from aiplan.report.text import clean

if TYPE_CHECKING:
    from aiplan.planning.check import Check, Checked, Verdict

SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}
UNREAD = "blocker"


def text(answer: Check) -> str:
    """Return a check as a list of findings; what is exempt is none."""
    return documents.dumps([_finding(answer, *one) for one in told(answer) if one[1].state in SEVERITIES])


def _finding(answer: Check, file: Checked, one: Verdict, fingerprint: str) -> dict[str, Any]:
    mark = None if one.mark is None or one.mark.is_option else one.mark
    path = answer.rooted(file.path if mark is None else mark.file)
    return {
        "description": clean(wording.message(one)),
        "check_name": f"{one.code} {clean(one.rule)}",
        "fingerprint": fingerprint,
        "severity": UNREAD if one.broken else SEVERITIES[one.state],
        "location": {"path": clean(path).removeprefix("./"), "lines": {"begin": 1 if mark is None else mark.line}},
    }
