"""Declarations at work: records, defaults, origins, every kind of fault, and the schema and docs beside them."""

import json
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from aiplan import declare
from aiplan.declare import (
    Declared,
    Diagnostics,
    build,
    choice,
    either,
    flag,
    integer,
    listing,
    mapping,
    number,
    quantity,
    quantity_range,
    read,
    record,
    records,
    text,
)
from aiplan.declare.docs import rows
from aiplan.declare.schema import json_schema


class Network(Declared):
    bandwidth: float = quantity("data rate", doc="One way, per port", above=0)
    latency: float = quantity("time", doc="Per message", default=1e-6, default_text="1 us", minimum=0)


class Nic(Declared):
    count: int = integer(doc="Ports", minimum=1, maximum=64)


class Fusion(Declared):
    on: bool = flag(doc="Fuse kernels", default=True)
    share: float = number(doc="Part fused", default=0.5, minimum=0, maximum=1)


class Job(Declared):
    name: str = text(doc="Name")
    network: Network = record(Network, doc="Fabric")
    tokens: float = quantity("count", doc="Tokens", default=300e9, above=0)
    precision: str = choice(("bf16", "fp8"), doc="Dtype", default="bf16")
    zero: str = choice(("0", "1", "2"), doc="Stage", default="0")
    nics: tuple[Nic, ...] = records(Nic, doc="Cards")
    tags: tuple[str, ...] = listing(text(pattern="[a-z]+"), doc="Labels")
    fusion: Fusion = record(Fusion, doc="Kernels", default="empty")
    spare: Nic | None = record(Nic, doc="Spare card", default=None)
    peaks: dict[str, float] = mapping(
        quantity("compute rate", above=0), doc="Peaks", default="empty", keys=("bf16", "fp8")
    )
    limits: dict[str, int] = mapping(integer(), doc="Limits", default="empty")
    price: tuple[float, float] | None = quantity_range("money rate", doc="Price", default=None, minimum=0)
    every: float | str = either(choice(("auto",)), quantity("time", above=0), doc="Interval", default="auto")
    model: str | Nic | None = either(text(), record(Nic), doc="Model", default=None)


BASE = "name: x\nnetwork: {bandwidth: 400 Gb/s}\n"


def built(source, origins=None):
    diagnostics = Diagnostics()
    job = build(Job, read(source, "j.yaml", diagnostics), diagnostics, origins=origins)
    assert (job is None) == diagnostics.has_errors
    return job, diagnostics.items


def test_values_arrive_in_si_and_defaults_fill_the_rest():
    job, found = built(BASE)
    assert not found
    assert (job.name, job.network.bandwidth, job.network.latency) == ("x", 400e9 / 8, 1e-6)
    assert (job.tokens, job.precision, job.nics, job.tags) == (300e9, "bf16", (), ())
    assert (job.fusion, job.spare, job.peaks, job.price, job.every) == (Fusion(), None, {}, None, "auto")


def test_every_kind_of_value():
    job, found = built(
        BASE
        + "tokens: 1.5T\nprecision: fp8\nzero: 2\nnics: [{count: 4}, {count: 1e1}]\ntags: [a, b]\n"
        + "fusion: {on: false, share: 1}\nspare: {count: 2}\npeaks: {bf16: 312 TFLOP/s}\nlimits: {anything: 3}\n"
        + "price: 3600 .. 7200 USD/h\nevery: 30 min\nmodel: {count: 3}\n"
    )
    assert not found
    assert job == Job(
        name="x",
        network=Network(bandwidth=5e10),
        tokens=1.5e12,
        precision="fp8",
        zero="2",
        nics=(Nic(count=4), Nic(count=10)),
        tags=("a", "b"),
        fusion=Fusion(on=False, share=1.0),
        spare=Nic(count=2),
        peaks={"bf16": 312e12},
        limits={"anything": 3},
        price=(1.0, 2.0),
        every=1800.0,
        model=Nic(count=3),
    )
    assert type(job.nics[1].count) is int
    assert type(job.fusion.share) is float


def test_records_are_frozen_and_can_be_made_in_python():
    with pytest.raises(AttributeError, match="frozen"):
        Nic(count=1).count = 2
    with pytest.raises(TypeError):
        Network()


def test_default_maps_are_not_shared():
    network = Network(bandwidth=1.0)
    assert Job(name="a", network=network).peaks is not Job(name="b", network=network).peaks


def test_null_is_unknown_only_where_unknown_is_a_default():
    job, found = built(BASE + "price: null\nspare:\nmodel: ~\n")
    assert not found
    assert (job.price, job.spare, job.model) == (None, None, None)


@pytest.mark.parametrize(
    ("line", "code", "column", "problem", "hint"),
    [
        ("tokens: 400 GB", "AIP102", 9, "'400 GB' is an amount of data", None),
        ("every: 10", "AIP102", 8, "has no unit, but a time is due", "write e.g."),
        ("peaks: {bf16: 312 TFLOPS}", "AIP102", 15, "'312 TFLOPS'", "TFLOP/s"),
        ("price: 2 .. 1 USD/h", "AIP102", 8, "from high to low", None),
        ("name: 1.10", "AIP103", 7, "1.10 is a number, but text is due", 'in quotes: "1.10"'),
        ("name: true", "AIP103", 7, "true is a truth value, but text is due", '"true"'),
        ("name: [a]", "AIP103", 7, "name is a list, but a single value is due", None),
        ("network: fast", "AIP103", 10, "network is 'fast', but a mapping", None),
        (
            "nics: {count: 1}",
            "AIP103",
            7,
            "nics is a mapping, but a list is due",
            "begin each item with '- '",
        ),
        ("nics: [3]", "AIP103", 8, "nics[0] is '3', but a mapping", None),
        ("limits: 3", "AIP103", 9, "limits is '3', but a mapping of names", None),
        ("model: [a]", "AIP103", 8, "model is a list, but text | mapping is due", None),
        ("tags: [A1]", "AIP103", 8, "'A1' does not have the form due", None),
        ("limits: {a: x}", "AIP103", 13, "'x' is not a number", None),
        ("limits: {a: '3'}", "AIP103", 13, "'3' is not a number", "remove the quotes: 3"),
        ("limits: {a: true}", "AIP103", 13, "'true' is not a number", None),
        ("limits: {a: 1.5}", "AIP103", 13, "1.5 is not a whole number", "write 2"),
        ("limits:\n  a: 1,500", "AIP103", 6, "'1,500' is not a number", "write 1500"),
        ("limits: {a: .inf}", "AIP103", 13, "'.inf' is not a number", None),
        ("limits: {a: 1e999}", "AIP103", 13, "'1e999' is not a number", None),
        ("fusion: {on: 'true'}", "AIP103", 14, "'true' is not a truth value", "remove the quotes: true"),
        ("fusion: {on: 1}", "AIP103", 14, "'1' is not a truth value", "true or false"),
        ("tokens: null", "AIP103", 9, "empty", "leave the key out for 300000000000"),
        ("name:", "AIP103", 6, "empty", "give a value"),
        (
            "precison: bf16",
            "AIP104",
            1,
            "unknown key 'precison'",
            "did you mean 'precision'? Known keys here: name,",
        ),
        ("TOKENS: 3", "AIP104", 1, "unknown key 'TOKENS'", "did you mean 'tokens'?"),
        ("peaks: {int4: 3 TFLOP/s}", "AIP104", 9, "unknown key 'int4'", "bf16, fp8"),
        ("spare: {}", "AIP106", 1, "missing key 'count'", "add 'count: 1'"),
        ("nics: [{}]", "AIP106", 8, "missing key 'count'", "add 'count: 1'"),
        ("spare: {count: 0}", "AIP107", 16, "'0' is below the minimum 1", None),
        ("spare: {count: 65}", "AIP107", 16, "'65' is above the maximum 64", None),
        ("tokens: 0", "AIP107", 9, "'0' is not above 0", None),
        ("every: -1 s", "AIP107", 8, "'-1 s' is not above 0 s", None),
        ("price: -1 .. 1 USD/h", "AIP107", 8, "is below the minimum 0 USD/s", None),
        (
            "precision: bf61",
            "AIP108",
            12,
            "'bf61' is not one of the choices",
            "did you mean 'bf16'? Choices: bf16, fp8",
        ),
        ("every: atuo", "AIP108", 8, "'atuo'", "did you mean 'auto'?"),
        (
            "fusion: {on: no}",
            "AIP109",
            14,
            "'no' is text, but true or false is due",
            "write true or false, here false",
        ),
        ("fusion: {on: On}", "AIP109", 14, "'On' is text", "here true"),
        ("spare: {count: 0755}", "AIP109", 16, "'0755' is not a number", "write 755"),
    ],
)
def test_fault(line, code, column, problem, hint):
    key = line.split(":")[0]
    before = "".join(part + "\n" for part in BASE.splitlines() if not part.startswith(f"{key}:"))
    _, (found,) = built(before + line)
    assert (found.code, found.mark.column) == (code, column), found
    assert found.mark.line == (before + line).count("\n") + 1
    assert problem in found.problem
    if hint is not None:
        assert hint in found.hint
    if code != "AIP104" and "but a mapping of keys" not in found.problem:
        assert found.expected.startswith(f"field: {key}")


def test_expectation_names_field_dimension_bounds_and_doc():
    _, (found,) = built("name: x\nnetwork: {bandwidth: 400 GB}")
    assert found.expected == "field: network.bandwidth [data rate, above 0 B/s], One way, per port"
    assert found.hint == "write '400 GB/s' (bytes) or '400 Gb/s' (bits)"


def test_missing_key_points_at_the_key_of_its_mapping():
    _, (found,) = built("name: x\nnetwork:\n  latency: 1 us\n")
    assert (found.code, found.mark[1:3]) == ("AIP106", (2, 1))
    assert found.hint == "add 'bandwidth: 400 GB/s'"


def test_misspelt_key_is_not_reported_as_missing_too():
    _, found = built("nam: x\nnetwork: {bandwidth: 1 GB/s}")
    assert [d.code for d in found] == ["AIP104"]


def test_all_faults_of_a_file_come_at_once():
    _, found = built("nane: x\nname: 1\nname: y\nnetwork: {bandwidth: 3, latency: 1 m}\nnics: [{count: 0}, {count: a}]")
    assert sorted(d.code for d in found) == [
        "AIP102",
        "AIP102",
        "AIP103",
        "AIP103",
        "AIP104",
        "AIP105",
        "AIP107",
    ]


def test_origin_of_every_value():
    origins = {}
    built(BASE + "nics:\n  - count: 2\npeaks: {bf16: 312 TFLOP/s}\ntags: []\n", origins)
    assert origins["network.bandwidth"] == ("given", "j.yaml:2", "400 Gb/s")
    assert origins["network.latency"] == ("default", "", "1 us")
    assert origins["nics[0].count"] == ("given", "j.yaml:4", "2")
    assert origins["peaks.bf16"] == ("given", "j.yaml:5", "312 TFLOP/s")
    assert origins["tags"] == ("given", "j.yaml:6", "[]")
    assert origins["fusion.share"] == ("default", "", "0.5")
    assert origins["tokens"] == ("default", "", "300000000000")


def test_origins_of_a_catalog_entry_and_path_prefix():
    origins = {}
    node = read("count: 2", "nic.yaml")
    assert build(Nic, node, Diagnostics(), path="cluster.nic", origins=origins, kind="catalog") == Nic(count=2)
    assert origins == {"cluster.nic.count": ("catalog", "nic.yaml:1", "2")}


def test_root_that_is_no_mapping():
    _, (found,) = built("- 1")
    assert (found.code, found.problem) == (
        "AIP103",
        "the file is a list, but a mapping of keys to values is due",
    )


def test_declarations_are_checked_when_first_used():
    class NoDoc(Declared):
        a: int = integer()

    class NotDeclared(Declared):
        a: int = 3

    with pytest.raises(TypeError, match="without doc: a"):
        build(NoDoc, read("a: 1", "f"), Diagnostics())
    with pytest.raises(TypeError, match="not declared"):
        build(NotDeclared, read("a: 1", "f"), Diagnostics())


def test_docs_have_a_row_for_every_field_and_below():
    found = {row.path: row for row in rows(Job)}
    assert set(found) == set(Job.__annotations__) | {
        "network.bandwidth",
        "network.latency",
        "nics[].count",
        "fusion.on",
        "fusion.share",
        "spare.count",
        "model.count",
    }
    assert found["network.bandwidth"] == (
        "network.bandwidth",
        "data rate, above 0 B/s",
        "data rate",
        None,
        "One way, per port",
    )
    assert found["network.latency"].default == "1 us"
    assert found["spare.count"].kind == "whole number, at least 1, at most 64"
    assert found["price"].default == "null"
    assert rows(Nic, "a.b")[0].path == "a.b.count"


SCHEMA = json_schema(Job, "Job", "https://example.org/job.json")


def test_schema_is_draft_7_plain_data_and_documents_itself():
    Draft7Validator.check_schema(SCHEMA)
    assert json.loads(json.dumps(SCHEMA, allow_nan=False)) == SCHEMA
    assert SCHEMA["$schema"].endswith("draft-07/schema#")
    assert (SCHEMA["title"], SCHEMA["$id"]) == ("Job", "https://example.org/job.json")
    assert SCHEMA["required"] == ["name", "network"]
    assert SCHEMA["properties"]["name"]["description"] == "Name"


def _schema_of_each(schema):
    yield schema
    children = schema.values() if isinstance(schema, dict) else schema
    for child in children:
        if isinstance(child, dict | list):
            yield from _schema_of_each(child)


def test_defaults_and_examples_in_the_schema_satisfy_it():
    checked = 0
    for part in _schema_of_each(SCHEMA):
        if isinstance(part, dict):
            for value in [*part.get("examples", []), *([part["default"]] if "default" in part else [])]:
                Draft7Validator(part).validate(value)
                checked += 1
    assert checked > 10


BASE_DATA = {"name": "x", "network": {"bandwidth": "400 Gb/s"}}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"tokens": 3e9},
        {"tokens": "1.5T"},
        {"tokens": 0},
        {"tokens": True},
        {"tokens": "3 GB"},
        {"precision": "fp8"},
        {"precision": "fp9"},
        {"zero": 1},
        {"zero": "1"},
        {"zero": 7},
        {"nics": [{"count": 3}]},
        {"nics": [{"count": 3.0}]},
        {"nics": [{"count": 3.5}]},
        {"nics": [{"count": 0}]},
        {"nics": [{"count": "3"}]},
        {"nics": [{}]},
        {"nics": {}},
        {"nics": None},
        {"tags": ["abc"]},
        {"tags": ["ABC"]},
        {"tags": ["ab1"]},
        {"fusion": {}},
        {"fusion": {"on": False}},
        {"fusion": {"on": "no"}},
        {"fusion": {"share": 1.1}},
        {"fusion": {"shares": 1}},
        {"spare": None},
        {"spare": {}},
        {"peaks": {"bf16": "312 TFLOP/s"}},
        {"peaks": {"bf16": "312 TFLOPS"}},
        {"peaks": {"bf16": 312}},
        {"peaks": {"tf32": "1 TFLOP/s"}},
        {"limits": {"a": 1, "b": 2}},
        {"limits": {"a": "x"}},
        {"price": "1 .. 2 USD/h"},
        {"price": 3},
        {"every": "auto"},
        {"every": "10 min"},
        {"every": "autumn"},
        {"every": 10},
        {"model": "gpt3"},
        {"model": {"count": 1}},
        {"model": 3},
        {"name": 3},
        {"name": None},
        {"network": {"bandwidth": "400 GB"}},
        {"network": {"bandwidth": "400 gb/s"}},
        {"network": {}},
        {"extra": 1},
    ],
)
def test_schema_and_build_agree(change):
    data = BASE_DATA | change
    job, _ = built(json.dumps(data))
    assert Draft7Validator(SCHEMA).is_valid(data) == (job is not None)


_VALID = st.fixed_dictionaries(
    {
        "name": st.text(alphabet="abc é:#'", min_size=1),
        "network": st.fixed_dictionaries({"bandwidth": st.integers(1, 10**6).map("{} Gb/s".format)}),
    },
    optional={
        "nics": st.lists(st.fixed_dictionaries({"count": st.integers(1, 64)}), max_size=3),
        "fusion": st.fixed_dictionaries(
            {}, optional={"on": st.booleans(), "share": st.floats(0, 1).map(lambda x: round(x, 9))}
        ),
        "limits": st.dictionaries(st.sampled_from(["a", "no", "1", "x.y"]), st.integers(-(10**12), 10**12)),
        "precision": st.sampled_from(["bf16", "fp8"]),
    },
)


@settings(max_examples=100, deadline=None)
@given(_VALID)
def test_valid_documents_come_back_as_written(data):
    job, found = built(json.dumps(data))
    assert not found
    assert Draft7Validator(SCHEMA).is_valid(data)
    assert job.name == data["name"]
    assert job.network.bandwidth * 8 == float(data["network"]["bandwidth"].split()[0]) * 1e9
    assert [nic.count for nic in job.nics] == [nic["count"] for nic in data.get("nics", [])]
    assert job.fusion.on == data.get("fusion", {}).get("on", True)
    assert job.fusion.share == data.get("fusion", {}).get("share", 0.5)
    assert job.limits == data.get("limits", {})


_ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet='aB1 .-:#é\U00010000\n"', max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["count", "on", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(list(Job.__annotations__)), _ANY))
def test_any_data_is_built_or_refused_in_words(data):
    if not data:
        return
    diagnostics = Diagnostics()
    text_of_data = json.dumps(data, ensure_ascii=False)
    job = build(Job, read(text_of_data, "f", diagnostics), diagnostics)
    assert (job is None) == diagnostics.has_errors
    if job is not None:
        assert Draft7Validator(SCHEMA).is_valid(data)
    for found in diagnostics.items:
        assert found.mark.column <= len(text_of_data)
        assert re.search(r"\S", found.problem)


def test_import_loads_neither_yaml_nor_numpy_nor_what_only_errors_need():
    code = "import sys, aiplan.declare; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "aiplan.declare.build" in loaded
    assert not {"yaml", "numpy", "pandas", "rich", "difflib", "decimal"} & set(loaded)


def test_every_public_name_exists():
    assert all(hasattr(declare, name) for name in declare.__all__)
