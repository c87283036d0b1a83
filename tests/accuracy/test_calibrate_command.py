"""`aiplan calibrate runs`: what it prints and refuses."""

import json

import pytest
from jsonschema import Draft7Validator

from aiplan.report.schemas import schema_of

GOLDENS = {
    "calibrate help": ["calibrate", "runs", "--help"],
    "calibrate table": ["calibrate", "runs", "lab.yaml"],
    "calibrate narrow": ["calibrate", "runs", "lab.yaml", "--width", "60"],
    "calibrate markdown": ["calibrate", "runs", "lab.yaml", "--format", "markdown"],
    "calibrate csv": ["calibrate", "runs", "lab.yaml", "--format", "csv"],
    "nothing counts": ["calibrate", "runs", "lab.yaml", "--set", "plan.tensor=3"],
    "bad grade": ["calibrate", "runs", "--grades", "AX"],
    "missing": ["calibrate", "runs", "missing.csv"],
}


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens(name, run, fixed, golden):
    assert run(*GOLDENS[name]).text == golden(name=name)


def test_document(run, fixed):
    done = run("calibrate", "runs", "lab.yaml", "--format", "json")
    content = json.loads(done.out)
    Draft7Validator(schema_of("result")).validate(content)
    result = content["result"]
    assert (done.code, result["summary"]["n"]) == (0, sum(item["now"]["n"] for item in result["sources"]))
    assert result["summary"]["without"] is None  # one source only
    assert all(item["low"] <= item["fitted"] <= item["high"] for item in result["constants"])
