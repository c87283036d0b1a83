"""Several files as one scenario: they add to each other, and contradictions are errors with both places."""

import json
from pathlib import Path

import pytest

FILES = Path(__file__).parent / "files"
HUB = json.loads((Path(__file__).parents[1] / "data" / "hub_configs.json").read_text(encoding="utf-8"))
LLAMA = ("config.json", HUB["llama-7b"]["config"])
DEEPSPEED = {
    "zero_optimization": {"stage": 2},
    "bf16": {"enabled": True},
    "train_micro_batch_size_per_gpu": 2,
    "gradient_accumulation_steps": 4,
}
ACCELERATE = (
    "distributed_type: DEEPSPEED\nnum_processes: 16\nmixed_precision: bf16\ndeepspeed_config: {zero_stage: 2}\n"
)


def test_model_batch_and_processes_from_three_files(read):
    found = read(LLAMA, ("ds.json", DEEPSPEED), ("accelerate.yaml", ACCELERATE)).imported
    assert found.total == 6738415616
    facts = {path: fact.value for path, fact in found.facts.items()}
    assert facts["cluster.accelerators"] == 16
    assert facts["cluster.nodes"] == 2
    assert facts["workload.global_batch"] == 2 * 4 * 16
    assert facts["plan.zero"] == 2
    assert [kind.name for kind in found.kinds] == ["hf-config", "deepspeed-json", "accelerate-yaml"]


def test_what_a_file_states_counts_more_than_a_default(read):
    silent = "distributed_type: DEEPSPEED\nnum_processes: 16\n"
    for files in ((("a.yaml", silent), ("ds.json", DEEPSPEED)), (("ds.json", DEEPSPEED), ("a.yaml", silent))):
        assert read(*files).fact("workload.precision") == "bf16"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"zero_optimization": {"stage": 3}}, "plan.zero"),
        ({"bf16": {"enabled": False}, "fp16": {"enabled": True}}, "workload.precision"),
        ({"gradient_accumulation_steps": 8}, "accumulation"),
    ],
)
def test_contradictions_name_both_places(change, path, read):
    told = ACCELERATE + "gradient_accumulation_steps: 4\n"
    found = read(("ds.json", DEEPSPEED | change), ("accelerate.yaml", told))
    assert found.codes == ["AIP342"]
    item = found.items[0]
    assert path in item.problem
    assert item.mark.file == "accelerate.yaml"
    assert "ds.json:" in item.expected


def test_a_batch_that_is_not_the_product(read):
    found = read(("ds.json", DEEPSPEED | {"train_batch_size": 256}), ("accelerate.yaml", ACCELERATE))
    assert found.codes == ["AIP301"], "256 / (2 x 4) = 32 replicas, and there are 16 processes"


def test_a_shape_and_a_name(read):
    titan = (FILES / "titan.toml").read_text(encoding="utf-8")
    found = read(LLAMA, ("job.toml", titan))
    assert found.imported.total == 6738415616
    assert "model" not in found.imported.facts
    assert found.codes == ["AIP344"]


def test_nodes_follow_from_processes_of_a_node(read):
    base = "--num-layers 2 --hidden-size 64 --num-attention-heads 4 --vocab-size 128"
    for text, nodes in (
        ("--world-size 24", 3),
        ("--nnodes 4 --nproc_per_node 4", 4),
        ("--world-size 12 --gpus-per-node 4", 3),
    ):
        facts = read(("a.args", f"{base} {text}")).imported.facts
        assert facts["cluster.nodes"].value == nodes
