"""The JSON contract: schema, same bytes, parts that add up, and relations that hold whatever the model says."""

import json
import math

import pytest
from jsonschema import Draft7Validator

from aiplan.report.schemas import schema_of

KINDS = (
    "scenario",
    "model",
    "software",
    "accelerator",
    "node",
    "link",
    "network",
    "switch",
    "storage",
    "region",
    "result",
)
DOCUMENTS = {
    "small": ["estimate", "small.yaml"],
    "stuck": ["estimate", "stuck.yaml"],
    "unknowns": ["estimate", "unknowns.yaml"],
    "explained": ["estimate", "small.yaml", "--explain", "step.tensor", "--set", "plan.tensor=4"],
    "one accelerator": ["estimate", "unknowns.yaml", "--set", "cluster.accelerators_per_node=1"],
    "compare": ["compare", "small.yaml", "stuck.yaml", "unknowns.yaml", "nothing.yaml"],
    "vary": ["compare", "small.yaml", "--vary", "plan.tensor=1,2,3"],
    "explain": ["explain", "small.yaml", "step", "--depth", "6"],
    "explain input": ["explain", "unknowns.yaml", "workload.tokens"],
    "terms": ["explain", "unknowns.yaml"],
    "sensitivity": ["explain", "small.yaml", "--sensitivity"],
    "sensitivity unknown": ["explain", "unknowns.yaml", "--sensitivity"],
    "roofline": ["explain", "small.yaml", "--roofline"],
    "roofline of a part": ["explain", "unknowns.yaml", "--roofline"],
}


def no_nan(text):
    raise AssertionError(text)


@pytest.fixture
def document(run):
    def load(*arguments):
        done = run(*arguments, "--format", "json")
        return json.loads(done.out, parse_constant=no_nan)

    return load


@pytest.mark.parametrize("kind", KINDS)
def test_schemas_are_schemas(kind, run):
    done = run("schema", kind)
    assert done.code == 0
    schema = json.loads(done.out)
    Draft7Validator.check_schema(schema)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_follow_the_schema_and_repeat_to_the_byte(name, run):
    first, second = (run(*DOCUMENTS[name], "--format", "json") for _ in range(2))
    assert first == second
    content = json.loads(first.out, parse_constant=no_nan)
    Draft7Validator(schema_of("result")).validate(content)
    assert first.out == json.dumps(content, indent=2, sort_keys=True) + "\n"


def test_the_schema_refuses_what_is_no_result(document):
    content = document("estimate", "small.yaml")
    validator = Draft7Validator(schema_of("result"))
    assert not validator.is_valid(content | {"more": 1})
    assert not validator.is_valid(content | {"schema": "aiplan.estimate/2"})
    assert not validator.is_valid(content | {"result": content["result"] | {"step_time_s": "6 s"}})
    assert not validator.is_valid(content | {"result": {"step_time_s": 6.0}})


@pytest.mark.parametrize("name", ["small", "stuck", "unknowns"])
@pytest.mark.parametrize(("root", "key"), [("step", "value_s"), ("memory", "value_bytes")])
def test_trees_add_up(name, root, key, document):
    result = document("estimate", f"{name}.yaml")["result"]

    def check(node):
        if node["children"]:
            total = 0.0
            for child in node["children"]:
                total += child[key]
                check(child)
            assert total == node[key]
            assert node["share"] == pytest.approx(sum(child["share"] for child in node["children"]))

    check(result[root])
    assert result[root]["share"] == 1.0


@pytest.mark.parametrize("name", ["small", "stuck"])
def test_numbers_agree_with_each_other(name, document):
    result = document("estimate", f"{name}.yaml")["result"]
    hours = result["time_to_train_s"] / 3600
    assert result["time_to_train_s"] == pytest.approx(result["steps"] * result["step_time_s"])
    assert result["cost_usd"] == pytest.approx(result["gpus"] * hours * result["price_usd_per_gpu_hour"])
    assert result["energy_j"] == pytest.approx(result["energy_kwh"] * 1000 * 3600)
    assert result["tokens_per_s"] == pytest.approx(result["gpus"] * result["tokens_per_s_per_gpu"])
    assert result["mfu"] == pytest.approx(result["model_flops_per_s_per_gpu"] / result["peak_flops_per_s"])
    assert result["tflops_per_gpu"] == pytest.approx(result["model_flops_per_s_per_gpu"] / 1e12)
    assert result["fits"] == (result["memory_bytes_per_gpu"] <= result["memory_capacity_bytes"])
    assert result["step"]["value_s"] == result["step_time_s"]
    assert result["memory"]["value_bytes"] == result["memory_bytes_per_gpu"]
    assert result["bottleneck"]["share"] >= result["bottleneck"]["runner_up"]["share"]


def test_facts_of_the_small_scenario(document):
    """Llama 3 8B has 8.03 billion parameters (https://arxiv.org/abs/2407.21783); H100 SXM: 989.4 TFLOP/s dense bf16."""
    result = document("estimate", "small.yaml", "--set", "cluster.node=dgx-h100")["result"]
    assert result["parameters_total"] == result["parameters_active"] == 8_030_261_248
    assert result["peak_flops_per_s"] == pytest.approx(989.4e12)
    assert result["peak_dtype"] == "bf16"
    assert result["gpus"] == 2 * 8
    assert result["data_parallel"] == 2 * 8 // 2
    assert result["steps"] == pytest.approx(100e9 / (128 * 8192))


def test_errors_against_the_measured_run(document):
    result = document("estimate", "small.yaml")["result"]
    assert result["measured"]["tokens_per_s_per_gpu"] == 10000
    error = result["error_vs_measured"]["tokens_per_s_per_gpu"]
    assert error == pytest.approx((result["tokens_per_s_per_gpu"] - 10000) / 10000)
    assert "measured" not in document("estimate", "stuck.yaml")["result"]


def test_unknown_is_null_with_a_warning(document):
    content = document("estimate", "unknowns.yaml")
    nulls = {key for key, value in content["result"].items() if value is None}
    run = {"steps", "time_to_train_s", "cost_usd", "energy_j", "energy_kwh", "carbon_kg"}
    intervals = {"time_to_train_interval_s", "cost_interval_usd"}
    assert nulls == run | intervals | {"price_usd_per_gpu_hour"}
    told = {key for warning in content["warnings"] for key in warning["results"]}
    assert told == run - {"energy_kwh"}
    assert [warning["code"] for warning in content["warnings"]] == ["AIP106", "AIP203", "AIP203"]


def test_every_input_has_an_origin(document):
    content = document("estimate", "small.yaml")
    values = content["inputs"]["values"]
    assert values["plan.tensor"] == {"value": 2.0, "origin": "given", "where": "small.yaml:9", "detail": "2"}
    assert values["cluster.memory_capacity"]["where"].startswith("hardware_catalog/accelerators/test-gpu.yaml:")
    assert {value["origin"] for value in values.values()} <= {"given", "catalog", "default", "assumed", "derived"}
    names = {item["name"] for item in content["assumptions"]}
    assert "cluster.price" in names
    assert not any(name.startswith("model.") for name in names)


def test_no_absolute_paths(run, folder):
    for name in DOCUMENTS.values():
        done = run(*name, "--format", "json")
        assert str(folder) not in done.out


@pytest.mark.parametrize("form", ["plain", "csv"])
def test_records_hold_the_same_numbers(form, run, document):
    result = document("estimate", "small.yaml")["result"]
    separator = "\t" if form == "plain" else ","
    lines = run("estimate", "small.yaml", "--format", form).out.splitlines()
    rows = dict(line.split(separator)[:2] for line in lines if not line.startswith(("scenario", "source")))
    for key, value in result.items():
        if isinstance(value, float):
            assert float(rows[key]) == value
    assert float(rows["step.compute"]) == result["step"]["children"][0]["value_s"]


def test_comparison_changes_are_relative_to_the_first(document):
    variants = document("compare", "small.yaml", "--vary", "plan.tensor=1,2")["result"]["variants"]
    assert set(variants[0]["change"].values()) == {None}
    for key, change in variants[1]["change"].items():
        assert change == pytest.approx(variants[1][key] / variants[0][key] - 1)


def test_a_variant_equals_the_estimate_to_the_last_bit(document):
    variants = document("compare", "small.yaml", "--vary", "plan.tensor=1,2,4,8")["result"]["variants"]
    for variant, tensor in zip(variants, (1, 2, 4, 8), strict=True):
        alone = document("estimate", "small.yaml", "--set", f"plan.tensor={tensor}")["result"]
        shared = alone.keys() & variant.keys()
        assert len(shared) > 20
        assert {key: alone[key] for key in shared} == {key: variant[key] for key in shared}


def test_explanations_end_in_values_with_an_origin(document):
    def leaves(node):
        return [node] if not node["arguments"] else [leaf for child in node["arguments"] for leaf in leaves(child)]

    term = document("explain", "small.yaml", "run.time_to_train", "--depth", "40")["result"]["term"]
    assert term["formula"] == "t = n t_step"
    values = {argument["name"]: argument["value"] for argument in term["arguments"]}
    assert term["value"] == pytest.approx(math.prod(values.values()))
    origins = {leaf["origin"] for leaf in leaves(term)}
    assert origins <= {"given", "catalog", "default", "assumed", "derived", "arithmetic", "constant"}
    assert {"given", "catalog", "assumed"} <= origins
