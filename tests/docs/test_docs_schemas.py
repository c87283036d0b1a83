"""An independent judge reads every file of the library against the generated schemas."""

import json
import re
from pathlib import Path
from typing import ClassVar

import jsonschema
import pytest
import yaml

from aiplan.cli.schema import ABOUT, Kind
from aiplan.report.file_schemas import OF_A_ROW
from aiplan.scenario.runs import ROW_KEYS

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"
CATALOG = ROOT / "hardware_catalog"
GROUPS = {
    "scenario": SCENARIOS.glob("*.yaml"),
    "jobs": (SCENARIOS / "jobs").glob("*.yaml"),
    "model": (SCENARIOS / "models").glob("*.yaml"),
    "software": (SCENARIOS / "software").glob("*.yaml"),
    "runs": (path for folder in ("published", "trainings") for path in (SCENARIOS / folder).glob("*.yaml")),
    "policy": [ROOT / "tests" / "guard" / "files" / "policy.yaml"],
    "accelerator": (CATALOG / "accelerators").glob("*.yaml"),
    "link": (CATALOG / "links").glob("*.yaml"),
    "network": (CATALOG / "networks").glob("*.yaml"),
    "node": (CATALOG / "nodes").glob("*.yaml"),
    "switch": (CATALOG / "switches").glob("*.yaml"),
    "storage": (CATALOG / "storage").glob("*.yaml"),
    "region": (CATALOG / "regions").glob("*.yaml"),
}
FILES = {kind: sorted(paths) for kind, paths in GROUPS.items()}


class Loader(yaml.CSafeLoader):
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


@pytest.mark.parametrize("name", sorted(FILES))
def test_library_is_valid(name):
    judge = validator(name)
    read = {path.name: yaml.load(path.read_bytes(), Loader) for path in FILES[name]}  # noqa: S506  a safe loader
    if name == "runs":
        read = {file: tree | {"rows": _few(tree["rows"])} for file, tree in read.items()}
    faults = {name: [error.message for error in judge.iter_errors(tree)] for name, tree in read.items()}
    assert read
    assert {file: found for file, found in faults.items() if found} == {}


def _few(rows):
    """Return a few rows of different keys."""
    return list({tuple(row) if isinstance(row, dict) else len(row): row for row in reversed(rows)}.values())[-8:]


def test_rows_of_runs_have_all_keys_of_their_own():
    assert {*OF_A_ROW} == {*ROW_KEYS}


def test_every_kind_has_files_that_it_is_held_against():
    assert {*FILES, "result"} == {*Kind} == {*ABOUT}
    assert {path.name for path in (ROOT / "docs" / "schema").iterdir()} == {f"{kind}.schema.json" for kind in Kind}


@pytest.mark.parametrize(
    "wrong",
    [
        {"rows": [{"id": "a", "workload.tokns": 3}]},
        {"rows": [{"id": "a", "plan.zero": 4}]},
        {"columns": ["id", "plan.tensr"]},
        {"base": {"workload": {"tokens": "many"}}},
        {"sorce": "x"},
    ],
)
def test_schema_of_runs_refuses(wrong):
    right = {"name": "n", "source": "s", "base": {}, "rows": [{"id": "a", "plan.tensor": 4, "model": "m"}, ["a", None]]}
    judge = validator("runs")
    assert judge.is_valid(right)
    assert not judge.is_valid(right | wrong)


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


@pytest.mark.parametrize("path", [*FILES["scenario"], *FILES["jobs"]], ids=lambda path: path.stem)
def test_editors_find_the_schema(path):
    """The first line says where it lies, as the language servers for YAML read it."""
    first = path.read_text(encoding="utf-8").splitlines()[0]
    marker, _, target = first.partition("$schema=")
    assert marker == "# yaml-language-server: "
    kind = "jobs" if path.parent.name == "jobs" else "scenario"
    assert (path.parent / target).resolve() == ROOT / "docs" / "schema" / f"{kind}.schema.json"


def test_editors_find_the_schema_of_all_other_files():
    """Settings of the editor name it by folder: a line more in each file would say nothing to people."""
    schemas = json.loads((ROOT / ".vscode" / "settings.json").read_text(encoding="utf-8"))["yaml.schemas"]
    found = {
        path.relative_to(ROOT).as_posix(): kind.split("/")[-1].removesuffix(".schema.json")
        for kind, patterns in schemas.items()
        for pattern in patterns
        for path in ROOT.glob(pattern)
    }
    assert found == {
        path.relative_to(ROOT).as_posix(): kind
        for kind, paths in FILES.items()
        for path in paths
        if kind not in {"scenario", "jobs", "policy"}
    }
    assert all((ROOT / kind).is_file() for kind in schemas)
