"""Questions that people asked in public, with the answers that were settled there: operations, time, peaks.

One function a case. Expected values and tolerances (relative unless said otherwise) are typed in from the address in
the docstring, or follow from its numbers by arithmetic.
"""

import pytest

from aiplan.core import flops, training

DAY = 86_400.0
HOUR = 3_600.0
TFLOP = 1e12
A100 = 312 * TFLOP


def mfu_6nd(parameters, tokens, gpu_seconds, peak_rate):
    """Utilisation of a whole training run by the 6 N D rule."""
    rate = training.model_flops_rate(flops.flops_6nd(parameters), tokens / gpu_seconds)
    return training.utilisation(rate, peak_rate)


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


def test_megatron_llama3_8b(ask):
    """Tokens/s/GPU to TFLOP/s/GPU as NVIDIA publishes it. https://github.com/NVIDIA-NeMo/Megatron-Bridge"""
    answer = ask.counted("llama-3-8b", 8192, precision="fp8")
    per_token = answer["flops_per_token.megatron"]
    assert per_token == pytest.approx(51.470e9, rel=0.001)
    for tokens_per_s, tflops in ((14451, 743.8), (14079, 724.7)):
        assert training.model_flops_rate(per_token, tokens_per_s) / TFLOP == pytest.approx(tflops, rel=0.003)
    fp8_peak = answer.scenario.values["cluster.matmul_peak"].number
    utilisation = training.utilisation(training.model_flops_rate(per_token, 14451), fp8_peak)
    assert utilisation == pytest.approx(0.376, rel=0.005), "against the dense FP8 peak, not BF16's 989"


def test_kimi_k2(ask):
    """384 experts and latent attention. https://github.com/NVIDIA-NeMo/Megatron-Bridge"""
    answer = ask.counted("kimi-k2", 4096, accelerator="b200")
    per_token = answer["flops_per_token.megatron"]
    assert per_token == pytest.approx(204.48e9, rel=0.001)
    assert training.model_flops_rate(per_token, 5372) / TFLOP == pytest.approx(1098.5, rel=0.003)
    assert answer["parameters.total"] == 1_026_408_232_448


def test_torchtitan_8b(ask):
    """The other convention: full attention square. https://github.com/pytorch/torchtitan/issues/341"""
    answer = ask.counted("llama-3-8b", 8192)
    full, causal = answer["flops_per_token.full"], answer["flops_per_token.megatron"]
    assert full == pytest.approx(57.914e9, rel=0.0005)
    assert training.model_flops_rate(full, 5868) / TFLOP == pytest.approx(339.84, rel=0.0005)
    assert training.utilisation(full * 5868, 989 * TFLOP) == pytest.approx(0.3436, rel=0.001)
    assert training.utilisation(causal * 5868, 989 * TFLOP) == pytest.approx(0.3054, rel=0.001)
    assert answer["flops_per_token.6nd"] == pytest.approx(48.18e9, rel=0.001)


KORTHIKANTI = {
    "22B": ((48, 6144, 64), 8, 4, {"tensor": 8, "micro_batch": 4}, 1.10, 0.4165, 0.4057),
    "175B": ((96, 12288, 96), 64, 64, {"tensor": 8, "pipeline": 8, "interleave": 3}, 13.75, 0.5139, 0.5070),
    "530B": ((105, 20480, 128), 280, 280, {"tensor": 8, "pipeline": 35, "interleave": 3}, 37.83, 0.5605, 0.5559),
    "1T": ((128, 25600, 160), 512, 512, {"tensor": 8, "pipeline": 64}, 71.49, 0.5627, 0.5590),
}


@pytest.mark.parametrize("name", KORTHIKANTI)
def test_korthikanti_table5(ask, name):
    """Step time to MFU, and the step time itself. https://arxiv.org/abs/2205.05198, table 5"""
    shape, gpus, batch, plan, step_time, mfu_full, mfu_causal = KORTHIKANTI[name]
    answer = ask.planned(
        {
            "model": ask.gpt(*shape),
            "workload": {"sequence_length": 2048, "global_batch": batch, "precision": "fp16"},
            "cluster": {"node": "dgx-a100-80gb", "nodes": gpus // 8},
            "plan": plan | {"recompute": "selective", "sequence_parallel": True},
            "software": "megatron-lm-2022",
        }
    )
    rate = training.tokens_per_second(batch, 2048, step_time, gpus)
    for convention, published in (("full", mfu_full), ("megatron", mfu_causal)):
        flops = training.model_flops_rate(answer[f"flops_per_token.{convention}"], rate)
        assert training.utilisation(flops, ask.peak("a100-sxm-80gb", "fp16")) == pytest.approx(published, rel=0.005)
    assert answer["step"] == pytest.approx(step_time, rel=0.20)


def test_packed_docs(ask):
    """Eight documents of 1,024 tokens in one sequence attend within themselves only.

    https://github.com/NVIDIA/bionemo-framework/pull/1548
    """
    assert ask.counted("llama-3-8b", 8192)["flops_per_token.megatron"] == pytest.approx(51.470e9, rel=0.001)
    assert ask.counted("llama-3-8b", 1024)["flops_per_token.megatron"] == pytest.approx(45.833e9, rel=0.002)


# ------------------------------------------------------------------ time, accelerator hours, peaks


def test_glm130b():
    """60 days on 96 nodes of 8 A100. https://github.com/THUDM/GLM-130B/issues/75"""
    mfu = mfu_6nd(130e9, 400e9, 768 * 60 * DAY, A100)
    assert mfu == pytest.approx(0.251, rel=0.01)
    step_time = flops.flops_6nd(130e9) * 4224 * 2048 / (768 * 0.251 * A100)
    days = training.time_to_train(training.step_count(400e9, 4224, 2048), step_time) / DAY
    assert days == pytest.approx(60, rel=0.01)


@pytest.mark.parametrize(
    ("model", "hours", "mfu"),
    [("llama-2-7b", 184_320, 0.3906), ("llama-2-13b", 368_640, 0.3772), ("llama-2-70b", 1_720_320, 0.4284)],
)
def test_llama2_hours(ask, model, hours, mfu):
    """Published A100 hours for 2 T tokens. https://github.com/OpenBMB/MiniCPM/issues/36"""
    parameters = ask.counted(model, 4096)["parameters.total"]
    assert mfu_6nd(parameters, 2e12, hours * HOUR, ask.peak("a100-sxm-80gb", "bf16")) == pytest.approx(mfu, rel=0.005)


def test_dsv3_hours(ask):
    """Active parameters count, and the peak must be named. https://github.com/jax-ml/scaling-book/issues/31"""
    tokens, pretraining, everything = 14.8e12, 2.664e6 * HOUR, 2.788e6 * HOUR
    assert flops.flops_6nd(37e9) * tokens == pytest.approx(3.2856e24, rel=0.001)
    assert mfu_6nd(37e9, tokens, pretraining, ask.peak("h800-sxm", "bf16")) == pytest.approx(0.346, rel=0.005)
    assert mfu_6nd(37e9, tokens, everything, 1513 * TFLOP) == pytest.approx(0.216, rel=0.005)
    exact = ask.counted(DEEPSEEK_V3_MTP, 4096)["flops_per_token.megatron"]
    rate = training.model_flops_rate(exact, tokens / pretraining)
    assert training.utilisation(rate, 989 * TFLOP) == pytest.approx(0.4057, rel=0.005)
    network = ask.counted("deepseek-v3", 4096)
    assert network["parameters.active"] == pytest.approx(37e9, rel=0.02), "18 times fewer than all of them"
    assert network["parameters.total"] == pytest.approx(671e9, rel=0.001)


def test_opt175_hfu_mfu():
    """47 % is hardware utilisation, 34.6 % model utilisation. https://github.com/facebookresearch/metaseq"""
    gpu_seconds = 1024 * 33 * DAY
    assert training.utilisation(4.30e23 / gpu_seconds, A100) == pytest.approx(0.472, rel=0.01)
    assert flops.flops_6nd(175e9) * 300e9 == pytest.approx(3.15e23, rel=0.001)
    assert mfu_6nd(175e9, 300e9, gpu_seconds, A100) == pytest.approx(0.346, rel=0.01)


@pytest.mark.parametrize(
    ("parameters", "tokens", "gpus", "hardware_tflops", "days"),
    [(175e9, 300e9, 1024, 140, 33.9), (1e12, 450e9, 3072, 163, 83.2)],
)
def test_sc21_days(parameters, tokens, gpus, hardware_tflops, days):
    """A hardware rate needs 8 N, a model rate 6 N. https://arxiv.org/abs/2104.04473, section 5.1"""
    forward = 2 * parameters
    per_token = flops.training_flops(forward) + forward
    step_time = per_token * 1536 * 2048 / (gpus * hardware_tflops * TFLOP)
    time = training.time_to_train(training.step_count(tokens, 1536, 2048), step_time)
    assert time / DAY == pytest.approx(days, rel=0.01)


def test_blog_total_vs_per_gpu():
    """1.42e14 FLOP/s was the total of 16 accelerators. https://github.com/huggingface/blog/issues/1649"""
    assert training.utilisation(1.42e14 / 16, A100) == pytest.approx(0.0284, rel=0.01)


def test_peak_dense_sparse(ask):
    """Dense, and of the right form factor. https://github.com/foundation-model-stack/fms-fsdp/issues/89,
    https://github.com/NVIDIA/Megatron-LM/issues/1276, https://github.com/qoofyk/LLM_Sizing_Guide/issues/3
    """
    for achieved, share in ((480, 0.485), (400, 0.404)):
        assert training.utilisation(achieved * TFLOP, ask.peak("h100-sxm", "bf16")) == pytest.approx(share, rel=0.005)
    assert ask.peak("h100-pcie", "bf16") / TFLOP == pytest.approx(756.5, rel=0.002)
    rack = ask.node("gb200-nvl72")
    assert rack.accelerators * ask.peak(rack.accelerator, "bf16") / 1e15 == pytest.approx(180, rel=0.01)
    assert rack.accelerators * ask.peak(rack.accelerator, "fp8") / 1e15 == pytest.approx(360, rel=0.01)


@pytest.mark.parametrize("tensor", [1, 2, 4])
def test_fp8_speedup(ask, tensor):
    """FP8 doubles the peak, not the speed: 0.34 s became 0.24 s.

    https://github.com/NVIDIA/Megatron-LM/issues/396, https://github.com/ROCm/TransformerEngine/issues/72
    """

    def step_time(precision):
        return ask.planned(
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


def test_formula_version(ask):
    """Causal halving came in March 2025. https://github.com/NVIDIA/Megatron-LM (commit 8873b55d6a)"""
    answer = ask.counted("gpt3-175b", 2048)
    assert answer["flops_per_token.full"] == pytest.approx(1076.44e9, rel=0.001)
    assert answer["flops_per_token.megatron"] == pytest.approx(1061.95e9, rel=0.001)
    assert flops.flops_6nd(175e9) == pytest.approx(1050e9, rel=0.001)
    assert ask.counted("gpt3-175b", 2048, recompute="full")["flops_per_token.hardware"] == pytest.approx(
        1434.0e9, rel=0.001
    )
