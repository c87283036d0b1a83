"""The formats of continuous integration, read back as their readers do: GitHub's runner, JUnit viewers, SARIF viewers."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiplan.declare import CODES, Diagnostics, Mark
from aiplan.planning.check import Check, Checked, Verdict
from aiplan.planning.variants import Loaded
from aiplan.report.check import OF_CI, github, gitlab, junit, markdown, sarif
from aiplan.scenario.policy import NO_POLICY
from tests.guard import published
from tests.guard.published import faults

ALL = ("check", "clusters", "--policy", "policy.yaml")
COUNTED = {"tests", "failures", "errors"}
URI = re.compile(r"[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*")


def check_junit(text):
    """Hold XML against its published schema, which takes any text where a number is due."""
    root = xml(text)
    assert faults(published.junit(), root) == []
    for one in root.iter():
        assert not (one.tail or "").strip()
        assert all(one.get(name, "0").isdecimal() for name in COUNTED | {"skipped"})
    return root


def answered(*verdicts, path="a.yaml"):
    file = Checked(path, path, Loaded(None, Diagnostics()), verdicts, None)
    return Check((file,), (), NO_POLICY, (path,))


def xml(text):
    return ET.fromstring(text)  # noqa: S314 - what we have written ourselves


def verdict(state="error", text="text", place=("a.yaml", 3, 5, 9), rule="rule", why=""):
    return Verdict(rule, state, "AIP412", text, why=why, mark=None if place is None else Mark(*place))


def unescaped(text, *, properties=False):
    """Read text back as the runner of GitHub Actions does."""
    pairs = [("%0D", "\r"), ("%0A", "\n"), *([("%3A", ":"), ("%2C", ",")] if properties else []), ("%25", "%")]
    for code, plain in pairs:
        text = text.replace(code, plain)
    return text


def commands(text):
    """Read workflow commands: level, properties and message of every line that is one."""
    found = []
    for line in text.splitlines():
        match = re.match(r"^\s*::(error|warning|notice) ([^:]*)::(.*)$", line)
        if match:
            pairs = dict(part.split("=", 1) for part in match[2].split(","))
            properties = {name: unescaped(value, properties=True) for name, value in pairs.items()}
            found.append((match[1], properties, unescaped(match[3])))
    return found


def test_github_is_read_back(run):
    found = commands(run(*ALL, "--format", "github").out)
    document = json.loads(run(*ALL, "--format", "json").out)["result"]
    expected = [
        (one["place"], one["line"], one["column"], one["code"], file["file"])
        for file in document["files"]
        for one in file["verdicts"]
        if one["state"] in {"error", "warning", "note"}
    ]
    assert len(found) == len(expected)
    assert {(p["file"], int(p["line"]), int(p["col"])) for _, p, _ in found} == {item[:3] for item in expected}
    assert sum(level == "error" for level, _, _ in found) == document["counts"]["error"]
    assert [level for level, _, _ in found] == sorted(
        (level for level, _, _ in found), key=["error", "warning", "notice"].index
    )


texts = st.text(st.characters(codec="utf-8"), max_size=30)


@given(texts, texts.filter(bool))
def test_no_text_breaks_github(text, name):
    out = github.text(answered(verdict(text=text, place=(name, 1, 1, 2)), path=name))
    [(level, properties, message)] = commands(out)
    assert level == "error"
    assert properties["title"] == "AIP412 rule"
    assert properties["line"] == "1"
    assert "\n" not in out.split("::")[0]
    assert len(out.splitlines()) >= 2
    if text.isprintable() and name.isprintable():
        assert (message, properties["file"]) == (text, name)


@pytest.mark.parametrize(("count", "shown"), [(1, 1), (9, 9), (10, 10), (11, 10), (40, 10)])
@pytest.mark.parametrize("state", ["error", "warning", "note"])
def test_no_more_annotations_than_are_shown(count, shown, state):
    out = github.text(answered(*(verdict(state, f"number {index};") for index in range(count))))
    found = commands(out)
    assert len(found) == shown
    for index in range(count):
        assert f"number {index};" in out
    if count > shown:
        assert found[-1][1]["title"] == f"aiplan: {count - 9} more"
        assert "a.yaml" in found[-1][2]


def test_the_log_of_the_rest_is_no_command():
    out = github.text(answered(*(verdict(text="::error::fooled\n::set-output name=x::y") for _ in range(30))))
    rest = [
        line
        for line in out.splitlines()
        if not line.startswith("::error file=") and not line.startswith("::error title")
    ]
    assert not any(re.match(r"^\s*(::|##\[)", line) for line in rest)


def test_junit_counts_what_it_holds(run):
    done = run(*ALL, "--format", "junit")
    root = check_junit(done.out)
    for suite in [root, *root]:
        cases = list(suite.iter("testcase"))
        counted = {
            "tests": len(cases),
            "failures": sum(case.find("failure") is not None for case in cases),
            "errors": sum(case.find("error") is not None for case in cases),
            "skipped": sum(case.find("skipped") is not None for case in cases),
        }
        told = {name: int(suite.get(name)) for name in counted if suite.get(name) is not None}
        assert told == {name: counted[name] for name in told}
        assert told.keys() >= COUNTED
    for case in root.iter("testcase"):
        assert {"classname", "name"} <= case.attrib.keys()
        assert len(case) == 1
        assert case[0].tag in {"failure", "error", "skipped", "system-out"}
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(names) == len(set(names))
    counts = json.loads(run(*ALL, "--format", "json").out)["result"]["counts"]
    assert int(root.get("failures")) + int(root.get("errors")) == counts["error"]
    assert int(root.get("tests")) == sum(counts.values())


@given(texts, texts)
def test_no_text_breaks_junit(text, name):
    root = check_junit(junit.text(answered(verdict(text=text), verdict("exempt", why=text), path=name)).encode())
    if text.isprintable() and not re.search("[\ufffe\uffff]", text):
        assert root.find(".//failure").get("message") == text


def check_sarif(text):
    """Hold a log against the published schema, and against what it says in words only."""
    content = json.loads(text)
    assert faults(published.sarif(), content) == []
    for one in content["runs"]:
        rules = one["tool"]["driver"]["rules"]
        assert len({rule["id"] for rule in rules}) == len(rules)
        for result in one["results"]:
            assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
            for place in result["locations"]:
                region = place["physicalLocation"].get("region")
                assert region is None or region["endColumn"] >= region["startColumn"]
                assert URI.fullmatch(place["physicalLocation"]["artifactLocation"]["uri"])
                base = place["physicalLocation"]["artifactLocation"].get("uriBaseId")
                assert base is None or base in one["originalUriBaseIds"]
        prints = [json.dumps(result["partialFingerprints"]) for result in one["results"]]
        assert len(prints) == len(set(prints))
    return content


def test_sarif(run):
    content = check_sarif(run(*ALL, "--format", "sarif").out)
    counts = json.loads(run(*ALL, "--format", "json").out)["result"]["counts"]
    levels = [result["level"] for result in content["runs"][0]["results"]]
    assert {level: levels.count(level) for level in ("note", "warning", "error")} == {
        level: counts[level] for level in ("note", "warning", "error")
    }
    assert sum("suppressions" in result for result in content["runs"][0]["results"]) == counts["exempt"]


def check_gitlab(text):
    """Hold a report against what GitLab asks of each finding."""
    found = json.loads(text)
    for one in found:
        assert one.keys() == {"description", "check_name", "fingerprint", "severity", "location"}
        assert one["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert one["location"].keys() == {"path", "lines"}
        assert one["location"]["lines"]["begin"] >= 1
        assert not one["location"]["path"].startswith("./")
        assert one["description"]
    prints = [one["fingerprint"] for one in found]
    assert len(prints) == len(set(prints))
    return found


def test_gitlab(run):
    found = check_gitlab(run(*ALL, "--format", "gitlab").out)
    counts = json.loads(run(*ALL, "--format", "json").out)["result"]["counts"]
    severities = [one["severity"] for one in found]
    assert severities.count("major") + severities.count("blocker") == counts["error"]
    assert severities.count("blocker") == 4
    assert severities.count("minor") == counts["warning"]
    results = check_sarif(run(*ALL, "--format", "sarif").out)["runs"][0]["results"]
    known = {one["partialFingerprints"]["aiplanVerdict/v1"] for one in results if "suppressions" not in one}
    assert {one["fingerprint"] for one in found} == known


@given(texts, texts.filter(bool))
def test_no_text_breaks_gitlab(text, name):
    found = check_gitlab(gitlab.text(answered(verdict(text=text or "x"), verdict("exempt", why=text), path=name)))
    assert len(found) == 1


def kept(start, end):
    """Return every text that goldens of any test keep, from one mark to another."""
    texts = [path.read_text(encoding="utf-8") for path in Path(__file__).parents[1].glob("**/__snapshots__/**/*.txt")]
    return [text[text.index(start) : text.rindex(end) + len(end)] for text in texts if start in text]


def test_every_golden_of_these_formats_is_valid():
    found = [check_junit(text) for text in kept("<testsuites", "</testsuites>")]
    assert found
    assert all(len(root) for root in found)
    found = [check_sarif(text) for text in kept('{\n  "$schema": "https://docs.oasis-open.org/sarif', "\n}\n")]
    assert found
    assert all(content["runs"][0]["results"] for content in found)


def test_the_published_schemas_refuse():
    """Else nothing that passes them means anything."""
    answer = answered(verdict())
    root = xml(junit.text(answer))
    root[0][0].set("line", "7")
    assert faults(published.junit(), root)
    content = json.loads(sarif.text(answer))
    content["runs"][0]["results"][0]["level"] = "fatal"
    assert faults(published.sarif(), content)


@given(texts.filter(bool), texts.filter(bool))
def test_no_text_breaks_sarif(text, name):
    check_sarif(sarif.text(answered(verdict(text=text), verdict("exempt", why=text), path=name)))


def test_every_code_can_be_a_rule():
    check_sarif(sarif.text(answered(*(verdict()._replace(code=code, rule=row.name) for code, row in CODES.items()))))


def places(run, *arguments):
    """Return the files that annotations and SARIF name, in order."""
    properties = [one for _, one, _ in commands(run("check", *arguments, "--format", "github").out)]
    results = check_sarif(run("check", *arguments, "--format", "sarif").out)["runs"][0]["results"]
    uris = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results}
    return sorted({one["file"] for one in properties}), sorted(uris), [one["partialFingerprints"] for one in results]


def test_places_are_those_of_the_repository(run, folder, monkeypatch):
    """GitHub takes paths from the root of the repository, whichever folder the step runs in."""
    from_above = places(run, "clusters", "--policy", "policy.yaml")
    assert from_above[0] == from_above[1]
    assert all(name.startswith("clusters/") for name in from_above[0])
    (folder / ".git").mkdir()
    assert places(run, "clusters", "--policy", "policy.yaml") == from_above
    monkeypatch.chdir(folder / "clusters")
    assert places(run, ".", "--policy", "../policy.yaml")[:2] == from_above[:2]
    assert places(run, str(folder / "clusters"), "--policy", "../policy.yaml")[:2] == from_above[:2]
    late = places(run, "late.yaml")
    assert late == places(run, "../clusters/late.yaml") == places(run, str(folder / "clusters" / "late.yaml"))
    monkeypatch.chdir(folder)
    assert late == places(run, "clusters/late.yaml")
    assert places(run, "nowhere.yaml")[0] == ["nowhere.yaml"]
    monkeypatch.chdir(folder.parent)
    assert places(run, str(folder / "clusters" / "late.yaml"))[0] == [str(folder / "clusters" / "late.yaml")]


@pytest.mark.parametrize(("state", "other"), [("error", "ok"), ("ok", "error"), ("warning", "warning")])
def test_a_comment_is_never_too_long(state, other, monkeypatch):
    """GitHub refuses more than 65,536 characters; what is left out is counted."""
    many = [verdict(state, f"number {index}; " + "x" * 200) for index in range(400)]
    few = [verdict(other, f"other {index};") for index in range(3)]
    page = markdown.page(answered(*few, *many))
    assert 55_000 < len(page) < 65_536
    shown = len(re.findall(r"number \d+;", page))
    assert 100 < shown < 400
    assert ("of which" if state == "ok" else "more errors and warnings are too long for a comment") in page
    if other == "error":
        assert all(f"other {index};" in page for index in range(3))
    whole = markdown.page(answered(*few, *many[:50]))
    assert "too long" not in whole
    assert "of which" not in whole
    assert len(re.findall(r"number \d+;", whole)) == 50


def test_a_fingerprint_outlives_a_moved_line():
    first, second = (
        json.loads(sarif.text(answered(verdict(place=("a.yaml", line, 5, 9)))))["runs"][0]["results"][0]
        for line in (3, 7)
    )
    assert first["partialFingerprints"] == second["partialFingerprints"]


@pytest.mark.parametrize("form", OF_CI)
def test_nothing_to_tell(form, run):
    done = run("check", "clusters/good.yaml", "--format", form)
    assert (done.code, done.err) == (0, "")
    if form == "sarif":
        check_sarif(done.out)
    if form == "junit":
        check_junit(done.out)
    if form == "gitlab":
        assert check_gitlab(done.out) == []
    if form == "github":
        assert commands(done.out) == []


@pytest.mark.parametrize("form", OF_CI)
def test_to_a_file(form, run, folder):
    done = run("check", "clusters", "--format", form, "-o", "out")
    assert done.code == 2
    assert done.out == ""
    assert (folder / "out").read_text(encoding="utf-8") == run("check", "clusters", "--format", form).out
