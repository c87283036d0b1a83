"""The page on CI: its policy is one, its workflows parse, its tables name what there is."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

from aiplan.declare import CODES, Diagnostics
from aiplan.report.code.pages import pages
from aiplan.report.schemas import schema_of
from aiplan.scenario.policy import LINTS, Limits, read_policy
from tests.guard import published
from tests.guard.published import faults
from tests.guard.test_guard_diff import git

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)


def test_the_policy_is_the_one_that_is_tested(folder):
    text = next(text for kind, text in BLOCKS if kind == "yaml" and "rules:" in text and "exempt:" in text)
    (folder / "p.yaml").write_text(text, encoding="utf-8")
    diagnostics = Diagnostics()
    found = read_policy("p.yaml", diagnostics)
    assert diagnostics.items == []
    assert [rule.name for rule in found.rules] == ["room", "step.bubble", "budget"]


GH = """#!/bin/sh
echo "$@" >> calls
[ "$1" = api ] && [ "$2" != --method ] && echo '[]'
exit 0
"""


def steps(name):
    """Return the commands of a workflow of the page, each with what surrounds it."""
    content = next(
        found
        for kind, text in BLOCKS
        if kind == "yaml" and isinstance(found := yaml.safe_load(text), dict) and name in found
    )
    if name == "clusters":
        return [{"run": line} for part in ("script", "after_script") for line in content["clusters"][part]]
    return content["jobs"]["check"]["steps"]


def test_the_workflow_of_gitlab_runs(folder, run):
    lines = [step["run"] for step in steps("clusters")]
    assert lines[0] == "pip install aiplan"
    codes = [run(*line.split()[1:]).code for line in lines[1:]]
    assert codes == [2, 2]  # a scenario of the folder is broken, and so is the job
    assert json.loads((folder / "quality.json").read_text(encoding="utf-8"))
    assert (folder / "report.xml").read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize("known", ["", "42"])
def test_the_workflow_of_github_runs(known, folder, run):
    """The comment is made where there is none of its marker, and else updated; `gh` and `jq` only tell of it."""
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")
    tools = folder / "bin"
    tools.mkdir()
    for name, text in {"gh": GH, "jq": f"#!/bin/sh\ncat > /dev/null\necho {known}\n"}.items():
        (tools / name).write_text(text, encoding="utf-8")
        (tools / name).chmod(0o755)
    for step in steps("jobs"):
        command = step.get("run", "")
        if command.startswith("aiplan "):
            assert run(*command.split()[1:]).code in {0, 2}
        elif "gh " in command:
            names = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "GITHUB_REPOSITORY": "o/r", "NUMBER": "7"}
            done = subprocess.run(["bash", "-eo", "pipefail", "-c", command], cwd=folder, env=names, check=False)
            assert done.returncode == 0
    calls = (folder / "calls").read_text(encoding="utf-8").splitlines()
    assert calls[0] == "api repos/o/r/issues/7/comments --paginate"
    update = "api --method PATCH repos/o/r/issues/comments/42 -F body=@comment.md"
    assert calls[1:] == [update if known else "pr comment 7 --body-file comment.md"]
    assert (folder / "comment.md").read_text(encoding="utf-8").startswith("<!-- aiplan:diff:clusters -->")
    assert json.loads((folder / "aiplan.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"


@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind == "yaml"])
def test_blocks_are_yaml(text):
    assert isinstance(yaml.safe_load(text), dict)


def workflows():
    """Yield every workflow of the page as its program reads it, for which `on` is a word and not true."""
    for kind, text in BLOCKS:
        content = yaml.safe_load(text) if kind == "yaml" else {}
        if {"jobs", "clusters"} & content.keys():
            words = {"on" if key is True else key: value for key, value in content.items()}
            yield "github-workflows" if "jobs" in content else "gitlab-ci", words


def test_workflows_are_what_their_programs_publish():
    found = dict(workflows())
    assert found.keys() == {"github-workflows", "gitlab-ci"}
    for kind, content in found.items():
        assert faults(published.workflow(kind), content) == []
        body = content["jobs"]["check"] if "jobs" in content else content["clusters"]
        body["step"] = body.pop("steps", None) or body.pop("script")
        assert faults(published.workflow(kind), content)


def test_lints_and_limits_are_listed():
    for name, level in LINTS.items():
        row = next(line for line in PAGE.splitlines() if line.startswith("|") and f"`{name}`" in line and " | " in line)
        assert f"| {level} |" in row
    for name in vars(Limits()):
        assert f"`limits.{name}`" in PAGE


def test_the_page_of_codes_has_all():
    text = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    for code, page in pages().items():
        assert f"### {code} {CODES[code].name}\n" in text
        assert page.why in text


def test_explain_a_code(run, golden):
    assert run("explain", "AIP412").text == golden(name="table")
    assert run("explain", "aip403", "--format", "markdown").text == golden(name="markdown")
    assert run("explain", "AIP102", "--format", "json").text == golden(name="json")
    assert run("explain", "AIP999").text == golden(name="unknown")


def test_json_of_a_page(run):
    validator = Draft7Validator(schema_of("result"))
    for code in ("AIP101", "AIP115", "AIP118", "AIP403"):
        validator.validate(json.loads(run("explain", code, "--format", "json").out))
