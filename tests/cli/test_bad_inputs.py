"""Bad inputs of different kinds: every one is exit code 2, a message with its place on standard error, and no output."""

import pytest

GOOD = """\
schema_version: 1
model: {layers: 4, hidden: 128, heads: 8, ffn: 512, vocab: 1000}
workload: {tokens: 1B, sequence_length: 1024, global_batch: 64, precision: bf16}
cluster: {node: test-node, nodes: 2}
plan: {tensor: 2, micro_batch: 1}
software: megatron-core
"""

MODEL = "model: {layers: 4, hidden: 128, heads: 8, ffn: 512, vocab: 1000}"

INPUTS = {
    "unknown-key": GOOD.replace("global_batch", "global_bach"),
    "duplicate-key": GOOD.replace("tensor: 2,", "tensor: 2, tensor: 4,"),
    "missing-key": GOOD.replace("sequence_length: 1024, ", ""),
    "wrong-unit": GOOD.replace("tokens: 1B", "tokens: 300 GB"),
    "unit-where-none-is-due": GOOD.replace("micro_batch: 1", "micro_batch: 1 GB"),
    "rate-without-time": GOOD + "measured: {step_time: 3 GB, source: here}\n",
    "wrong-type": GOOD.replace("nodes: 2", "nodes: two"),
    "fraction-for-a-count": GOOD.replace("nodes: 2", "nodes: 2.5"),
    "yaml-no": GOOD.replace("micro_batch: 1", "micro_batch: 1, sequence_parallel: no"),
    "leading-zero": GOOD.replace("nodes: 2", "nodes: 02"),
    "quoted-number": GOOD.replace("nodes: 2", 'nodes: "2"'),
    "not-a-number": GOOD.replace("tokens: 1B", "tokens: .nan"),
    "out-of-bounds": GOOD.replace("nodes: 2", "nodes: 0"),
    "unknown-choice": GOOD.replace("bf16", "bf17"),
    "unknown-model": GOOD.replace(MODEL, "model: llama-3-80b"),
    "unknown-node": GOOD.replace("node: test-node", "node: test-nod"),
    "unknown-software": GOOD.replace("megatron-core", "megatron-cor"),
    "no-peak-for-type": GOOD.replace("bf16", "fp8"),
    "merge-conflict": GOOD.replace("software", "<<<<<<< ours\nsoftware"),
    "tab": GOOD + "measured:\n\tsource: here\n",
    "syntax": GOOD.replace("nodes: 2}", "nodes: 2"),
    "two-documents": GOOD + "---\n" + GOOD,
    "anchor": GOOD.replace("nodes: 2", "nodes: &n 2"),
    "empty": "",
    "list": "- schema_version: 1\n",
    "future-version": GOOD.replace("schema_version: 1", "schema_version: 2"),
    "expectations": GOOD + 'expect: [fitz, "mfu >= 3 days", 3]\n',
    "world-size": GOOD.replace("tensor: 2", "tensor: 2, pipeline: 3"),
    "heads": GOOD.replace("tensor: 2", "tensor: 16"),
    "layers": GOOD.replace("tensor: 2", "pipeline: 8"),
    "batch": GOOD.replace("global_batch: 64", "global_batch: 65"),
    "interleave": GOOD.replace("tensor: 2", "interleave: 2"),
    "experts": GOOD.replace("tensor: 2", "expert: 2"),
    "contradicting-shape": GOOD.replace(MODEL, "model: {layers: 4, hidden: 100, heads: 3, ffn: 400, vocab: 1000}"),
    "wrong-parameters": GOOD.replace(
        MODEL,
        "model: {layers: 4, hidden: 128, heads: 4, ffn: 512, vocab: 1000, parameters: 1000000}",
    ),
    "many-at-once": GOOD.replace("tokens: 1B", "tokens: 300 GB")
    .replace("tensor", "tensr")
    .replace("node: test-node", "node: test-nod"),
}


@pytest.mark.parametrize("name", INPUTS)
def test_bad_input(name, run, golden, folder):
    (folder / "bad.yaml").write_text(INPUTS[name], encoding="utf-8")
    ran = run("estimate", "bad.yaml")
    assert ran.code == 2
    assert ran.out == ""
    assert "Traceback" not in ran.err
    assert ran.text == golden


def test_binary_file(run, golden, folder):
    (folder / "bad.yaml").write_bytes(b"model: \xff\xfe\x00\n")
    assert run("estimate", "bad.yaml").text == golden


def test_nothing_is_written(run, folder):
    (folder / "bad.yaml").write_text(INPUTS["wrong-unit"], encoding="utf-8")
    assert run("estimate", "bad.yaml", "--format", "json", "-o", "out.json").code == 2
    assert not (folder / "out.json").exists()


def test_the_good_one_is_good(run, folder):
    (folder / "good.yaml").write_text(GOOD, encoding="utf-8")
    assert run("estimate", "good.yaml").code == 0
