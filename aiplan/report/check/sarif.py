"""A check as SARIF 2.1.0, which code scanning reads.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from aiplan import __version__
from aiplan.declare import CODES
from aiplan.report import documents
from aiplan.report.check import wording
from aiplan.report.check.identity import told
from aiplan.report.code.pages import pages
from aiplan.report.text import clean
from aiplan.scenario.policy import LINTS

if TYPE_CHECKING:
    from aiplan.declare import Mark
    from aiplan.planning.check import Check, Checked, Verdict

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
VERSION = "2.1.0"
ROOT = "SRCROOT"


def text(answer: Check) -> str:
    """Return a check as a SARIF log of one run."""
    found = list(told(answer))
    codes = sorted({one.code for _, one, _ in found})
    run = {
        "tool": {"driver": {"name": "aiplan", "version": __version__, "rules": [_rule(code) for code in codes]}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            ROOT: {"description": {"text": "The root of the repository, or else the folder that the check ran in."}}
        },
        "results": [_result(answer, *each, codes.index(each[1].code)) for each in found],
    }
    return documents.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]})


def _rule(code: str) -> dict[str, Any]:
    row = CODES[code]
    return {
        "id": code,
        "name": row.name,
        "shortDescription": {"text": row.explanation},
        "fullDescription": {"text": pages()[code].why},
        "help": {"text": f"{row.explanation} See 'aiplan explain {code}'."},
        "defaultConfiguration": {"level": LINTS.get(row.name, "error")},
    }


def _result(answer: Check, file: Checked, one: Verdict, fingerprint: str, rule: int) -> dict[str, Any]:
    level = one.state if one.state in {"note", "warning", "error"} else "none"
    found = {
        "ruleId": one.code,
        "ruleIndex": rule,
        "level": level,
        "message": {"text": clean(wording.message(one))},
        "locations": [{"physicalLocation": _location(answer, file.path, one.mark)}],
        "partialFingerprints": {"aiplanVerdict/v1": fingerprint},
    }
    if one.state == "exempt":
        found["suppressions"] = [{"kind": "external", "justification": clean(one.why)}]
    return found


def _location(answer: Check, path: str, mark: Mark | None) -> dict[str, Any]:
    if mark is None or mark.is_option:
        return {"artifactLocation": _artifact(answer.rooted(path))}
    region = {"startLine": mark.line, "startColumn": mark.column, "endColumn": max(mark.end_column, mark.column)}
    return {"artifactLocation": _artifact(answer.rooted(mark.file)), "region": region}


def _artifact(path: str) -> dict[str, str]:
    if PurePath(path).is_absolute():
        return {"uri": PurePath(path).as_uri()}
    return {"uri": quote(path.replace("\\", "/")), "uriBaseId": ROOT}
