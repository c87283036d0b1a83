"""The page on CI: its policy is one, its workflows parse, its tables name what there is."""

import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

from aiplan.declare import CODES, Diagnostics
from aiplan.report.code.pages import pages
from aiplan.report.schemas import schema_of
from aiplan.scenario.policy import LINTS, Limits, read_policy

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


@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind == "yaml"])
def test_blocks_are_yaml(text):
    assert isinstance(yaml.safe_load(text), dict)


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
