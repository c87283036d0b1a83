"""Questions that people asked in public, with the answers that were settled there: memory, layouts, communication.

One function a case. Expected values and tolerances (relative unless said otherwise) are typed in from the address in
the docstring, or follow from its numbers by arithmetic.
"""

import pytest

from aiplan.core import collectives, memory, pipeline, training
from aiplan.scenario import legality

GB, GIB, TIB = 1e9, 2.0**30, 2.0**40
TFLOP = 1e12


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

# ------------------------------------------------------------------ memory


def test_tied_embedding(ask):
    """Tying changes parameters, not operations; a pipeline holds two copies.

    https://github.com/huggingface/trl/pull/6731, https://github.com/pytorch/torchtitan/pull/3225,
    https://github.com/bigscience-workshop/Megatron-DeepSpeed/issues/99
    """
    untied_shape = LLAMA_32_1B | {"tied": False}
    tied, untied = ask.counted(LLAMA_32_1B, 4096), ask.counted(untied_shape, 4096)
    assert ask.counted("llama-3.2-1b", 4096)["parameters.total"] == tied["parameters.total"] == 1_235_814_400
    assert untied["parameters.total"] == 1_498_482_688
    assert tied["flops_per_token.megatron"] == untied["flops_per_token.megatron"]
    assert untied["memory.weights"] - tied["memory.weights"] == pytest.approx(2 * 128256 * 2048, rel=1e-9)

    def in_two_stages(model):
        return ask.planned(
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


def test_zero_stages_of_7b(ask):
    """112 GB of states, not GiB. https://github.com/tatsu-lab/stanford_alpaca/issues/241"""
    assert memory.state_bytes(7e9, 16, 1) / GB == pytest.approx(112, rel=0.001)
    assert memory.state_bytes(ask.counted("llama-2-7b", 4096)["parameters.total"], 16, 1) / GB == pytest.approx(
        107.8, rel=0.001
    )


def test_bloom_ckpt(ask):
    """Checkpoint of BLOOM: 2.3 TB in full, 329 GB of weights; both are binary units.

    https://github.com/bigscience-workshop/bigscience
    """
    parameters = ask.counted("bloom-176b", 2048)["parameters.total"]
    assert parameters == 176_247_271_424
    assert memory.state_bytes(parameters, 14, 1) / TIB == pytest.approx(2.244, rel=0.005)
    assert memory.state_bytes(parameters, 14, 1) / 1e12 == pytest.approx(2.467, rel=0.005)
    assert memory.state_bytes(parameters, 2, 1) / GIB == pytest.approx(328.3, rel=0.005)


def uneven(ask, layers, stages, split=None):
    """Train a GPT of some layers in some stages."""
    return {
        "model": ask.gpt(layers, 1024, 16),
        "workload": {"sequence_length": 1024, "global_batch": 48},
        "cluster": {"node": "dgx-h100", "nodes": 1, "accelerators": stages},
        "plan": {"pipeline": stages} | ({"stage_layers": split} if split else {}),
    }


def test_uneven_pp(ask):
    """Peak memory is that of the largest stage; no layer may vanish.

    https://github.com/NVIDIA-NeMo/Megatron-Bridge/pull/5077, https://github.com/NVIDIA/Megatron-LM/issues/1304,
    https://github.com/ml-explore/mlx-lm/issues/1688
    """
    answer = ask.planned(uneven(ask, 8, 4, [1, 2, 2, 3]))
    assert sum(answer.scenario.stages["dense_layers"][i] * answer.scenario.stages["copies"][i] for i in range(3)) == 8
    assert max(answer.scenario.stages["dense_layers"]) == 3
    assert answer["memory.weights"] > ask.planned(uneven(ask, 8, 4))["memory.weights"]
    for layers, stages, remainder, split in ((30, 4, "30 % 4 = 2", [8, 8, 7, 7]), (10, 3, "10 % 3 = 1", [4, 3, 3])):
        text = ask.refused(uneven(ask, layers, stages))
        assert "AIP305" in text
        assert remainder in text
        assert str(split) in text
        assert (
            ask.planned(uneven(ask, layers, stages, split))["parameters.total"]
            == ask.counted(ask.gpt(layers, 1024, 16), 1024)["parameters.total"]
        )


@pytest.mark.parametrize(("gpus", "states_gb"), [(8, 65.5), (16, 32.8)])
def test_qwen32b_8h100(ask, gpus, states_gb):
    """Full fine-tune of a 32B model: on 8 x 80 GB only with full recompute and 10 GB to spare, on 16 it fits.

    https://github.com/simplescaling/s1/issues/13, https://github.com/simplescaling/s1/issues/25
    """

    def answer(recompute):
        return ask.planned(
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


def test_gpt3_script_world(ask):
    """An example script starts 8 processes for a layout of 128. https://github.com/NVIDIA/Megatron-LM"""
    tree = {
        "model": "gpt3-175b",
        "workload": {"sequence_length": 2048, "global_batch": 1536},
        "cluster": {"node": "dgx-a100-80gb", "nodes": 1},
        "plan": {"tensor": 8, "pipeline": 16},
    }
    text = ask.refused(tree)
    assert "AIP301: 8 accelerators are not a multiple of tensor 8 x pipeline 16 x context 1 = 128" in text
    assert "nearest: 128 accelerators" in text
    assert ask.counted("gpt3-175b", 2048)["parameters.total"] == 174_615_846_912
    for data in (1, 2, 3, 12):
        assert ask.resolved(tree | {"cluster": {"node": "dgx-a100-80gb", "nodes": 16 * data}})[0].data == data


@pytest.mark.parametrize(
    ("layers", "stages", "interleave", "count", "legal", "per_chunk"),
    [(126, 9, 7, 63, True, 2), (96, 8, 6, 64, True, 2), (80, 4, 5, 30, False, 4)],
)
def test_vpp_rule(ask, layers, stages, interleave, count, legal, per_chunk):
    """Interleaving needs micro-batches in multiples of the stages.

    https://github.com/NVIDIA/bionemo-framework/issues/286, https://github.com/NVIDIA/NeMo-Framework-Launcher
    """
    scenario, diagnostics = ask.resolved(
        {
            "model": ask.gpt(layers, 1024, 16),
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


def test_qwen3_32b_head_dim(ask):
    """Head width is a key of its own. https://github.com/NVIDIA-NeMo/RL/pull/2736"""
    assert ask.counted("qwen3-32b", 4096)["parameters.total"] == 32_762_123_264
    assert ask.counted(QWEN3_32B, 4096)["parameters.total"] == 32_762_123_264
    assert 64 * ask.counted("qwen3-32b", 4096).scenario.values["model.head_dim"].number == 8192
    derived = {name: value for name, value in QWEN3_32B.items() if name != "head_dim"}
    assert ask.counted(derived, 4096)["parameters.total"] == pytest.approx(30_497_192_960, rel=0.002)


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


def bloom(ask, global_batch):
    """BLOOM on 384 A100: 12 stages of 4 ranks, embedding and head in place of a layer each."""
    return ask.planned(
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
    idle = pipeline.bubble_time(12.0, 1.0, 1)
    assert count + idle == pytest.approx(slots, rel=1e-12)
    assert idle / (count + idle) == pytest.approx(bubble, rel=0.001)


def test_bloom_bubble_does_not_scale_with_the_batch(ask):
    """Twice the batch took about as long (15.2 s); the full one 105 s at 150 TFLOP/s of hardware operations."""
    assert bloom(ask, 32)["step"] / bloom(ask, 16)["step"] == pytest.approx(1.083, rel=0.05)
    assert bloom(ask, 2048)["flops_per_s.hardware"] / TFLOP == pytest.approx(150, rel=0.15)
    assert bloom(ask, 2048)["step"] == pytest.approx(105, rel=0.15)


def test_ckpt_8b():
    """Checkpoint bytes of Llama 3 8B: fp32 weights and two moments, 12 bytes a parameter.

    https://github.com/pytorch/torchtitan/issues/1301
    """
    assert float(memory.state_bytes(8_030_261_248, 12, 1)) / 1e9 == pytest.approx(96.36, rel=0.002)
