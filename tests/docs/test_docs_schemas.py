"""An independent judge reads every file of the library against the generated schemas."""

import json
import re
from pathlib import Path
from typing import ClassVar

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"
CATALOG_KINDS = ("accelerators", "links", "networks", "nodes", "switches", "storage", "regions")
GROUPS = {
    "scenario": SCENARIOS,
    "jobs": SCENARIOS / "jobs",
    "model": SCENARIOS / "models",
    "software": SCENARIOS / "software",
} | {kind: ROOT / "hardware_catalog" / kind for kind in CATALOG_KINDS}


class Loader(yaml.SafeLoader):
    """Reads as editors do, by YAML 1.2: `on` is text, only `true` and `false` are truth values."""

    yaml_implicit_resolvers: ClassVar = {
        letter: [item for item in items if item[0] != "tag:yaml.org,2002:bool"]
        for letter, items in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true|false"), list("tf"))


def validator(name):
    schema = json.loads((ROOT / "docs" / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


@pytest.mark.parametrize("name", sorted(GROUPS))
def test_library_is_valid(name):
    judge = validator(name)
    files = sorted(GROUPS[name].glob("*.yaml"))
    read = {path.name: yaml.load(path.read_bytes(), Loader) for path in files}  # noqa: S506  a safe loader
    faults = {name: [error.message for error in judge.iter_errors(tree)] for name, tree in read.items()}
    assert files
    assert {file: found for file, found in faults.items() if found} == {}


@pytest.mark.parametrize(
    "wrong",
    [
        {"modell": "gpt3-175b"},
        {"workload": {"sequence_length": "long", "global_batch": 8}},
        {"plan": {"recompute": "some"}},
        {"plan": {"zero": 4}},
        {"cluster": {"nodes": 1, "price": "2.5"}},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_schema_refuses(wrong):
    right = {
        "model": "gpt3-175b",
        "workload": {"sequence_length": 2048, "global_batch": 8},
        "cluster": {"node": "dgx-h100", "nodes": 1},
    }
    judge = validator("scenario")
    assert judge.is_valid(right)
    assert not judge.is_valid(right | wrong)


@pytest.mark.parametrize("path", sorted(SCENARIOS.glob("*.yaml")), ids=lambda path: path.stem)
def test_editors_find_the_schema(path):
    first = path.read_text(encoding="utf-8").splitlines()[0]
    marker, _, target = first.partition("$schema=")
    assert marker == "# yaml-language-server: "
    assert (path.parent / target).resolve() == ROOT / "docs" / "schema" / "scenario.schema.json"
