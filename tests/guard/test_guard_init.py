"""`aiplan init`: what it writes is a scenario that estimates, fits, and is as fast as a search can make it."""

import json
import re

import pytest
import yaml
from jsonschema import Draft7Validator

from aiplan.declare.docs import rows
from aiplan.report.schemas import schema_of
from aiplan.scenario.records import ScenarioFile

GOLDENS = {
    "printed": ["init"],
    "written": ["init", "my.yaml", "--model", "mixtral-8x7b", "--nodes", "16", "--tokens", "1T"],
    "there already": ["init", "clusters/good.yaml"],
    "unknown names": ["init", "my.yaml", "--model", "llama-9", "--node", "dgx-h1"],
    "fits nowhere": ["init", "my.yaml", "--model", "llama-3.1-405b", "--nodes", "1"],
    "a bad count": ["init", "my.yaml", "--tokens", "100 GB"],
    "no such folder": ["init", "nowhere/my.yaml"],
    "help": ["init", "--help"],
}
ASKED = {
    "usual": [],
    "experts": ["--model", "mixtral-8x7b", "--nodes", "16"],
    "large": ["--model", "llama-3-70b", "--node", "dgx-a100-80gb", "--nodes", "64", "--tokens", "15T"],
    "one node": ["--nodes", "1", "--sequence", "2048", "--batch", "64", "--model", "gpt2-xl"],
    "other makers": ["--node", "hgx-mi300x", "--nodes", "8"],
}


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens(name, run, golden):
    assert run(*GOLDENS[name]).text == golden(name=name)


@pytest.mark.parametrize("name", ASKED)
def test_what_is_written_estimates(name, run, folder):
    assert run("init", "my.yaml", *ASKED[name]).code == 0
    text = (folder / "my.yaml").read_text(encoding="utf-8")
    assert run("init", *ASKED[name]).out == text
    Draft7Validator(schema_of("scenario")).validate(yaml.safe_load(text))
    done = run("check", "my.yaml")
    assert (done.code, done.err) == (0, "")
    best = [run("estimate", "my.yaml", *more, "--format", "json") for more in ([], ["--set", "plan=auto"])]
    assert [done.code for done in best] == [0, 0]
    first, second = (json.loads(done.out)["result"] for done in best)
    assert first["step_time_s"] == pytest.approx(second["step_time_s"], rel=1e-12)
    assert max(map(len, text.splitlines())) <= 120 or "# yaml" in text


def test_every_remark_is_the_doc_of_its_field(run):
    said = {row.path: row.doc for row in rows(ScenarioFile)}
    block = ""
    text = run("init").out.split("\n\n", 1)[1]
    for line in re.sub(
        r"^( *)# ([^\n:]*: [^\n]*[^:\n])\n\1(\w+: .*)$", r"\1\3  # \2", text, flags=re.MULTILINE
    ).splitlines():
        match = re.match(r"( *)(?:# )?(\w+):.*?(?:  # (.*))?$", line)
        if match is None or match[3] is None:
            continue
        block = match[2] if not match[1] else block
        path = match[2] if not match[1] else f"{block}.{match[2]}"
        assert match[3].endswith(said[path]), line


def spares(text):
    """Return the lines that become fields without their sign."""
    return [line for line in text.splitlines() if re.match(r" *# \w+: .*  # ", line)]


def test_what_is_commented_out_can_be_used(run, folder):
    text = run("init").out
    lines = spares(text)
    assert len(lines) >= 6
    for line in [*lines, None]:
        used = text
        for one in lines if line is None else [line]:
            used = used.replace(one, one.replace("# ", "", 1))
        (folder / "my.yaml").write_text(used, encoding="utf-8")
        assert run("check", "my.yaml").code == 0, line


def test_nothing_is_written_over(run, folder):
    before = (folder / "clusters" / "good.yaml").read_bytes()
    assert run("init", "clusters/good.yaml").code == 2
    assert (folder / "clusters" / "good.yaml").read_bytes() == before
    assert run("init", "my.yaml", "--schema", "clusters/good.yaml").code == 2
    assert not (folder / "my.yaml").exists()
    assert run("init", "clusters/good.yaml", "--force").code == 0
    assert (folder / "clusters" / "good.yaml").read_bytes() != before


@pytest.mark.parametrize(
    ("file", "schema", "line"),
    [
        ("my.yaml", "scenario.schema.json", "scenario.schema.json"),
        ("clusters/my.yaml", "schema.json", "../schema.json"),
        ("my.yaml", "clusters/s.json", "clusters/s.json"),
    ],
)
def test_the_schema_is_where_the_first_line_says(run, folder, file, schema, line):
    assert run("init", file, "--schema", schema).code == 0
    first = (folder / file).read_text(encoding="utf-8").splitlines()[0]
    assert first == f"# yaml-language-server: $schema={line}"
    target = (folder / file).parent / line
    assert json.loads(target.read_text(encoding="utf-8")) == schema_of("scenario")


def test_a_model_in_a_file_is_found_from_where_the_scenario_lies(run, folder):
    own = "layers: 4\nhidden: 768\nheads: 12\nffn: 3072\nvocab: 32000\nname: Own\n"
    (folder / "clusters" / "own.yaml").write_text(own, encoding="utf-8")
    assert run("init", "clusters/my.yaml", "--model", "./own.yaml").code == 0
    assert run("check", "clusters/my.yaml").code == 0


def test_kinds_of_schemas_are_listed(run):
    done = run("schema")
    kinds = [line.split()[0] for line in done.out.splitlines()]
    assert (done.code, kinds[0], kinds[-1]) == (0, "scenario", "result")
    for kind in kinds:
        Draft7Validator.check_schema(json.loads(run("schema", kind).out))
