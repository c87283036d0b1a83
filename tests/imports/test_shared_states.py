"""Hybrid sharding in every dialect: copies of states, groups that share one, or the ranks of a node."""

import json
from pathlib import Path

import pytest

from aiplan.adapters.exports.registry import TARGETS
from aiplan.declare import Diagnostics
from aiplan.planning.imports import import_files

HUB = json.loads((Path(__file__).parents[1] / "data" / "hub_configs.json").read_text(encoding="utf-8"))
LLAMA = ("config.json", HUB["llama-3.1-8b"]["config"])
FSDP = "distributed_type: FSDP\nmixed_precision: bf16\n"
TITAN = '[model]\nname = "llama3"\nflavor = "8B"\n[training]\nlocal_batch_size = 1\nseq_len = 8192\n[parallelism]\n'
ARGS = (
    "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --vocab-size 512 --max-position-embeddings 64 "
    "--seq-length 64 --micro-batch-size 1 --use-distributed-optimizer --num-distributed-optimizer-instances 4"
)
MAXTEXT = "model_name: llama3.1-8b\nper_device_batch_size: 1\nmax_target_length: 8192\nici_fsdp_parallelism: -1\n"
FOUNDRY = (
    "model: {name: mpt_causal_lm, d_model: 64, n_heads: 4, n_layers: 2, vocab_size: 512}\nmax_seq_len: 64\n"
    "global_train_batch_size: 64\ndevice_train_microbatch_size: 1\nfsdp_config: {sharding_strategy: HYBRID_SHARD}\n"
    "tokenizer: {}\noptimizer: {name: adamw}\nprecision: amp_bf16\nmax_duration: 10ba\n"
)
FILES = {
    "copies and shards": (
        "a.yaml",
        FSDP + "parallelism_config: {dp_replicate_size: 2, dp_shard_size: 4, tp_size: 2}\n",
        4,
    ),
    "within a node": (
        "a.yaml",
        FSDP + "num_machines: 4\nnum_processes: 32\nfsdp_config: {fsdp_sharding_strategy: HYBRID_SHARD}\n",
        8,
    ),
    "torchtitan": ("job.toml", f"{TITAN}data_parallel_replicate_degree = 4\ndata_parallel_shard_degree = 8\n", 8),
    "torchtitan, with context": (
        "job.toml",
        f"{TITAN}data_parallel_replicate_degree = 4\ndata_parallel_shard_degree = 8\ncontext_parallel_degree = 2\n",
        16,
    ),
    "megatron": ("train.args", f"{ARGS} --tensor-model-parallel-size 2 --world-size 64", 8),
    "MiCS": (
        "ds.json",
        json.dumps({"zero_optimization": {"stage": 3, "mics_shard_size": 8}, "train_batch_size": 8}),
        8,
    ),
}
LATER = {
    "torchtitan": ("job.toml", f"{TITAN}data_parallel_replicate_degree = 4\ndata_parallel_shard_degree = -1\n", 4),
    "megatron": ("train.args", ARGS, 4),
    "maxtext": ("run.yml", f"{MAXTEXT}dcn_data_parallelism: 4\n", 4),
    "node": ("run.yaml", FOUNDRY, 8),
}
"""Files that say nothing of a size: how many ranks share a copy follows from 16 accelerators, or 8 a node."""


@pytest.mark.parametrize("name", FILES)
def test_how_many_ranks_share_a_copy(name, read):
    path, text, shards = FILES[name]
    found = read((path, text)).imported
    assert found.facts["plan.shards"].value == shards
    assert not [one for one in found.open if one.path == "plan.shards"]
    assert not [one.key for ledger in found.ledgers for one in ledger.skipped if one.matters]


@pytest.mark.parametrize("name", LATER)
def test_without_a_size_it_is_open_and_follows_from_one(name, read, run, folder):
    path, text, shards = LATER[name]
    assert [one.path for one in read((path, text)).imported.open] == ["plan.shards"]
    (folder / path).write_text(text, encoding="utf-8")
    words = ("--set", "cluster.node=dgx-h100", "--set", "cluster.nodes=2", "--set", "workload.global_batch=64")
    done = run("estimate", path, *words, "--quiet", "--format", "json")
    assert done.code == 0, done.err
    plan = json.loads(done.out)["inputs"]["values"]
    assert plan["plan.data"]["value"] / plan["plan.copies"]["value"] == shards


def test_copies_that_do_not_divide(read):
    found = read(("train.args", f"{ARGS} --world-size 6"))
    assert found.imported is None
    assert "6 ranks do not divide into 4 copies" in "\n".join(found.problems)


def test_one_copy_is_plain_sharding(read):
    one = read(("job.toml", f"{TITAN}data_parallel_replicate_degree = 1\ndata_parallel_shard_degree = 8\n")).imported
    assert "plan.shards" not in one.facts
    whole = read(("job.toml", f"{TITAN}data_parallel_replicate_degree = 8\ndata_parallel_shard_degree = 1\n")).imported
    assert "plan.shards" not in whole.facts
    assert whole.facts["plan.zero"].value == 0


@pytest.mark.parametrize("target", ["megatron-args", "torchtitan", "deepspeed"])
@pytest.mark.parametrize(("zero", "tensor", "context"), [(1, 2, 1), (3, 1, 1), (3, 2, 2), (2, 1, 1)])
def test_what_is_exported_comes_back(target, zero, tensor, context, ask):
    if (target == "torchtitan" and zero == 1) or (target == "deepspeed" and zero != 3):
        return  # no word for it
    tree = {
        "model": "llama-3.1-8b",
        "workload": {"sequence_length": 8192, "global_batch": 64},
        "cluster": {"node": "dgx-h100", "nodes": 4},
        "plan": {"zero": zero, "tensor": tensor, "context": context, "shards": 8},
        "software": {"torchtitan": "torchtitan", "deepspeed": "deepspeed"}.get(target, "megatron-core"),
    }
    scenario, _ = ask.resolved(tree)
    answer = TARGETS[target].export(scenario)
    assert not [remark for remark in answer.remarks if "share states" in remark]
    name = {"megatron-args": "train.args", "torchtitan": "job.toml", "deepspeed": "ds.json"}[target]
    sized = ("size.yaml", "distributed_type: MULTI_GPU\nnum_processes: 32\nnum_machines: 4\n")
    found = import_files(
        [(name, answer.text.encode()), *([(sized[0], sized[1].encode())] * (target == "megatron-args"))], Diagnostics()
    )
    assert found.facts["plan.shards"].value == 8
