"""Questions that people asked in public, with the answers that were settled there.

One function a case. Expected values and tolerances (relative unless said otherwise) are typed in from the address in
the docstring, or follow from its numbers by arithmetic.
"""

import json
from pathlib import Path

import pytest

from aiplan.catalog.load import Catalog
from aiplan.core import collectives, memory, pipeline, training, transformer
from aiplan.declare import Diagnostics, read
from aiplan.planning.estimate import estimate
from aiplan.scenario import legality
from aiplan.scenario.files import Place
from aiplan.scenario.load import resolve_tree

CATALOG = Catalog()
DAY = 86_400.0
HOUR = 3_600.0
GB, GIB, TIB = 1e9, 2.0**30, 2.0**40
TFLOP = 1e12
A100 = 312 * TFLOP


def resolved(tree):
    """Resolve a scenario given as a tree; return it, and what is wrong with it."""
    diagnostics = Diagnostics()
    place = Place("case.yaml", Path("case.yaml"))
    scenario = resolve_tree(read(json.dumps(tree).encode(), place.name, diagnostics), place, CATALOG, diagnostics)
    return scenario, diagnostics


def planned(tree):
    """Estimate a scenario given as a tree."""
    scenario, diagnostics = resolved(tree)
    diagnostics.raise_if_errors()
    return estimate([scenario])[0]


def counted(model, sequence, precision="bf16", accelerator="h100-sxm", **plan):
    """Estimate a model on one accelerator, for its counts of parameters and operations."""
    return planned(
        {
            "model": model,
            "workload": {"sequence_length": sequence, "global_batch": 1, "precision": precision},
            "cluster": {"accelerator": accelerator, "accelerators_per_node": 1, "nodes": 1},
            "plan": plan,
        }
    )


def refused(tree):
    """Return code, text and hint of every error of a scenario, joined."""
    scenario, diagnostics = resolved(tree)
    assert scenario is None
    return "\n".join(f"{item.code}: {item.problem} ({item.hint})" for item in diagnostics.items)


def peak(accelerator, dtype):
    """Dense peak of the catalog. [FLOP/s]"""
    diagnostics = Diagnostics()
    entry, _ = CATALOG.accelerator(accelerator, diagnostics)
    diagnostics.raise_if_errors()
    return entry.compute[dtype]


def mfu_6nd(parameters, tokens, gpu_seconds, peak_rate):
    """Utilisation of a whole training run by the 6 N D rule."""
    rate = training.model_flops_rate(transformer.flops_6nd(parameters), tokens / gpu_seconds)
    return training.utilisation(rate, peak_rate)


def gpt(layers, hidden, heads):
    """Shape of a GPT as Megatron-LM trains it."""
    return {
        "layers": layers,
        "hidden": hidden,
        "heads": heads,
        "ffn": 4 * hidden,
        "gated": False,
        "vocab": 51200,
        "positions": 2048,
        "tied": True,
        "norm": "layernorm",
        "bias": {"qkv": True, "attention_output": True, "mlp": True},
    }


LLAMA_32_1B = {
    "layers": 16,
    "hidden": 2048,
    "heads": 32,
    "kv_heads": 8,
    "head_dim": 64,
    "ffn": 8192,
    "vocab": 128256,
    "tied": True,
}
QWEN3_32B = {
    "layers": 64,
    "hidden": 5120,
    "heads": 64,
    "kv_heads": 8,
    "head_dim": 128,
    "ffn": 25600,
    "vocab": 151936,
    "qk_norm": "head",
}
DEEPSEEK_V3_MTP = {
    "layers": 61,
    "hidden": 7168,
    "heads": 128,
    "ffn": 18432,
    "vocab": 129280,
    "experts": {"count": 256, "top_k": 8, "ffn": 2048, "layers": 58, "shared_ffn": 2048, "router_bias": True},
    "latent_attention": {"query_rank": 1536, "key_value_rank": 512, "nope_dim": 128, "rope_dim": 64, "value_dim": 128},
    "mtp_layers": 1,
}

# ------------------------------------------------------------------ operations and utilisation


def test_megatron_llama3_8b():
    """Tokens/s/GPU to TFLOP/s/GPU as NVIDIA publishes it. https://github.com/NVIDIA-NeMo/Megatron-Bridge"""
    answer = counted("llama-3-8b", 8192, precision="fp8")
    per_token = answer["flops_per_token.megatron"]
    assert per_token == pytest.approx(51.470e9, rel=0.001)
    for tokens_per_s, tflops in ((14451, 743.8), (14079, 724.7)):
        assert training.model_flops_rate(per_token, tokens_per_s) / TFLOP == pytest.approx(tflops, rel=0.003)
    fp8_peak = answer.scenario.values["cluster.matmul_peak"].number
    utilisation = training.utilisation(training.model_flops_rate(per_token, 14451), fp8_peak)
    assert utilisation == pytest.approx(0.376, rel=0.005), "against the dense FP8 peak, not BF16's 989"


def test_kimi_k2():
    """384 experts and latent attention. https://github.com/NVIDIA-NeMo/Megatron-Bridge"""
    answer = counted("kimi-k2", 4096, accelerator="b200")
    per_token = answer["flops_per_token.megatron"]
    assert per_token == pytest.approx(204.48e9, rel=0.001)
    assert training.model_flops_rate(per_token, 5372) / TFLOP == pytest.approx(1098.5, rel=0.003)
    assert answer["parameters.total"] == 1_026_408_232_448


def test_torchtitan_8b():
    """The other convention: full attention square. https://github.com/pytorch/torchtitan/issues/341"""
    answer = counted("llama-3-8b", 8192)
    full, causal = answer["flops_per_token.full"], answer["flops_per_token.megatron"]
    assert full == pytest.approx(57.914e9, rel=0.0005)
    assert training.model_flops_rate(full, 5868) / TFLOP == pytest.approx(339.84, rel=0.0005)
    assert training.utilisation(full * 5868, 989 * TFLOP) == pytest.approx(0.3436, rel=0.001)
    assert training.utilisation(causal * 5868, 989 * TFLOP) == pytest.approx(0.3054, rel=0.001)
    assert answer["flops_per_token.6nd"] == pytest.approx(48.18e9, rel=0.001)


KORTHIKANTI = {
    "22B": (gpt(48, 6144, 64), 8, 4, {"tensor": 8, "micro_batch": 4}, 1.10, 0.4165, 0.4057),
    "175B": (gpt(96, 12288, 96), 64, 64, {"tensor": 8, "pipeline": 8, "interleave": 3}, 13.75, 0.5139, 0.5070),
    "530B": (gpt(105, 20480, 128), 280, 280, {"tensor": 8, "pipeline": 35, "interleave": 3}, 37.83, 0.5605, 0.5559),
    "1T": (gpt(128, 25600, 160), 512, 512, {"tensor": 8, "pipeline": 64}, 71.49, 0.5627, 0.5590),
}


@pytest.mark.parametrize("name", KORTHIKANTI)
def test_korthikanti_table5(name):
    """Step time to MFU, and the step time itself. https://arxiv.org/abs/2205.05198, table 5"""
    model, gpus, batch, plan, step_time, mfu_full, mfu_causal = KORTHIKANTI[name]
    answer = planned(
        {
            "model": model,
            "workload": {"sequence_length": 2048, "global_batch": batch, "precision": "fp16"},
            "cluster": {"node": "dgx-a100-80gb", "nodes": gpus // 8},
            "plan": plan | {"recompute": "selective", "sequence_parallel": True},
            "software": "megatron-lm-2022",
        }
    )
    rate = training.tokens_per_second(batch, 2048, step_time, gpus)
    for convention, published in (("full", mfu_full), ("megatron", mfu_causal)):
        flops = training.model_flops_rate(answer[f"flops_per_token.{convention}"], rate)
        assert training.utilisation(flops, peak("a100-sxm-80gb", "fp16")) == pytest.approx(published, rel=0.005)
    assert answer["step"] == pytest.approx(step_time, rel=0.20)


def test_packed_docs():
    """Eight documents of 1,024 tokens in one sequence attend within themselves only.

    https://github.com/NVIDIA/bionemo-framework/pull/1548
    """
    assert counted("llama-3-8b", 8192)["flops_per_token.megatron"] == pytest.approx(51.470e9, rel=0.001)
    assert counted("llama-3-8b", 1024)["flops_per_token.megatron"] == pytest.approx(45.833e9, rel=0.002)


def test_tied_embedding():
    """Tying changes parameters, not operations; a pipeline holds two copies.

    https://github.com/huggingface/trl/pull/6731, https://github.com/pytorch/torchtitan/pull/3225,
    https://github.com/bigscience-workshop/Megatron-DeepSpeed/issues/99
    """
    untied_shape = LLAMA_32_1B | {"tied": False}
    tied, untied = counted(LLAMA_32_1B, 4096), counted(untied_shape, 4096)
    assert counted("llama-3.2-1b", 4096)["parameters.total"] == tied["parameters.total"] == 1_235_814_400
    assert untied["parameters.total"] == 1_498_482_688
    assert tied["flops_per_token.megatron"] == untied["flops_per_token.megatron"]
    assert untied["memory.weights"] - tied["memory.weights"] == pytest.approx(2 * 128256 * 2048, rel=1e-9)

    def in_two_stages(model):
        return planned(
            {
                "model": model,
                "workload": {"sequence_length": 4096, "global_batch": 8},
                "cluster": {"node": "dgx-h100", "nodes": 1, "accelerators": 2},
                "plan": {"pipeline": 2},
            }
        )

    assert in_two_stages(LLAMA_32_1B)["memory.weights"] == in_two_stages(untied_shape)["memory.weights"]
    assert in_two_stages(LLAMA_32_1B)["step.data.embedding"] > 0.0
    assert in_two_stages(untied_shape)["step.data.embedding"] == 0.0


# ------------------------------------------------------------------ time, accelerator hours, peaks


def test_glm130b():
    """60 days on 96 nodes of 8 A100. https://github.com/THUDM/GLM-130B/issues/75"""
    mfu = mfu_6nd(130e9, 400e9, 768 * 60 * DAY, A100)
    assert mfu == pytest.approx(0.251, rel=0.01)
    step_time = transformer.flops_6nd(130e9) * 4224 * 2048 / (768 * 0.251 * A100)
    days = training.time_to_train(training.step_count(400e9, 4224, 2048), step_time) / DAY
    assert days == pytest.approx(60, rel=0.01)


@pytest.mark.parametrize(
    ("model", "hours", "mfu"),
    [("llama-2-7b", 184_320, 0.3906), ("llama-2-13b", 368_640, 0.3772), ("llama-2-70b", 1_720_320, 0.4284)],
)
def test_llama2_hours(model, hours, mfu):
    """Published A100 hours for 2 T tokens. https://github.com/OpenBMB/MiniCPM/issues/36"""
    parameters = counted(model, 4096)["parameters.total"]
    assert mfu_6nd(parameters, 2e12, hours * HOUR, peak("a100-sxm-80gb", "bf16")) == pytest.approx(mfu, rel=0.005)


def test_dsv3_hours():
    """Active parameters count, and the peak must be named. https://github.com/jax-ml/scaling-book/issues/31"""
    tokens, pretraining, everything = 14.8e12, 2.664e6 * HOUR, 2.788e6 * HOUR
    assert transformer.flops_6nd(37e9) * tokens == pytest.approx(3.2856e24, rel=0.001)
    assert mfu_6nd(37e9, tokens, pretraining, peak("h800-sxm", "bf16")) == pytest.approx(0.346, rel=0.005)
    assert mfu_6nd(37e9, tokens, everything, 1513 * TFLOP) == pytest.approx(0.216, rel=0.005)
    exact = counted(DEEPSEEK_V3_MTP, 4096)["flops_per_token.megatron"]
    rate = training.model_flops_rate(exact, tokens / pretraining)
    assert training.utilisation(rate, 989 * TFLOP) == pytest.approx(0.4057, rel=0.005)
    assert (
        counted("deepseek-v3", 4096)["parameters.active"]
        < 38e9
        < 671e9
        < counted("deepseek-v3", 4096)["parameters.total"]
    )


def test_opt175_hfu_mfu():
    """47 % is hardware utilisation, 34.6 % model utilisation. https://github.com/facebookresearch/metaseq"""
    gpu_seconds = 1024 * 33 * DAY
    assert training.utilisation(4.30e23 / gpu_seconds, A100) == pytest.approx(0.472, rel=0.01)
    assert transformer.flops_6nd(175e9) * 300e9 == pytest.approx(3.15e23, rel=0.001)
    assert mfu_6nd(175e9, 300e9, gpu_seconds, A100) == pytest.approx(0.346, rel=0.01)


@pytest.mark.parametrize(
    ("parameters", "tokens", "gpus", "hardware_tflops", "days"),
    [(175e9, 300e9, 1024, 140, 33.9), (1e12, 450e9, 3072, 163, 83.2)],
)
def test_sc21_days(parameters, tokens, gpus, hardware_tflops, days):
    """A hardware rate needs 8 N, a model rate 6 N. https://arxiv.org/abs/2104.04473, section 5.1"""
    forward = 2 * parameters
    per_token = transformer.training_flops(forward) + forward
    step_time = per_token * 1536 * 2048 / (gpus * hardware_tflops * TFLOP)
    time = training.time_to_train(training.step_count(tokens, 1536, 2048), step_time)
    assert time / DAY == pytest.approx(days, rel=0.01)


def test_blog_total_vs_per_gpu():
    """1.42e14 FLOP/s was the total of 16 accelerators. https://github.com/huggingface/blog/issues/1649"""
    assert training.utilisation(1.42e14 / 16, A100) == pytest.approx(0.0284, rel=0.01)


def test_peak_dense_sparse():
    """Dense, and of the right form factor. https://github.com/foundation-model-stack/fms-fsdp/issues/89,
    https://github.com/NVIDIA/Megatron-LM/issues/1276, https://github.com/qoofyk/LLM_Sizing_Guide/issues/3
    """
    for achieved, share in ((480, 0.485), (400, 0.404)):
        assert training.utilisation(achieved * TFLOP, peak("h100-sxm", "bf16")) == pytest.approx(share, rel=0.005)
    assert peak("h100-pcie", "bf16") / TFLOP == pytest.approx(756.5, rel=0.002)
    rack, _ = CATALOG.node("gb200-nvl72", Diagnostics())
    assert rack.accelerators * peak(rack.accelerator, "bf16") / 1e15 == pytest.approx(180, rel=0.01)
    assert rack.accelerators * peak(rack.accelerator, "fp8") / 1e15 == pytest.approx(360, rel=0.01)


@pytest.mark.parametrize("tensor", [1, 2, 4])
def test_fp8_speedup(tensor):
    """FP8 doubles the peak, not the speed: 0.34 s became 0.24 s.

    https://github.com/NVIDIA/Megatron-LM/issues/396, https://github.com/ROCm/TransformerEngine/issues/72
    """

    def step_time(precision):
        return planned(
            {
                "model": "llama-3-8b",
                "workload": {"sequence_length": 8192, "global_batch": 128, "precision": precision},
                "cluster": {"node": "dgx-h100", "nodes": 1},
                "plan": {"tensor": tensor},
            }
        )["step"]

    speedup = step_time("bf16") / step_time("fp8")
    assert 1.2 <= speedup <= 1.7
    assert 0.20 <= 0.34 / speedup <= 0.29


def test_formula_version():
    """Causal halving came in March 2025. https://github.com/NVIDIA/Megatron-LM (commit 8873b55d6a)"""
    answer = counted("gpt3-175b", 2048)
    assert answer["flops_per_token.full"] == pytest.approx(1076.44e9, rel=0.001)
    assert answer["flops_per_token.megatron"] == pytest.approx(1061.95e9, rel=0.001)
    assert transformer.flops_6nd(175e9) == pytest.approx(1050e9, rel=0.001)
    assert counted("gpt3-175b", 2048, recompute="full")["flops_per_token.hardware"] == pytest.approx(
        1434.0e9, rel=0.001
    )


# ------------------------------------------------------------------ memory


def test_zero3_29():
    """An estimator prints GiB as GB and counts 18 bytes. https://github.com/deepspeedai/DeepSpeed/issues/4527"""
    parameters, gathered = 6805e6, memory.gathered_layer_bytes(131e6, 2, 1)
    assert (memory.state_bytes(parameters, 18, 4) + gathered) / GIB == pytest.approx(29.01, rel=0.001)
    assert (memory.state_bytes(parameters, 2, 4) + gathered) / GIB == pytest.approx(3.66, rel=0.003)
    assert gathered / GIB == pytest.approx(0.49, rel=0.01)
    assert memory.state_bytes(parameters, 16, 4) / GIB == pytest.approx(25.35, rel=0.005)


@pytest.mark.parametrize(("stage", "published"), [(0, 120.0), (1, 31.41), (2, 16.64), (3, 1.875)])
def test_zero_stages(stage, published):
    """2 + 2 + 12 bytes, and what each stage shards. https://arxiv.org/abs/1910.02054, figure 1"""
    kinds = ((2, 3), (2, 2), (12, 1))
    held = sum(memory.state_bytes(7.5e9, size, 64 if stage >= first else 1) for size, first in kinds)
    assert held / GB == pytest.approx(published, rel=0.002)


def test_zero_stages_of_7b():
    """112 GB of states, not GiB. https://github.com/tatsu-lab/stanford_alpaca/issues/241"""
    assert memory.state_bytes(7e9, 16, 1) / GB == pytest.approx(112, rel=0.001)
    assert memory.state_bytes(counted("llama-2-7b", 4096)["parameters.total"], 16, 1) / GB == pytest.approx(
        107.8, rel=0.001
    )


def test_bloom_ckpt():
    """Checkpoint of BLOOM: 2.3 TB in full, 329 GB of weights; both are binary units.

    https://github.com/bigscience-workshop/bigscience
    """
    parameters = counted("bloom-176b", 2048)["parameters.total"]
    assert parameters == 176_247_271_424
    assert memory.state_bytes(parameters, 14, 1) / TIB == pytest.approx(2.244, rel=0.005)
    assert memory.state_bytes(parameters, 14, 1) / 1e12 == pytest.approx(2.467, rel=0.005)
    assert memory.state_bytes(parameters, 2, 1) / GIB == pytest.approx(328.3, rel=0.005)


def uneven(layers, stages, split=None):
    """Train a GPT of some layers in some stages."""
    return {
        "model": gpt(layers, 1024, 16),
        "workload": {"sequence_length": 1024, "global_batch": 48},
        "cluster": {"node": "dgx-h100", "nodes": 1, "accelerators": stages},
        "plan": {"pipeline": stages} | ({"stage_layers": split} if split else {}),
    }


def test_uneven_pp():
    """Peak memory is that of the largest stage; no layer may vanish.

    https://github.com/NVIDIA-NeMo/Megatron-Bridge/pull/5077, https://github.com/NVIDIA/Megatron-LM/issues/1304,
    https://github.com/ml-explore/mlx-lm/issues/1688
    """
    answer = planned(uneven(8, 4, [1, 2, 2, 3]))
    assert sum(answer.scenario.stages["dense_layers"][i] * answer.scenario.stages["copies"][i] for i in range(3)) == 8
    assert max(answer.scenario.stages["dense_layers"]) == 3
    assert answer["memory.weights"] > planned(uneven(8, 4))["memory.weights"]
    for layers, stages, remainder, split in ((30, 4, "30 % 4 = 2", [8, 8, 7, 7]), (10, 3, "10 % 3 = 1", [4, 3, 3])):
        text = refused(uneven(layers, stages))
        assert "AIP305" in text
        assert remainder in text
        assert str(split) in text
        assert (
            planned(uneven(layers, stages, split))["parameters.total"]
            == counted(gpt(layers, 1024, 16), 1024)["parameters.total"]
        )


@pytest.mark.parametrize(("gpus", "states_gb"), [(8, 65.5), (16, 32.8)])
def test_qwen32b_8h100(gpus, states_gb):
    """Full fine-tune of a 32B model: on 8 x 80 GB only with full recompute and 10 GB to spare, on 16 it fits.

    https://github.com/simplescaling/s1/issues/13, https://github.com/simplescaling/s1/issues/25
    """

    def answer(recompute):
        return planned(
            {
                "model": "qwen3-32b",
                "workload": {"sequence_length": 4096, "global_batch": 16},
                "cluster": {"node": "dgx-h100", "nodes": gpus // 8},
                "plan": {"zero": 3, "gradient_precision": "bf16", "recompute": recompute},
            }
        )

    light = answer("full")
    states = light["memory.weights"] + light["memory.gradients"] + light["memory.optimizer"]
    assert memory.state_bytes(32_762_123_264, 16, gpus) / GB == pytest.approx(states_gb, rel=0.005)
    assert states / GB == pytest.approx(states_gb, rel=0.005)
    headroom = (light["memory.capacity"] - light["memory"]) / GB
    if gpus == 8:
        assert not answer("none").fits
        assert -5 < headroom < 15
    else:
        assert light.fits
        assert headroom > 20


# ------------------------------------------------------------------ legality of a layout


def test_gpt3_script_world():
    """An example script starts 8 processes for a layout of 128. https://github.com/NVIDIA/Megatron-LM"""
    tree = {
        "model": "gpt3-175b",
        "workload": {"sequence_length": 2048, "global_batch": 1536},
        "cluster": {"node": "dgx-a100-80gb", "nodes": 1},
        "plan": {"tensor": 8, "pipeline": 16},
    }
    text = refused(tree)
    assert "AIP301: 8 accelerators are not a multiple of tensor 8 x pipeline 16 x context 1 = 128" in text
    assert "nearest: 128 accelerators" in text
    assert counted("gpt3-175b", 2048)["parameters.total"] == 174_615_846_912
    for data in (1, 2, 3, 12):
        assert resolved(tree | {"cluster": {"node": "dgx-a100-80gb", "nodes": 16 * data}})[0].data == data


@pytest.mark.parametrize(
    ("layers", "stages", "interleave", "count", "legal", "per_chunk"),
    [(126, 9, 7, 63, True, 2), (96, 8, 6, 64, True, 2), (80, 4, 5, 30, False, 4)],
)
def test_vpp_rule(layers, stages, interleave, count, legal, per_chunk):
    """Interleaving needs micro-batches in multiples of the stages.

    https://github.com/NVIDIA/bionemo-framework/issues/286, https://github.com/NVIDIA/NeMo-Framework-Launcher
    """
    scenario, diagnostics = resolved(
        {
            "model": gpt(layers, 1024, 16),
            "workload": {"sequence_length": 2048, "global_batch": count},
            "cluster": {"node": "dgx-h100", "nodes": 2, "accelerators": stages},
            "plan": {"pipeline": stages, "interleave": interleave},
        }
    )
    assert (scenario is not None) is legal
    assert [item.code for item in diagnostics.items] == ([] if legal else ["AIP307"])
    if legal:
        split = legality.stage_layers(scenario.model, scenario.file.plan)
        assert {stage / interleave for stage in split} == {per_chunk}
        assert sum(split) == layers


def test_qwen3_32b_head_dim():
    """Head width is a key of its own. https://github.com/NVIDIA-NeMo/RL/pull/2736"""
    assert counted("qwen3-32b", 4096)["parameters.total"] == 32_762_123_264
    assert counted(QWEN3_32B, 4096)["parameters.total"] == 32_762_123_264
    assert 64 * counted("qwen3-32b", 4096).scenario.values["model.head_dim"].number == 8192
    derived = {name: value for name, value in QWEN3_32B.items() if name != "head_dim"}
    assert counted(derived, 4096)["parameters.total"] == pytest.approx(30_497_192_960, rel=0.002)


# ------------------------------------------------------------------ communication and bubbles


@pytest.mark.parametrize(
    ("nodes", "algbw", "busbw"), [(2, 100, 93.75), (4, 66.67, 64.58), (8, 57.14, 56.25), (32, 51.61, 51.41)]
)
def test_alltoall(nodes, algbw, busbw):
    """Bound over nodes of eight with 50 GB/s each. https://github.com/NVIDIA/nccl-tests/issues/130 and 267"""
    ranks, nbytes = 8 * nodes, 1 * GB
    time = float(collectives.all_to_all_time(nbytes, ranks, 8, 450 * GB, 50 * GB, 0.0))
    assert nbytes / time / GB == pytest.approx(algbw, rel=0.005)
    assert nbytes / time / GB * (ranks - 1) / ranks == pytest.approx(busbw, rel=0.005)


def bloom(global_batch):
    """BLOOM on 384 A100: 12 stages of 4 ranks, embedding and head in place of a layer each."""
    return planned(
        {
            "model": "bloom-176b",
            "workload": {"sequence_length": 2048, "global_batch": global_batch, "precision": "bf16"},
            "cluster": {"node": "jean-zay-a100", "nodes": 48},
            "plan": {
                "tensor": 4,
                "pipeline": 12,
                "micro_batch": 2,
                "recompute": "full",
                "count_embedding_as_layer": True,
            },
            "software": "megatron-lm-2021",
        }
    )


@pytest.mark.parametrize(
    ("global_batch", "count", "slots", "bubble"), [(16, 1, 12, 0.9167), (32, 2, 13, 0.8462), (2048, 128, 139, 0.0791)]
)
def test_bloom_bubble(global_batch, count, slots, bubble):
    """The bubble at tiny micro-batch counts. https://github.com/bigscience-workshop/bigscience"""
    assert training.micro_batches(global_batch, 2, 8) == count
    share = pipeline.bubble_share(12, count, 1)
    assert share == pytest.approx(bubble, rel=0.001)
    assert count / (1 - share) == pytest.approx(slots, rel=1e-12)


def test_bloom_bubble_does_not_scale_with_the_batch():
    """Twice the batch took about as long (15.2 s); the full one 105 s at 150 TFLOP/s of hardware operations."""
    assert bloom(32)["step"] / bloom(16)["step"] == pytest.approx(1.083, rel=0.05)
    assert bloom(2048)["flops_per_s.hardware"] / TFLOP == pytest.approx(150, rel=0.15)
    assert bloom(2048)["step"] == pytest.approx(105, rel=0.15)
