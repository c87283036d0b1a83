"""What people write in a table of runs: one thing in many words, and nothing taken for what it is not."""

from pathlib import Path

import pytest

import aiplan
from aiplan.adapters import run_words as words
from aiplan.adapters.run_words import (
    accelerator_of,
    network_of,
    other_memory,
    recompute_of,
    shards_of,
    zero_of,
)
from aiplan.adapters.runs_csv import scenario_of

CATALOG = Path(aiplan.__file__).parent.parent / "hardware_catalog"
ENTRIES = sorted(path.stem for path in (CATALOG / "accelerators").glob("*.yaml"))
ROW = {
    "layers": "32",
    "hidden": "4096",
    "heads": "32",
    "ffn_hidden": "14336",
    "vocab": "128256",
    "seq_len": "8192",
    "gated_mlp": "yes",
    "accelerator": "H100",
    "n_gpus": "64",
    "global_batch": "128",
}


def read(**cells):
    return scenario_of(ROW | cells)


@pytest.mark.parametrize("ident", ENTRIES)
def test_an_id_of_the_catalog_is_itself(ident):
    assert accelerator_of(ident) == ident


@pytest.mark.parametrize(
    ("name", "ident"),
    [
        ("nvidia_a100-sxm4-80gb", "a100-sxm-80gb"),
        ("A100-80G", "a100-sxm-80gb"),
        ("NVIDIA A100-SXM4-40GB", "a100-sxm-40gb"),
        ("A100 40G", "a100-sxm-40gb"),
        ("DGX-H100", "h100-sxm"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm"),
        ("H100-SXM5-80GB", "h100-sxm"),
        ("H100 SXM, NVLink", "h100-sxm"),
        ("H100 NVL", "h100-nvl"),
        ("H100 96GB HBM2e", "h100-sxm-96gb-hbm2e"),
        ("NVIDIA Hopper H100 64GB HBM2", "h100-sxm-96gb-hbm2e"),
        ("GH200", "gh200"),
        ("NVIDIA GH200 480GB", "gh200"),
        ("NVIDIA H200 SXM (141 GB)", "h200"),
        ("H20-96GB", "h20"),
        ("GB200 NVL72", "gb200"),
        ("AMD Instinct MI300X", "mi300x"),
        ("MI250", "mi250x"),
        ("V100-SXM3-32GB", "v100-sxm3-32gb"),
        ("Tesla V100-PCIE-16GB", "v100-pcie-16gb"),
        ("TPU v5 lite", "tpu-v5e"),
        ("TPU v5p-128", "tpu-v5p"),
        ("Trillium", "tpu-v6e"),
        ("AWS Trainium1 (trn1.32xlarge)", "trainium1"),
        ("Trainium 2", "trainium2"),
        ("Intel Gaudi 2", "gaudi2"),
        ("Gaudi-3", "gaudi3"),
        ("Ascend 910B", "ascend-910b3"),
        ("Ascend 910B1", "ascend-910b1"),
        ("L40S", "l40s"),
        ("RTX 4090", "rtx-4090"),
        ("h100-of-ours", "h100-of-ours"),
        ("acme_gb200", "acme_gb200"),
        ("abacus-9000", "abacus-9000"),
        ("A10G", "A10G"),
    ],
)
def test_names_of_accelerators(name, ident):
    assert accelerator_of(name) == ident


@pytest.mark.parametrize(
    ("name", "said"),
    [("NVIDIA A100 64GB", "64 GB"), ("A100 80G", ""), ("H100 64 GB", "64 GB"), ("H100", ""), ("H200 (141 GB)", "")],
)
def test_memory_that_is_not_the_entrys_is_said(name, said):
    assert other_memory(name, accelerator_of(name)) == said
    assumed = read(accelerator=name)[1]
    assert any(said in text for text in assumed if text.startswith("accelerator ")) == bool(said)


@pytest.mark.parametrize(
    ("text", "accelerator", "per_node", "network"),
    [
        ("4 * 100Gb RoCE", "a100-sxm-80gb", 8, ("roce-100g", 4)),
        ("8x NDR 400 Gb/s per node", "h100-sxm", 8, ("ib-ndr", 8)),
        ("InfiniBand NDR", "h200", 4, ("ib-ndr", 4)),
        ("4x NDR200 InfiniBand per node", "h100-sxm", 4, ("ib-ndr200", 4)),
        ("4x 100 Gb/s InfiniBand HDR100 per node", "a100-sxm-80gb", 4, ("ib-hdr100", 4)),
        ("400 Gb/s RoCE", "h100-sxm", 8, ("roce-400g", 8)),
        ("400Gbps", "h100-sxm", 8, ("ib-ndr", 8)),
        ("400Gbps", "a100-sxm-80gb", 8, ("ib-hdr", 2)),
        ("800 Gbps", "h100-sxm", 8, ("ib-ndr", 2)),
        ("800 Gb/s", "b300", 8, ("ib-xdr", 8)),
        ("3.2 Tb/s", "h100-sxm", 8, ("ib-ndr", 8)),
        ("200 Gb/s per node", "h100-sxm", 8, ("ib-hdr", 1)),
        ("3x 100GbE RoCE per card", "gaudi2", 8, ("roce-100g", 24)),
        ("EFA", "a100-sxm-40gb", 8, ("efa-p4d", 4)),
        ("EFA (AWS p5)", "h100-sxm", 8, ("efa-p5", 32)),
        ("Slingshot-11", "mi250x", 8, ("slingshot-11", 4)),
        ("8x 200 Gb/s GPUDirect-TCPXO", "h100-sxm", 8, ("gcp-a3-mega", 8)),
        ("8x EDR 100 Gb/s IB per DGX-2H", "v100-sxm3-32gb", 16, ("ib-edr", 8)),
    ],
)
def test_stated_networks(text, accelerator, per_node, network):
    assert network_of(text, accelerator, per_node) == (*network, True)


@pytest.mark.parametrize(
    ("accelerator", "network"),
    [
        ("A100", "ib-hdr"),
        ("H100", "ib-ndr"),
        ("B300", "ib-xdr"),
        ("MI300X", "roce-400g"),
        ("TPU v5p", "tpu-dcn-200g"),
        ("trn1", "efa-trn1"),
        ("GH200", "slingshot-11"),
    ],
)
def test_a_network_that_is_not_stated_is_that_of_its_time_and_said(accelerator, network):
    values, assumed = read(accelerator=accelerator, inter_node="n/a")
    assert values["cluster"]["network"]["fabric"] == network
    assert any(text.startswith("inter_node") and network in text for text in assumed)
    alone = read(accelerator=accelerator, n_gpus="8")[1]
    assert not any(text.startswith("inter_node") for text in alone)


def test_every_network_is_in_the_catalog():
    named = {net for table in (words.OWN_NETWORKS, words.CLOUDS, words.FABRICS) for _, net, _ in table}
    named |= {*words.ETHERNET.values(), *words.INFINIBAND.values(), *(net for _, net in words.BY_NAME)}
    assert named <= {path.stem for path in (CATALOG / "networks").glob("*.yaml")}
    assert {ident for _, ident in words.ACCELERATORS} <= set(ENTRIES)


@pytest.mark.parametrize(
    ("text", "zero", "shards"),
    [
        ("ZeRO-1 (distributed optimizer)", 1, None),
        ("ZeRO stage 3", 3, None),
        ("zero_stage=2", 2, None),
        ("2", 2, None),
        ("none (ZeRO-0)", 0, None),
        ("FSDP2", 3, None),
        ("FSDP FULL_SHARD", 3, None),
        ("fully_shard", 3, None),
        ("FSDP SHARD_GRAD_OP", 2, None),
        ("FSDP, no re-shard after forward", 2, None),
        ("FSDP/HSDP", 3, None),
        ("HSDP", 3, 8),
        ("FSDP HYBRID_SHARD", 3, 8),
        ("FSDP (ZeRO-3), 64 shards", 3, 64),
        ("FSDP (ZeRO-3), 128-way shard x 4-way replicate", 3, 128),
        ("ZeRO-1 within 4 ranks (zero1=4)", 1, 4),
        ("ZeRO-1 (zero1=-1)", 1, None),
        ("distributed optimizer", 1, None),
        ("DDP", 0, None),
        ("no", 0, None),
        ("some of it", None, None),
        ("", None, None),
    ],
)
def test_descriptions_of_sharding(text, zero, shards):
    assert (zero_of(text), shards_of(text, 8)) == (zero, shards)


@pytest.mark.parametrize(("tensor", "shards"), [("1", 8), ("4", 2), ("8", None)])
def test_hybrid_sharding_stays_in_a_node(tensor, shards):
    values, assumed = read(zero_stage_or_fsdp="HSDP", tp=tensor)
    assert values["plan"].get("shards", 1) == (shards or 1)
    assert any(text.startswith("copies of what is sharded") for text in assumed)


@pytest.mark.parametrize(("shards", "said"), [("48 shards", False), ("64 shards", False), ("16 shards", True)])
def test_shards_that_do_not_divide_or_are_all_ranks_are_no_copies(shards, said):
    values, assumed = read(zero_stage_or_fsdp=f"FSDP, {shards}")
    assert ("shards" in values["plan"]) == said
    assert any(text.startswith("copies") for text in assumed) == said


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("full", "full"),
        ("full (block)", "full"),
        ("Full AC", "full"),
        ("True", "full"),
        ("activation checkpointing", "full"),
        ("selective", "selective"),
        ("SAC", "selective"),
        ("core_attn", "selective"),
        ("AC selective (op)", "selective"),
        ("No AC", "none"),
        ("False", "none"),
        ("none", "none"),
        ("(custom remat policy)", None),
    ],
)
def test_descriptions_of_recomputation(text, mode):
    assert recompute_of(text) == mode


@pytest.mark.parametrize(
    ("text", "precision"),
    [
        ("bfloat16", "bf16"),
        ("BF_16", "bf16"),
        ("bf16-mixed", "bf16"),
        ("bf16 autocast", "bf16"),
        ("fp8 (delayed scaling)", "fp8"),
        ("float8 rowwise", "fp8"),
        ("MXFP8", "mxfp8"),
        ("NVFP4", "nvfp4"),
        ("float16", "fp16"),
        ("half", "fp16"),
        ("tf32", "tf32"),
        ("float32", "fp32"),
    ],
)
def test_precisions(text, precision):
    values, assumed = read(dtype=text)
    assert values["workload"]["precision"] == precision
    assert not any(item.startswith("dtype") for item in assumed)


@pytest.mark.parametrize(
    ("cells", "software"),
    [
        ({"framework": "torchtitan (PyTorch FSDP2)", "year": "2025"}, "torchtitan"),
        ({"framework": "OLMo-core"}, "torchtitan"),
        ({"framework": "PyTorch FSDP2 with torch.compile"}, "torchtitan"),
        ({"framework": "Accelerate", "overlap_flags": "torch.compile"}, "torchtitan"),
        ({"framework": "PyTorch FSDP2, no compile"}, "pytorch-fsdp"),
        ({"framework": "HF Accelerate + FSDP"}, "pytorch-fsdp"),
        ({"framework": "NeMo AutoModel"}, "pytorch-fsdp"),
        ({"framework": "NeMo 2.0 (Megatron-Core)"}, "nemo"),
        ({"framework": "Primus (Megatron-LM)", "year": "2026"}, "megatron-core"),
        ({"framework": "Megatron-LM", "year": "2021"}, "megatron-lm-2021"),
        ({"framework": "MCore v0.12"}, "megatron-core"),
        ({"framework": "XTuner (DeepSpeed)"}, "deepspeed"),
        ({"framework": "Levanter"}, "maxtext"),
        ({"framework": "our own", "zero_stage_or_fsdp": "FSDP"}, "pytorch-fsdp"),
        ({"framework": "our own", "zero_stage_or_fsdp": "ZeRO-3"}, "deepspeed"),
        ({"framework": "our own"}, "other"),
        ({}, "other"),
    ],
)
def test_software_by_name_or_else_by_how_it_shards(cells, software):
    values, assumed = read(**cells)
    assert values["software"] == software
    unknown = cells.get("framework", "our own") == "our own"
    assert (f"framework {software}" in assumed) == unknown


@pytest.mark.parametrize(
    ("cell", "chunks"),
    [("", 1), ("-", 1), ("1F1B", 1), ("4", 4), ("1F1B interleaved 4", 4), ("VPP=2", 2), ("interleaved (2 chunks)", 2)],
)
def test_schedules(cell, chunks):
    assert read(vpp=cell, pp="4")[0]["plan"]["interleave"] == chunks


@pytest.mark.parametrize("blank", ["", " ", "-", "N/A", "not stated", "?", "\u2014"])
def test_cells_that_say_nothing(blank):
    values, assumed = read(micro_batch=blank, recompute=blank, framework=blank)
    assert values["plan"]["micro_batch"] == 1
    assert {"micro_batch 1", "recompute none", "framework other"} <= set(assumed)


def test_thousands_may_have_commas():
    values, _ = read(global_batch="1,024", measured_tokens_per_s_per_gpu="12,345.5")
    assert values["workload"]["global_batch"] == 1024
    assert values["measured"]["tokens_per_s_per_gpu"] == 12345.5


@pytest.mark.parametrize(("count", "gated"), [("8.03", True), ("6.2", False)])
def test_gated_units_follow_from_the_count_of_parameters(count, gated):
    values, assumed = read(gated_mlp="", kv_heads="8", n_params_b=count)
    assert values["model"]["gated"] == gated
    assert f"gated_mlp {'yes' if gated else 'no'}, which n_params_b agrees with" in assumed


@pytest.mark.parametrize(
    ("cell", "kernel"),
    [
        ("yes", "flash"),
        ("FA2", "flash"),
        ("FlashAttention-3", "flash"),
        ("SDPA", "flash"),
        ("no", "fused-softmax"),
        ("eager", "unfused"),
        ("", None),
    ],
)
def test_attention_kernels(cell, kernel):
    assert read(flash_attention=cell)[0]["plan"]["attention"] == kernel


NAMED = dict.fromkeys(("layers", "hidden", "heads", "ffn_hidden", "vocab", "gated_mlp"), "")


@pytest.mark.parametrize("name", ["Llama-3.1-405B", "llama 3.1 405b", "Llama 3.1 405B (Meta)"])
def test_a_row_without_a_shape_has_that_of_the_model_it_names(name):
    values, assumed = read(model_name=name, **NAMED, pp="8", tp="8", n_gpus="64")
    assert values["model"] == "llama-3.1-405b"
    assert "model llama-3.1-405b of the library" in assumed
    assert values["plan"]["count_embedding_as_layer"]  # 126 layers and both ends over 8 stages


def test_a_shape_that_is_stated_wins_over_the_name():
    values, _ = read(model_name="Llama-3.1-405B")
    assert values["model"]["layers"] == 32


def test_an_unknown_model_without_a_shape_is_told_as_such():
    values, _ = read(model_name="our own", **NAMED)
    assert values["model"]["layers"] is None
