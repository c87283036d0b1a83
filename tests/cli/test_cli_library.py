"""`aiplan catalog library`: everything that comes along and can be named, and nothing else."""

import csv
import io
import json
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from aiplan.report.schemas import schema_of

FOLDER = Path(__file__).resolve().parents[2] / "scenarios"


@pytest.mark.parametrize(
    ("kind", "folder"), [("models", "models"), ("software", "software"), ("jobs", "jobs"), ("scenarios", "")]
)
def test_every_file_is_listed(run, kind, folder):
    entries = json.loads(run("catalog", "library", kind, "--format", "json").out)["result"]["entries"]
    assert [one["id"] for one in entries] == sorted(path.stem for path in (FOLDER / folder).glob("*.yaml"))
    assert {one["kind"] for one in entries} == {kind}
    assert all(one["name"] for one in entries)


def test_names_can_be_used(run):
    for form in ("json", "csv"):
        assert run("catalog", "library", "--format", form).code == 0
    rows = list(csv.DictReader(io.StringIO(run("catalog", "library", "scenarios", "--format", "csv").out)))
    assert run("estimate", rows[0]["id"], "--quiet").code in {0, 1}


def test_parameters_are_those_that_a_model_is_counted_to_have(run):
    rows = csv.DictReader(io.StringIO(run("catalog", "library", "models", "--format", "csv").out))
    counts = {row["id"]: int(row["parameters"]) for row in rows}
    assert counts["gpt2-small"] == 124439808, "as https://huggingface.co/openai-community/gpt2 has it"
    assert counts["llama-3-70b"] == 70553706496


def test_document_follows_its_schema(run):
    Draft7Validator(schema_of("result")).validate(json.loads(run("catalog", "library", "--format", "json").out))


@pytest.mark.parametrize("form", ["table", "markdown", "plain"])
def test_forms_say_the_same(run, form):
    told = run("catalog", "library", "--format", form, "--width", "100").out
    assert all(name in told for name in ("gpt3-175b-a100", "llama-3-70b", "torchtitan", "gang-deadlock", "Llama 3 70B"))
    assert run("catalog", "library", "--width", "60").out.count("\n") > 170


def test_other_kinds_say_where_to_look(run):
    assert run("catalog", "library", "modles").code == 2
    assert "kinds: scenarios, models, software, jobs" in run("catalog", "library", "modles").err
    assert "'aiplan catalog library' lists models" in run("catalog", "list", "models").err


def test_readme_counts_models_rightly(run):
    count = len(list((FOLDER / "models").glob("*.yaml")))
    for page in ("README.md", "README.zh-CN.md"):
        text = (FOLDER.parent / page).read_text(encoding="utf-8")
        assert f"{count} model shapes" in text or f"{count} 个参数量" in text
