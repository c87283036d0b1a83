"""A check as JUnit XML: a suite a file, a test case a rule. Only errors are failures; a warning passes and is told.

There is no standard; what is written is what the strictest reader takes, the xUnit plugin of Jenkins, which refuses a
report with an attribute that its schema does not have: skipped tests are counted by suites only, and only suites have
files. Where something stands is told in the text of a test case.
https://github.com/jenkinsci/xunit-plugin
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from aiplan.report.check import wording
from aiplan.report.text import clean

if TYPE_CHECKING:
    from aiplan.planning.check import Check, Checked, Verdict

CLASS = "aiplan.check"


def text(answer: Check) -> str:
    """Return a check as JUnit XML."""
    suites = [_suite(file) for file in answer.files]
    counts = _counts([one for _, one in answer.verdicts])
    root = ET.Element("testsuites", {"name": CLASS} | {name: counts[name] for name in ("tests", "failures", "errors")})
    root.extend(suites)
    ET.indent(root)
    body: str = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _suite(file: Checked) -> ET.Element:
    name = _legal(file.path)
    suite = ET.Element("testsuite", {"name": name} | _counts(list(file.verdicts)) | {"file": name})
    seen: Counter[str] = Counter()
    for one in file.verdicts:
        seen[one.rule] += 1
        name = one.rule if seen[one.rule] == 1 else f"{one.rule} ({seen[one.rule]})"
        suite.append(_case(file, one, name))
    return suite


def _case(file: Checked, one: Verdict, name: str) -> ET.Element:
    case = ET.Element("testcase", {"classname": f"{CLASS}.{_legal(file.path)}", "name": _legal(name)})
    told = f"{one.state}: {wording.message(one)} at {wording.place(one.mark, file.path)}"
    if one.state == "error":
        kind = "error" if one.broken else "failure"
        body = ET.SubElement(case, kind, {"type": one.code, "message": _legal(wording.sentence(one))})
        body.text = _legal(told)
    elif one.state == "exempt":
        ET.SubElement(case, "skipped", {"message": _legal(wording.message(one))})
    else:
        ET.SubElement(case, "system-out").text = _legal(told)
    return case


def _counts(verdicts: list[Verdict]) -> dict[str, str]:
    broken = sum(one.broken for one in verdicts)
    failed = sum(one.state == "error" for one in verdicts) - broken
    skipped = sum(one.state == "exempt" for one in verdicts)
    numbers = {"tests": len(verdicts), "failures": failed, "errors": broken, "skipped": skipped}
    return {name: str(number) for name, number in numbers.items()}


def _legal(value: str) -> str:
    """Return text in which every character may stand in XML."""
    return clean(value).replace("\ufffe", "\N{REPLACEMENT CHARACTER}").replace("\uffff", "\N{REPLACEMENT CHARACTER}")
