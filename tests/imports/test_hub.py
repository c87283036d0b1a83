"""Configs of the hub: counts to the last digit, the traps in them, and networks that are refused."""

import json
from pathlib import Path

import pytest

from aiplan.adapters.imports import hf_families, hf_refused

CONFIGS = json.loads((Path(__file__).parents[1] / "data" / "hub_configs.json").read_text(encoding="utf-8"))
"""Fields that shape published networks, keyed as their configs are, with published or independently counted parameters."""


def llama(layers, hidden, heads, kv_heads, ffn, vocab, **more):
    return {
        "model_type": "llama",
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "intermediate_size": ffn,
        "vocab_size": vocab,
        "hidden_act": "silu",
    } | more


def gpt2(layers, hidden, heads, vocab, positions, **more):
    sizes = {"n_layer": layers, "n_embd": hidden, "n_head": heads, "vocab_size": vocab, "n_positions": positions}
    return {"model_type": "gpt2"} | sizes | more


REFUSED = {
    "bert": ({"model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12}, "an encoder without a decoder"),
    "albert": ({"architectures": ["AlbertForMaskedLM"], "hidden_size": 768}, "an encoder without a decoder"),
    "t5": (
        {"model_type": "t5", "d_model": 1280, "num_layers": 36, "is_encoder_decoder": True},
        "an encoder with a decoder",
    ),
    "whisper": ({"model_type": "whisper", "d_model": 1280, "encoder_layers": 32}, "an audio model"),
    "vit": ({"model_type": "vit", "hidden_size": 768, "num_hidden_layers": 12}, "a vision encoder"),
    "unet": ({"_class_name": "UNet2DConditionModel", "block_out_channels": [320, 640]}, "a diffusion model"),
    "mamba": (
        {"model_type": "mamba2", "hidden_size": 2560, "num_hidden_layers": 64},
        "a state-space or recurrent network",
    ),
    "jamba": ({"model_type": "jamba", "hidden_size": 4096, "attn_layer_period": 8}, "a hybrid of attention"),
    "nemotron-h": (
        {"model_type": "nemotron_h", "hybrid_override_pattern": "M-M*", "num_hidden_layers": 4},
        "a hybrid of attention",
    ),
    "mllama": (
        {"model_type": "mllama", "text_config": {"model_type": "mllama_text_model", "cross_attention_layers": [3]}},
        "cross-attention",
    ),
    "linear": (
        llama(4, 64, 4, 4, 128, 100, layer_types=["linear_attention", "full_attention"] * 2) | {"model_type": "qwen3"},
        "no attention",
    ),
    "cross": (gpt2(12, 768, 12, 50257, 1024, add_cross_attention=True), "attends to another network"),
    "per-layer": (
        llama(4, 64, 4, 4, 128, 100, hidden_size_per_layer_input=8) | {"model_type": "gemma4"},
        "embeddings per layer",
    ),
    "projected": (
        {
            "model_type": "opt",
            "num_hidden_layers": 24,
            "hidden_size": 1024,
            "num_attention_heads": 16,
            "ffn_dim": 4096,
            "vocab_size": 50272,
            "max_position_embeddings": 2048,
            "word_embed_proj_dim": 512,
        },
        "projected from another width",
    ),
    "unknown": (llama(4, 64, 4, 4, 128, 100) | {"model_type": "lamma"}, "is not known"),
}
"""Networks that have no model here, with what the refusal says."""


@pytest.mark.parametrize("name", CONFIGS)
def test_parameters_are_exact(name, read):
    config, total, active = (CONFIGS[name][key] for key in ("config", "parameters", "active"))
    found = read(("config.json", config)).imported
    assert found.total == total
    if active is not None:
        assert found.active == active
    elif "experts" not in str(config):
        assert found.active == total


@pytest.mark.parametrize("name", CONFIGS)
def test_no_key_of_a_known_network_is_left_over(name, read):
    assert not [
        one.key
        for ledger in read(("config.json", CONFIGS[name]["config"])).imported.ledgers
        for one in ledger.skipped
        if one.matters
    ]


CARDS = {
    "dots.llm1": (142e9, 14e9),
    "ernie-4.5-21b": (21e9, None),
    "glm-4.7-flash": (30e9, None),
    "exaone-4.0-32b": (32.0e9, 32.0e9),
    "exaone-4.0-1.2b": (1.28e9, 1.28e9),
    "granite-3.0-1b-a400m": (1.3e9, 0.4e9),
    "phi-3.5-moe": (41.9e9, 6.6e9),
    "ministral-3-3b": (3.4e9, 3.4e9),
}
"""What model cards say, all and active: their exact counts above were added up tensor by tensor."""


@pytest.mark.parametrize("name", CARDS)
def test_newer_families_against_their_cards(name, read):
    found, (total, active) = read(("config.json", CONFIGS[name]["config"])).imported, CARDS[name]
    assert found.total == pytest.approx(total, rel=0.04)
    assert active is None or found.active == pytest.approx(active, rel=0.08)


def test_windows_by_a_word(hub):
    found = hub(**CONFIGS["exaone-4.0-32b"]["config"]).imported.model.window
    assert (found.size, found.layers) == (4096, 48)
    assert hub(**CONFIGS["exaone-4.0-1.2b"]["config"]).imported.model.window is None
    assert hub(**CONFIGS["exaone-4.0-32b"]["config"] | {"sliding_window_pattern": "GLGL"}).codes == ["AIP103"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("index_topk", 2048),
        ("hc_mult", 4),
        ("num_attention_heads_per_layer", [48, 64]),
        ("swa_num_key_value_heads", 8),
        ("block_configs", [{}]),
        ("full_attention_interval", 4),
        ("num_experts", 16),
        ("n_routed_experts", 64),
    ],
)
def test_a_key_of_another_network_in_a_known_family(key, value, hub):
    """A config may call itself Llama and be none: it is refused, not read as half of what it is."""
    config = CONFIGS["llama-3.1-8b"]["config"]
    assert hub(**config | {key: value}).codes == ["AIP340"]
    assert hub(**config | {key: None}).imported.total == CONFIGS["llama-3.1-8b"]["parameters"]


def test_layers_with_experts_from_one_on(hub):
    config = CONFIGS["ernie-4.5-21b"]["config"]
    assert hub(**config).imported.model.experts.layers == 27
    other = hub(**config | {"moe_layer_start_index": 4, "moe_layer_end_index": 19, "moe_layer_interval": 2}).imported
    assert (other.model.experts.layers, other.model.experts.interleaved) == (8, True)
    left_out = hub(**config | {"num_nextn_predict_layers": 1}).imported
    assert (left_out.model.mtp_layers, left_out.total) == (0, CONFIGS["ernie-4.5-21b"]["parameters"])


def test_every_family_that_is_refused_is_not_read_as_well():
    refused = {name for _, names in hf_refused.REFUSED.values() for name in names}
    assert not refused & (hf_families.FAMILIES.keys() | hf_families.NAMES.keys())
    assert set(hf_families.NAMES.values()) <= hf_families.FAMILIES.keys()


@pytest.mark.parametrize("name", REFUSED)
def test_other_networks_are_refused_with_the_reason(name, read):
    config, reason = REFUSED[name]
    found = read(("config.json", config))
    assert found.imported is None
    assert found.codes == ["AIP340"]
    assert reason in found.problems[0]


def test_head_dim_is_a_key_of_its_own(hub):
    found = hub(**llama(64, 5120, 64, 8, 25600, 151936, head_dim=128) | {"model_type": "qwen3"})
    assert found.imported.model.head_dim == 128
    assert found.imported.total != 30497192960, "the count with head_dim 80 = 5120 / 64"


def test_a_width_that_is_that_of_the_experts_is_no_dense_width(hub):
    found = hub(**CONFIGS["minimax-m2"]["config"]).imported.model
    assert (found.ffn, found.experts.ffn) == (None, 1536)
    dense = hub(**CONFIGS["deepseek-v3"]["config"]).imported.model
    assert (dense.ffn, dense.experts.ffn, dense.experts.layers, dense.experts.shared_ffn) == (18432, 2048, 58, 2048)
    scout, maverick = (hub(**CONFIGS[f"llama-4-{name}"]["config"]).imported.model for name in ("scout", "maverick"))
    assert (scout.ffn, scout.experts.layers) == (None, None)
    assert (maverick.ffn, maverick.experts.layers, maverick.experts.interleaved) == (16384, 24, True)


@pytest.mark.parametrize(
    ("name", "tied"),
    [("gemma-2-9b", True), ("llama-7b", False), ("gpt2-large", True), ("falcon-40b", True), ("opt-6.7b", True)],
)
def test_without_a_key_the_family_says_what_is_tied(name, tied, hub):
    found = hub(**CONFIGS[name]["config"]).imported
    assert found.model.tied is tied
    assert not found.facts["model.tied"].taken


@pytest.mark.parametrize(
    ("name", "kv_heads"), [("starcoder", 1), ("falcon-7b", 1), ("falcon-40b", 8), ("glm-4-9b", 2), ("llama-7b", 32)]
)
def test_key_value_heads_by_every_name(name, kv_heads, hub):
    found = hub(**CONFIGS[name]["config"])
    assert found.shape[3] == kv_heads


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("mistral-7b", (4096, 32)),
        ("gemma-2-9b", (4096, 21)),
        ("gemma-3-27b", (1024, 52)),
        ("olmo-3-32b", (4096, 48)),
        ("gpt-oss-120b", (128, 18)),
        ("gpt-neo-1.3b", (256, 12)),
        ("qwen2.5-7b", None),
        ("mixtral-8x7b", None),
    ],
)
def test_windows(name, window, hub):
    found = hub(**CONFIGS[name]["config"]).imported.model.window
    assert (None if found is None else (found.size, found.layers)) == window


def test_a_window_that_says_null_is_none(hub):
    assert hub(**CONFIGS["mistral-7b"]["config"] | {"sliding_window": None}).imported.model.window is None


def test_modules_for_further_tokens_are_counted_apart(hub):
    found = hub(**CONFIGS["deepseek-v3"]["config"]).imported
    assert (found.model.mtp_layers, found.total) == (1, 671026419200)
    assert found.modules == pytest.approx(11.5e9, rel=0.01), "unique parameters by the readme of the published weights"
    assert found.active == 37552297472
    mimo = hub(**CONFIGS["mimo-7b"]["config"]).imported
    assert (mimo.model.mtp_layers, mimo.total) == (1, 7622619136)
    assert mimo.with_modules == pytest.approx(7.83e9, abs=0.005e9), "as its card says, with the module"


def test_modules_that_are_not_used_are_not_counted(hub):
    config = CONFIGS["minimax-m2"]["config"] | {"num_mtp_modules": 3, "mtp_transformer_layers": 1}
    assert hub(**config | {"use_mtp": True}).imported.model.mtp_layers == 3
    off = hub(**config | {"use_mtp": False}).imported
    assert (off.model.mtp_layers, off.modules) == (0, 0)
    assert hub(**config | {"use_mtp": True, "mtp_transformer_layers": 2}).codes == ["AIP340"]


def test_megatron_counts_modules_for_further_tokens_apart(read):
    words = "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --vocab-size 512 --seq-length 64"
    words += " --max-position-embeddings 64 --micro-batch-size 1 --untie-embeddings-and-output-weights"
    plain, more = (read(("a.args", f"{words}{extra}")).imported for extra in ("", " --mtp-num-layers 2"))
    assert (plain.total, plain.modules) == (more.total, 0)
    assert more.modules == 2 * ((12 * 64 * 64 + 13 * 64) + (2 * 64 * 64 + 3 * 2 * 64))


def test_the_vision_tower_is_left_out_and_said(hub):
    found = hub(**CONFIGS["gemma-3-27b"]["config"])
    assert any("vision_config" in caution.problem for caution in found.imported.cautions)


def test_layers_that_are_not_alike_are_warned_of(hub):
    config = llama(
        30,
        2816,
        16,
        8,
        2112,
        262144,
        head_dim=256,
        num_experts=128,
        top_k_experts=8,
        moe_intermediate_size=704,
        enable_moe_block=True,
        global_head_dim=512,
        num_global_key_value_heads=2,
        tie_word_embeddings=True,
    )
    found = hub(model_type="gemma4", text_config=config | {"model_type": "gemma4_text"})
    assert found.imported.total == pytest.approx(26e9, rel=0.05)
    assert any("other heads" in caution.problem for caution in found.imported.cautions)


def test_two_names_for_one_thing_must_agree(hub):
    found = hub(**CONFIGS["falcon-40b"]["config"] | {"num_hidden_layers": 61})
    assert found.codes == ["AIP342"]
    assert "n_layer" in found.problems[0]
    assert hub(**CONFIGS["falcon-40b"]["config"] | {"num_hidden_layers": 60}).imported.total == 41303293952


def test_layer_types_must_be_as_many_as_the_layers(hub):
    assert hub(**CONFIGS["olmo-3-32b"]["config"] | {"num_hidden_layers": 63}).codes == ["AIP310"]


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "32", True, [], {}, 10**40, 1e300])
def test_no_number_of_layers_is_taken_that_is_none(wrong, hub):
    found = hub(**CONFIGS["llama-7b"]["config"] | {"num_hidden_layers": wrong})
    assert found.imported is None
    assert found.codes == ["AIP103"]
    assert found.items[0].mark.line == 3


def test_a_missing_size_is_named(hub):
    found = hub(model_type="llama", hidden_size=4096, num_attention_heads=32, vocab_size=100)
    assert found.codes == ["AIP106"]
    assert "num_hidden_layers" in found.problems[0]


def test_a_size_in_the_name_that_is_not_that_of_the_shape(read):
    config = CONFIGS["llama-7b"]["config"]
    assert not read(("llama-7b.json", config)).imported.cautions
    wrong = read(("llama-39b.json", config)).imported.cautions
    assert "39B" in wrong[0].problem
    assert not read(("Qwen3-30B-A3B.json", CONFIGS["qwen3-30b-a3b"]["config"])).imported.cautions


def test_strict_refuses_a_key_that_may_matter(hub, read):
    config = CONFIGS["llama-7b"]["config"] | {"bos_token_id": 1, "weird_blocks": 3}
    assert [one.key for one in hub(**config).imported.ledgers[0].skipped if one.matters] == ["weird_blocks"]
    strict = read(("config.json", config), strict=True)
    assert strict.codes == ["AIP343"]
    assert strict.items[0].mark.column == 2
