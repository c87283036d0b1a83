"""Files for other programs: what is in them, and that reading them back gives the plan again."""

import json
import subprocess
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from aiplan.adapters.exports.registry import TARGETS
from aiplan.adapters.imports.scenario_tree import tree_of
from aiplan.catalog.load import Catalog
from aiplan.cli import export
from aiplan.declare import Diagnostics, read
from aiplan.planning.imports import import_files
from aiplan.report.schemas import schema_of
from aiplan.scenario.files import Place, library_ids
from aiplan.scenario.load import resolve_tree

CATALOG = Catalog()
PLACE = Place("case.yaml", Path("case.yaml"))
NAMES = {"megatron-args": "train.args", "torchtitan": "job.toml", "deepspeed": "ds.json", "slurm": "train.sbatch"}
RUN_ON = {"node": "dgx-h100", "nodes": 16}
GPT3 = {
    # what the published script for 175B parameters gives: shape, batch and layout
    # https://github.com/NVIDIA/Megatron-LM/blob/main/examples/gpt3/train_gpt3_175b_distributed.sh
    "num-layers": "96",
    "hidden-size": "12288",
    "num-attention-heads": "96",
    "seq-length": "2048",
    "max-position-embeddings": "2048",
    "micro-batch-size": "1",
    "global-batch-size": "1536",
    "tensor-model-parallel-size": "8",
    "pipeline-model-parallel-size": "16",
    "fp16": "",
}


def resolve(tree):
    """Resolve a scenario given as a dictionary; None if its layout is not legal."""
    diagnostics = Diagnostics()
    return resolve_tree(read(json.dumps(tree).encode(), "case.yaml", diagnostics), PLACE, CATALOG, diagnostics)


def back(target, text, cluster):
    """Import an exported file, and resolve what it gives on the same machine."""
    found = import_files([(NAMES[target], text.encode())], Diagnostics())
    assert not [one.key for ledger in found.ledgers for one in ledger.skipped if one.matters]
    facts = [fact for fact in found.fields if not fact.path.startswith("cluster.")]
    tree = tree_of(facts, found.ledgers[0].document.start)
    run_on = tree_of([fact for fact in facts if fact.path.startswith("cluster.")], found.ledgers[0].document.start)
    assert not run_on.items
    diagnostics = Diagnostics()
    machine = read(json.dumps({"cluster": cluster}).encode(), "machine.yaml", diagnostics)
    scenario = resolve_tree(tree._replace(items=[*tree.items, *machine.items]), PLACE, CATALOG, diagnostics)
    diagnostics.raise_if_errors()
    return found, scenario


def plan_of(scenario, but=()):
    """The layout as numbers."""
    return {
        name: value.number for name, value in scenario.values.items() if name.startswith("plan.") and name not in but
    }


@st.composite
def layouts(draw, models, *, software, **fixed):
    """Draw a scenario; most layouts are not legal, and are drawn again."""
    options = {
        "tensor": [1, 2, 4, 8],
        "pipeline": [1, 2, 4, 8],
        "interleave": [1, 2, 4],
        "context": [1, 2],
        "expert": [1, 2, 8],
        "expert_tensor": [1, 2],
        "micro_batch": [1, 2],
        "zero": [0, 1, 2, 3],
        "recompute": ["none", "selective", "full"],
        "recompute_layers": [None, 2, 4],
        "attention": [None, "flash", "unfused", "fused-softmax"],
        "gradient_precision": [None, "fp32", "bf16"],
        "cuda_graphs": ["none", "partial", "full"],
        "dispatch": [None, "all-to-all", "deepep", "hybridep"],
        "sequence_parallel": [None, True, False],
        "shards": [None],
        "offload": ["none", "optimizer"],
    } | fixed
    plan = {name: draw(st.sampled_from(values)) for name, values in options.items()}
    plan = {name: value for name, value in plan.items() if value is not None}
    if plan.get("recompute") != "full":
        plan.pop("recompute_layers", None)
    if plan.get("tensor") == 1:
        plan.pop("sequence_parallel", None)
    kinds = ("gradients", "parameters", "tensor", "expert")
    overlap = (
        {kind: draw(st.sampled_from([None, True, False])) for kind in kinds} if software == "megatron-core" else {}
    )
    plan["overlap"] = {kind: value for kind, value in overlap.items() if value is not None}
    tree = {
        "model": draw(st.sampled_from(models)),
        "workload": {
            "sequence_length": 4096,
            "global_batch": 512,
            "tokens": 512 * 4096 * 100,
            "precision": draw(st.sampled_from(["bf16", "fp8"])),
        },
        "cluster": RUN_ON,
        "plan": plan,
        "software": software,
    }
    scenario = resolve(tree)
    assume(scenario is not None)
    return tree, scenario


SLOWLY = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@given(
    layouts(
        ["llama-3-8b", "gpt3-175b", "mixtral-8x7b", "deepseek-v3", "qwen3-32b", "glm-4.5"], software="megatron-core"
    ),
    st.sampled_from(["megatron-args", "slurm"]),
)
@SLOWLY
def test_megatron_round_trip(drawn, target):
    """Without a remark on what cannot be said, the plan comes back, and the parameters to the last one."""
    tree, scenario = drawn
    experts = scenario.model.experts is not None
    but = (
        set()
        if experts
        else {"plan.hidden_expert", "plan.two_level_dispatch", "plan.hidden_dispatch", "plan.expert_tensor"}
    )
    answer = TARGETS[target].export(scenario)
    assume(not [remark for remark in answer.remarks if "layers of a stage" in remark])
    found, again = back(target, answer.text, tree["cluster"])
    same, due = plan_of(again, but), plan_of(scenario, but)
    assert {name for name in due if same[name] != due[name]} == set()
    assert found.total == import_count(tree)
    work, other = vars(scenario.file.workload), vars(again.file.workload)
    assert work == other


def import_count(tree):
    """Parameters of a model of the library, counted from its file."""
    from aiplan.planning.imports import count  # noqa: PLC0415
    from aiplan.scenario.files import find_in_library  # noqa: PLC0415
    from aiplan.scenario.lookup import load_model  # noqa: PLC0415

    return count(load_model(find_in_library("models", tree["model"]), Diagnostics())[0])[0]


@given(
    layouts(
        ["llama-3.1-8b", "llama-3.1-70b", "qwen3-32b", "deepseek-v3"],
        software="torchtitan",
        zero=[0, 2, 3],
        recompute_layers=[None],
        attention=[None],
        cuda_graphs=["none"],
        dispatch=[None],
        sequence_parallel=[None],
        shards=[None, 8, 16],
        offload=["none", "all"],
    )
)
@SLOWLY
def test_torchtitan_round_trip(drawn):
    tree, scenario = drawn
    assume(scenario.model.experts is not None or tree["plan"]["expert"] == tree["plan"]["expert_tensor"] == 1)
    assume(scenario.data > 1)  # one rank has nothing to shard
    answer = TARGETS["torchtitan"].export(scenario)
    assume(not [remark for remark in answer.remarks if "cut through context" in remark])
    assert not answer.remarks
    found, again = back("torchtitan", answer.text, tree["cluster"])
    assert found.facts["model"].value == tree["model"]
    same, due = plan_of(again), plan_of(scenario)
    assert {name for name in due if same[name] != due[name]} == set()
    assert vars(again.file.workload) == vars(scenario.file.workload)


@given(
    layouts(
        ["llama-3-8b", "gpt3-13b"],
        software="deepspeed",
        **{name: [1] for name in ("pipeline", "interleave", "context", "expert", "expert_tensor")},
        recompute=["none"],
        attention=[None],
        cuda_graphs=["none"],
        dispatch=[None],
        sequence_parallel=[None],
        shards=[None, 8],
        offload=["none", "optimizer", "all"],
    )
)
@SLOWLY
def test_deepspeed_round_trip(drawn):
    _, scenario = drawn
    answer = TARGETS["deepspeed"].export(scenario)
    found = import_files([("ds.json", answer.text.encode())], Diagnostics())
    facts = {path: fact.value for path, fact in found.facts.items()}
    assert facts["plan.zero"] == scenario.values["plan.zero"].number
    assert facts["plan.micro_batch"] == scenario.file.plan.micro_batch
    assert facts["plan.data"] == scenario.data
    assert facts.get("plan.offload", "none") == scenario.file.plan.offload
    assert facts.get("plan.shards") == (scenario.file.plan.shards if facts["plan.zero"] == 3 else None)
    assert facts.get("plan.tensor", 1) == scenario.file.plan.tensor
    assert facts["workload.global_batch"] == 512
    assert (facts["plan.gradient_precision"] == "fp32") is (scenario.values["workload.gradient_bytes"].number == 4)
    assert facts["workload.precision"] == "bf16"


def gpt3():
    return resolve(
        {
            "model": "gpt3-175b",
            "workload": {"sequence_length": 2048, "global_batch": 1536, "tokens": "300e9", "precision": "fp16"},
            "cluster": {"node": "dgx-a100-80gb", "nodes": 128},
            "plan": {"tensor": 8, "pipeline": 16, "micro_batch": 1},
            "software": "megatron-lm-2021",
        }
    )


def without_words(model):
    """Whether a network has a part that no argument of Megatron switches on."""
    some_layers = model.window is not None and model.window.layers not in (None, model.layers)
    return bool(
        model.parallel_block
        or model.embedding_norm
        or model.norms_per_layer != 2
        or model.norm == "layernorm-no-bias"
        or model.qk_norm == "full"
        or some_layers
    )


@pytest.mark.parametrize("name", library_ids("models"))
def test_shapes_come_back_to_the_last_parameter(name):
    """Every model of the library that Megatron has words for; the others are said to have none."""
    scenario = resolve(
        {
            "model": name,
            "workload": {"sequence_length": 2048, "global_batch": 8},
            "cluster": {"accelerator": "h200", "nodes": 1},
        }
    )
    answer = TARGETS["megatron-args"].export(scenario)
    assert bool(answer.remarks) == without_words(scenario.model)
    if answer.remarks:
        return
    found = import_files([("train.args", answer.text.encode())], Diagnostics())
    assert found.total == import_count({"model": name})


def test_most_shapes_can_be_said():
    scenarios = [
        resolve(
            {
                "model": name,
                "workload": {"sequence_length": 2048, "global_batch": 8},
                "cluster": {"accelerator": "h200", "nodes": 1},
            }
        )
        for name in library_ids("models")
    ]
    said = [scenario for scenario in scenarios if not TARGETS["megatron-args"].export(scenario).remarks]
    assert len(said) > 0.6 * len(scenarios)


def test_the_published_arguments_of_gpt3():
    written = dict(TARGETS["megatron-args"].export(gpt3()).settings)
    assert {name: written.get(name) for name in GPT3} == GPT3
    assert written["vocab-size"] == "51200"


def test_the_script_is_one_a_shell_reads(tmp_path):
    script = tmp_path / "train.sbatch"
    script.write_text(TARGETS["slurm"].export(gpt3()).text, encoding="utf-8")
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
    found = import_files([(script.name, script.read_bytes())], Diagnostics())
    facts = {path: fact.value for path, fact in found.facts.items()}
    assert (facts["cluster.nodes"], facts["cluster.accelerators"], facts["plan.pipeline"]) == (128, 1024, 16)


def test_toml_and_json_are_what_they_say():
    assert tomllib.loads(TARGETS["torchtitan"].export(gpt3()).text)["parallelism"]["tensor_parallel_degree"] == 8
    config = json.loads(TARGETS["deepspeed"].export(gpt3()).text)
    sizes = [config[name] for name in ("train_micro_batch_size_per_gpu", "gradient_accumulation_steps")]
    assert config["train_batch_size"] == sizes[0] * sizes[1] * gpt3().data


def test_commands_and_exporters_are_the_same():
    assert export.TARGETS.keys() == TARGETS.keys()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["gpt3-175b-a100", "deepseek-v3-h800"])
def test_golden(target, name, run, golden):
    assert run("export", target, name).text == golden


@pytest.mark.parametrize("form", ["plain", "csv", "markdown"])
def test_other_formats(form, run):
    done = run("export", "deepspeed", "llama-3-8b-h100", "--format", form)
    assert done.code == 0
    assert "train_batch_size" in done.out


@pytest.mark.parametrize("target", TARGETS)
def test_document(target, run):
    done = run("export", target, "llama-3-8b-h100", "--format", "json")
    content = json.loads(done.out)
    Draft7Validator(schema_of("result")).validate(content)
    plain = run("export", target, "llama-3-8b-h100", "--quiet")
    assert content["result"]["text"] == plain.out
