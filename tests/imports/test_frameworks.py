"""Files of training frameworks: what each says about model, batch and layout, and the traps in them."""

import json
from pathlib import Path

import pytest

FILES = Path(__file__).parent / "files"
CASES = {
    "mixtral.args": (
        "megatron-args",
        46702792704,
        {
            "tensor": 1,
            "pipeline": 4,
            "expert": 8,
            "expert_tensor": 1,
            "micro_batch": 1,
            "zero": 1,
            "dispatch": "all-to-all",
        },
        {"workload.global_batch": 256, "cluster.accelerators": 64, "workload.tokens": 1000 * 256 * 4096},
    ),
    "gpt.sh": (
        "megatron-args",
        174615846912,
        {
            "tensor": 8,
            "pipeline": 4,
            "interleave": 8,
            "recompute": "selective",
            "sequence_parallel": True,
            "attention": "flash",
            "zero": 0,
        },
        {
            "workload.global_batch": 384,
            "cluster.accelerators": 96,
            "cluster.nodes": 12,
            "workload.tokens": 146_484_375 * 2048,
        },
    ),
    "gpt_args.yaml": (
        "megatron-yaml",
        15628775424,
        {"tensor": 8, "micro_batch": 4, "zero": 1, "overlap.gradients": True, "overlap.parameters": False},
        {"workload.global_batch": 1152, "workload.precision": "bf16"},
    ),
    "nemo.yaml": (
        "nemo-yaml",
        5047558144,
        {"tensor": 1, "micro_batch": 4, "zero": 1, "overlap.gradients": True},
        {"workload.global_batch": 2048, "cluster.accelerators": 128, "workload.sequence_length": 2048},
    ),
    "bridge.yaml": (
        "nemo-yaml",
        30532122624,
        {"expert": 16, "expert_tensor": 1, "zero": 1, "dispatch": "hybridep"},
        {"workload.global_batch": 1024, "software": "megatron-bridge"},
    ),
    "pythia.yml": (
        "gptneox-yml",
        6857302016,
        {"tensor": 2, "pipeline": 1, "zero": 1, "recompute": "full", "micro_batch": 8},
        {"workload.precision": "fp16", "model.vocab": 50432},
    ),
    "neox_llama.yml": ("gptneox-yml", 68976648192, {"tensor": 1}, {"model.ffn": 28672}),
    "titan.toml": (
        "torchtitan-toml",
        405853388800,
        {"tensor": 8, "zero": 3, "recompute": "full", "micro_batch": 2, "overlap.tensor": True},
        {"workload.precision": "fp8", "workload.sequence_length": 8192, "model": "llama-3.1-405b"},
    ),
    "nano.yaml": (
        "nanotron-yaml",
        2315309056,
        {"data": 8, "tensor": 2, "micro_batch": 64, "zero": 0, "gradient_precision": "fp32", "sequence_parallel": True},
        {"workload.global_batch": 512, "cluster.accelerators": 16, "workload.tokens": 70_000 * 512 * 1024},
    ),
    "foundry.yaml": (
        "llmfoundry-yaml",
        6658859008,
        {"zero": 3, "recompute": "full"},
        {"workload.global_batch": 1024, "workload.tokens": 63900 * 1024 * 2048, "model.positions": 2048},
    ),
    "maxtext.yml": ("maxtext-yml", 46702792704, {}, {"model.experts.count": 8}),
    "zero3.json": (
        "deepspeed-json",
        None,
        {"zero": 3, "micro_batch": 4, "data": 32, "overlap.gradients": True},
        {"workload.global_batch": 256, "workload.precision": "bf16", "workload.optimizer": "adam"},
    ),
    "accelerate.yaml": (
        "accelerate-yaml",
        None,
        {"tensor": 2, "data": 4, "zero": 3, "recompute": "none"},
        {"cluster.accelerators": 8, "workload.precision": "bf16"},
    ),
}
"""Kind, parameters as published or counted elsewhere, plan and other fields of each file."""


@pytest.mark.parametrize("name", CASES)
def test_file(name, read):
    kind, total, plan, others = CASES[name]
    found = read((name, (FILES / name).read_text(encoding="utf-8")))
    assert found.imported is not None, found.problems
    assert found.imported.kinds[0].name == kind
    assert found.imported.total == total
    assert {field: value for field, value in found.plan().items() if field in plan} == plan
    assert {path: found.fact(path) for path in others} == others
    assert not [one.key for one in found.imported.ledgers[0].skipped if one.matters]


def args(text, read, **more):
    return read(
        ("train.args", "--num-layers 80 --hidden-size 8192 --num-attention-heads 64 --vocab-size 32000 " + text), **more
    )


def test_a_gate_without_a_width_is_not_the_network_on_the_label(read):
    """SwiGLU without --ffn-hidden-size: 21,824, not the 28,672 of the published 70B."""
    text = (
        "--group-query-attention --num-query-groups 8 --swiglu --normalization RMSNorm --position-embedding-type rope "
        "--untie-embeddings-and-output-weights --tensor-model-parallel-size 4 --fp16"
    )
    found = args(text, read).imported
    assert (found.model.ffn, found.model.vocab, found.total) == (21824, 32256, 55522748416)
    problems = " ".join(f"{caution.problem} {caution.hint}" for caution in found.cautions)
    assert "21,824" in problems
    assert "llama-2-70b" in problems


def test_heads_without_groups(read):
    assert args("--group-query-attention", read).imported.model.kv_heads == 1
    assert args("--num-query-groups 8", read).imported.model.kv_heads == 8
    assert args("", read).imported.model.kv_heads == 64


def test_vocabulary_is_padded_for_the_tensor_width(read):
    text = "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --vocab-size 50257 --tensor-model-parallel-size"
    sizes = {tensor: read(("a.args", f"{text} {tensor}")).imported.model.vocab for tensor in (1, 8)}
    assert sizes == {1: 50304, 8: 51200}


@pytest.mark.parametrize(
    ("text", "layers", "interleaved"),
    [("1", None, False), ("2", 40, True), ("([0]*3+[1]*77)", 77, False), ("[0,1]*40", 40, True)],
)
def test_layers_with_experts(text, layers, interleaved, read):
    found = args(f"--num-experts 8 --moe-ffn-hidden-size 1024 --moe-layer-freq {text}", read).imported.model
    assert (found.experts.layers, found.experts.interleaved) == (layers, interleaved)
    assert (found.ffn is None) is (layers is None)


@pytest.mark.parametrize("text", ["0", "([0]*3+[1]*7)", "[2]*80", "__import__('os')", "[1]*99999"])
def test_layers_with_experts_that_make_no_sense(text, read):
    assert args(f'--num-experts 8 --moe-layer-freq "{text}"', read).codes == ["AIP103"]


def test_stages_of_their_own(read):
    text = "--pipeline-model-parallel-size 8 --decoder-first-pipeline-num-layers 9 --decoder-last-pipeline-num-layers 5"
    assert args(text, read).plan()["stage_layers"] == [9, 11, 11, 11, 11, 11, 11, 5]
    assert args("--pp-partition-method type:transformer|embedding", read).plan()["count_embedding_as_layer"] is True


SHAPE = "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --vocab-size 128"


def test_arguments_behind_a_condition_are_not_taken_and_said(read):
    script = f"#!/bin/sh\nif [ $T = fp8 ]; then\n  A=(--fp8-format hybrid --lr 1)\nfi\nrun {SHAPE} --bf16 $A\n"
    found = read(("a.sh", script)).imported
    assert found.facts["workload.precision"].value == "bf16"
    assert ["--fp8-format" in caution.problem for caution in found.cautions if "condition" in caution.problem] == [True]
    assert [one.key for one in found.ledgers[0].skipped if one.matters] == ["--fp8-format"]


def test_a_variable_that_a_branch_changes_is_not_known(read):
    branches = "case $S in\n8B) LAYERS=32 ;;\n70B) LAYERS=80 ;;\nesac\n"
    rest = "--hidden-size 64 --num-attention-heads 4 --tensor-model-parallel-size $TP"
    script = f"#!/bin/sh\nTP=4\nif true; then TP=4; fi\n{branches}run --num-layers $LAYERS {rest}\n"
    found = read(("a.sh", script))
    assert found.codes == ["AIP103"]
    assert "$LAYERS" in found.problems[0]


@pytest.mark.parametrize(
    ("text", "value"), [("N - 1", 15), ("(N+2)*3/4", 13), ("$N%5", 1), ("2*${N}*3", 96), ("-N+20", 4), ("N", 16)]
)
def test_sums_of_variables(text, value, read):
    found = read(("a.sh", f"#!/bin/sh\nN=16\nM=$(({text}))\nrun {SHAPE} --micro-batch-size $M\n"))
    assert found.plan()["micro_batch"] == value


@pytest.mark.parametrize("text", ["N/0", "X", "N**2", "(N", "N -", "9" * 40, "N;ls", "1/-1"])
def test_sums_that_are_none(text, read):
    found = read(("a.sh", f"#!/bin/sh\nN=16\nM=$(({text}))\nrun {SHAPE} --micro-batch-size $M\n"))
    assert found.imported is None or "plan.micro_batch" not in found.imported.facts


def test_options_of_the_batch_system_where_the_launcher_has_a_variable(read):
    options = "#SBATCH --nodes=48\n#SBATCH --gres=gpu:8\nN=$SLURM_NNODES\n"
    facts = read(("a.sh", f"#!/bin/bash\n{options}torchrun --nnodes $N pretrain_gpt.py {SHAPE}\n")).imported.facts
    assert (facts["cluster.nodes"].value, facts["cluster.accelerators"].value) == (48, 384)


def test_megatron_deepspeed_shards_by_itself_with_bf16(read):
    assert args("--deepspeed --zero-stage 0 --bf16", read).plan()["zero"] == 1
    assert args("--deepspeed --zero-stage 0 --fp16", read).plan()["zero"] == 0


def test_a_variable_without_a_value_is_named(read):
    found = read(("a.sh", "run --num-layers $DEPTH --hidden-size 64 --num-attention-heads 4"))
    assert found.codes == ["AIP103"]
    assert "$DEPTH" in found.problems[0]
    assert (found.items[0].mark.line, found.items[0].mark.column) == (1, 5)


@pytest.mark.parametrize(
    "script", ["pretrain_bert.py --num-layers 24", "pretrain_t5.py --num-layers 24", "pretrain_mamba.py"]
)
def test_other_scripts_are_refused(script, read):
    found = read(("run.sh", f"#!/bin/sh\ntorchrun {script} --hidden-size 64 --num-attention-heads 4\n"))
    assert found.codes == ["AIP340"]


def test_an_argument_given_again_counts_last(read):
    found = args("--micro-batch-size 2 --micro-batch-size 4", read)
    assert found.plan()["micro_batch"] == 4
    assert any("again" in one.why for one in found.imported.ledgers[0].skipped)


def test_bert_with_the_keys_of_a_gpt(read):
    text = (FILES / "nemo.yaml").read_text(encoding="utf-8").replace("megatron_gpt", "megatron_bert")
    assert read(("nemo.yaml", text)).codes == ["AIP340"]


def test_nothing_is_known_of_what_is_automatic(read):
    config = {
        "zero_optimization": {"stage": 3},
        "fp16": {"enabled": "auto"},
        "bf16": {"enabled": "auto"},
        "train_batch_size": "auto",
        "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": "auto",
    }
    found = read(("ds.json", config)).imported
    assert {entry.path for entry in found.open} == {
        "workload.precision",
        "workload.global_batch",
        "plan.micro_batch",
        "_accumulation",
    }
    assert not {"workload.precision", "workload.global_batch", "plan.micro_batch"} & found.facts.keys()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"train_batch_size": 250}, "AIP306"),
        ({"zero_optimization": {"stage": 4}}, "AIP103"),
        ({"fp16": {"enabled": True}}, "AIP342"),
        ({"optimizer": {"type": "Muon"}}, "AIP340"),
        ({"train_micro_batch_size_per_gpu": 0}, "AIP103"),
    ],
)
def test_deepspeed_that_cannot_be(change, code, read):
    base = json.loads((FILES / "zero3.json").read_text(encoding="utf-8"))
    assert read(("ds.json", base | change)).codes == [code]


def offloading(**devices):
    zero = {"stage": 3} | {f"offload_{name}": {"device": device} for name, device in devices.items()}
    return "ds.json", {"zero_optimization": zero, "train_micro_batch_size_per_gpu": 1}


@pytest.mark.parametrize(
    ("file", "offload"),
    [
        (offloading(optimizer="cpu"), "optimizer"),
        (offloading(optimizer="cpu", param="cpu"), "all"),
        (offloading(optimizer="none", param="none"), None),
        (("ds.json", {"zero_optimization": {"stage": 2, "cpu_offload": True}}), "optimizer"),
        (("a.yaml", "distributed_type: FSDP\nfsdp_config: {fsdp_offload_params: true}\n"), "all"),
        (("a.yaml", "distributed_type: FSDP\nfsdp_config: {fsdp_offload_params: false}\n"), None),
        (
            (
                "a.yaml",
                "distributed_type: DEEPSPEED\ndeepspeed_config: {zero_stage: 2, offload_optimizer_device: cpu}\n",
            ),
            "optimizer",
        ),
    ],
)
def test_states_on_the_host(file, offload, read):
    found = read(file).imported
    assert (found.facts["plan.offload"].value if "plan.offload" in found.facts else None) == offload
    assert not [one.key for ledger in found.ledgers for one in ledger.skipped if "offload" in one.key and one.matters]


@pytest.mark.parametrize("devices", [{"optimizer": "nvme"}, {"optimizer": "nvme", "param": "nvme"}, {"param": "cpu"}])
def test_offload_without_a_model_is_said(devices, read):
    found = read(offloading(**devices)).imported
    assert "plan.offload" not in found.facts
    assert ["not modelled" in caution.problem for caution in found.cautions] == [True] * len(devices)
    assert set(read(offloading(**devices), strict=True).codes) == {"AIP343"}


def test_a_device_that_is_none(read):
    assert read(offloading(optimizer="gpu9")).codes == ["AIP103"]


def test_megatron_on_the_host(read):
    found = args("--use-distributed-optimizer --optimizer-cpu-offload --use-precision-aware-optimizer", read).imported
    assert found.facts["plan.offload"].value == "optimizer"
    some = args("--use-distributed-optimizer --optimizer-cpu-offload --optimizer-offload-fraction 0.5", read).imported
    assert any("optimizer-offload-fraction" in caution.problem for caution in some.cautions)
    kept = args("--cpu-offloading", read).imported
    assert any("activations are kept" in caution.problem for caution in kept.cautions)


def test_a_model_by_its_name_on_the_hub(read):
    text = (FILES / "foundry.yaml").read_text(encoding="utf-8")
    model = "model: {name: hf_causal_lm, pretrained_model_name_or_path: meta-llama/Meta-Llama-3.1-8B}\n"
    found = read(("f.yaml", text[: text.index("model:")] + model + text[text.index("train_loader") :])).imported
    assert (found.facts["model"].value, found.total) == ("llama-3.1-8b", 8030261248)


def test_toml_errors_have_a_place(read):
    found = read(("t.toml", "[training]\nseq_len = 8192\nlocal_batch_size = = 3\n[model]\n"))
    assert found.codes == ["AIP101"]
    assert found.items[0].mark.line == 3
    bad = (
        (FILES / "titan.toml")
        .read_text(encoding="utf-8")
        .replace("tensor_parallel_degree = 8", "tensor_parallel_degree = 0")
    )
    wrong = read(("t.toml", bad))
    assert wrong.codes == ["AIP103"]
    assert wrong.items[0].mark.line == 16


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("apiVersion: v1\nkind: Pod\n---\nkind: Service\n", "AIP341"),
        ("# nThread 1 nGpus 8\n#  size  count  busbw\n", "AIP341"),
        ("a: 1\nb: 2\n", "AIP341"),
        ("rows:\n- {layers: 24}\n", "AIP341"),
        ("model: llama-7b\nworkload: {sequence_length: 1}\n", "AIP341"),
        ('{"peft_type": "LORA", "r": 8}', "AIP341"),
        ("", "AIP114"),
    ],
)
def test_other_files_are_named(text, code, read):
    assert read(("some.yaml", text)).codes == [code]
